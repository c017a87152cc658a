"""The databases of a store, past the store: found, read, changed, planted, and taken away again (seam raw-files).

All of it goes through the kit's own connections. What a case changes here is remembered: after the case these
databases are removed whole by the kit itself, because no store has to delete rows that it cannot read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from forkproof.expect import ClauseBroken, expect_equal
from forkproof.instruments.clocks import START
from forkproof.instruments.file_picture import SIDE_SUFFIXES
from forkproof.instruments.own_connections import Statement, change, connected, read_rows
from forkproof.instruments.sqlite_shim import BASE_VFS
from forkproof.oracle import database_schema
from forkproof.oracle.branch_index import branch_index
from forkproof.oracle.database_names import SUFFIX, database_name
from forkproof.oracle.database_rows import Row, SessionRows, index_of_rows, indexed_entries
from forkproof.oracle.database_schema import SCHEMA, Schema, schema_of
from forkstore.contract.store import SessionMetadata

SESSION_COLUMN: Final = {name: "id" if name == "sessions" else "session_id" for name in SCHEMA.tables}
"""The column of each table that says whose row it is."""

Picture = dict[str, list[tuple[Any, ...]]]
"""All rows of a database, by table, each table in the order of its primary key."""


class RawDatabases:
    """The databases of one store, in either layout: one a session under `directory`, or the one `container`.

    >>> rows = store.databases.session_rows(subject.metadata)
    >>> store.databases.change(path, ("UPDATE entries SET payload = ? WHERE id = ?", ("[]", "e1")))
    >>> store.databases.take_away()
    """

    def __init__(self, *, directory: Path | None, path: Path | None) -> None:
        if path is None and directory is None:
            raise TypeError("a store's databases lie in a directory, or are one path")
        self.container = path
        self.directory: Path = path.parent if path is not None else Path(directory or "")
        self._changed: dict[Path, None] = {}
        self._made: list[Path] = []

    def place(self, id: str) -> Path:
        """Where the rows of a session of this id belong (section 29.1)."""
        return self.directory / database_name(id) if self.container is None else self.container

    def databases(self) -> list[Path]:
        """Every database of the layout that stands there, by name."""
        if self.container is not None:
            return [self.container] if self.container.exists() else []
        return sorted(self.directory.glob(f"*{SUFFIX}")) if self.directory.is_dir() else []

    def rows(self, path: Path, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        """What a query on one database gives. Raises apsw.Error."""
        return read_rows(path, sql, *bindings)

    def session_rows(self, of: SessionMetadata) -> SessionRows:
        """All rows of a session. Breaks the clause when its metadata names no database; raises apsw.Error."""
        path, found = path_of(of), {}
        with connected(path) as connection:
            connection.execute("BEGIN")
            for name, table in SCHEMA.tables.items():
                rows = list(connection.execute(_selection(name, "= ?"), (of.id,)))
                found[name] = tuple(dict(zip(table.names, row, strict=True)) for row in rows)
            connection.execute("COMMIT")
        return SessionRows(**found)

    def picture(self, path: Path, *, without: Iterable[str] = ()) -> Picture:
        """All rows of a database in its seven tables, those of the named sessions left out.

        >>> before = databases.picture(path)
        >>> fork = await source.fork(TreeFork())
        >>> expect_equal(databases.picture(path, without=[fork.id]), before, of="the rows of other sessions")
        """
        left_out = tuple(without)
        marks, found = ", ".join("?" * len(left_out)), {}
        with connected(path) as connection:
            for name in SCHEMA.tables:
                found[name] = list(connection.execute(_selection(name, f"NOT IN ({marks})"), left_out))
        return found

    def schema(self, path: Path) -> Schema:
        """The tables, indexes and triggers that a database has."""
        with connected(path) as connection:
            return schema_of(connection)

    def check_index(self, of: SessionMetadata) -> None:
        """Breaks the clause unless the branch index of a session is what the insert rules give for its entries (section
        30).
        """
        rows = self.session_rows(of)
        right = branch_index(indexed_entries(rows))
        expect_equal(index_of_rows(rows), right, of=f"the branch index of the session {of.id!r}")

    def change(self, path: Path, *statements: Statement) -> int:
        """Changes rows in one transaction; gives the number of rows changed. Raises apsw.Error, and LookupError when
        nothing changed: a damage that hits nothing proves nothing.
        """
        self._changed[path] = None
        changed = change(path, *statements)
        if not changed and not any(_is_definition(statement) for statement in statements):
            raise LookupError(f"no row of {path.name} was changed by {statements!r}")
        return changed

    def change_session(self, of: SessionMetadata, table: str, values: Mapping[str, Any], where: str = "1") -> int:
        """Sets columns of rows of one session, those that `where` chooses.

        >>> databases.change_session(subject.metadata, "entries", {"custom_type": None}, "id = 'note'")
        1
        """
        columns = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE {table} SET {columns} WHERE {SESSION_COLUMN[table]} = ? AND ({where})"  # noqa: S608 - a case's own
        return self.change(path_of(of), (sql, (*values.values(), of.id)))

    def remove_rows(self, of: SessionMetadata, table: str, where: str = "1") -> int:
        """Removes rows of one session, those that `where` chooses."""
        sql = f"DELETE FROM {table} WHERE {SESSION_COLUMN[table]} = ? AND ({where})"  # noqa: S608 - a case's own
        return self.change(path_of(of), (sql, (of.id,)))

    def insert_rows(self, path: Path, table: str, *rows: Mapping[str, Any]) -> int:
        """Puts rows into a table; a column that a row does not name is null."""
        names = SCHEMA.tables[table].names
        values = ", ".join("?" * len(names))
        sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"  # noqa: S608 - names of section 27.1
        return self.change(path, *((sql, tuple(row.get(name) for name in names)) for row in rows))

    def make(self, path: Path, *sessions: Row, schema: bool = True) -> Path:
        """Makes a database of the kit's own with these session rows (see `session_row`): all tables, indexes and
        triggers of section 27.1, or none of them without `schema`. Raises FileExistsError.
        """
        self._claim(path)
        connection = apsw.Connection(str(path), vfs=BASE_VFS)
        try:
            connection.pragma("synchronous", "off")
            connection.pragma("journal_mode", "wal")
            if schema:
                connection.execute(";".join(database_schema.statements()))
        finally:
            connection.close()
        if sessions:
            self.insert_rows(path, "sessions", *sessions)
        return path

    def plant(self, name: str, data: bytes) -> Path:
        """Puts a file beside the databases. Raises FileExistsError."""
        path = self.directory / name
        self._claim(path)
        path.write_bytes(data)
        return path

    def remove(self, path: Path) -> None:
        """Removes a database with its side files."""
        self._changed[path] = None
        _remove_with_side_files(path)

    def forget(self, path: Path) -> None:
        """Leaves a file to the store: it is not taken away after the case unless it is changed again."""
        self._changed.pop(path, None)

    def take_away(self) -> None:
        """Removes every database that was made or changed, with its side files, every planted file, and the
        directories made for them, if nothing else is there. Raises OSError.
        """
        for path in self._changed:
            _remove_with_side_files(path)
        for directory in reversed(self._made):
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()
        self._changed, self._made = {}, []

    def _claim(self, path: Path) -> None:
        if os.path.lexists(path):
            raise FileExistsError(f"{path} stands there already")
        missing = [one for one in (path.parent, *path.parent.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir()
            self._made.append(one)
        self._changed[path] = None


def session_row(id: str, *, created_at: int = START, **columns: Any) -> Row:
    """The row of a new session (S-SQL-SCH-02); `columns` say what is otherwise.

    >>> session_row("walk-1", storage_version=2)["storage_version"]
    2
    """
    return {
        "id": id,
        "created_at": created_at,
        "parent_session_id": None,
        "storage_version": 1,
        "metadata": None,
        "message_count": 0,
        "usage_payload": ZERO_USAGE,
        "next_seq": 1,
        **columns,
    }


ZERO_USAGE: Final = (
    '{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,'
    '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}'
)
"""The zero usage object as JSON text (sections 3.3 and 6.1)."""


def path_of(metadata: SessionMetadata) -> Path:
    """The database of a session. Breaks the clause when its metadata does not say (section 11.1)."""
    if not isinstance(metadata.path, str):
        of = f"the metadata of the session {metadata.id!r}"
        raise ClauseBroken(f"{of}\nexpected: the real path of its database\nseen:     {metadata.path!r}")
    return Path(metadata.path)


def side_files(path: Path) -> list[Path]:
    """Where the side files of a database stand, if they do."""
    return [path.with_name(path.name + suffix) for suffix in SIDE_SUFFIXES]


def _remove_with_side_files(path: Path) -> None:
    for one in (path, *side_files(path)):
        one.unlink(missing_ok=True)


def _selection(name: str, chosen: str) -> str:
    """Selects the rows of a table whose session is chosen, in the order of the primary key."""
    table = SCHEMA.tables[name]
    columns, key = ", ".join(table.names), ", ".join(table.key)
    return f"SELECT {columns} FROM {name} WHERE {SESSION_COLUMN[name]} {chosen} ORDER BY {key}"  # noqa: S608 - 27.1's names


def _is_definition(statement: Statement) -> bool:
    sql = statement if isinstance(statement, str) else statement[0]
    return sql.split(None, 1)[0].upper() in ("CREATE", "DROP", "ALTER", "PRAGMA")
