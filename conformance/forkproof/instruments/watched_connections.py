"""A database connection that tells what runs on it: statements, rows, transactions, its closing.

The connection is the store's own, untouched: it is watched through SQLite's tracing (`trace_v2`) and a commit hook,
both registered under an id of their own, beside whatever the store registers. No object stands in its place, so blobs,
backups, attached databases, context managers and `isinstance` are what they are without the spy; and the record holds
no reference to the connection, so one that the store drops is closed as it would be. An authorizer of the store is
asked once more for each distinct statement, for its plan.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import apsw

from forkproof.instruments.sql_plans import Plan, explain
from forkproof.instruments.sql_statements import Statement, read_statement

PLANS_KEPT: Final = 500
"""How many distinct statements of one connection are explained."""

_EVENTS = apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_ROW | apsw.SQLITE_TRACE_PROFILE | apsw.SQLITE_TRACE_CLOSE

Ending = Literal["commit", "rollback", "closed"]


@dataclass(eq=False, slots=True)
class Transaction:
    """One transaction: how it began, when it began and ended, and what it changed.

    `kind` is `deferred`, `immediate` or `exclusive` as it was begun, and `implicit` for a change outside of any. Times
    are places in the one order of everything that the spy has seen.
    """

    connection: SqlConnection
    kind: str
    begun: int
    ended: int | None = None
    ending: Ending | None = None
    changed: set[str] = field(default_factory=set)
    """The tables that it changed, by name; a change of the schema is told as the word of its statement."""

    @property
    def wrote(self) -> bool:
        """Whether a statement in it was of a kind that changes a database."""
        return bool(self.changed)

    def __str__(self) -> str:
        what = f"wrote {', '.join(sorted(self.changed))}" if self.changed else "only read"
        return f"{self.kind} transaction on {self.connection} ({what}; {self.ending or 'running'})"


@dataclass(eq=False, slots=True)
class Execution:
    """One run of a statement. `rows` counts the rows it gave, `changes` the rows it changed, triggers included;
    `steps`, `sorts` and `scanned` are SQLite's own counters (VM_STEP, SORT, FULLSCAN_STEP).
    """

    connection: SqlConnection
    statement: Statement
    begun: int
    thread: int
    transaction: Transaction | None
    plan: Plan | None
    ended: int | None = None
    rows: int = 0
    changes: int = 0
    steps: int = 0
    sorts: int = 0
    scanned: int = 0

    def __str__(self) -> str:
        return f"{self.statement}  [{self.connection}, {self.rows} rows]"


@dataclass(eq=False)
class SqlConnection:
    """One connection that the store opened: its path as given and with all links followed, its mode, and the thread
    that opened it.
    """

    given: str
    path: str
    mode: str
    thread: int
    opened: int
    closed: int | None = None

    def __str__(self) -> str:
        return f"{self.path} {self.mode}"


class SqlRecord(Protocol):
    """What watched connections tell."""

    def tick(self) -> int:
        """The next place in the order of everything."""
        ...

    def began(self, execution: Execution) -> None:
        """A statement takes its first step."""
        ...

    def row(self, statement: Statement) -> None:
        """It gave a row."""
        ...

    def finished(self, execution: Execution) -> None:
        """It ran to its end, or was given up."""
        ...

    def transaction(self, transaction: Transaction) -> None:
        """A transaction has begun."""
        ...


class Watch:
    """The callbacks on one connection. Every one runs in the thread that uses the connection."""

    def __init__(self, connection: SqlConnection, record: SqlRecord) -> None:
        self._connection = connection
        self._record = record
        self._running: dict[int, tuple[Execution, int]] = {}
        self._transaction: Transaction | None = None
        self._commits = 0
        self._plans: dict[str, Plan | None] = {}
        self._explains = False
        self._watched: weakref.ref[apsw.Connection] | None = None

    def begin(self, connection: apsw.Connection) -> None:
        """Registers the callbacks. The connection is not kept alive."""
        self._watched = weakref.ref(connection)
        connection.trace_v2(_EVENTS, self._on_event, id=self)
        connection.set_commit_hook(self._on_commit, id=self)

    def end(self) -> None:
        """Takes the callbacks away, if the connection is still open: the interpreter may collect what nobody has closed
        when the callbacks can no longer run.
        """
        connection = None if self._watched is None else self._watched()
        if connection is not None:
            with suppress(apsw.Error):  # it is closed, or at work in another thread
                connection.trace_v2(0, None, id=self)
                connection.set_commit_hook(None, id=self)

    def _on_event(self, event: dict[str, Any]) -> None:
        code = event["code"]
        if code == apsw.SQLITE_TRACE_ROW:
            self._on_row(event["id"])
        elif code == apsw.SQLITE_TRACE_CLOSE:
            with suppress(AttributeError):  # the collector has emptied the record before it takes the connection
                self._on_close()
        elif self._explains or event.get("trigger"):
            return
        elif code == apsw.SQLITE_TRACE_STMT:
            self._on_statement(event)
        else:
            self._on_end(event)

    def _on_statement(self, event: dict[str, Any]) -> None:
        statement = read_statement(event["sql"])
        connection: apsw.Connection = event["connection"]
        plan = self._plan(connection, statement)
        begun = self._record.tick()
        thread = threading.get_ident()
        execution = Execution(self._connection, statement, begun, thread, self._transaction, plan)
        if self._transaction is not None and statement.changes:
            self._transaction.changed.add(_changed(statement))
        self._running[event["id"]] = execution, event["total_changes"]
        self._commits = 0
        self._record.began(execution)

    def _plan(self, connection: apsw.Connection, statement: Statement) -> Plan | None:
        if statement.text not in self._plans and len(self._plans) < PLANS_KEPT:
            self._explains = True
            try:
                self._plans[statement.text] = explain(connection, statement)
            finally:
                self._explains = False
        return self._plans.get(statement.text)

    def _on_row(self, id: int) -> None:
        if not self._explains and id in self._running:  # SQLite runs statements of its own, which have no first step
            execution, _ = self._running[id]
            execution.rows += 1
            self._record.row(execution.statement)

    def _on_end(self, event: dict[str, Any]) -> None:
        if event["id"] not in self._running:
            return
        execution, changes_before = self._running.pop(event["id"])
        status = event["stmt_status"]
        execution.ended = self._record.tick()
        execution.changes = event["total_changes"] - changes_before
        execution.steps = status["SQLITE_STMTSTATUS_VM_STEP"]
        execution.sorts = status["SQLITE_STMTSTATUS_SORT"]
        execution.scanned = status["SQLITE_STMTSTATUS_FULLSCAN_STEP"]
        self._follow_transaction(execution, event["connection"].in_transaction)
        self._record.finished(execution)

    def _follow_transaction(self, execution: Execution, is_inside: bool) -> None:
        statement, ended = execution.statement, execution.ended
        if is_inside and self._transaction is None:
            self._transaction = Transaction(self._connection, statement.begins or "deferred", execution.begun)
            execution.transaction = self._transaction
            self._record.transaction(self._transaction)
        elif not is_inside and self._transaction is not None:
            committed = statement.kind in ("commit", "release")
            self._end_transaction("commit" if committed else "rollback", ended)
        elif not is_inside and self._commits and statement.changes:
            changed = {_changed(statement)}
            execution.transaction = Transaction(self._connection, "implicit", execution.begun, ended, "commit", changed)
            self._record.transaction(execution.transaction)

    def _end_transaction(self, ending: Ending, at: int | None) -> None:
        if self._transaction is not None:
            self._transaction.ended, self._transaction.ending = at, ending
            self._transaction = None

    def _on_commit(self) -> bool:
        self._commits += 1
        return False

    def _on_close(self) -> None:
        closed = self._record.tick()
        for execution, _ in self._running.values():
            execution.ended = closed
        self._running.clear()
        self._end_transaction("closed", closed)
        self._connection.closed = closed


def _changed(statement: Statement) -> str:
    return statement.kind if statement.target is None else statement.target.name


@dataclass
class RowsHeld:
    """How many rows of each table were taken from cursors and not yet followed by as many changed rows; and the most
    that ever were.
    """

    held: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    def take(self, statement: Statement) -> None:
        """A cursor gave a row."""
        for table in statement.sources:
            self.held[table] = held = self.held[table] + 1
            self.most[table] = max(self.most[table], held)

    def write(self, rows: int) -> None:
        """Rows were changed, in any table of any connection."""
        for table, held in self.held.items():
            self.held[table] = max(0, held - rows)
