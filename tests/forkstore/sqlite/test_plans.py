"""Every query of a storage runs with the plan of section 31, whatever statistics the database carries."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Self

import apsw
import pytest

from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.queries import BranchOrder, Order
from forkstore.contract.writes import ListAppend

from .opened import Opened, compaction, message, opened

pytestmark = pytest.mark.asyncio

ORDERS: tuple[Order, ...] = ("asc", "desc")
BRANCH_ORDERS: tuple[BranchOrder, ...] = ("newest_first", "oldest_first")
LOG = list_address("garden.log", "beds")


class Plans:
    """The plans of all queries that run on a storage's connection meanwhile."""

    def __init__(self, storage: Opened) -> None:
        self._storage = storage
        self._seen: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        await self._storage.on_connection(lambda connection: connection.set_exec_trace(self._note))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._storage.on_connection(lambda connection: connection.set_exec_trace(None))

    def _note(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        self._seen[statement] = bindings
        return True

    async def of(self, table: str) -> list[list[str]]:
        """The plans of the queries that begin with a table, line by line."""
        plans = []
        for statement, bindings in self._seen.items():
            if f"FROM {table}" in statement:
                rows = await self._storage.rows(f"EXPLAIN QUERY PLAN {statement}", *bindings)
                plans.append([row[3] for row in rows])
        assert plans
        return plans


async def grown(storage: Opened) -> None:
    """Two branches that hang on a compaction, and a list; and statistics that make a scan look cheap."""
    await storage.commit([message("a", None), compaction("k", "a"), message("b", "k"), message("c", "b")])
    await storage.commit([message("d", "b"), *(ListAppend(LOG, number) for number in range(3))])
    await storage.on_connection(lambda connection: connection.execute("ANALYZE"))
    await storage.on_connection(lambda connection: connection.execute("ANALYZE sqlite_schema"))


async def test_branch_scans_use_the_covering_indexes(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        for order, entry_type, custom_type, cursor in product(
            BRANCH_ORDERS, (None, "message"), (None, "weather"), (None, 4)
        ):
            index = "ix_be_seq" if entry_type is None else "ix_be_type"
            for scan in (storage.scan_branch, storage.scan_branch_structure):
                async with Plans(storage) as plans:
                    await scan("d", order=order, type=entry_type, custom_type=custom_type, cursor=cursor)
                for of_index, of_entries in await plans.of(f"branch_entries AS i INDEXED BY {index}"):
                    assert of_index.startswith(f"SEARCH i USING COVERING INDEX {index} (session_id=? AND branch_id=?")
                    assert of_entries.startswith("SEARCH e USING PRIMARY KEY (session_id=? AND id=?)")
                for plan in await plans.of("branch_entries"):
                    assert all(line.startswith("SEARCH") for line in plan)


async def test_stops_are_found_without_a_walk(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        async with Plans(storage) as plans:
            await storage.scan_branch("d", stop_at_id="a", stop_at_type="compaction")
            await storage.scan_branch("d", stop_at_type="compaction", order="oldest_first")
        found = await plans.of("branch_entries WHERE")
        assert all(len(plan) == 1 and plan[0].startswith("SEARCH branch_entries USING") for plan in found)
        assert sum("PRIMARY KEY" in plan[0] for plan in found) == 1
        assert sum("COVERING INDEX ix_be_type" in plan[0] for plan in found) == 2


async def test_list_pages_use_the_primary_key(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        for order, cursor in product(ORDERS, (None, 6)):
            async with Plans(storage) as plans:
                await storage.read_list(LOG, order=order, cursor=cursor)
            ((line,),) = await plans.of("list_values")
            assert line.startswith("SEARCH list_values USING PRIMARY KEY (session_id=? AND namespace=? AND key=?")


async def test_all_other_reads_search_and_never_sort(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        async with Plans(storage) as plans:
            await storage.get_entries(["a", "b"])
            await storage.get_value(value_address("garden.note"))
            await storage.scan_values(value_address("garden.note", "to"))
            await storage.get_stats()
            for order in ORDERS:
                await storage.scan_entries(order=order, from_seq=2, to_seq=5, type="message")
                await storage.scan_usage(order=order, from_seq=2)
        for table in ("entries", "scalar_values", "usage_ledger", "sessions"):
            for plan in await plans.of(table):
                assert [line.split()[0] for line in plan] == ["SEARCH"], plan


async def test_a_page_at_the_tip_takes_as_many_steps_however_long_the_branch_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        steps = []
        for first in (0, 900):
            count = 100 if first == 0 else 900
            ids = range(first if first == 0 else 100, (first if first == 0 else 100) + count)
            await storage.commit([message(f"e{number}", f"e{number - 1}" if number else None) for number in ids])
            steps.append(await _steps_of_a_page(storage, f"e{ids[-1]}"))
    assert steps[0] == steps[1]


async def _steps_of_a_page(storage: Opened, tip: str) -> int:
    """How many steps SQLite's machine takes for a page of 50 at a tip."""
    steps = 0

    def count(event: dict[str, Any]) -> None:
        nonlocal steps
        steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    await storage.on_connection(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count, id=count))
    assert len(await storage.scan_branch(tip, limit=50)) == 50
    await storage.on_connection(lambda connection: connection.trace_v2(0, None, id=count))
    return steps
