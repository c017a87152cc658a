"""A database that is made under a name of its own, and appears in its place when it is complete.

So a process that is killed leaves no half database where a session's ought to be: that would be listed nowhere, and
keep the id taken for ever (S-FORK-FAIL-09, S-SQL-LAY-05).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import apsw

from .connect import Connect
from .database_file import OpenDatabase
from .opening import connected
from .removing import remove_database, remove_files, standing_side_files

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""How a file system says that it has no hard links."""


class Draft:
    """One database on its way to its place. Every call blocks."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._draft = f"{path}.{token_hex(8)}.tmp"
        self._written: OpenDatabase | None = None

    def write(self, connect: Connect, write: Callable[[apsw.Connection], None]) -> None:
        """Makes the database with all that is to be in it. Raises apsw.Error and OSError, and what `write` raises.

        Without a WAL, because only the database itself is put in place, and because everything would be written twice.
        What a kill leaves is no session, so the file is synced but once, when it is complete.
        """
        with connected(connect, self._draft, "create") as connection:
            connection.execute("PRAGMA synchronous = OFF")
            _use_journal(connection, "memory")
            write(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            _use_journal(connection, "wal")
        self._written = OpenDatabase.at(self._draft)

    def place(self) -> OpenDatabase:
        """The database appears in its place. Raises FileExistsError when anything stands there, and OSError.

        Side files without a database are what a killed process has left; a new database would take them for its own. So
        they go: those that were there before the place was seen to be free, and not those of a database that another
        process puts there meanwhile.
        """
        left_over = standing_side_files(self._path)
        if os.path.lexists(self._path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._path)
        remove_files(left_over)
        _publish(self._draft, self._path)
        return OpenDatabase.at(self._path)

    def take_back(self) -> None:
        """Removes what was made, in its place too, whoever has failed afterwards. Raises nothing."""
        with suppress(OSError):
            if self._written is not None and OpenDatabase.at(self._path).identity == self._written.identity:
                remove_database(self._path)
        with suppress(OSError):
            remove_database(self._draft)


def _use_journal(connection: apsw.Connection, mode: str) -> None:
    if connection.execute(f"PRAGMA journal_mode = {mode}").get != mode:
        raise OSError(errno.EBUSY, "somebody else has opened the database that is being made")


def _publish(draft: str, path: str) -> None:
    """A second name for the file, made only where there is none, and then the first name goes: a process killed at any
    point leaves nothing there, or the complete database.

    Where there are no hard links it looks and then renames: as safe from a kill, but it replaces a database that
    another process makes between the two.
    """
    try:
        os.link(draft, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        Path(draft).rename(path)
    else:
        # The database stands, so this has succeeded. A first name that stays is one more name of the same file.
        with suppress(OSError):
            Path(draft).unlink()
