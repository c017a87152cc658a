"""One run of a family's cases against one target, without pytest: plan, run, judge."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from random import Random

from forkproof.case import BoundCase
from forkproof.clauses import Clauses, load
from forkproof.harness import Seams, lacking_calls
from forkproof.interrupts import watched_interrupts
from forkproof.ledger import Ledger
from forkproof.runner import run_case
from forkproof.targets import FoundTarget, HarnessFactory, describe
from forkproof.verdict import CaseResult, Outcome, Target, Verdict, judge
from forkproof.workers import run_in_workers


class SelectionError(ValueError):
    """A selection that selects nothing; the message is one line."""


class Unreachable(Exception):
    """The harness gives no repository: its constructor or its open_repo raises."""


@dataclass(frozen=True)
class Plan:
    """What will be asked of one target."""

    target: Target
    clauses: Clauses
    cases: tuple[BoundCase, ...]
    selection: frozenset[str] | None = None
    left_out: int = 0
    """How many variants of these cases are not asked, because the run is to be short."""


def suite(family: str) -> tuple[BoundCase, ...]:
    """The bound cases of a family, in contract order; empty for a family whose suite does not exist yet."""
    name = f"forkproof.suites.{family}"
    if find_spec("forkproof.suites") is None or find_spec(name) is None:
        return ()
    cases: tuple[BoundCase, ...] = import_module(name).cases()
    return cases


def plan(target: Target, cases: Sequence[BoundCase], only: Sequence[str] = (), *, breadth: int | None = None) -> Plan:
    """The cases whose naming clause is asked of the target, narrowed to clause or case id prefixes, and to at most
    `breadth` variants of each case.

    Raises SelectionError when a prefix selects nothing that this target is asked.
    """
    asked = _asked(target, cases, only)
    if breadth is None:
        return asked
    kept = tuple(_some_of_each(target, asked.cases, breadth))
    return replace(asked, cases=kept, left_out=len(asked.cases) - len(kept))


def _asked(target: Target, cases: Sequence[BoundCase], only: Sequence[str]) -> Plan:
    clauses = load(target.family)
    asked = [bound for bound in cases if is_asked(target, clauses, bound)]
    if not only:
        return Plan(target, clauses, tuple(asked))
    selection: set[str] = set()
    for prefix in only:
        ids = {clause.id for clause in clauses.starting_with(prefix) if target.is_asked(clause)}
        ids = ids or {clause_id for bound in asked if bound.id.startswith(prefix) for clause_id in bound.clauses}
        if not ids:
            known = bool(clauses.starting_with(prefix))
            why = f"its clauses are not asked of {target.name}" if known else "no clause or case begins so"
            raise SelectionError(f"--only {prefix}: selects nothing: {why}")
        selection |= ids
    chosen = tuple(bound for bound in asked if _is_chosen(bound, only, selection))
    return Plan(target, clauses, chosen, frozenset(selection))


def _some_of_each(target: Target, cases: Iterable[BoundCase], breadth: int) -> Iterator[BoundCase]:
    """At most so many variants of each case, in their order. Which ones, the names of target and case decide: always
    the same, and others for another target.
    """
    for name, group in groupby(cases, key=lambda bound: bound.case.name):
        variants = list(group)
        some = Random(f"{target.name} {name}").sample(range(len(variants)), min(breadth, len(variants)))
        yield from (variants[number] for number in sorted(some))


def is_asked(target: Target, clauses: Clauses, bound: BoundCase) -> bool:
    """Whether a case is about a store of this kind: by its own word, and by the clause that names it."""
    naming, kinds = bound.clauses[0], bound.case.kinds
    if kinds is not None and not kinds & target.kinds:
        return False
    return naming not in clauses or target.is_asked(clauses[naming])


def _is_chosen(bound: BoundCase, only: Sequence[str], selection: set[str]) -> bool:
    by_case_id = [prefix for prefix in only if bound.id.startswith(prefix)]
    by_clause = [each for each in bound.clauses if each in selection and any(each.startswith(p) for p in only)]
    return bool(by_case_id or by_clause)


def read_target(found: FoundTarget) -> Target:
    """The facts of a target, from a harness that is made for this and thrown away.

    Raises Unreachable when the constructor raises, TargetError (from Target.of) when the facts cannot be used.
    """
    with _place() as directory:
        return Target.of(_make(found.make, directory), found.name)


def reach(found: FoundTarget, slow: float) -> None:
    """Opens the target's repository once. Raises Unreachable: one line instead of the same failure in every case."""
    with _place() as directory:
        harness = _make(found.make, directory)
        try:
            asyncio.run(asyncio.wait_for(_open_once(harness), 60 * slow))
        except Unreachable:
            raise
        except TimeoutError as error:
            raise Unreachable(f"open_repo did not return within {60 * slow:g} s") from error
        except Exception as error:
            raise Unreachable(f"open_repo raised {describe(error)}") from error


