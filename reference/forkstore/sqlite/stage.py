"""The stage of a fork: a database of its own on disk that holds what is to be published (spec section 32).

What a fork keeps about its source while it copies stands in here too, so that nothing in Python grows with the source:
the chain of segments that a branch hangs on, and the branch index of the destination. A stage never outlives its fork,
so it has no journal and is not synced.

Its tables name an entry by its sequence in the source, because the source has an index from every id to it and the
stage then needs none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import apsw

from .connect import Connect
from .transactions import immediate

CACHE_KIB: Final = 2048
"""What a connection that moves the rows of a fork keeps in memory, whatever their number (S-FORK-STR-05)."""
PAGE_BYTES: Final = 32_768
"""Large pages take fewer calls of the system."""

_SETTINGS: Final = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    f"PRAGMA page_size = {PAGE_BYTES}",
    "VACUUM",  # gives the file, which has a page already, that size
    f"PRAGMA cache_size = -{CACHE_KIB}",
)
_TABLES: Final = (
    # `seq` is the sequence in the destination; `segment`, `parent` and `compaction` name entries of the stage: the one
    # that began the segment, the parent, and the nearest compaction on the path, the entry itself included.
    """CREATE TABLE entries (
        source_seq INTEGER PRIMARY KEY, seq INTEGER, id, parent_id, type, custom_type, timestamp,
        segment INTEGER, parent INTEGER, compaction INTEGER, payload BLOB
    )""",
    "CREATE TABLE segments (first INTEGER PRIMARY KEY, tip INTEGER, base INTEGER, base_at INTEGER)",
    "CREATE TABLE scalar_values (seq INTEGER PRIMARY KEY, namespace, key, value BLOB)",
    "CREATE TABLE list_values (seq INTEGER PRIMARY KEY, namespace, key, value BLOB)",
    "CREATE TABLE chain (upto INTEGER PRIMARY KEY, above INTEGER, branch_id)",
)
_SIDE_FILES: Final = ("", "-journal", "-wal", "-shm")


class Stage:
    """One stage file. It is written through `connection` in one thread, closed, attached by who publishes, removed."""

    def __init__(self, directory: str) -> None:
        self.path: Final = os.path.join(directory, f".fork-stage-{token_hex(8)}.tmp")  # noqa: PTH118 - of any text
        self.entries = 0
        self.messages = 0
        self.rows = 0
        self._connection: apsw.Connection | None = None

    @property
    def connection(self) -> apsw.Connection:
        """The connection of an open stage."""
        if self._connection is None:
            raise RuntimeError("the stage is not open")
        return self._connection

    def open(self, connect: Connect) -> None:
        """Makes the file. Keeps S-SQL-FORK-06. Raises what the connect function raises, and apsw.Error."""
        self._connection = connection = connect(self.path, "create")
        for setting in _SETTINGS:
            connection.execute(setting).fetchall()
        with immediate(connection):
            for table in _TABLES:
                connection.execute(table)

    def close(self) -> None:
        """Closes the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def remove(self) -> None:
        """Closes and removes the stage with its side files, as far as it is there (S-SQL-FORK-16).

        Raises nothing: what went wrong before is what matters, and a fork that is published stays so.
        """
        with suppress(apsw.Error):
            self.close()
        for suffix in _SIDE_FILES:
            with suppress(OSError):
                Path(self.path + suffix).unlink()
