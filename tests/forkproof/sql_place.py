"""A database that is watched by an SQL spy, and the plain function that opens it."""

from __future__ import annotations

from pathlib import Path

import apsw

from forkproof.harness import Mode
from forkproof.instruments.sql_spy import SqlSpy

SCHEMA = """
CREATE TABLE entries(session TEXT, id TEXT, seq INTEGER, payload TEXT, PRIMARY KEY(session, id)) WITHOUT ROWID;
CREATE INDEX ix_seq ON entries(session, seq, id);
CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT);
"""

FLAGS = {
    "create": apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE,
    "read-write": apsw.SQLITE_OPEN_READWRITE,
    "read-only": apsw.SQLITE_OPEN_READONLY,
}


def plain_connect(path: str, mode: Mode) -> apsw.Connection:
    """Opens a database without a word of SQL. It waits for a lock: the first readers of a log take turns."""
    connection = apsw.Connection(path, flags=FLAGS[mode])
    connection.set_busy_timeout(5_000)
    return connection


class SqlPlace:
    """A database `garden.sqlite` with a schema and some rows, in WAL mode; and a spy that has seen nothing of that."""

    def __init__(self, directory: Path, rows: int = 5) -> None:
        self.path = str(directory / "garden.sqlite")
        self.directory = directory
        self.spy = SqlSpy()
        connection = plain_connect(self.path, "create")
        connection.execute("PRAGMA journal_mode=WAL")
        with connection:
            connection.execute(SCHEMA)
            connection.executemany(
                "INSERT INTO entries VALUES('s', ?, ?, ?)", ((f"e{n}", n, "x" * 10) for n in range(rows))
            )
        connection.close()

    def open(self, mode: Mode = "read-write", path: str | None = None) -> apsw.Connection:
        """A watched connection."""
        return self.spy.wrap(plain_connect)(path or self.path, mode)
