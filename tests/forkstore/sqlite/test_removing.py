"""Deleting sessions in databases (S-REPO-17 to S-REPO-19, S-SQL-LAY-07 to S-SQL-LAY-09)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkstore import (
    BranchFork,
    ListAppend,
    SessionMetadata,
    SessionNotFound,
    StoreIOError,
    TreeFork,
    UsageInsert,
    ValueSet,
    list_address,
    value_address,
)
from forkstore.contract.records import zero_usage
from forkstore.sqlite.schema import TABLES
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store
from tests.forkstore.sqlite.watched_connections import plain

pytestmark = pytest.mark.asyncio


def _database(metadata: SessionMetadata) -> Path:
    return Path(metadata.path or "")


async def _full(store: Store, id: str) -> SessionMetadata:
    """A closed session with rows in every table."""
    session = await store.repo.open(await store.closed(id))
    usage = {"id": "u1", "usage": zero_usage(), "adjustment": False}
    await session.storage.commit(
        [ValueSet(value_address("beds"), 1), ListAppend(list_address("log"), 2), UsageInsert(usage)]
    )
    await session.close()
    return session.metadata


async def test_a_database_goes_with_its_side_files(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    walk, other = await store.closed("walk"), await store.closed("walk-2")
    await store.repo.list()  # leaves side files
    with plain(_database(walk)) as reader:
        reader.execute("BEGIN; SELECT * FROM sessions").fetchall()
        await store.repo.delete(walk)
    assert {path.name for path in store.directory.iterdir() if not path.name.startswith("walk-2")} == set()
    with pytest.raises(SessionNotFound):
        await store.repo.delete(walk)
    assert await store.repo.list() == [other]
    assert store.connections.still_open == 0


async def test_rows_go_from_all_tables_and_no_others(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=True)
    walk, other = await _full(store, "walk"), await _full(store, "Walk")
    with plain(_database(walk)) as own:
        before = {table: own.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
        begun: list[str] = []
        store.connections.before = begun.append
        await store.repo.delete(walk)
        after = {table: own.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    assert all(len(rows) >= 2 and "walk" in {row[0] for row in rows} for rows in before.values())
    assert after == {table: [row for row in rows if row[0] != "walk"] for table, rows in before.items()}
    assert [statement for statement in begun if statement.startswith(("BEGIN", "COMMIT"))] == [
        "BEGIN IMMEDIATE",
        "COMMIT",
    ]
    with pytest.raises(SessionNotFound):
        await store.repo.delete(walk)
    assert await store.repo.list() == [other]


@BOTH_LAYOUTS
async def test_a_deleted_id_is_free_and_its_forks_stay(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    fork = await store.repo.fork(walk, BranchFork("garden", id="fork"))
    await store.repo.delete(walk)
    again = await store.repo.create(id="walk")
    assert await again.find_entries() == []
    assert len(await fork.find_entries()) == 2
    await store.repo.close()


@BOTH_LAYOUTS
async def test_a_delete_that_fails_at_any_statement_leaves_the_session_whole(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await _full(store, "walk")
    for statement in range(1, 40):
        store.connections.fail_at(statement)
        try:
            await store.repo.delete(walk)
        except StoreIOError:
            session = await store.repo.open(walk)
            assert len(await session.find_entries()) == 2
            assert len(await session.scan_usage()) == 1
            await session.close()
        else:
            break
    store.connections.disarm()
    assert statement == (13 if shared else 4)
    assert await store.ids() == []


@BOTH_LAYOUTS
async def test_a_cancelled_delete_ends_first(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    deleting = asyncio.create_task(store.repo.delete(walk))
    await asyncio.sleep(0)
    deleting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deleting
    assert await store.ids() == []
    await (await store.repo.create(id="walk")).close()


async def test_a_log_that_a_killed_delete_left_is_not_the_next_sessions(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    session = await store.repo.create(id="walk")
    await session.set_name("old")
    path = _database(session.metadata)
    sides = {path.with_name(f"{path.name}{side}") for side in ("-wal", "-shm")}
    left_over = {side: side.read_bytes() for side in sides}
    assert all(left_over.values())
    await session.close()
    await store.repo.delete(session.metadata)
    for side, data in left_over.items():
        side.write_bytes(data)
    assert await store.ids() == []
    again = await store.repo.create(id="walk")
    assert await again.get_name() is None
    await again.set_name("new")
    await again.close()
    assert await (await store.repo.fork(again.metadata, TreeFork(id="fork"))).get_name() == "new"
    await store.repo.close()
