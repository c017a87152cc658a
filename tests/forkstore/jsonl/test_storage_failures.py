"""Commits that fail: nothing has happened, and the next one succeeds (spec sections 5 and 23)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkproof.instruments.fault_kinds import CHANGES, Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.stepping import Stepped, stepped
from forkproof.instruments.sweep import swept
from forkstore import CommitResult, EntryInsert, TreeFork, ValueSet
from forkstore.contract.errors import (
    InvalidArgument,
    InvalidValue,
    StoreIOError,
)
from forkstore.contract.files import FileError
from forkstore.contract.writes import LAST_SEQUENCE
from tests.forkstore.jsonl.committing import NEXT, NOTE, added, commit, note, opened, reopened
from tests.forkstore.jsonl.moments import Twice
from tests.forkstore.jsonl.planted import header_line, plant
from tests.forkstore.jsonl.stores import Store, closing

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


FAULTS: dict[str, Fault] = {
    "fails": Fail("permission_denied"),
    "fails late": FailAfter("unknown"),
    "short": Short(0.5),
    "all but the LF": Short(0.999),
    "nothing": Short(0.0),
    "no space": NoSpace(),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_commit_that_fails_anywhere_has_not_happened_and_the_next_one_succeeds(
    fault: str, store: Store
) -> None:
    """S-TXN-02, S-TXN-18, S-JSONL-TAIL-07."""
    session = await opened(store)
    count = 0

    async def check(n: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal count
        assert isinstance(outcome.error, StoreIOError), str(hit)
        assert outcome.error.__cause__ is hit.error
        assert outcome.error.operation == hit.name
        assert await note(session) == (count or None)
        store.faults.room()
        count += 1
        assert (await commit(session, count)).first_seq == NEXT - 1 + count
        assert added(session).count(b"\n") == count
        assert b"refused" not in added(session)

    assert await swept(lambda: commit(session, "refused"), store.faults, FAULTS[fault], check) >= 1
    again = await reopened(store, session)
    assert await note(again) == "refused"  # the last one, which met no fault


@pytest.mark.parametrize("fault", ["fails late", "short", "all but the LF", "nothing"])
async def test_what_a_failed_append_left_is_cut_off_as_soon_as_that_works(fault: str, store: Store) -> None:
    """S-JSONL-TAIL-07."""
    session = await opened(store)
    store.faults.arm(Twice(FAULTS[fault]), names=CHANGES)
    for operation in ("append_file", "truncate_file"):
        with pytest.raises(StoreIOError) as failure:
            await commit(session, "refused")
        assert failure.value.operation == operation
        assert await note(session) is None
    store.faults.disarm()
    assert (await commit(session, "taken")).first_seq == NEXT
    assert b"refused" not in added(session)
    assert await note(await reopened(store, session)) == "taken"


@pytest.mark.parametrize("fault", ["fails late", "short"])
async def test_what_a_failed_append_left_is_in_no_fork(fault: str, store: Store) -> None:
    """S-JSONL-FORK-07, though the line may stand there whole."""
    session = await opened(store)
    await commit(session, "taken")
    store.faults.arm(Twice(FAULTS[fault]), names=CHANGES)
    with pytest.raises(StoreIOError):
        await commit(session, "refused")
    store.faults.disarm()
    assert added(session).count(b"\n") == (2 if fault == "fails late" else 1)
    fork = await store.repo.fork(session.metadata, TreeFork("fork"))
    assert await note(fork) == "taken"


async def test_close_cuts_off_what_a_failed_append_left(store: Store) -> None:
    session = await opened(store)
    store.faults.arm(Twice(Short(0.5)), names=CHANGES)
    with pytest.raises(StoreIOError):
        await commit(session, "refused")
    assert added(session) != b""
    store.faults.disarm()
    await session.close()
    assert added(session) == b""


async def test_a_close_that_cannot_cut_says_so_and_lets_go_all_the_same(store: Store) -> None:
    """S-SESS-17; the left-over is a torn tail for the next opening."""
    session = await opened(store)
    store.faults.arm(Twice(Short(0.5)), names=CHANGES)
    with pytest.raises(StoreIOError):
        await commit(session, "refused")
    with pytest.raises(StoreIOError) as failure:
        await session.close()
    assert failure.value.operation == "truncate_file"
    assert store.spy.open_readers == []
    store.faults.disarm()
    again = await store.repo.open(session.metadata)
    assert (await note(again), added(again)) == (None, b"")


async def test_a_reader_that_cannot_be_closed_is_a_failure_of_the_closing(store: Store) -> None:
    session = await opened(store)
    store.faults.arm(Fail("unknown"), names={"close"})
    with pytest.raises(StoreIOError) as failure:
        await session.close()
    assert (failure.value.operation, type(failure.value.__cause__)) == ("close", FileError)
    await store.repo.open(session.metadata)


class _Odd(Exception):
    """What no file capability may raise."""


class _Raises(Fault):
    async def strike(self, operation: Any, hit: Hit) -> Any:
        await operation.part(0.5)
        raise _Odd


async def test_an_error_of_any_kind_leaves_the_session_as_it_was(store: Store) -> None:
    """A third party's capability may raise what it must not; that is no reason to lose a session."""
    session = await opened(store)
    store.faults.arm(_Raises(), names={"append_file"})
    with pytest.raises(_Odd):
        await commit(session, "refused")
    assert (await note(session), added(session)) == (None, b"")
    assert (await commit(session, 1)).first_seq == NEXT
    assert await note(await reopened(store, session)) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_cancellation_inside_of_the_append_leaves_no_half_line(when: Any, store: Store) -> None:
    session = await opened(store)

    async def attempt() -> CommitResult:
        store.faults.arm(Cancel(when), names={"append_file"}, caller=asyncio.current_task())
        return await commit(session, "asked")

    outcome = await stepped(attempt)
    assert outcome.kind == "cancelled"
    assert await note(session) == "asked"
    assert await note(await reopened(store, session)) == "asked"


async def test_a_commit_that_is_refused_touches_nothing(store: Store) -> None:
    metadata = plant(store.root, header_line(nextSeq=LAST_SEQUENCE))
    session = await store.repo.open(metadata)
    store.spy.forget()
    with pytest.raises(InvalidValue):
        await session.storage.commit([ValueSet(NOTE, 1), ValueSet(NOTE, 2)])
    assert store.spy.changes() == []
    assert (await commit(session, 1)).seqs == [LAST_SEQUENCE]
    with pytest.raises(InvalidValue):
        await commit(session, 2)
    assert await note(await reopened(store, session)) == 1


@pytest.mark.parametrize("reading", [2**53, -1, 1.5, None, True])
async def test_a_time_that_no_file_can_hold_is_refused_before_anything_is_written(reading: Any, tmp_path: Path) -> None:
    times = [reading, LAST_SEQUENCE]
    async with closing(Store(tmp_path / "sessions", now=lambda: times.pop(0))) as store:
        session = await opened(store)
        entry = EntryInsert({"id": "new", "parentId": None, "type": "message", "message": {}})
        with pytest.raises(InvalidArgument) as refusal:
            await session.storage.commit([entry])
        assert refusal.value.field == "now"
        assert added(session) == b""
        assert (await session.storage.commit([entry])).timestamp == LAST_SEQUENCE
        again = await reopened(store, session)
        assert await again.get_entry("new") is not None
