"""Damaged rows: the read that meets one says which, and every other row stays readable (S-QRY-19, S-QRY-20)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forkproof.makers.records import custom_entry, usage_row
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.codec import DEEPEST_READ
from forkstore.contract.errors import CorruptSession
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet

from .opened import Opened, compaction, message, opened

pytestmark = pytest.mark.asyncio

NOTE, LOG = value_address("garden.note", "today"), list_address("garden.log", "beds")
Read = Callable[[Opened], Awaitable[Any]]
READS: dict[str, Read] = {
    "get_entries": lambda storage: storage.get_entries(["b"]),
    "scan_entries": lambda storage: storage.scan_entries(),
    "scan_branch": lambda storage: storage.scan_branch("d"),
    "oldest_first": lambda storage: storage.scan_branch("d", order="oldest_first"),
    "structure": lambda storage: storage.scan_branch_structure("d"),
    "by_type": lambda storage: storage.scan_branch("d", type="custom"),
    "by_custom_type": lambda storage: storage.scan_branch("d", custom_type="weather"),
    "scan_usage": lambda storage: storage.scan_usage(),
    "get_value": lambda storage: storage.get_value(NOTE),
    "scan_values": lambda storage: storage.scan_values(value_address("garden.note")),
    "read_list": lambda storage: storage.read_list(LOG),
    "get_stats": lambda storage: storage.get_stats(),
    "commit": lambda storage: storage.commit([message("new", "b")]),
}
# What meets which damage. A walk that filters does not see what lies between the entries that it gives.
ENTRIES = ("get_entries", "scan_entries", "scan_branch", "oldest_first", "by_type", "by_custom_type")
COLUMNS = (*ENTRIES, "structure")
BUT_FOR_CUSTOM_TYPE = ("get_entries", "scan_entries", "scan_branch", "oldest_first", "by_type", "structure")
WALKS = ("scan_branch", "oldest_first", "structure")
SEGMENTS = (*WALKS, "by_type", "by_custom_type", "commit")
DEEP = "[" * (DEEPEST_READ + 1) + "]" * (DEEPEST_READ + 1)
OBJECT = '\'{"a":' + DEEP + "}'"

DAMAGE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "payload is no JSON": ("UPDATE entries SET payload = '{' WHERE id = 'b'", "entries row 'b'", ENTRIES),
    "payload is no object": ("UPDATE entries SET payload = '[1]' WHERE id = 'b'", "entries row 'b'", ENTRIES),
    "payload is a blob": ("UPDATE entries SET payload = x'7b7d' WHERE id = 'b'", "entries row 'b'", ENTRIES),
    "payload is no UTF-8": (
        "UPDATE entries SET payload = CAST(x'7b2261223a22ff227d' AS TEXT) WHERE id = 'b'",
        "entries row 'b'",
        ENTRIES,
    ),
    "payload is too deep": (f"UPDATE entries SET payload = {OBJECT} WHERE id = 'b'", "entries row 'b'", ENTRIES),
    "payload repeats a column": (
        "UPDATE entries SET payload = '{\"seq\":1}' WHERE id = 'b'",
        "entries row 'b'",
        ENTRIES,
    ),
    "no custom type": ("UPDATE entries SET custom_type = NULL WHERE id = 'b'", "entries row 'b'", BUT_FOR_CUSTOM_TYPE),
    "a custom type too many": (
        "UPDATE entries SET custom_type = 'x' WHERE id = 'c'",
        "entries row 'c'",
        ("scan_entries", *WALKS),
    ),
    "an unknown type": ("UPDATE entries SET type = 'odd' WHERE id = 'b'", "'b'", COLUMNS),
    "a sequence of text": ("UPDATE entries SET seq = 'x' WHERE id = 'b'", "'b'", COLUMNS),
    "a time below 0": ("UPDATE entries SET timestamp = -1 WHERE id = 'b'", "entries row 'b'", COLUMNS),
    "a custom type of no UTF-8": (
        "UPDATE entries SET custom_type = CAST(x'ff' AS TEXT) WHERE id = 'b'",
        "no UTF-8",
        BUT_FOR_CUSTOM_TYPE,
    ),
    "usage is no JSON": ("UPDATE usage_ledger SET usage = 'x'", "usage_ledger row 'u': usage", ("scan_usage",)),
    "usage is no object": ("UPDATE usage_ledger SET usage = '1'", "usage_ledger row 'u': usage", ("scan_usage",)),
    "details are no JSON": ("UPDATE usage_ledger SET details = '{'", "usage_ledger row 'u': details", ("scan_usage",)),
    "details are a blob": ("UPDATE usage_ledger SET details = x'31'", "usage_ledger row 'u': details", ("scan_usage",)),
    "an adjustment of 2": ("UPDATE usage_ledger SET adjustment = 2", "usage_ledger row 'u'", ("scan_usage",)),
    "a value that is no JSON": (
        "UPDATE scalar_values SET value = 'wet'",
        "scalar_values row 'garden.note', 'today'",
        ("get_value", "scan_values"),
    ),
    "a value that is too deep": (
        f"UPDATE scalar_values SET value = '{DEEP}'",
        "scalar_values row 'garden.note', 'today'",
        ("get_value", "scan_values"),
    ),
    "a key with U+0000": (
        "UPDATE scalar_values SET key = CAST(x'740061' AS TEXT)",
        "scalar_values row 'garden.note', 't",
        ("scan_values",),
    ),
    "an element that is no JSON": (
        "UPDATE list_values SET value = '' WHERE value = '1'",
        "list_values row 'garden.log', 'beds', 7",
        ("read_list",),
    ),
    "statistics that are no JSON": ("UPDATE sessions SET usage_payload = 'x'", "sessions row", ("get_stats", "commit")),
    "statistics of other fields": ("UPDATE sessions SET usage_payload = '{}'", "sessions row", ("get_stats", "commit")),
    "a next sequence of text": ("UPDATE sessions SET next_seq = 'x'", "sessions row", ("get_stats", "commit")),
    "a missing parent": ("UPDATE entries SET parent_id = 'gone' WHERE id = 'b'", "entries row 'b'", WALKS),
    "a root with a parent": ("UPDATE entries SET parent_id = 'd' WHERE id = 'a'", "entries row 'a'", WALKS),
    "an entry that is gone": (
        "DELETE FROM entries WHERE id = 'c'",
        "branch_entries row 'c'",
        (*WALKS, "by_custom_type"),
    ),
    "an index row that is gone": ("DELETE FROM branch_entries WHERE entry_id = 'c'", "entries row 'd'", WALKS),
    "a first index row that is gone": ("DELETE FROM branch_entries WHERE entry_id = 'a'", "entries row 'k'", WALKS),
    "an index row of another type": (
        "UPDATE branch_entries SET entry_type = 'message' WHERE entry_id = 'b'",
        "branch_entries row 'b'",
        (*WALKS, "by_custom_type"),
    ),
    "no segment": ("DELETE FROM branch_meta", "no segment", SEGMENTS),
    "a base without a sequence": (
        "UPDATE branch_meta SET base_seq = NULL WHERE branch_id = 'd'",
        "branch_meta row 'd'",
        SEGMENTS,
    ),
    "a sequence without a base": (
        "UPDATE branch_meta SET base_branch_id = NULL WHERE branch_id = 'd'",
        "branch_meta row 'd'",
        SEGMENTS,
    ),
    "a base that is not there": ("DELETE FROM branch_meta WHERE branch_id = 'a'", "branch_meta row 'd'", SEGMENTS),
    "a base that is itself": (
        "UPDATE branch_meta SET base_branch_id = 'd' WHERE branch_id = 'd'",
        "branch_meta row 'd'",
        SEGMENTS,
    ),
    "a base that ends below": (
        "UPDATE branch_meta SET tip_seq = 1 WHERE branch_id = 'a'",
        "branch_meta row 'd'",
        SEGMENTS,
    ),
    "a tip of text": ("UPDATE branch_meta SET tip_seq = 'x' WHERE branch_id = 'd'", "branch_meta row", SEGMENTS),
}


async def grown(storage: Opened) -> None:
    """a, then the compaction k, the custom entry b and c; and d beside c, on a segment that hangs on k."""
    await storage.commit(
        [message("a", None), compaction("k", "a"), EntryInsert(custom_entry("b", "k")), message("c", "b")]
    )
    await storage.commit(
        [UsageInsert(usage_row("u", details=1)), ValueSet(NOTE, 1), ListAppend(LOG, 1), ListAppend(LOG, 2)]
    )
    await storage.commit([message("x", "c"), message("d", "c")])


async def refusal(storage: Opened, name: str) -> CorruptSession | None:
    """How a read is refused, if it is."""
    try:
        await READS[name](storage)
    except CorruptSession as error:
        return error
    return None


@pytest.mark.parametrize(
    ("statement", "reason", "readers"), [pytest.param(*damage, id=name) for name, damage in DAMAGE.items()]
)
async def test_damage_is_named_by_the_reads_that_meet_it_and_by_no_other(
    tmp_path: Path, statement: str, reason: str, readers: tuple[str, ...]
) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        await storage.damage(statement)
        refusals = {name: error for name in READS if (error := await refusal(storage, name)) is not None}
        assert sorted(refusals) == sorted(readers)
        for error in refusals.values():
            assert reason in error.reason
            assert (error.path, error.line) == (storage.path, None)
        assert await storage.rows("SELECT count(*) FROM entries WHERE id = 'new'") == [("commit" not in readers,)]


async def test_other_rows_stay_readable(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        await storage.damage("UPDATE entries SET payload = '{' WHERE id = 'b'")
        await storage.damage("UPDATE list_values SET value = '' WHERE value = '1'")
        assert list(await storage.get_entries(["a", "k", "c", "d"])) == ["a", "k", "c", "d"]
        assert [entry["id"] for entry in await storage.scan_branch("d", limit=2)] == ["d", "c"]
        assert [entry["id"] for entry in await storage.scan_branch_structure("d")] == ["d", "c", "b", "k", "a"]
        assert [element.value for element in await storage.read_list(LOG, order="desc", limit=1)] == [2]
        assert (await storage.commit([message("e", "d")])).seqs == [11]


@pytest.mark.parametrize(
    ("table", "name"), {"entries": "scan_entries", "scalar_values": "get_value", "branch_meta": "scan_branch"}.items()
)
async def test_a_missing_table_is_damage(tmp_path: Path, table: str, name: str) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        await storage.on_connection(lambda connection: connection.execute(f"DROP TABLE {table}"))
        error = await refusal(storage, name)
        assert error is not None
        assert "no such table" in error.reason


async def test_payload_that_a_commit_would_refuse_is_read_as_it_stands(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await grown(storage)
        text = '{"data":{"a":1,"\\ud800":184467440737095516160,"a":2}}'
        await storage.damage("UPDATE entries SET payload = ? WHERE id = 'b'", text)
        assert (await storage.get_entries(["b"]))["b"]["data"] == {"a": 2, "\ud800": 184467440737095516160}
