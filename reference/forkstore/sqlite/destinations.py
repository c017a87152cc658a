"""The database of a session to be made: what a create or a fork writes into, and takes away again when it fails.

Used as `async with`. When the block fails, everything goes that was made, also when the session could already be seen,
whatever cancels the caller meanwhile; a failure in there does not take the place of the first one
(S-FORK-FAIL-02, S-FORK-FAIL-05 to S-FORK-FAIL-07, S-SQL-LAY-13).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from types import TracebackType
from typing import Final, Self

import apsw

from forkstore.contract.errors import SessionExists, SessionFileChanged, SessionStoreError
from forkstore.settling import settled
from forkstore.threads import in_thread

from .connect import Connect
from .database_file import OpenDatabase
from .draft import Draft
from .encoding import check_encoding
from .failing import database_failures
from .groundwork import Groundwork
from .opening import OpenedSession, bound, connected, let_go
from .removing import remove_rows
from .transactions import immediate
from .worker import Worker

Write = Callable[[apsw.Connection], None]
"""Writes a whole session, schema included, in one write transaction. Raises SessionExists before it writes a row."""

_ATTEMPTS: Final = 3
"""How often a container is opened while it vanishes: a call that made it takes it away when it fails."""


class Destination(ABC):
    """One session to be made, at the real path of its database. Every call raises StoreIOError and CorruptSession."""

    def __init__(self, connect: Connect, groundwork: Groundwork, path: str, session_id: str) -> None:
        self.path: Final = path
        self.directory: Final = str(PurePath(path).parent)
        self._connect = connect
        self._groundwork = groundwork
        self._session_id = session_id
        self._worker: Worker | None = None

    async def __aenter__(self) -> Self:
        self._groundwork.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self._groundwork.keep()
        else:
            await settled(self._take_all_back())

    async def prepare(self) -> None:
        """Makes the directory, for a stage that is to lie in it. Raises SessionExists when the id is taken already."""
        await in_thread(self._prepare)

    @abstractmethod
    async def make(self, write: Write) -> OpenedSession:
        """The session appears, with all that `write` writes, and is opened.

        Raises SessionExists, SessionNotFound, SessionFileChanged and what `write` raises.
        """

    @abstractmethod
    def _check_free(self) -> None:
        """Raises SessionExists when the id is taken already, apsw.Error and OSError. It blocks."""

    @abstractmethod
    async def _take_back(self) -> None:
        """Removes what `make` has made. Raises nothing but a cancellation."""

    def _prepare(self) -> None:
        with database_failures("create", self.path):
            self._check_free()
            self._groundwork.make_directory(self.directory)

    async def _take_all_back(self) -> None:
        if self._worker is not None:
            await let_go(self._worker)
        await self._take_back()
        await self._groundwork.take_back()


class PerFileDestination(Destination):
    """A database of its own."""

    def __init__(self, connect: Connect, groundwork: Groundwork, path: str, session_id: str) -> None:
        super().__init__(connect, groundwork, path, session_id)
        self._draft = Draft(path)

    async def make(self, write: Write) -> OpenedSession:
        """Whatever has the database's name already stays as it is. Keeps S-SQL-LAY-05."""
        database = await in_thread(self._placed, write)
        self._worker = Worker.start(self._connect)
        with database_failures("open", self.path):
            await self._worker.open(self.path, "read-write")
        return await bound(self._worker, database, self._session_id)

    def _check_free(self) -> None:
        if os.path.lexists(self.path):
            raise SessionExists(self._session_id)

    def _placed(self, write: Write) -> OpenDatabase:
        self._prepare()
        with database_failures("create", self.path):
            self._draft.write(self._connect, write)
            try:
                return self._draft.place()
            except FileExistsError as error:
                raise SessionExists(self._session_id) from error

    async def _take_back(self) -> None:
        await in_thread(self._draft.take_back)


class ContainerDestination(Destination):
    """Rows in the container, which is made if it is missing."""

    _rows_written = False

    async def make(self, write: Write) -> OpenedSession:
        """In the container as it is; what stands there under that path is opened, and never replaced."""
        for _ in range(_ATTEMPTS):
            with database_failures("create", self.path):
                database = await in_thread(self._groundwork.make_container, self.path)
                self._worker = Worker.start(self._connect)
                await self._worker.open(self.path, "create")
                if await self._worker.run(partial(_is_bound_to, database=database)):
                    break
                await self._worker.close()
        else:
            raise SessionFileChanged(self.path, "it was replaced again and again while it was opened")
        await self._worker.run(partial(self._written, write=write))
        return await bound(self._worker, database, self._session_id)

    def _check_free(self) -> None:
        if not Path(self.path).is_file():
            return
        with connected(self._connect, self.path, "read-only") as connection:
            if _is_there(connection, self._session_id):
                raise SessionExists(self._session_id)

    def _written(self, connection: apsw.Connection, write: Write) -> None:
        before = connection.total_changes()
        try:
            with database_failures("create", self.path):
                write(connection)
        finally:
            # Who has written a row had found the id free: only then is what stands there this call's.
            self._rows_written = connection.total_changes() > before

    async def _take_back(self) -> None:
        if self._rows_written:
            await in_thread(self._remove_rows)

    def _remove_rows(self) -> None:
        with (
            suppress(apsw.Error, OSError, SessionStoreError),
            connected(self._connect, self.path, "read-write") as connection,
        ):
            if _is_there(connection, self._session_id):
                with immediate(connection):
                    remove_rows(connection, self._session_id)


def _is_bound_to(connection: apsw.Connection, database: OpenDatabase) -> bool:
    """Whether the connection holds the very file that was found. Once it has read, nobody removes that file as an empty
    container. Raises Damage for a container that the store cannot use.
    """
    check_encoding(connection)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    try:
        database.check_unchanged()
    except SessionFileChanged:
        return False
    return True


def _is_there(connection: apsw.Connection, session_id: str) -> bool:
    if not connection.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sessions')").get:
        return False
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)", (session_id,)).get)
