"""Reads of several statements see one moment, and take parameters of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from forkproof.instruments.own_connections import change
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.writes import ListAppend, ValueSet
from forkstore.sqlite.binding import after_prefix

from .opened import SESSION, Opened, message, opened

pytestmark = pytest.mark.asyncio


class Meanwhile:
    """Somebody else's commit, made when a storage is about to run its second query."""

    def __init__(self, path: str, *statements: str) -> None:
        self._path = path
        self._statements = statements
        self._queries = 0

    def __call__(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        self._queries += statement.lstrip().startswith("SELECT")
        if self._queries == 2:
            self._queries += 1
            change(self._path, *self._statements)
        return True


async def interrupted(storage: Opened, *statements: str) -> None:
    """From now on those statements are committed before the storage's second query."""
    meanwhile = Meanwhile(storage.path, *statements)
    await storage.on_connection(lambda connection: connection.set_exec_trace(meanwhile))


async def test_entries_are_looked_up_at_one_moment(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        row = f"'{SESSION}', 'b', 'a', 2, 'message', NULL, 1, '{{}}'"
        await interrupted(storage, f"INSERT INTO entries VALUES ({row})")
        assert list(await storage.get_entries(["a", "b"])) == ["a"]
        assert list(await storage.get_entries(["a", "b"])) == ["a", "b"]


async def test_a_branch_is_walked_at_one_moment(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None), message("b", "a")])
        await interrupted(storage, "DELETE FROM branch_entries", "DELETE FROM entries")
        assert [entry["id"] for entry in await storage.scan_branch("b")] == ["b", "a"]
        assert await storage.scan_entries() == []


async def test_a_read_leaves_no_transaction_open(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        await storage.get_entries(["a", "b"])
        await storage.scan_branch("a")
        assert await storage.on_connection(lambda connection: connection.in_transaction) is False


async def test_very_many_ids_are_looked_up(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None), message("b", "a")])
        ids = ["b", *(f"e{number}" for number in range(40_000)), "a"]
        assert list(await storage.get_entries(ids)) == ["b", "a"]


async def test_cursors_bounds_and_limits_may_be_of_any_size(tmp_path: Path) -> None:
    log, huge = list_address("garden.log"), 2**80
    async with opened(tmp_path) as storage:
        await storage.commit([ListAppend(log, 1), message("a", None)])
        assert [element.value for element in await storage.read_list(log, order="desc", cursor=huge, limit=huge)] == [1]
        assert await storage.read_list(log, cursor=huge) == []
        assert [entry["id"] for entry in await storage.scan_entries(from_seq=-huge, to_seq=huge, limit=huge)] == ["a"]
        assert await storage.scan_entries(from_seq=huge) == []
        assert await storage.scan_usage(to_seq=-huge) == []


KEYS = [
    "",
    "a",
    "a\U0010ffff",
    "a\U0010ffffb",
    "b",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\uffffz",
    "\U00010000",
    "\U0010ffff",
]


@pytest.mark.parametrize("prefix", [*KEYS, "\U0010ffff\U0010ffff", "a\U0010ffff\U0010ffff", "nothing"])
async def test_a_prefix_finds_the_keys_that_start_with_it_in_order(tmp_path: Path, prefix: str) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([ValueSet(value_address("garden.key", key), key) for key in reversed(KEYS)])
        await storage.commit([ValueSet(value_address(namespace, "a"), 0) for namespace in ("garden.kez", "garden.ke")])
        found = await storage.scan_values(value_address("garden.key", prefix))
        assert [row.value for row in found] == sorted(key for key in KEYS if key.startswith(prefix))


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        ("", None),
        ("a", "b"),
        ("\ud7ff", "\ue000"),
        ("\U0010ffff", None),
        ("a\U0010ffff", "b"),
        ("\U0010ffff\U0010ffff", None),
    ],
)
async def test_the_end_of_a_prefix_is_a_text_that_utf_8_can_hold(prefix: str, end: str | None) -> None:
    assert after_prefix(prefix) == end
