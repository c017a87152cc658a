"""The storage of an empty session in a new database, and what a test does past it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw

from forkproof.makers.records import compaction_entry, message_entry
from forkstore.contract.writes import EntryInsert
from forkstore.options import Clock
from forkstore.sqlite.connect import Connect, open_connection
from forkstore.sqlite.database_file import OpenDatabase
from forkstore.sqlite.schema import make_schema
from forkstore.sqlite.session_rows import insert_session_row, new_session_row
from forkstore.sqlite.storage import SqliteStorage
from forkstore.sqlite.transactions import immediate
from forkstore.sqlite.worker import Worker

SESSION = "garden"


class Opened(SqliteStorage):
    """A storage whose connection a test may use between two calls."""

    def __init__(self, worker: Worker, database: OpenDatabase, session_id: str, clock: Clock) -> None:
        super().__init__(worker, database, session_id, clock)
        self._connection_worker = worker

    async def on_connection(self, job: Callable[[apsw.Connection], Any]) -> Any:
        """What a job gives that runs between two calls of the storage."""
        return await self._connection_worker.run(job)

    async def damage(self, statement: str, *bindings: Any) -> None:
        """Changes rows behind the storage's back, whatever its triggers say."""

        def change(connection: apsw.Connection) -> None:
            for trigger in ("trg_entries_validate", "trg_usage_ledger_validate"):
                connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
            connection.execute(statement, bindings)
            assert connection.changes()

        await self.on_connection(change)

    async def rows(self, statement: str, *bindings: Any) -> list[tuple[Any, ...]]:
        """The rows that a query gives."""
        return list(await self.on_connection(lambda connection: connection.execute(statement, bindings).fetchall()))

    async def picture(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""
        tables = (
            "sessions",
            "entries",
            "scalar_values",
            "list_values",
            "usage_ledger",
            "branch_entries",
            "branch_meta",
        )
        return {table: await self.rows(f"SELECT * FROM {table}") for table in tables}


@asynccontextmanager
async def opened(
    directory: Path, *, now: Callable[[], int] | None = None, connect: Connect = open_connection
) -> AsyncIterator[Opened]:
    """The storage of the empty session `garden`; closed at the end."""
    path = str(directory / "garden.sqlite")
    worker = Worker.start(connect)
    try:
        await worker.open(path, "create")
        await worker.run(_make_session)
        yield Opened(worker, OpenDatabase.at(path), SESSION, Clock(now))
    finally:
        await worker.close()


def _make_session(connection: apsw.Connection) -> None:
    with immediate(connection):
        make_schema(connection)
        insert_session_row(connection, new_session_row(SESSION, 1, None))


def message(entry_id: str, parent_id: str | None) -> EntryInsert:
    """The insert of a message entry."""
    return EntryInsert(message_entry(entry_id, parent_id))


def compaction(entry_id: str, parent_id: str | None) -> EntryInsert:
    """The insert of a compaction entry."""
    return EntryInsert(compaction_entry(entry_id, parent_id))
