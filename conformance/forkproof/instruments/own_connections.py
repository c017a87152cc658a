"""The kit's own connections to a store's databases: plain ones, past the store, that read, write and hold locks.

Each opens what is there and makes nothing, and is closed when its block ends. They use none of the store's code and
pass the instruments by, so nothing here is counted or struck.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from forkproof.instruments.sqlite_shim import BASE_VFS

PATIENCE_MS: Final = 10_000
"""How long a connection of the kit waits for a lock of the store's."""

PathText = str | os.PathLike[str]
Statement = str | tuple[str, tuple[Any, ...]]
"""SQL, or SQL with its bindings."""


@contextmanager
def connected(path: PathText, *, patience_ms: int = PATIENCE_MS) -> Iterator[apsw.Connection]:
    """A connection to the database at a path, for reading and writing. Raises apsw.CantOpenError when there is none.

    A write-ahead log that stands there is left as it is, so that looking at a killed process's database does not
    repair it.
    """
    has_log = Path(f"{os.fspath(path)}-wal").exists()
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=BASE_VFS)
    try:
        connection.set_busy_timeout(patience_ms)
        connection.pragma("synchronous", "off")  # no case outlives a power failure
        if has_log:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        yield connection
    finally:
        connection.close()


def read_rows(path: PathText, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
    """The rows that a query gives; nothing can be changed by it. Raises apsw.Error.

    >>> read_rows(path, "SELECT next_seq FROM sessions WHERE id = ?", "walk-1")
    [(5,)]
    """
    with connected(path) as connection:
        connection.pragma("query_only", True)
        return list(connection.execute(sql, bindings))


def change(path: PathText, *statements: Statement) -> int:
    """Runs the statements in one transaction; gives the number of rows that they changed. Raises apsw.Error.

    >>> change(path, ("UPDATE sessions SET storage_version = ? WHERE id = ?", (2, "walk-1")))
    1
    """
    with connected(path) as connection:
        before = connection.total_changes()
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            sql, bindings = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(sql, bindings)
        connection.execute("COMMIT")
        return connection.total_changes() - before


@contextmanager
def write_lock(path: PathText) -> Iterator[apsw.Connection]:
    """Holds the write lock of a database; what the block changed is taken back at its end.

    >>> with write_lock(path), refused(StoreIOError):
    ...     await session.set_name("the pond")
    """
    with connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("ROLLBACK")


@contextmanager
def read_transaction(path: PathText) -> Iterator[apsw.Connection]:
    """Holds a read transaction: what the block reads is the state at its start."""
    with connected(path) as connection:
        connection.execute("BEGIN")
        list(connection.execute("SELECT count(*) FROM sqlite_schema"))  # the first read begins it
        yield connection
        connection.execute("ROLLBACK")


def can_write_at_once(path: PathText) -> bool:
    """Whether another connection gets the write lock without waiting (S-SQL-TXN-02)."""
    with connected(path, patience_ms=0) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        connection.execute("ROLLBACK")
        return True
