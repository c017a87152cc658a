"""Watches a store's database work: wraps the repository option `connect`, records what runs on every connection, and
answers what a case asks: connections, statements, transactions, rows, query plans, and what was open at a moment.

The store gets the connection that its own `connect` made. It is watched through SQLite's tracing and not replaced, see
`watched_connections`, so everything public works on it as without the spy. What `connect` itself does with a
connection, its settings for one, is not seen. The record is texts of statements and counts, never a bound value, so it
stays small beside any database.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from forkproof.instruments.sql_statements import Statement
from forkproof.instruments.watched_connections import Execution, RowsHeld, SqlConnection, Transaction, Watch

if TYPE_CHECKING:
    import apsw

    from forkproof.harness import Connect, Mode

RUNS_KEPT: Final = 50_000
"""How many runs of statements, and how many transactions, are kept one by one."""

PathText = str | os.PathLike[str]
T = TypeVar("T", SqlConnection, Transaction, Execution)


class SqlSpy:
    """Records the database work of every `connect` that it has wrapped.

    >>> spy = SqlSpy()
    >>> repo = SqliteSessionRepo(directory=directory, connect=spy.wrap(open_connection))
    >>> session = await repo.create(id="walk-1")
    >>> await session.set_name("the pond")
    >>> [str(one) for one in spy.transactions(wrote=True)]
    ['immediate transaction on /…/walk-1.sqlite create (wrote create, sessions; commit)', …]

    Paths are compared with their links followed. Moments are places in the one order of everything seen, over all
    connections and threads: `begun < other.begun` says what came first. A question about single runs raises LookupError
    when there were more than are kept: `forget` before the act.
    """

    def __init__(self) -> None:
        self.seen = 0
        """Connections asked for and statements run so far, forgotten ones included."""
        self._lock = threading.Lock()
        self._now = 0
        self._connections: list[SqlConnection] = []
        self._watches: list[Watch] = []  # kept until `release`, so the collector takes none before its connection
        self._transactions: list[Transaction] = []
        self._executions: list[Execution] = []
        self._left_out = 0
        self._rows = RowsHeld()

    def wrap(self, connect: Connect) -> Connect:
        """The function to hand to the store in place of `connect`."""

        def watched(path: str, mode: Mode) -> apsw.Connection:
            with self._lock:
                self.seen += 1
            made = connect(path, mode)
            record = SqlConnection(path, os.path.realpath(path), mode, threading.get_ident(), self.tick())
            watch = Watch(record, self)
            with self._lock:
                self._connections.append(record)
                self._watches.append(watch)
            watch.begin(made)
            return made

        return watched

    def release(self) -> None:
        """Lets go of every connection that is still open, at the end of a case: nothing more is seen of it."""
        with self._lock:
            watches, self._watches = self._watches, []
        for watch in watches:
            watch.end()

    def forget(self) -> int:
        """Forgets what has ended: from here on every question is about what is open now and what comes later. Gives the
        moment.
        """
        with self._lock:
            self._connections = [one for one in self._connections if one.closed is None]
            self._transactions = [one for one in self._transactions if one.ended is None]
            self._executions = [one for one in self._executions if one.ended is None]
            self._left_out = 0
            self._rows = RowsHeld()
        return self.tick()

    def moment(self) -> int:
        """Now, as a place in the order of everything."""
        return self.tick()

    def connections(self, path: PathText | None = None, mode: str | None = None) -> list[SqlConnection]:
        """The connections, of one path or of all, in the order in which they were opened."""
        place = None if path is None else os.path.realpath(path)
        return [one for one in self._copy(self._connections) if place in (None, one.path) and mode in (None, one.mode)]

    def executions(
        self,
        path: PathText | None = None,
        *,
        on: SqlConnection | None = None,
        kind: str | None = None,
        table: str | None = None,
        since: int = 0,
    ) -> list[Execution]:
        """The runs of statements in the order of their beginnings: on the connections of one path, on one connection,
        of one kind, that take rows from a table or change it, that began at a moment or later.
        """
        place = None if path is None else os.path.realpath(path)
        asked: list[Callable[[Execution], bool]] = [lambda one: one.begun >= since]
        if place is not None:
            asked.append(lambda one: one.connection.path == place)
        if on is not None:
            asked.append(lambda one: one.connection is on)
        if kind is not None:
            asked.append(lambda one: one.statement.kind == kind)
        if table is not None:
            asked.append(lambda one: table in _touched(one.statement))
        return [one for one in self._all(self._executions) if all(ask(one) for ask in asked)]

    def transactions(
        self, path: PathText | None = None, *, on: SqlConnection | None = None, wrote: bool | None = None
    ) -> list[Transaction]:
        """The transactions in the order of their beginnings: on the connections of one path, on one connection, those
        that wrote or only read. A change outside of a transaction is one of kind `implicit`.
        """
        place = None if path is None else os.path.realpath(path)
        return [
            one
            for one in self._all(self._transactions)
            if place in (None, one.connection.path) and on in (None, one.connection) and wrote in (None, one.wrote)
        ]

    def open_connections(self, at: int | None = None) -> list[SqlConnection]:
        """The connections that were open at a moment; now, without one."""
        found = self._copy(self._connections)
        return [one for one in found if _is_open(one.opened, one.closed, at)]

    def open_transactions(self, at: int | None = None) -> list[Transaction]:
        """The transactions that were running at a moment; now, without one."""
        return [one for one in self._all(self._transactions) if _is_open(one.begun, one.ended, at)]

    def open_statements(self, at: int | None = None) -> list[Execution]:
        """The statements that had begun and were not stepped to their end or given up: cursors, and what waits for a
        lock; at a moment, or now.
        """
        return [one for one in self._all(self._executions) if _is_open(one.begun, one.ended, at)]

    def most_rows_held(self) -> dict[str, int]:
        """By table, the most rows that cursors gave and that were not yet followed by as many changed rows, in any
        table of any connection. A fetch of everything shows as the number of its rows, whatever call made it.
        """
        with self._lock:
            return dict(self._rows.most)

    def tick(self) -> int:
        """The next place in the order; for watched connections."""
        with self._lock:
            self._now += 1
            return self._now

    def began(self, execution: Execution) -> None:
        """Notes a statement that takes its first step; for watched connections."""
        with self._lock:
            self.seen += 1
            self._keep(self._executions, execution)

    def row(self, statement: Statement) -> None:
        """Notes a row; for watched connections."""
        with self._lock:
            self._rows.take(statement)

    def finished(self, execution: Execution) -> None:
        """Notes the end of a statement; for watched connections."""
        if execution.changes:
            with self._lock:
                self._rows.write(execution.changes)

    def transaction(self, transaction: Transaction) -> None:
        """Notes a transaction that has begun; for watched connections."""
        with self._lock:
            self._keep(self._transactions, transaction)

    def _keep(self, kept: list[T], one: T) -> None:
        if len(kept) < RUNS_KEPT:
            kept.append(one)
        else:
            self._left_out += 1

    def _copy(self, kept: list[T]) -> list[T]:
        with self._lock:
            return list(kept)

    def _all(self, kept: list[T]) -> list[T]:
        if self._left_out:
            raise LookupError(f"more than {RUNS_KEPT:,} statements since the last forget(): not all are kept")
        return self._copy(kept)


def _touched(statement: Statement) -> frozenset[str]:
    return statement.sources if statement.target is None else statement.sources | {statement.target.name}


def _is_open(begun: int, ended: int | None, at: int | None) -> bool:
    if at is None:
        return ended is None
    return begun <= at and (ended is None or ended > at)
