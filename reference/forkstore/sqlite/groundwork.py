"""What the calls of one repository make before a session can stand: directories, and the container.

It belongs to no single call: two that run at once stand on the same ground. When the last of them has ended and none
has made a session, it goes, as far as nobody else has put something into it (S-FORK-FAIL-02, S-SQL-LAY-13).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path, PurePath

import apsw

from forkstore.contract.errors import SessionStoreError
from forkstore.threads import in_thread

from .connect import Connect
from .database_file import OpenDatabase
from .draft import Draft
from .opening import connected
from .removing import remove_files, standing_side_files
from .schema import make_schema
from .transactions import immediate


class Groundwork:
    """The directories and the container that this repository has made and no session stands on yet."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._calls = 0
        self._directories: list[Path] = []
        self._container: OpenDatabase | None = None

    def begin(self) -> None:
        """A call begins that may make something."""
        self._calls += 1

    def keep(self) -> None:
        """It has made a session: what was made stays."""
        self._calls -= 1
        self._directories.clear()
        self._container = None

    async def take_back(self) -> None:
        """It has failed: what was made goes, if no other call needs it. Raises nothing but a cancellation."""
        if self._calls == 1 and self._container is not None:
            await in_thread(self._remove_container, self._container)
        self._calls -= 1
        if not self._calls:
            # At once, and not in a thread: no call can begin meanwhile that would need them.
            # The deepest first, in whatever order the threads of two calls have noted them.
            for directory in sorted(self._directories, key=lambda made: len(made.parts), reverse=True):
                with suppress(OSError):
                    directory.rmdir()
            self._directories.clear()

    def make_directory(self, path: str) -> None:
        """Makes a directory and its parents, as far as they are missing. It blocks. Raises OSError."""
        missing = []
        for directory in (Path(path), *Path(path).parents):
            if directory.is_dir():
                break
            missing.append(directory)
        for directory in reversed(missing):
            with suppress(FileExistsError):
                directory.mkdir()
                self._directories.append(directory)

    def make_container(self, path: str) -> OpenDatabase:
        """The container, which is made, complete but for sessions, if nothing stands there. It blocks.

        Of several processes that make it at once one does, and the others find it (S-SQL-LAY-12). Raises apsw.Error and
        OSError.
        """
        self.make_directory(str(PurePath(path).parent))
        if not os.path.lexists(path):
            draft = Draft(path)
            try:
                draft.write(self._connect, _make_schema)
                self._container = draft.place()
            except FileExistsError:
                draft.take_back()
            except BaseException:
                draft.take_back()
                raise
        return OpenDatabase.at(path)

    def _remove_container(self, container: OpenDatabase) -> None:
        """Removes the container if no session is in it and nobody else has it open; then it is left as it is."""
        path = container.path
        with (
            suppress(apsw.Error, OSError, SessionStoreError),
            connected(self._connect, path, "read-write") as connection,
        ):
            # In this mode a write transaction keeps out everyone, readers and those who open the database included; and
            # it is refused, here at once, while anybody else has it open.
            connection.set_busy_timeout(0)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            with immediate(connection):
                if not _holds_sessions(connection):
                    container.check_unchanged()
                    # The side files first: as soon as the database is gone, another process may make the next one.
                    remove_files([*standing_side_files(path), path])
                    self._container = None


def _make_schema(connection: apsw.Connection) -> None:
    with immediate(connection):
        make_schema(connection)


def _holds_sessions(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM sessions)").get)
