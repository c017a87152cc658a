"""Listing: the sessions in the databases of a layout, without changing any of them (S-REPO-13, S-SQL-LAY-06).

A database is opened for reading only, read in one step, and closed before the next one is opened: nothing is held from
one item to the next (S-REPO-15).
"""

from __future__ import annotations

import os
from typing import Any, Final

import apsw

from forkstore.contract.store import STORAGE_VERSION, SessionMetadata
from forkstore.threads import in_thread

from .connect import Connect
from .failing import database_failures
from .layout import Layout
from .opening import connected

_DATABASES_PER_STEP: Final = 16
"""Databases that are looked at before the event loop, and a cancellation, get a turn."""
_PASSED_OVER: Final = (
    apsw.NotADBError,
    apsw.CorruptError,
    apsw.SQLError,  # no such table, or no such column
    apsw.PermissionsError,
    apsw.ReadOnlyError,
    apsw.AuthError,
    ValueError,  # a name that SQLite cannot be given
)
"""Failures that say something about the one file, which is then none that can be recognised."""
# As bytes, because text that is no UTF-8 in one row would otherwise keep all others from being read.
_SELECT: Final = """
    SELECT CAST(id AS BLOB), created_at, CAST(parent_session_id AS BLOB),
        typeof(id) = 'text' AND typeof(created_at) = 'integer' AND typeof(parent_session_id) IN ('text', 'null')
            AND (SELECT encoding FROM pragma_encoding) = 'UTF-8'
    FROM sessions WHERE storage_version = ?
"""


async def listed_sessions(connect: Connect, layout: Layout) -> list[SessionMetadata]:
    """Metadata of every session that can be recognised, latest first (S-REPO-11, S-REPO-12). Raises StoreIOError."""
    paths = await in_thread(layout.databases)
    found: list[SessionMetadata] = []
    for first in range(0, len(paths), _DATABASES_PER_STEP):
        found += await in_thread(_sessions_in, connect, paths[first : first + _DATABASES_PER_STEP])
    return sorted(found, key=lambda metadata: (-metadata.created_at, metadata.id))


def _sessions_in(connect: Connect, paths: list[str]) -> list[SessionMetadata]:
    found: list[SessionMetadata] = []
    for path in paths:
        rows = (_recognised(row, path) for row in _rows(connect, path))
        found += [metadata for metadata in rows if metadata is not None]
    return found


def _rows(connect: Connect, path: str) -> list[tuple[Any, ...]]:
    with database_failures("list", path):
        try:
            with connected(connect, path, "read-only") as connection:
                return connection.execute(_SELECT, (STORAGE_VERSION,)).fetchall()
        except _PASSED_OVER:
            return []
        except apsw.CantOpenError:
            if os.access(path, os.R_OK):
                raise  # it is not the file that is in the way
            return []


def _recognised(row: tuple[Any, ...], path: str) -> SessionMetadata | None:
    """The session of a row; None when a column holds what no session has."""
    session_id, created_at, parent_session_id, is_legible = row
    if not is_legible:
        return None
    try:
        parent = None if parent_session_id is None else parent_session_id.decode()
        return SessionMetadata(id=session_id.decode(), created_at=created_at, parent_session_id=parent, path=path)
    except UnicodeDecodeError:
        return None
