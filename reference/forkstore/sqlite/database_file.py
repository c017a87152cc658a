"""The file that an open session is bound to: its path, and which file that was when it was opened (S-SQL-LAY-10).

SQLite goes on writing to a file that somebody has removed or replaced, where nobody would ever read it again.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass

from forkstore.contract.errors import SessionFileChanged


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """A database file as it was found; `identity` is equal exactly for one and the same file."""

    path: str
    identity: Hashable

    @classmethod
    def at(cls, path: str) -> OpenDatabase:
        """The database file that stands at the path now. Raises OSError."""
        return cls(path, _identity(path))

    def check_unchanged(self) -> None:
        """Raises SessionFileChanged when the file is gone or another one stands in its place; OSError."""
        try:
            identity = _identity(self.path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SessionFileChanged(self.path, "it is gone") from error
        if identity != self.identity:
            raise SessionFileChanged(self.path, "another file stands in its place")


def _identity(path: str) -> Hashable:
    status = os.stat(path)  # noqa: PTH116 - every commit asks, and a Path costs more than the call
    return status.st_dev, status.st_ino
