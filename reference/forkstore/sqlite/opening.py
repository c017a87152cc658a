"""Opening: a connection for a moment, and the database of a session for as long as the session is open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw

from forkstore.contract.errors import SessionNotFound
from forkstore.threads import in_thread

from .connect import Connect, Mode
from .database_file import OpenDatabase
from .encoding import check_encoding
from .failing import database_failures
from .session_rows import SessionRow, read_session_row
from .worker import Worker


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session whose database is open: the connection, which file it is, and the session's row."""

    worker: Worker
    database: OpenDatabase
    row: SessionRow


@contextmanager
def connected(connect: Connect, path: str, mode: Mode) -> Iterator[apsw.Connection]:
    """A connection of the calling thread that is closed at the end of the `with` block (S-SQL-TXN-05).

    What fails in the block is not replaced by a failure to close.
    """
    connection = connect(path, mode)
    try:
        yield connection
    except BaseException:
        with suppress(apsw.Error):
            connection.close()
        raise
    connection.close()


@asynccontextmanager
async def opened_session(connect: Connect, path: str, session_id: str) -> AsyncIterator[OpenedSession]:
    """Opens a session at the real path of its database; closes it again when the `async with` block fails.

    Its row is looked at before the database is opened for writing, which may change its bytes (S-REPO-08). Raises
    SessionNotFound, UnsupportedVersion, CorruptSession, SessionFileChanged, StoreIOError.
    """
    database = await in_thread(look_up, connect, path, session_id)
    worker = Worker.start(connect)
    try:
        with database_failures("open", path):
            await worker.open(path, "read-write")
        yield await bound(worker, database, session_id)
    except BaseException:
        await let_go(worker)
        raise


async def bound(worker: Worker, database: OpenDatabase, session_id: str) -> OpenedSession:
    """The session in the database that a worker has open, which must still be the file that was found before.

    Raises SessionNotFound, UnsupportedVersion, CorruptSession, SessionFileChanged, StoreIOError.
    """
    return OpenedSession(worker, database, await worker.run(partial(_row, database=database, session_id=session_id)))


async def let_go(worker: Worker) -> None:
    """Closes a connection where a failure to do so is of no account: another one is under way (S-FORK-FAIL-07)."""
    with suppress(apsw.Error, OSError):
        await worker.close()


def look_up(connect: Connect, path: str, session_id: str) -> OpenDatabase:
    """The database that holds a session, found without changing a byte of it. It blocks. Raises as `opened_session`."""
    with database_failures("open", path):
        if not Path(path).is_file():
            raise SessionNotFound(session_id, path)
        database = OpenDatabase.at(path)
        with connected(connect, path, "read-only") as connection:
            check_encoding(connection)
            read_session_row(connection, session_id, path)
        return database


def _row(connection: apsw.Connection, database: OpenDatabase, session_id: str) -> SessionRow:
    with database_failures("open", database.path):
        row = read_session_row(connection, session_id, database.path)
        database.check_unchanged()
        return row
