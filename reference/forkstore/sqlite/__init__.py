"""Sessions in SQLite databases: one each in a directory, or all in one container (spec sections 27 to 32)."""

from .connect import open_connection
from .repo import SqliteSessionRepo

__all__ = ["SqliteSessionRepo", "open_connection"]
