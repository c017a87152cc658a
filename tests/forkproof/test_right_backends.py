"""The kit is fair: every backend that keeps the contract passes it, however different its insides are."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from forkproof.case import BoundCase, all_variants, cases_of
from forkproof.checking import plan
from forkproof.harness import Seams, SessionHarness
from forkproof.instruments.stepping import stepped
from forkproof.runner import missing_seams, run_case
from forkproof.suites.sessions import MODULES
from forkproof.verdict import Outcome, Target
from forkstore.contract.addresses import list_address, session_name
from forkstore.contract.forks import TreeFork
from forkstore.contract.store import Storage
from forkstore.contract.writes import EntryInsert
from forkstore.testing import MemoryHarness
from tests.backends import harnesses

AREAS = {module.__name__.rpartition(".")[2]: module for module in MODULES}
RIGHT = [
    pytest.param(MemoryHarness, id="memory"),
    *(
        pytest.param(make, id=str(make.name), marks=pytest.mark.one_python)
        for make in (harnesses.SuspendingDurable, harnesses.Odd, harnesses.BlackBox)
    ),
]


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("make", RIGHT)
def test_a_right_backend_holds_every_case(make: type[SessionHarness], area: str, tmp_path: Path) -> None:
    cases = plan(Target.of(make(tmp_path)), all_variants(cases_of(AREAS[area]))).cases
    failures = [problem for bound in cases if (problem := wrong(bound, make(tmp_path)))]
    assert not failures, "\n\n".join(failures)


def wrong(bound: BoundCase, harness: SessionHarness) -> str | None:
    """Why a case did not come out as it must, None when it did."""
    result = run_case(bound, harness)
    due = Outcome.NOT_EXERCISED if missing_seams(bound, harness) else Outcome.HELD
    return None if result.outcome is due else f"{bound.id}: {result.outcome}\n{result.detail}"


@pytest.mark.parametrize("make", [harnesses.Suspending, harnesses.SuspendingDurable, harnesses.Odd])
def test_the_suspending_backends_really_suspend(make: type[SessionHarness], tmp_path: Path) -> None:
    """Else the test above would prove little: no call of repository or storage comes back in its first step."""
    counts = asyncio.run(suspensions(make(tmp_path)))
    assert {call: count for call, count in counts.items() if not count} == {}


async def suspensions(harness: SessionHarness) -> dict[str, int]:
    """How often each call suspends, from creating a session to deleting it."""
    counts: dict[str, int] = {}

    async def counted(name: str, call: Coroutine[Any, Any, Any]) -> Any:
        outcome = await stepped(lambda: call)
        assert outcome.error is None
        counts[name] = outcome.suspensions
        return outcome.value

    repo = await harness.open_repo(Seams())
    session = await counted("create", repo.create(id="walk", cwd=harness.cwd))
    storage: Storage = session.storage
    entry = {"id": "e", "parentId": None, "type": "custom", "customType": "weather"}
    await counted("commit", storage.commit([EntryInsert(entry)]))
    await counted("get_entries", storage.get_entries(["e"]))
    await counted("get_value", storage.get_value(session_name()))
    await counted("scan_values", storage.scan_values(session_name()))
    await counted("read_list", storage.read_list(list_address("app")))
    await counted("scan_branch", storage.scan_branch("e"))
    await counted("scan_branch_structure", storage.scan_branch_structure("e"))
    await counted("scan_entries", storage.scan_entries())
    await counted("scan_usage", storage.scan_usage())
    await counted("get_stats", storage.get_stats())
    await counted("fork", repo.fork(session.metadata, TreeFork(id="fork")))
    await counted("list", repo.list())
    await storage.close()
    await counted("open", repo.open(session.metadata))
    await session.close()
    await repo.close()
    return counts
