"""The contract inside pytest: runs one case as one test, and makes the verdict of all of them at the end.

Every test carries its result on its report, as plain JSON, so that under xdist the controller builds the one verdict.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

from forkproof.case import BoundCase
from forkproof.checking import is_asked
from forkproof.clauses import load
from forkproof.ledger import Ledger, LedgerError, find_ledger, load_ledger
from forkproof.plugin import HARNESS_FIXTURE, HARNESS_KEY, OUTCOME, OUTCOME_KEY
from forkproof.report import ReportDirectoryError, prepare_directory, write_reports
from forkproof.report.lines import failures, in_short, last_line, notes
from forkproof.runner import run_case
from forkproof.suites.sessions import cases
from forkproof.verdict import CaseResult, Outcome, Target, TargetError, Verdict, Word, judge

HARNESS = "harness: "


def is_contract_test(nodeid: str) -> bool:
    """Whether a node id is that of a case, whatever the project calls the test."""
    return bool(_case_of(nodeid))


def run_as_test(bound: BoundCase, harness: Any, request: pytest.FixtureRequest) -> None:
    """Runs the case; passes, fails, skips with the reason, or is expected to fail by the ledger."""
    config, node = request.config, request.node
    target = _target_of(harness, config, node)
    outcome: dict[str, Any] = {"target": _facts(target)}
    node.stash[OUTCOME_KEY] = outcome
    clauses = load(target.family)
    if not is_asked(target, clauses, bound):
        pytest.skip(f"{bound.id} is not asked of this kind of store")
    slow: float = config.getoption("forkproof_slow")
    result = run_case(bound, harness, slow=slow, reproducers=_reproducers(config))
    if result.detail.startswith(HARNESS):
        outcome["harness"] = result.detail
        _harness_fails(config, result.detail.removeprefix(HARNESS))
    outcome["result"] = result.to_json()
    _say(result, target, config)


def _target_of(harness: Any, config: pytest.Config, node: pytest.Item) -> Target:
    try:
        return Target.of(harness)
    except TargetError as error:
        why = str(error)
    node.stash[OUTCOME_KEY] = {"harness": f"{HARNESS}{why}"}
    return _harness_fails(config, why)


def _say(result: CaseResult, target: Target, config: pytest.Config) -> None:
    detail = f"{result.detail}\n\nreproducer: {result.reproducer}" if result.reproducer else result.detail
    if result.outcome in (Outcome.NOT_EXERCISED, Outcome.NOT_OFFERED):
        pytest.skip(result.detail)
    if result.outcome is Outcome.KIT_ERROR:
        pytest.fail(f"kit error: {detail}", pytrace=False)
    if result.outcome is Outcome.FAILED:
        reason = _known_reason(result, target, _ledger(config))
        if reason is not None:
            pytest.xfail(reason)
        pytest.fail(detail, pytrace=False)


def _known_reason(result: CaseResult, target: Target, ledger: Ledger) -> str | None:
    """Why the failure is known: every clause of the case that is asked of the target has an entry that has not
    expired.
    """
    clauses = load(target.family)
    asked = [one for one in result.clauses if one in clauses and target.is_asked(clauses[one])]
    entries = [ledger.entry_for(target.name, one) for one in asked]
    known = [entry for entry in entries if entry is not None and not ledger.is_expired(entry)]
    return "; ".join(entry.reason for entry in known) if known and len(known) == len(asked) else None


def _harness_fails(config: pytest.Config, why: str) -> NoReturn:
    config.stash[HARNESS_KEY] = f"{HARNESS}{why}"
    pytest.fail(f"{HARNESS}{why}", pytrace=False)


def _facts(target: Target) -> dict[str, Any]:
    return {**asdict(target), "kinds": sorted(target.kinds), "seams": sorted(target.seams)}


def _target(facts: Mapping[str, Any]) -> Target:
    return Target(**{**facts, "kinds": frozenset(facts["kinds"]), "seams": frozenset(facts["seams"])})


def _ledger(config: pytest.Config) -> Ledger:
    named: str | None = config.getoption("forkproof_ledger")
    return load_ledger(Path(named) if named else find_ledger(config.rootpath))


def _reproducers(config: pytest.Config) -> Path | None:
    report: str | None = config.getoption("forkproof_report")
    if report:
        return Path(report) / "reproducers"
    cache = getattr(config, "cache", None)
    return Path(cache.mkdir("forkproof-reproducers")) if cache is not None else None


@dataclass(eq=False)
class ContractRun:
    """Everything one pytest run has learned about its backends; registered as a plug-in with the first test of the
    contract.
    """

    config: pytest.Config
    planned: dict[str, None] = field(default_factory=dict)
    """Node ids of the selected tests."""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the tests reported, by node id; empty for a test that ended without a result."""
    errors: list[str] = field(default_factory=list)
    usage_errors: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.ledger = _ledger(self.config)
            if self.report is not None:
                prepare_directory(self.report)
        except (LedgerError, ReportDirectoryError) as error:
            raise pytest.UsageError(f"forkproof: {error}") from error

    @property
    def report(self) -> Path | None:
        """The directory to write reports to."""
        named: str | None = self.config.getoption("forkproof_report")
        return Path(named) if named else None

    def plan(self, nodeids: Iterable[str]) -> None:
        """Adds selected tests: each of them has to be accounted for."""
        self.planned.update(dict.fromkeys(nodeids))

    def reject(self, usage_error: str) -> None:
        """Ends the run as wrongly set up, with this line."""
        self.usage_errors.append(usage_error)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects what a test reported."""
        if report.nodeid not in self.planned:
            return
        outcome = getattr(report, OUTCOME, None)
        if outcome is not None:
            self.seen[report.nodeid] = outcome
            if "harness" in outcome:
                self.errors.append(outcome["harness"])
        elif report.when != "teardown":
            self.seen.setdefault(report.nodeid, {})
        if report.when == "setup" and report.failed:
            self.errors.append(f"{HARNESS}the fixture {HARNESS_FIXTURE} failed")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Judges, writes the reports, and turns the run red when the verdict is."""
        stopped = bool(session.shouldstop or session.shouldfail) or session.exitstatus == pytest.ExitCode.INTERRUPTED
        if self.config.option.collectonly:
            yield
            return
        self.verdicts = self.judged(stopped)
        if self.planned and not (self.verdicts or self.errors or stopped):
            self.errors.append("every case was skipped: nothing was asked of the backend")
        if self.report is not None and self.verdicts:
            write_reports(self.report, self.verdicts)
        yield
        red = self.errors or any(verdict.exit_code for verdict in self.verdicts)
        if session.exitstatus == pytest.ExitCode.OK and red:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.usage_errors:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def judged(self, stopped: bool) -> list[Verdict]:
        """One verdict per target and test module. A run that was stopped is judged by what it asked."""
        every = {bound.id: bound for bound in cases()}
        targets: dict[tuple[str, Target], list[str]] = {}
        for nodeid, outcome in self.seen.items():
            if "target" in outcome:
                targets.setdefault((nodeid.partition("::")[0], _target(outcome["target"])), []).append(nodeid)
        lost = [] if stopped else [nodeid for nodeid in self.planned if not self.seen.get(nodeid)]
        return [
            self._judge(target, nodeids + lost, every) for (_, target), nodeids in targets.items() if not self.errors
        ]

    def _judge(self, target: Target, nodeids: list[str], every: Mapping[str, BoundCase]) -> Verdict:
        clauses = load(target.family)
        asked = {id: bound.clauses for id, bound in every.items() if is_asked(target, clauses, bound)}
        chosen = {_case_of(nodeid) for nodeid in nodeids}
        planned = {id: named for id, named in asked.items() if id in chosen}
        results = [
            CaseResult.from_json(self.seen[nodeid]["result"])
            for nodeid in nodeids
            if "result" in self.seen.get(nodeid, {})
        ]
        selection = None if len(planned) == len(asked) else {named[0] for named in planned.values()}
        return judge(target, clauses, results, self.ledger, selection=selection, planned=planned)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The verdict, a line per failing clause, and where the reports are."""
        if self.config.option.collectonly:
            return
        terminalreporter.section("forkproof")
        for line in dict.fromkeys([*self.usage_errors, *(f"no verdict: {error}" for error in self.errors)]):
            terminalreporter.line(line, red=True)
        for verdict in self.verdicts:
            self._summarize(verdict, terminalreporter)
        if self.report is not None and self.verdicts:
            terminalreporter.line(f"reports: {self.report}")

    def _summarize(self, verdict: Verdict, terminalreporter: pytest.TerminalReporter) -> None:
        for failure in failures(verdict):
            terminalreporter.line(f"{failure.headline}: {in_short(failure.result.detail)}")
        for note in notes(verdict):
            terminalreporter.line(note)
        if verdict.word is Word.NOTHING_EXERCISED:
            terminalreporter.line("every case was skipped: nothing was asked of the backend", red=True)
        terminalreporter.line(last_line(verdict), red=bool(verdict.exit_code), green=not verdict.exit_code)


def _case_of(nodeid: str) -> str:
    """The case of a node id, also where a parametrized harness adds its own part to the id; empty for other tests."""
    parameters = nodeid.partition("[")[2]
    exact = parameters.removesuffix("]")
    every = _case_ids()
    return exact if exact in every else max((id for id in every if id in parameters), key=len, default="")


@cache
def _case_ids() -> frozenset[str]:
    return frozenset(bound.id for bound in cases())