async def _open_once(harness: object) -> None:
    open_repo = getattr(harness, "open_repo", None)
    if open_repo is None:
        raise Unreachable(f"{type(harness).__name__} has no open_repo")
    try:
        repo = await open_repo(Seams())
    except SystemExit as error:
        raise Unreachable(f"open_repo raised {describe(error)}") from error
    lacking = lacking_calls(repo)
    if lacking:
        raise Unreachable(f"open_repo returned {type(repo).__name__}: no {', '.join(lacking)}")
    # A close that fails is a matter for the cases: they say which clause it breaks.
    with contextlib.suppress(Exception):
        await repo.close()


def run(
    planned: Plan,
    found: FoundTarget,
    ledger: Ledger,
    *,
    slow: float,
    reproducers: Path,
    told: Callable[[CaseResult], None],
    jobs: int = 1,
) -> Verdict:
    """Runs every planned case on a fresh harness in a directory of its own, tells each result, and judges.

    `jobs` is the number of processes that share the cases. Raises KeyboardInterrupt, also for one that got lost inside
    a case.
    """
    if jobs == 1:
        running = run_each(planned.cases, found.make, slow=slow, reproducers=reproducers)
    else:
        running = run_in_workers(
            found.text, planned.target.family, planned.cases, jobs=jobs, slow=slow, reproducers=reproducers
        )
    results = []
    with watched_interrupts() as raise_if_interrupted:
        for result in running:
            raise_if_interrupted()
            results.append(result)
            told(result)
    return judge(
        planned.target,
        planned.clauses,
        results,
        ledger,
        selection=planned.selection,
        planned={bound.id: bound.clauses for bound in planned.cases},
        left_out=planned.left_out,
    )


def run_each(
    cases: Sequence[BoundCase], make: HarnessFactory, *, slow: float, reproducers: Path
) -> Iterator[CaseResult]:
    """The result of every case, each on a fresh harness in a directory of its own that is removed after it."""
    with _place() as place:
        for number, bound in enumerate(cases):
            directory = place / str(number)
            directory.mkdir()
            yield _run_one(bound, make, directory, slow, reproducers)
            shutil.rmtree(directory, ignore_errors=True)


def _run_one(bound: BoundCase, make: HarnessFactory, directory: Path, slow: float, reproducers: Path) -> CaseResult:
    try:
        harness = _make(make, directory)
    except Unreachable as error:
        # No clause is broken by a harness that fails now and then; the run cannot be trusted all the same.
        return CaseResult(bound.id, bound.clauses, Outcome.KIT_ERROR, 0.0, str(error), 0)
    return run_case(bound, harness, slow=slow, reproducers=reproducers)


def _make(make: HarnessFactory, directory: Path) -> object:
    try:
        return make(directory)
    except (Exception, SystemExit) as error:
        raise Unreachable(f"the harness could not be made: {describe(error)}") from error


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="forkproof-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)
