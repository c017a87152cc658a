"""Removing sessions: a whole database, or the rows of one session (S-SQL-LAY-07, S-SQL-LAY-08).

A process that is killed in here leaves the session wholly there or wholly gone (S-REPO-19).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import apsw

from forkstore.contract.errors import SessionNotFound

from .connect import Connect
from .failing import database_failures
from .opening import connected, look_up
from .schema import TABLES
from .session_rows import read_session_row
from .transactions import immediate

_SIDES = ("-wal", "-shm", "-journal")


def delete_database(connect: Connect, path: str, session_id: str) -> None:
    """Removes a session with its database and the side files. It blocks.

    Closing the last connection brings what stands in the log into the database: so no log is left that a later database
    of that name could take for its own. Raises SessionNotFound, UnsupportedVersion, CorruptSession, StoreIOError.
    """
    look_up(connect, path, session_id)
    with database_failures("delete", path):
        with connected(connect, path, "read-write") as connection:
            read_session_row(connection, session_id, path)
        try:
            Path(path).unlink()
        except FileNotFoundError as error:
            raise SessionNotFound(session_id, path) from error
        remove_files(standing_side_files(path))


def delete_rows(connect: Connect, path: str, session_id: str) -> None:
    """Removes the rows of a session from all tables of its container, in one transaction. It blocks.

    Raises SessionNotFound, UnsupportedVersion, CorruptSession, StoreIOError.
    """
    look_up(connect, path, session_id)
    with (
        database_failures("delete", path),
        connected(connect, path, "read-write") as connection,
        immediate(connection),
    ):
        read_session_row(connection, session_id, path)
        remove_rows(connection, session_id)


def remove_rows(connection: apsw.Connection, session_id: str) -> None:
    """Removes what the container holds of a session, inside the caller's write transaction."""
    for table in TABLES:
        column = "id" if table == "sessions" else "session_id"
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (session_id,))  # noqa: S608 - names of our own


def remove_database(path: str) -> None:
    """Removes a database, then its side files, as far as they are there. Raises OSError."""
    remove_files([path, *standing_side_files(path)])


def standing_side_files(path: str) -> list[str]:
    """What SQLite has made beside a database."""
    return [path + side for side in _SIDES if os.path.lexists(path + side)]


def remove_files(paths: Iterable[str]) -> None:
    """Removes files in that order, as far as they are there. Raises OSError."""
    for path in paths:
        with suppress(FileNotFoundError):
            Path(path).unlink()
