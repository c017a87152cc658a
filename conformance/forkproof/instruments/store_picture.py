"""A store's place on the disk, held to what stands there: files to their bytes, databases to their rows.

What SQLite writes into a database file says little: a transaction that was taken back may leave pages behind. So a
database is read, with the kit's own connection, and its side files are not counted while it stands (section 20.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from forkproof.expect import ClauseBroken
from forkproof.instruments.byteguard import Tree, tree
from forkproof.instruments.file_picture import DATABASE_HEADER
from forkproof.instruments.own_connections import connected

SHOWN = 6
Rows = dict[str, Counter[tuple[Any, ...]]]
"""All rows of a database, by table."""


@dataclass(frozen=True)
class StorePicture:
    """A directory with all that is in it, as it was."""

    root: Path
    files: Tree
    """Everything but the databases."""
    databases: dict[str, Rows]

    def difference(self) -> str | None:
        """What is not as it was, in words; None when everything is.

        >>> before = store_picture("sessions")
        >>> await asyncio.gather(cancelled_fork, return_exceptions=True)
        >>> before.difference()
        'new: fork.sqlite (a database)'
        """
        now = store_picture(self.root)
        lines = [*filter(None, [self.files.difference(now.files)]), *self._differences(now)]
        return "\n".join(lines) or None

    def check(self, of: str) -> None:
        """Breaks the clause unless everything is as it was."""
        difference = self.difference()
        if difference is not None:
            raise ClauseBroken(f"{of}\nexpected: as it was\nseen:     {difference}")

    def _differences(self, now: StorePicture) -> Iterator[str]:
        for name in sorted(self.databases.keys() | now.databases.keys()):
            if name not in self.databases:
                yield f"new: {name} (a database)"
            elif name not in now.databases:
                yield f"gone: {name} (a database)"
            else:
                yield from (f"{name}: {line}" for line in _changes(self.databases[name], now.databases[name]))


def store_picture(root: Path) -> StorePicture:
    """The directory as it is, itself included; empty when there is none. Raises OSError and apsw.Error."""
    whole = tree(root)
    databases = [name for name, file in whole.files.items() if file.kind == "file" and _is_database(root / name)]
    files = {name: file for name, file in whole.files.items() if name not in databases}
    return StorePicture(root, Tree(root, files), {name: _rows(root / name) for name in databases})


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(DATABASE_HEADER)) == DATABASE_HEADER


def _rows(path: Path) -> Rows:
    with connected(path) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: _rows_of(connection, name) for name in names}


def _rows_of(connection: apsw.Connection, table: str) -> Counter[tuple[Any, ...]]:
    quoted = table.replace('"', '""')
    return Counter(connection.execute(f'SELECT * FROM "{quoted}"'))  # noqa: S608 - a name that the database gave


def _changes(was: Rows, now: Rows) -> Iterator[str]:
    for table in sorted(was.keys() | now.keys()):
        before, after = was.get(table, Counter()), now.get(table, Counter())
        lines = [f"new in {table}: {row!r:.200}" for row in after - before]
        lines += [f"gone from {table}: {row!r:.200}" for row in before - after]
        yield from lines[:SHOWN]
        if len(lines) > SHOWN:
            yield f"and {len(lines) - SHOWN} rows more in {table}"
