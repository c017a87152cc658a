"""The kit is fair: every backend that keeps the contract passes it, however different its insides are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from forkproof.case import all_variants, cases_of
from forkproof.harness import SessionHarness
from forkproof.runner import missing_seams, run_case
from forkproof.suites.sessions import MODULES
from forkproof.verdict import Outcome
from forkstore.testing import MemoryHarness
from tests.backends import harnesses

AREAS = {module.__name__.rpartition(".")[2]: module for module in MODULES}
RIGHT = [MemoryHarness, harnesses.Suspending, harnesses.SuspendingDurable, harnesses.Odd, harnesses.BlackBox]


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("make", RIGHT, ids=lambda make: str(make.name))
def test_a_right_backend_holds_every_case(make: type[SessionHarness], area: str, tmp_path: Path) -> None:
    failures = [
        f"{bound.id}: {result.outcome}\n{result.detail}"
        for bound in all_variants(cases_of(AREAS[area]))
        for harness in [make(tmp_path)]
        for result in [run_case(bound, harness)]
        if result.outcome is not (Outcome.NOT_EXERCISED if missing_seams(bound, harness) else Outcome.HELD)
    ]
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("make", [harnesses.Suspending, harnesses.SuspendingDurable, harnesses.Odd])
def test_a_right_backend_really_suspends(make: type[SessionHarness], tmp_path: Path) -> None:
    """Else the test above would prove nothing: every call of the interface comes back later."""
    suspends: ModuleType = import_module("tests.backends.suspension_count")
    assert suspends.calls_that_do_not_suspend(make(tmp_path)) == []
