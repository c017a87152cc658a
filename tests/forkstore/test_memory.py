"""What is special to the memory backend: nothing suspends, closed sessions stay, and forks share records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from forkstore import BranchFork, MemorySessionRepo, TreeFork
from forkstore.contract.addresses import branch_tip, lane_config, lane_state, list_address, value_address
from forkstore.contract.errors import (
    InvalidArgument,
    RepoClosed,
    SessionClosed,
    SessionExists,
    SessionInUse,
    SessionNotFound,
)
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write
from forkstore.memory.fork import fork_state
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock, Probe
from forkstore.state import SessionState

SCALAR, LIST = value_address("app", "k"), list_address("app", "k")
WRITES: list[Write] = [
    EntryInsert({"id": "e1", "parentId": None, "type": "message", "message": {"role": "user"}}),
    EntryInsert({"id": "e2", "parentId": "e1", "type": "custom", "customType": "weather"}),
    ValueSet(branch_tip("garden"), "e2"),
    ValueSet(lane_config("garden"), {}),
    ValueSet(lane_state("garden"), {}),
    ValueSet(SCALAR, [1]),
    ListAppend(LIST, 1),
]


def at_once(call: Coroutine[Any, Any, Any]) -> Any:
    """The outcome of a call that must not suspend. There is no event loop for it to suspend in."""
    try:
        call.send(None)
    except StopIteration as ended:
        return ended.value
    call.close()
    raise AssertionError("the call suspends")


def filled(repo: MemorySessionRepo, id: str = "walk-1") -> Any:
    session = at_once(repo.create(id=id))
    at_once(session.storage.commit(WRITES))
    return session


def test_no_call_suspends() -> None:
    """A fork without a probe, scopes and finds included; only closing runs as a task of its own."""
    repo = MemorySessionRepo()
    session = filled(repo)
    at_once(session.set_value(SCALAR, 2))
    branch = at_once(session.create_branch("plot", "e1"))
    at_once(branch.append_message({"role": "user"}))
    scope = at_once(session.begin_mutation())
    at_once(scope.commit([]))
    at_once(scope.end())
    at_once(session.mutate(lambda scope: scope.get_stats()))
    for read in (
        session.get_entries(["e1"]),
        session.get_value(SCALAR),
        session.scan_values(SCALAR),
        session.read_list(LIST),
        session.scan_branch("e2"),
        session.scan_branch_structure("e2"),
        session.scan_entries(),
        session.scan_usage(),
        session.get_stats(),
        branch.find_entries(),
        repo.list(),
    ):
        at_once(read)
    for options in (TreeFork("tree"), BranchFork("garden", id="branch")):
        at_once(repo.fork(session.metadata, options))
    assert [metadata.id for metadata in at_once(repo.list())] == ["branch", "tree", "walk-1"]


@pytest.mark.asyncio
async def test_a_closed_session_stays_until_it_is_deleted() -> None:
    """S-REPO-20, by `open` and by `fork`."""
    repo = MemorySessionRepo()
    session = filled(repo)
    await session.close()
    fork = await repo.fork(session.metadata, TreeFork("fork"))
    assert await fork.find_entries(order="asc") == await (await repo.open(session.metadata)).find_entries(order="asc")
    again = await repo.list()
    assert {metadata.id for metadata in again} == {"walk-1", "fork"}
    await fork.close()
    await repo.delete(fork.metadata)
    for call in (repo.open, repo.delete):
        with pytest.raises(SessionNotFound):
            await call(fork.metadata)


@pytest.mark.asyncio
async def test_a_closed_repository_has_let_go_of_its_sessions() -> None:
    """S-REPO-20, S-REPO-21."""
    repo = MemorySessionRepo()
    session = filled(repo)
    await repo.close()
    with pytest.raises(SessionClosed):
        await session.get_stats()
    calls: list[Callable[[], Coroutine[Any, Any, object]]] = [
        repo.create,
        repo.list,
        lambda: repo.open(session.metadata),
        lambda: repo.delete(session.metadata),
        lambda: repo.fork(session.metadata, TreeFork()),
    ]
    for call in calls:
        with pytest.raises(RepoClosed):
            await call()
    await repo.close()


class FailsToClose(MemorySessionRepo):
    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def close(self) -> None:
            raise OSError("no room")


@pytest.mark.asyncio
@pytest.mark.parametrize(("sessions", "error"), [(1, OSError), (3, ExceptionGroup)])
async def test_a_repository_whose_sessions_fail_to_close_is_closed_all_the_same(
    sessions: int, error: type[Exception]
) -> None:
    """S-REPO-22, S-REPO-23, S-SESS-17."""
    repo = FailsToClose()
    for number in range(sessions):
        await repo.create(id=f"walk-{number}")
    closings = [asyncio.create_task(repo.close()) for _ in range(2)]
    first, second = await asyncio.gather(*closings, return_exceptions=True)
    assert first is second
    assert isinstance(first, error)
    with pytest.raises(RepoClosed):
        await repo.list()


@pytest.mark.asyncio
async def test_a_session_that_fails_to_close_can_be_opened_again() -> None:
    """S-SESS-17."""
    repo = FailsToClose()
    session = await repo.create(id="walk-1")
    with pytest.raises(OSError, match="no room"):
        await session.close()
    assert (await repo.open(session.metadata)).metadata == session.metadata


def test_ids_are_held_while_a_session_is_open() -> None:
    """S-OWN-04, S-OWN-05, S-OWN-12."""
    repo = MemorySessionRepo()
    session = filled(repo)
    for call in (repo.create(id="walk-1"), repo.fork(session.metadata, TreeFork("walk-1"))):
        with pytest.raises(SessionExists):
            at_once(call)
    for use in (repo.open, repo.delete):
        with pytest.raises(SessionInUse):
            at_once(use(session.metadata))


@pytest.mark.parametrize(
    "metadata",
    [None, "walk-1", {"id": "walk-1"}, SessionMetadata(id=["walk-1"], created_at=0)],  # type: ignore[arg-type]
)
def test_metadata_is_metadata(metadata: Any) -> None:
    repo = MemorySessionRepo()
    for call in (repo.open(metadata), repo.delete(metadata), repo.fork(metadata, TreeFork())):
        with pytest.raises(InvalidArgument):
            at_once(call)


@pytest.mark.parametrize(
    "options", [{"cwd": "/srv"}, {"cwd": ""}, {"parent_session_id": 5}, {"parent_session_id": "\ud800"}]
)
def test_an_argument_that_is_not_for_this_store_is_refused(options: Any) -> None:
    """S-REPO-26."""
    repo = MemorySessionRepo()
    with pytest.raises(InvalidArgument):
        at_once(repo.create(id="walk-1", **options))
    at_once(repo.create(id="walk-1", parent_session_id="anything"))


@pytest.mark.parametrize("reading", [None, 1.5, True, -1, "1"])
def test_a_clock_that_gives_no_time_stops_the_call_and_nothing_else(reading: Any) -> None:
    times = [1_000, 2_000, reading, 3_000]
    repo = MemorySessionRepo(now=lambda: times.pop(0))
    session = filled(repo)
    with pytest.raises(InvalidArgument) as refusal:
        at_once(session.set_value(SCALAR, "lost"))
    assert refusal.value.field == "now"
    assert at_once(session.set_value(SCALAR, "kept")).timestamp == 3_000
    assert at_once(session.get_value(SCALAR)).seq == len(WRITES) + 1


def test_a_fork_shares_records_and_no_container_with_its_source() -> None:
    """S-FORK-STR-07, S-FORK-DST-13: nothing is decoded or duplicated, and neither side can reach the other."""
    source = SessionState()
    at_once(MemoryStorage(source, Clock(None)).commit(WRITES))
    for options in (TreeFork(), BranchFork("garden")):
        destination, writes = fork_state(source, options)
        assert destination.entries["e1"] is source.entries["e1"]
        assert destination.next_seq == source.next_seq
        assert writes == len(destination.entries) + len(list(destination.fork_rows()))
        for container in ("entries", "entry_order", "scalars", "lists", "usage_rows", "usage"):
            assert getattr(destination, container) is not getattr(source, container)
    tree, _ = fork_state(source, TreeFork())
    at_once(MemoryStorage(tree, Clock(None)).commit([ListAppend(LIST, 2), ValueSet(SCALAR, 3)]))
    assert [record.text for record in source.lists["app"]["k"]] == [b"1"]
    assert source.scalars["app"]["k"].text == b"[1]"


@pytest.mark.asyncio
@pytest.mark.parametrize("methods", ["", "boundary_captured", "batch_copied", "before_publish"])
async def test_a_probe_may_lack_methods(methods: str) -> None:
    """Section 19.2; and an empty batch is not reported."""
    heard: list[tuple[object, ...]] = []

    async def hear(*arguments: object) -> None:
        heard.append(arguments)

    probe = Probe(type("Some", (), {methods: staticmethod(hear)} if methods else {})())
    await probe.boundary_captured()
    await probe.batch_copied(0)
    await probe.batch_copied(3)
    await probe.before_publish()
    assert heard == ([] if not methods else [(3,)] if methods == "batch_copied" else [()])


def test_metadata_is_compared_by_value() -> None:
    repo = MemorySessionRepo(now=lambda: 5)
    session = at_once(repo.create(id="walk-1", parent_session_id="before"))
    expected = SessionMetadata(id="walk-1", created_at=5, storage_version=1, parent_session_id="before")
    assert session.metadata == expected == at_once(repo.list())[0]
