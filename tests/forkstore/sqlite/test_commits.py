"""A commit in the database: wholly or not at all, in one immediate transaction, in exactly these rows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from forkproof.instruments.own_connections import can_write_at_once, read_rows, write_lock
from forkproof.makers.records import custom_entry, usage, usage_row
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    DuplicateId,
    SessionFileChanged,
    SessionNotFound,
    SessionStoreError,
    StoreIOError,
    UnknownParent,
)
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

from .opened import SESSION, Opened, message, opened

pytestmark = pytest.mark.asyncio

NOTE, LOG = value_address("garden.note", "today"), list_address("garden.log", "beds")
EVERY_KIND: list[Write] = [
    message("b", "a"),
    message("c", "a"),
    EntryInsert(custom_entry("d", "c", data={"z": 1.50, "a": [None]})),
    UsageInsert(usage_row("u", "b", details=None, note={"why": "rain"})),
    ValueSet(NOTE, "wässern"),
    ListAppend(LOG, 1),
    ValueDelete(value_address("garden.note", "yesterday")),
    ListDelete(list_address("garden.log", "paths")),
]


class Tracer:
    """Notes the statements of a connection, and fails at one of them; a ROLLBACK always succeeds."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.statements: list[str] = []
        self._fail_at = fail_at

    def __call__(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        if len(self.statements) == self._fail_at and statement != "ROLLBACK":
            raise apsw.FullError
        self.statements.append(" ".join(statement.split()[:3]))
        return True

    @property
    def changes(self) -> list[str]:
        """The statements that are no queries."""
        return [statement for statement in self.statements if not statement.startswith("SELECT")]


async def traced(storage: Opened, writes: list[Write], tracer: Tracer) -> SessionStoreError | None:
    """How a commit under a tracer is refused, or None."""
    await storage.on_connection(lambda connection: connection.set_exec_trace(tracer))
    try:
        await storage.commit(writes)
    except SessionStoreError as refusal:
        return refusal
    finally:
        await storage.on_connection(lambda connection: connection.set_exec_trace(None))
    return None


async def test_a_commit_that_fails_at_any_statement_leaves_nothing_and_holds_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None), ValueSet(value_address("garden.note", "yesterday"), 1)])
        before = await storage.picture()
        moment = 0
        while (refusal := await traced(storage, EVERY_KIND, Tracer(fail_at=moment))) is not None:
            assert isinstance(refusal, StoreIOError)
            assert (refusal.operation, refusal.code) == ("commit", "no_space")
            assert can_write_at_once(storage.path)
            assert await storage.picture() == before
            moment += 1
        assert moment > 20
        assert (await storage.get_stats()).message_count == 3


