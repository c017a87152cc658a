"""The two kinds of transaction that a store uses, ended on every path (S-SQL-TXN-01, S-SQL-TXN-02)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import apsw


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[None]:
    """A write transaction. It takes the write lock at its beginning, so it never fails half way for want of it.

    Commits at the end of the `with` block; whatever is raised in it, or by the commit itself, rolls everything back.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """A read transaction: all reads of the `with` block see the database at one moment (S-TXN-16)."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        roll_back(connection)


def roll_back(connection: apsw.Connection) -> None:
    """Ends a transaction that may run, changing nothing. Raises nothing: what went wrong first is what matters."""
    if connection.in_transaction:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")
