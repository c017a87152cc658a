"""The storage of an open session in a database: one connection, one thread, every call one job in it.

The thread's jobs are the commit queue: they run in the order in which they were submitted, which each call does in its
first step (S-TXN-03). A call that is cancelled ends first (S-TXN-17).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar, Unpack

import apsw

from forkstore.contract.addresses import Address
from forkstore.contract.queries import (
    BranchArguments,
    BranchQuery,
    EntryArguments,
    EntryQuery,
    ListArguments,
    ListQuery,
    UsageArguments,
    UsageQuery,
    check_address,
    check_entry_ids,
)
from forkstore.contract.records import Record, SessionStats
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import CommitResult, Write, prepare
from forkstore.options import Clock

from .commits import ClockFailed, Commits
from .database_file import OpenDatabase
from .failing import database_failures
from .reads import Reads
from .snapshot import begin_snapshot
from .worker import Worker

T = TypeVar("T")


class SqliteStorage:
    """The storage of an open session. It owns its worker and closes it.

    The clock is read in the worker's thread, inside the transaction. Every call may raise CorruptSession and
    StoreIOError.
    """

    def __init__(self, worker: Worker, database: OpenDatabase, session_id: str, clock: Clock) -> None:
        self._worker = worker
        self.database = database
        """The database as it was when it was opened; its path is real."""
        self.path = database.path
        self._commits = Commits(database, session_id, clock)
        self._reads = Reads(session_id, database.path)

    async def commit(self, writes: list[Write]) -> CommitResult:
        """Applies the writes as one transaction. Keeps S-TXN-01 to S-TXN-15, S-SQL-TXN-01 to S-SQL-TXN-03.

        Raises InvalidValue, DuplicateId, UnknownParent, SessionFileChanged, SessionNotFound; then nothing has changed.
        """
        prepared = prepare(writes)
        try:
            return await self._run("commit", lambda connection: self._commits.apply(connection, prepared))
        except ClockFailed as failure:
            raise failure.error from None

    def pin(self, reader: Worker) -> asyncio.Future[None]:
        """Fixes what a fork's reader sees, between two commits of this storage. Keeps S-SQL-FORK-02, S-SQL-FORK-03.

        The job is in the queue when this returns. The reader must have been told to open its connection before; when
        that failed, so does this.
        """

        def begin(_: apsw.Connection) -> None:
            with database_failures("fork", self.path):
                reader.call(begin_snapshot)

        return self._worker.submit(begin)

    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        """Keeps S-QRY-01, S-QRY-02."""
        wanted = check_entry_ids(ids)
        return await self._run("get_entries", lambda connection: self._reads.entries(connection, wanted))

    async def get_value(self, address: Address) -> ValueRow | None:
        """Keeps S-VAL-01, S-VAL-02."""
        check_address(address, "value")
        return await self._run("get_value", lambda connection: self._reads.value(connection, address))

    async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
        """Keeps S-QRY-03, S-QRY-04."""
        check_address(prefix_address, "value")
        return await self._run("scan_values", lambda connection: self._reads.values(connection, prefix_address))

    async def read_list(self, address: Address, **query: Unpack[ListArguments]) -> list[ListElement]:
        """Keeps S-LIST-01 to S-LIST-06."""
        page = ListQuery(**query)
        check_address(address, "list")
        return await self._run("read_list", lambda connection: self._reads.elements(connection, address, page))

    async def scan_branch(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """Keeps S-QRY-05 to S-QRY-09. Raises UnknownEntry."""
        return await self._scan("scan_branch", BranchQuery(start, **query), payload=True)

    async def scan_branch_structure(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """Keeps S-QRY-10. Raises UnknownEntry."""
        return await self._scan("scan_branch_structure", BranchQuery(start, **query), payload=False)

    async def scan_entries(self, **query: Unpack[EntryArguments]) -> list[Record]:
        """Keeps S-QRY-11 to S-QRY-13."""
        scan = EntryQuery(**query)
        return await self._run("scan_entries", lambda connection: self._reads.all_entries(connection, scan))

    async def scan_usage(self, **query: Unpack[UsageArguments]) -> list[Record]:
        """Keeps S-QRY-11 to S-QRY-13."""
        scan = UsageQuery(**query)
        return await self._run("scan_usage", lambda connection: self._reads.usage(connection, scan))

    async def get_stats(self) -> SessionStats:
        """Keeps S-ENT-09 to S-ENT-11."""
        return await self._run("get_stats", self._reads.stats)

    async def close(self) -> None:
        """Closes the connection, after all jobs. Keeps S-SQL-TXN-05."""
        with database_failures("close", self.path):
            await self._worker.close()

    async def _scan(self, operation: str, query: BranchQuery, *, payload: bool) -> list[Record]:
        return await self._run(operation, lambda connection: self._reads.branch(connection, query, payload=payload))

    async def _run(self, operation: str, job: Callable[[apsw.Connection], T]) -> T:
        with database_failures(operation, self.path):
            return await self._worker.run(job)
