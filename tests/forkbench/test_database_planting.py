"""Planted rows are those that commits of the same writes leave, table by table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forkbench.database_planting import connect
from forkbench.databases import DatabaseSource, DatabaseStore
from forkgen import Transaction, check_session, recipe
from forkgen.plan import lane_writes
from forkstore.contract.addresses import list_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListDelete
from forkstore.testing import SqliteHarness, SqliteSharedHarness

pytestmark = pytest.mark.one_python

TABLES = {
    "sessions": "message_count, usage_payload, next_seq",
    "entries": "id, parent_id, seq, type, custom_type, payload",
    "scalar_values": "namespace, key, seq, value",
    "list_values": "*",
    "usage_ledger": "*",
    "branch_entries": "branch_id, entry_id, entry_seq, entry_type",
    "branch_meta": "branch_id, tip_entry_id, tip_seq, base_branch_id, base_seq",
}
"""What two sessions of the same writes have in common."""


def entry(entry_id: str, parent_id: str | None) -> EntryInsert:
    return EntryInsert({"id": entry_id, "parentId": parent_id, "type": "message", "message": {"role": "user"}})


def rows(metadata: SessionMetadata) -> dict[str, list[tuple[Any, ...]]]:
    with closing(connect(metadata.path or "", read_only=True)) as connection:
        return {
            table: [
                *connection.execute(
                    f"SELECT {columns} FROM {table} WHERE {'id' if table == 'sessions' else 'session_id'} = ?",
                    (metadata.id,),
                )
            ]
            for table, columns in TABLES.items()
        }


async def committed(store: DatabaseStore, transactions: Iterable[Transaction]) -> SessionMetadata:
    async with store.opened() as repo:
        session = await repo.create(id="committed")
        for transaction in transactions:
            await session.storage.commit(transaction)
        await session.close()
        return session.metadata


async def planted(harness: Any, transactions: Iterable[Transaction]) -> DatabaseSource:
    return await DatabaseStore(harness).plant(transactions, id="planted")


@pytest.mark.parametrize("harness", [SqliteHarness, SqliteSharedHarness], ids=["per-file", "shared"])
def test_planted_rows_are_those_of_commits(tmp_path: Path, harness: Any) -> None:
    transactions = [
        *recipe("benchmark")(seed=0, size=260),
        [entry("root", None), entry("child", "root")],
        [entry("tip", "child"), *lane_writes("side", "tip")],
    ]

    async def both() -> tuple[SessionMetadata, DatabaseSource]:
        store = DatabaseStore(harness(tmp_path))
        return await committed(store, transactions), await store.plant(transactions, id="planted")

    expected, source = asyncio.run(both())
    assert rows(source.metadata) == rows(expected)
    assert source.entries == 263
    assert source.lanes == {"main": range(1, 261), "side": range(264, 267)}


def test_a_planted_session_is_what_its_recipe_says(tmp_path: Path) -> None:
    async def check() -> None:
        generated = recipe("benchmark")(seed=0, size=60)
        store = DatabaseStore(SqliteHarness(tmp_path))
        source = await store.plant(generated, id="planted")
        async with store.opened() as repo:
            session = await repo.open(source.metadata)
            await check_session(session, generated.expectation)
            await session.close()

    asyncio.run(check())


def test_a_benchmark_has_a_short_branch_of_its_newest_entries(tmp_path: Path) -> None:
    async def plant() -> DatabaseSource:
        return (await DatabaseStore(SqliteHarness(tmp_path)).plant_benchmark(60))[0]

    source = asyncio.run(plant())
    assert source.lanes == {"main": range(1, 61), "newest": range(64, 164)}
    tree, newest = [[row[0] for row in source.rows(options)] for options in (TreeFork(), BranchFork("newest"))]
    assert tree[-100:] == newest
    assert source.count(TreeFork()) == len(tree) == 160
    assert source.count(BranchFork("newest")) == len(newest) == 100


@pytest.mark.parametrize(
    ("transaction", "error", "said"),
    [
        ([entry("root", None), entry("a", "root"), entry("b", "root")], ValueError, "b lies below root, not below a"),
        ([ListDelete(list_address("app", "list"))], TypeError, "is neither a message nor a scalar"),
    ],
)
def test_what_cannot_be_planted_is_refused_and_leaves_nothing(
    tmp_path: Path, transaction: Transaction, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        asyncio.run(planted(SqliteHarness(tmp_path), [[entry("first", None)], transaction]))
    (path,) = tmp_path.rglob("planted.sqlite")
    with closing(connect(str(path), read_only=True)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").get == 0
