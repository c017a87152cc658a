"""The pytest plug-in, loaded with every pytest run of a project that has the kit installed: tiny, and quiet until used.

It imports pytest and the standard library only. What judges and reports is imported with the first test of the
contract.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forkproof.contract_run import ContractRun

MARKER = "forkproof"
OUTCOME = "forkproof_outcome"
"""Attribute of a test report that carries a case's result, as plain JSON, to the process that builds the verdict."""
OUTCOME_KEY = pytest.StashKey[dict[str, Any]]()
RUN_KEY = pytest.StashKey["ContractRun"]()
HARNESS_KEY = pytest.StashKey[str]()
"""What is wrong with the harness, once a test has found out: the other tests say so in one folded line."""
HARNESS_FIXTURE = "session_harness"
NO_HARNESS = (
    f"forkproof: there is no fixture {HARNESS_FIXTURE!r}: define one in conftest.py that returns your SessionHarness, "
    "for example `return MyHarness(tmp_path)`"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; registered always, so that a project may name them in its configuration."""
    group = parser.getgroup("forkproof", "forkproof: does a storage backend fork right?")
    group.addoption(
        "--forkproof-slow", type=_factor, default=1.0, metavar="X", help="multiply the ceiling of every case by X"
    )
    group.addoption("--forkproof-report", metavar="DIR", help="write report.json, report.html, summary.md, badge.json")
    group.addoption("--forkproof-ledger", metavar="FILE", help="known failures; default: this project's")


def _factor(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def pytest_configure(config: pytest.Config) -> None:
    """The marker of the contract's tests: `-m "not forkproof"` leaves them out."""
    config.addinivalue_line("markers", f"{MARKER}: a case of the contract, asked of this project's backend")


@pytest.fixture
def session_harness() -> Any:
    """The harness of the backend under test. Projects define their own; see `forkproof.SessionHarness`."""
    pytest.fail(NO_HARNESS, pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One line for a missing harness, instead of one error for every case. Plans what was selected."""
    contract = [item for item in items if item.get_closest_marker(MARKER)]
    if not contract:
        return
    output = getattr(config, "workeroutput", None)
    if any(_lacks_harness(item) for item in contract):
        if output is None:
            raise pytest.UsageError(NO_HARNESS)
        # A worker of xdist cannot end the run; the controller says the line.
        output[MARKER] = NO_HARNESS
        items[:] = [item for item in items if item not in contract]
    elif output is None:
        _run_of(config).plan(item.nodeid for item in contract)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """The same under xdist, where only the workers see the items."""
    from forkproof.contract_run import is_contract_test

    contract = [nodeid for nodeid in ids if is_contract_test(nodeid)]
    if contract:
        _run_of(node.config).plan(contract)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker of xdist had to say about the harness."""
    said = getattr(node, "workeroutput", {}).get(MARKER)
    if said is not None:
        _run_of(node.config).reject(said)


def _lacks_harness(item: pytest.Item) -> bool:
    info = getattr(item, "_fixtureinfo", None)
    definitions = list(info.name2fixturedefs.get(HARNESS_FIXTURE, [])) if info is not None else []
    return bool(definitions) and getattr(definitions[-1].func, "__module__", "") == __name__


def _run_of(config: pytest.Config) -> ContractRun:
    if RUN_KEY not in config.stash:
        from forkproof.contract_run import ContractRun

        config.stash[RUN_KEY] = ContractRun(config)
        config.pluginmanager.register(config.stash[RUN_KEY], "forkproof-run")
    return config.stash[RUN_KEY]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A harness that failed once is not asked again for every case."""
    if HARNESS_KEY in item.config.stash and item.get_closest_marker(MARKER):
        pytest.skip(item.config.stash[HARNESS_KEY])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Puts the result of a case on its report, which xdist carries to the controller."""
    report = yield
    if report.when == "setup" and report.failed and item.get_closest_marker(MARKER):
        item.config.stash[HARNESS_KEY] = f"harness: the fixture {HARNESS_FIXTURE} failed"
    if report.when == "call" and OUTCOME_KEY in item.stash:
        setattr(report, OUTCOME, item.stash[OUTCOME_KEY])
    return report
