"""Commits to a file: one line, one call, in order, whoever is cancelled (spec sections 5 and 22)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkstore import CommitResult, EntryInsert, TreeFork, ValueSet, Write, value_address
from forkstore.contract.errors import (
    DuplicateId,
)
from forkstore.jsonl.files import INLINE_BYTES
from tests.forkstore.gated import settle
from tests.forkstore.held import HeldThreads, at_once, cancelled_while_held
from tests.forkstore.jsonl.committing import NEXT, NOTE, added, commit, note, opened, reopened
from tests.forkstore.jsonl.moments import Meanwhile, slow_files
from tests.forkstore.jsonl.planted import GARDEN, bytes_of, plant
from tests.forkstore.jsonl.stores import Store, closing

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


# ── one line, one call ──


async def test_a_commit_is_one_look_and_one_append(store: Store) -> None:
    """S-JSONL-FMT-15."""
    session = await opened(store)
    store.spy.forget()
    await commit(session, 1)
    assert store.spy.sequence() == ["file_info", "append_file"]
    await session.storage.commit([])
    assert store.spy.sequence() == ["file_info", "append_file", "file_info"]
    assert added(session) == (b'{"kind":"value","op":"set","seq":21,"namespace":"app","key":"note","value":1}\n')


async def test_without_others_a_commit_never_suspends(tmp_path: Path) -> None:
    """The work of a small append is far less than that of a task or a thread."""
    store = Store(tmp_path)
    repo = type(store.repo)(tmp_path)
    session = await repo.open(plant(tmp_path))
    result: CommitResult = at_once(commit(session, "x" * (INLINE_BYTES - 100)))
    assert result.first_seq == NEXT
    await repo.close()


async def test_the_state_changes_only_after_the_append_has_succeeded(store: Store) -> None:
    """S-JSONL-FMT-15, S-TXN-16."""
    session = await opened(store)
    seen: list[Any] = []
    store.faults.arm(Meanwhile(lambda: seen.append(at_once(session.get_value(NOTE)))), names={"append_file"})
    await commit(session, 1)
    assert seen == [None]
    assert await note(session) == 1


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_big_line_is_written_in_a_thread_and_the_commit_outlives_its_caller(
    moment: Any, tmp_path: Path
) -> None:
    """S-TXN-17: cancelled while a thread writes, the commit is there when its caller hears of it."""
    repo = Store(tmp_path).repo
    repo = type(repo)(tmp_path)
    session = await repo.open(plant(tmp_path))
    await cancelled_while_held(commit(session, "x" * INLINE_BYTES), moment)
    assert await note(session) == "x" * INLINE_BYTES
    assert len(added(session)) > INLINE_BYTES
    assert (await commit(session, 2)).first_seq == NEXT + 1
    await repo.close()


async def test_others_go_on_while_a_big_line_is_written(tmp_path: Path) -> None:
    repo = type(Store(tmp_path).repo)(tmp_path)
    session, other = await repo.open(plant(tmp_path)), await repo.create(cwd=GARDEN)
    with HeldThreads("before") as threads:
        big = asyncio.ensure_future(commit(session, "x" * INLINE_BYTES))
        await threads.until_held(big)
        assert (await commit(other, 1)).first_seq == 1
        assert await note(session) is None
        small = asyncio.ensure_future(commit(session, 2))
        await settle()
        assert not small.done()
        threads.let_go()
        assert [result.first_seq for result in await asyncio.gather(big, small)] == [NEXT, NEXT + 1]
    await repo.close()


# ── order ──


async def test_commits_take_effect_in_the_order_of_their_first_steps(tmp_path: Path) -> None:
    """S-TXN-03, with files that suspend in every call, refused and cancelled commits among them, and a fork."""
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        session = await opened(store)
        calls: list[Any] = [asyncio.ensure_future(commit(session, number)) for number in range(4)]
        calls.append(asyncio.ensure_future(store.repo.fork(session.metadata, TreeFork("fork"))))
        entry = EntryInsert({"id": "e1", "parentId": None, "type": "message", "message": {}})
        calls.append(asyncio.ensure_future(session.storage.commit([entry])))
        calls.extend(asyncio.ensure_future(commit(session, number)) for number in range(4, 8))
        await asyncio.sleep(0)
        calls[6].cancel()
        results: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
        assert [result.first_seq for result in results[:4]] == [NEXT, NEXT + 1, NEXT + 2, NEXT + 3]
        assert await note(results[4]) == 3
        assert isinstance(results[5], DuplicateId)
        assert isinstance(results[6], asyncio.CancelledError)
        assert [result.first_seq for result in results[7:]] == [NEXT + 4, NEXT + 5, NEXT + 6]
        again = await reopened(store, session)
        assert await note(again) == 7


@pytest.mark.parametrize("again_after", [None, 1, 2])
async def test_a_commit_that_is_cancelled_anywhere_is_wholly_there_or_not_at_all(
    again_after: int | None, tmp_path: Path
) -> None:
    """S-TXN-17."""
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        session = await opened(store)
        writes: list[Write] = [ValueSet(NOTE, "whole"), ValueSet(value_address("app", "more"), 1)]
        seen: set[Any] = set()

        async def whole_or_absent(k: int, outcome: Stepped) -> None:
            assert outcome.kind == "cancelled", k
            value = await note(session)
            seen.add(value)
            assert (await session.get_value(value_address("app", "more")) is None) is (value is None), k
            content, next_seq = bytes_of(session.metadata), (await session.storage.commit([])).first_seq
            await settle()
            assert bytes_of(session.metadata) == content, k
            again = await reopened(store, session)
            assert (await note(again), (await again.storage.commit([])).first_seq) == (value, next_seq), k
            await again.close()
            await fresh()

        async def fresh() -> None:
            nonlocal session
            session = await opened(store)

        suspensions = await cancelled_at_every_suspension(
            lambda: session.storage.commit(writes), whole_or_absent, again_after=again_after
        )
        assert suspensions >= 3
        assert seen == {None, "whole"}
