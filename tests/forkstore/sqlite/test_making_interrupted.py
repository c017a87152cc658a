"""Creates and forks that fail, or are cancelled, at any statement (S-FORK-FAIL-02, -04 to -06, S-SQL-LAY-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from forkstore import BranchFork, SqliteSessionRepo, StoreIOError
from forkstore.session import Session
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store

pytestmark = [pytest.mark.asyncio, pytest.mark.one_python]

Make = Callable[[SqliteSessionRepo], Awaitable[Session]]
MOST_STATEMENTS = 300


async def _create(store: Store) -> Make:
    return lambda repo: repo.create(id="walk")


async def _fork(store: Store) -> Make:
    source = await store.closed("source", entries=3)
    return lambda repo: repo.fork(source, BranchFork("garden", id="walk"))


MAKES = pytest.mark.parametrize("prepare", [_create, _fork], ids=["create", "fork"])


@MAKES
@BOTH_LAYOUTS
async def test_what_fails_at_any_statement_leaves_nothing(
    prepare: Callable[[Store], Awaitable[Make]], shared: bool, tmp_path: Path
) -> None:
    store = Store(tmp_path, shared=shared, stage_batch_rows=2)
    make = await prepare(store)
    before, ids = store.standing(), await store.ids()
    for statement in range(1, MOST_STATEMENTS):
        store.connections.fail_at(statement)
        try:
            session = await make(store.repo)
        except StoreIOError:
            assert (store.standing(), await store.ids()) == (before, ids), store.connections.failed
            assert store.connections.still_open == 0
        else:
            break
    store.connections.disarm()
    assert 10 < statement < MOST_STATEMENTS - 1
    await session.close()
    assert await store.ids() == [*ids, "walk"]


@MAKES
@BOTH_LAYOUTS
async def test_what_is_cancelled_at_any_moment_leaves_nothing(
    prepare: Callable[[Store], Awaitable[Make]], shared: bool, tmp_path: Path
) -> None:
    store = Store(tmp_path, shared=shared, stage_batch_rows=2)
    make = await prepare(store)
    before, ids = store.standing(), await store.ids()
    loop = asyncio.get_running_loop()
    for moment in range(1, MOST_STATEMENTS):
        making = asyncio.ensure_future(make(store.repo))
        store.connections.at(moment, partial(loop.call_soon_threadsafe, making.cancel))
        try:
            session = await making
        except asyncio.CancelledError:
            assert (store.standing(), await store.ids()) == (before, ids), moment
            assert store.connections.still_open == 0
        else:
            break
    store.connections.disarm()
    assert 10 < moment < MOST_STATEMENTS - 1
    await session.close()
    assert await store.ids() == [*ids, "walk"]
