"""How a database is opened: the three modes of spec section 29.2, and the option `connect` that replaces it.

A store takes all its connections from one function of a path and a mode, so that a test can watch or fail every
statement. It is called in the thread that will use the connection.
"""

from __future__ import annotations

import errno
import os
import re
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal

import apsw

Mode = Literal["create", "read-write", "read-only"]
"""`create` makes a missing database; the other two do not."""
Connect = Callable[[str, Mode], apsw.Connection]
"""Opens the database at a path. The store uses only the documented public interface of what it gives."""

BUSY_TIMEOUT_MS: Final = 5_000
"""How long a statement waits for a lock that somebody else holds (S-SQL-TXN-03)."""

_FLAGS: Final[dict[Mode, int]] = {
    "create": apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE,
    "read-write": apsw.SQLITE_OPEN_READWRITE,
    "read-only": apsw.SQLITE_OPEN_READONLY,
}
_FIRST_FAULTY: Final = (3, 7, 0)
_LAST_FAULTY: Final = (3, 51, 2)
_REPAIRED: Final = frozenset({(3, 50, 7), (3, 44, 6)})
_warned: set[str] = set()


def open_connection(path: str, mode: Mode) -> apsw.Connection:
    """A connection to the database at the path, which is never read as a URI (S-SQL-LAY-04).

    Several processes may open one new database at once (S-SQL-LAY-12). Warns once per process when the SQLite in use
    can damage a database in WAL mode. Raises apsw.Error and OSError; then nothing stays open.
    """
    warn_of_faulty_sqlite(apsw.sqlite_lib_version())
    connection = apsw.Connection(os.path.abspath(path), flags=_FLAGS[mode])  # noqa: PTH100 - of any text
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if mode != "read-only":
            if connection.execute("PRAGMA page_count").get == 0:
                connection.execute(
                    "PRAGMA synchronous = OFF"
                )  # nothing is in it yet that waiting for a disk could save
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        with suppress(apsw.Error):
            connection.close()
        raise
    return connection


def warn_of_faulty_sqlite(version: str) -> None:
    """Warns, once per version, of an SQLite in which resetting the WAL can lose or damage data."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if not _FIRST_FAULTY <= numbers <= _LAST_FAULTY or numbers in _REPAIRED or version in _warned:
        return
    _warned.add(version)
    warnings.warn(
        f"SQLite {version} has a fault that can damage a database in WAL mode when several connections use it; "
        "install an apsw with SQLite 3.51.3 or later",
        RuntimeWarning,
        stacklevel=2,
    )


def _use_wal(connection: apsw.Connection) -> None:
    """Puts the database into WAL mode, where it stays.

    Changing the mode does not wait for a lock: SQLite refuses it at once while anybody else reads, writes or does the
    same. So it waits until it is alone in an empty transaction, which does wait, and tries again.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").get
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            with suppress(apsw.BusyError):
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("ROLLBACK")
            continue
        if mode != "wal":
            raise OSError(errno.ENOTSUP, "the database cannot be put into WAL mode")
        return
