"""`forkproof check` and `forkproof ledger`: run the contract against targets and say what came of it."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from forkproof import checking
from forkproof.checking import Plan, SelectionError, Unreachable
from forkproof.clauses import load
from forkproof.commands import UsageError
from forkproof.ledger import Ledger, find_ledger, load_ledger, write_ledger
from forkproof.report import prepare_directory, write_reports
from forkproof.report.lines import in_short
from forkproof.report.terminal import Terminal
from forkproof.targets import FoundTarget, find_target
from forkproof.verdict import CaseResult, Status, Target, Verdict, judge

if TYPE_CHECKING:
    from rich.status import Status as RichStatus


def check(
    texts: Sequence[str],
    *,
    only: Sequence[str],
    report: Path | None,
    ledger: Path | None,
    slow: float,
    jobs: int,
    breadth: int | None,
    color: str,
) -> int:
    """Runs the contract against every target and returns the exit code: a red one goes before an unreachable one.

    Everything that can be wrong with the input is found before the first case runs.
    """
    repeated = [text for text, times in Counter(texts).items() if times > 1]
    if repeated:
        raise UsageError(f"target {repeated[0]} is named twice")
    found = [find_target(text) for text in texts]
    known = load_ledger(ledger or find_ledger(Path.cwd()))
    if report:
        prepare_directory(report)
    terminal = Terminal(color=color)
    approached = [_approach(each, only, breadth, slow) for each in found]
    with _reproducers(report) as reproducers:
        verdicts = [_run_one(each, known, slow, jobs, reproducers, terminal) for each in approached]
        for verdict in verdicts:
            terminal.verdict(verdict)
        if any(reproducers.iterdir()):
            terminal.line(f"reproducers: {reproducers}")
    if report:
        write_reports(report, verdicts)
    for verdict in verdicts:
        terminal.last_line(verdict)
    codes = {verdict.exit_code for verdict in verdicts}
    return next((code for code in (1, 3) if code in codes), 0)


def write_todays_ledger(text: str, *, owner: str, expires: date, slow: float, jobs: int) -> int:
    """Runs one target and writes an entry for every clause that fails today, as TOML for the author to edit."""
    if not owner.strip():
        raise UsageError("--owner: must not be blank")
    approached = _approach(find_target(text), (), None, slow)
    if approached.trouble:
        _warn(approached)
        return 3
    with tempfile.TemporaryDirectory(prefix="forkproof-") as directory:
        verdict = _ask(approached, Ledger(), slow, jobs, Path(directory), lambda result: None)
    for line in verdict.kit_errors:
        print(f"forkproof: kit error: {line}", file=sys.stderr)
    pairs = [(each.clause.id, in_short(each.detail) or "fails") for each in verdict.with_status(Status.FAILS)]
    print(write_ledger(pairs, target=verdict.target.name, owner=owner, expires=expires), end="")
    return 1 if verdict.kit_errors else 0


@dataclass(frozen=True)
class Approached:
    """A target as it was found, what is to be asked of it, and why it cannot be asked at all, if so."""

    found: FoundTarget
    plan: Plan
    trouble: str = ""


def _approach(found: FoundTarget, only: Sequence[str], breadth: int | None, slow: float) -> Approached:
    try:
        target = checking.read_target(found)
    except Unreachable as error:
        # Its facts are unknown; a report still has to show that the target was asked for.
        target = Target(found.name or found.text)
        return Approached(found, Plan(target, load(target.family), ()), str(error))
    try:
        planned = checking.plan(target, checking.suite(target.family), only, breadth=breadth)
    except SelectionError as error:
        raise UsageError(str(error)) from error
    try:
        checking.reach(found, slow)
    except Unreachable as error:
        return Approached(found, planned, str(error))
    return Approached(found, planned)


def _run_one(
    approached: Approached, ledger: Ledger, slow: float, jobs: int, reproducers: Path, terminal: Terminal
) -> Verdict:
    if approached.trouble:
        _warn(approached)
        planned = approached.plan
        return judge(planned.target, planned.clauses, (), Ledger(), selection=planned.selection)
    terminal.line(f"{approached.plan.target.name}: {len(approached.plan.cases)} cases")
    progress = Progress(approached.plan, ledger, terminal)
    with progress.shown():
        verdict = _ask(approached, ledger, slow, jobs, reproducers, progress.told)
    progress.finish(verdict)
    return verdict


def _ask(
    approached: Approached,
    ledger: Ledger,
    slow: float,
    jobs: int,
    reproducers: Path,
    told: Callable[[CaseResult], None],
) -> Verdict:
    return checking.run(
        approached.plan, approached.found, ledger, slow=slow, reproducers=reproducers, told=told, jobs=jobs
    )


def _warn(approached: Approached) -> None:
    name = approached.plan.target.name
    print(f"forkproof: {name}: target unreachable: {approached.trouble}", file=sys.stderr)


@contextlib.contextmanager
def _reproducers(report: Path | None) -> Iterator[Path]:
    """Where the run's reproducers go: they outlive it, an empty directory does not."""
    if report is None:
        directory = Path(tempfile.mkdtemp(prefix="forkproof-reproducers-"))
    else:
        directory = report / "reproducers"
        directory.mkdir(exist_ok=True)
    try:
        yield directory
    finally:
        if not any(directory.iterdir()):
            directory.rmdir()


class Progress:
    """Prints the table of an area once the last case that has a say in it has run."""

    def __init__(self, plan: Plan, ledger: Ledger, terminal: Terminal) -> None:
        self._plan = plan
        self._ledger = ledger
        self._terminal = terminal
        self._results: list[CaseResult] = []
        self._open = Counter(area for bound in plan.cases for area in self._areas(bound.clauses))
        self._shown: set[str] = set()
        self._status: RichStatus | None = None

    def _areas(self, clause_ids: Sequence[str]) -> set[str]:
        clauses = self._plan.clauses
        return {clauses[each].area for each in clause_ids if each in clauses}

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """A moving line while the cases run, on a terminal only."""
        if not self._terminal.live:
            yield
            return
        with self._terminal.console.status("starting") as status:
            self._status = status
            yield

    def told(self, result: CaseResult) -> None:
        self._results.append(result)
        if self._status is not None:
            self._status.update(f"{len(self._results)}/{len(self._plan.cases)}  {result.case}")
        areas = self._areas(result.clauses)
        self._open.subtract(areas)
        decided = {area for area in areas if self._open[area] == 0}
        if decided:
            self._show(self._judge(), decided)

    def finish(self, verdict: Verdict) -> None:
        """The areas nobody had a say in."""
        self._show(verdict, {each.clause.area for each in verdict.clauses} - self._shown)

    def _judge(self) -> Verdict:
        return judge(self._plan.target, self._plan.clauses, self._results, self._ledger, selection=self._plan.selection)

    def _show(self, verdict: Verdict, areas: set[str]) -> None:
        self._shown |= areas
        for area, clauses in groupby(verdict.clauses, key=lambda each: each.clause.area):
            if area in areas:
                self._terminal.area(area, list(clauses))