async def test_a_commit_is_these_statements(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        full, empty = Tracer(), Tracer()
        await traced(storage, [message("b", "a"), message("c", "b")], full)
        await traced(storage, [], empty)
    assert full.changes == [
        "BEGIN IMMEDIATE",
        "INSERT INTO entries",
        "INSERT INTO branch_entries",
        "INSERT INTO entries",
        "INSERT INTO branch_entries",
        "UPDATE branch_meta SET",
        "UPDATE sessions SET",
        "COMMIT",
    ]
    assert empty.changes == ["BEGIN IMMEDIATE", "COMMIT"]


async def test_the_rows_of_a_commit(tmp_path: Path) -> None:
    async with opened(tmp_path, now=lambda: 7) as storage:
        await storage.commit([message("a", None), *EVERY_KIND])
        picture = await storage.picture()
    entries = {row[1]: row for row in picture["entries"]}
    assert entries["d"] == (SESSION, "d", "c", 4, "custom", "weather", 7, '{"data":{"z":1.5,"a":[null]}}')
    assert list(json.loads(entries["a"][7])) == ["message"]
    numbers = json.dumps(usage(), separators=(",", ":"))
    ((_, _, seq, entry_id, adjustment, usage_text, details),) = picture["usage_ledger"]
    assert (seq, entry_id, adjustment, details) == (5, "b", 0, "null")
    assert usage_text == numbers[:-1] + ',"\\udfff":{"note":{"why":"rain"}}}'
    assert picture["scalar_values"] == [(SESSION, "garden.note", "today", 6, '"wässern"')]
    assert picture["list_values"] == [(SESSION, "garden.log", "beds", 7, "1")]
    assert picture["sessions"] == [(SESSION, 1, None, 1, None, 3, numbers, 10)]


@pytest.mark.parametrize(
    "writes",
    [
        pytest.param([message("b", "a"), message("a", None)], id="an id that is taken"),
        pytest.param([message("b", "a"), message("c", "nowhere")], id="a parent that is not there"),
        pytest.param([message("b", "a"), message("u", "a")], id="the id of a usage row"),
        pytest.param([message("b", "a"), UsageInsert(usage_row("a"))], id="the id of an entry"),
    ],
)
async def test_a_refused_commit_reads_no_clock_and_writes_nothing(tmp_path: Path, writes: list[Write]) -> None:
    readings: list[int] = []

    def now() -> int:
        readings.append(1)
        return 1

    async with opened(tmp_path, now=now) as storage:
        await storage.commit([message("a", None), UsageInsert(usage_row("u"))])
        before = await storage.picture()
        with pytest.raises((DuplicateId, UnknownParent)):
            await storage.commit(writes)
        assert await storage.picture() == before
    assert readings == [1]


@pytest.mark.parametrize("error", [ValueError("a"), OSError("b"), apsw.Error("c")])
async def test_what_the_clock_raises_is_the_caller_s(tmp_path: Path, error: Exception) -> None:
    def now() -> int:
        raise error

    async with opened(tmp_path, now=now) as storage:
        before = await storage.picture()
        with pytest.raises(type(error)) as failure:
            await storage.commit([message("a", None)])
        assert failure.value is error
        assert await storage.picture() == before
        assert can_write_at_once(storage.path)


async def test_a_commit_that_does_not_get_the_write_lock_fails_and_writes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.on_connection(lambda connection: connection.set_busy_timeout(20))
        before = await storage.picture()
        with write_lock(storage.path):
            with pytest.raises(StoreIOError) as failure:
                await storage.commit([message("a", None)])
            assert (failure.value.operation, failure.value.code) == ("commit", "busy")
            assert await storage.picture() == before
        assert (await storage.commit([message("a", None)])).first_seq == 1


async def test_commits_of_two_connections_see_each_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        with apsw.Connection(storage.path) as other:
            other.execute("UPDATE sessions SET next_seq = 100")
        other.close()
        assert (await storage.commit([message("b", "a")])).seqs == [100]


@pytest.mark.parametrize("content", [None, b"another file"], ids=["missing", "replaced"])
async def test_a_file_that_is_not_the_one_that_was_opened_is_not_written(tmp_path: Path, content: bytes | None) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        replace(Path(storage.path), content)
        for _ in range(2):
            with pytest.raises(SessionFileChanged) as refusal:
                await storage.commit([message("b", "a")])
            assert refusal.value.path == storage.path
        assert await storage.rows("SELECT id FROM entries") == [("a",)]
    assert standing(Path(storage.path)) == content


def standing(path: Path) -> bytes | None:
    """The bytes of a file, or None when it is missing."""
    return path.read_bytes() if path.exists() else None


def replace(path: Path, content: bytes | None) -> None:
    """Moves a file aside and puts other content in its place, or nothing."""
    path.rename(path.with_suffix(".aside"))
    if content is not None:
        path.write_bytes(content)


async def test_a_session_whose_row_is_gone_is_not_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.damage("DELETE FROM sessions")
        with pytest.raises(SessionNotFound) as refusal:
            await storage.commit([message("a", None)])
        assert (refusal.value.session_id, refusal.value.path) == (SESSION, storage.path)
        assert read_rows(storage.path, "SELECT * FROM entries") == []


async def test_commits_apply_in_the_order_of_first_steps_and_a_refused_one_changes_no_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        outcomes = await asyncio.gather(
            storage.commit([message("a", None)]),
            storage.commit([message("b", "nowhere")]),
            storage.commit([message("c", "a")]),
            return_exceptions=True,
        )
        assert isinstance(outcomes[1], SessionStoreError)
        assert [entry["id"] for entry in await storage.scan_entries()] == ["a", "c"]
        assert [entry["seq"] for entry in await storage.scan_entries()] == [1, 2]
