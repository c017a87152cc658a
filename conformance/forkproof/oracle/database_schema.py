"""The tables, indexes and triggers of a database: section 27.1 of the contract, written down by the judge.

`schema_of` reads what a database has, in the same form; `statements` are what makes a right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import apsw


@dataclass(frozen=True)
class Table:
    """Columns in their order, each `name TYPE` with `null` behind it where it may be missing; and the primary key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    has_rowid: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.split()[0] for column in self.columns)


@dataclass(frozen=True)
class Index:
    """The table and the columns of an index."""

    table: str
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True)
class Schema:
    """Everything that a database has besides its rows; triggers by name, with the table each stands before."""

    tables: dict[str, Table] = field(default_factory=dict)
    indexes: dict[str, Index] = field(default_factory=dict)
    triggers: dict[str, str] = field(default_factory=dict)


SCHEMA: Final = Schema(
    tables={
        "sessions": Table(
            (
                "id TEXT",
                "created_at INTEGER",
                "parent_session_id TEXT null",
                "storage_version INTEGER",
                "metadata TEXT null",
                "message_count INTEGER",
                "usage_payload TEXT",
                "next_seq INTEGER",
            ),
            ("id",),
        ),
        "entries": Table(
            (
                "session_id TEXT",
                "id TEXT",
                "parent_id TEXT null",
                "seq INTEGER",
                "type TEXT",
                "custom_type TEXT null",
                "timestamp INTEGER",
                "payload TEXT",
            ),
            ("session_id", "id"),
        ),
        "scalar_values": Table(
            ("session_id TEXT", "namespace TEXT", "key TEXT", "seq INTEGER", "value TEXT"),
            ("session_id", "namespace", "key"),
        ),
        "list_values": Table(
            ("session_id TEXT", "namespace TEXT", "key TEXT", "seq INTEGER", "value TEXT"),
            ("session_id", "namespace", "key", "seq"),
        ),
        "usage_ledger": Table(
            (
                "session_id TEXT",
                "id TEXT",
                "seq INTEGER",
                "entry_id TEXT null",
                "adjustment INTEGER",
                "usage TEXT",
                "details TEXT null",
            ),
            ("session_id", "id"),
        ),
        "branch_entries": Table(
            ("session_id TEXT", "branch_id TEXT", "entry_id TEXT", "entry_seq INTEGER", "entry_type TEXT"),
            ("session_id", "branch_id", "entry_id"),
        ),
        "branch_meta": Table(
            (
                "session_id TEXT",
                "branch_id TEXT",
                "tip_entry_id TEXT",
                "tip_seq INTEGER",
                "base_branch_id TEXT null",
                "base_seq INTEGER null",
            ),
            ("session_id", "branch_id"),
        ),
    },
    indexes={
        "ix_entry_parent": Index("entries", ("session_id", "parent_id")),
        "ix_entry_seq": Index("entries", ("session_id", "seq", "type")),
        "ix_usage_seq": Index("usage_ledger", ("session_id", "seq")),
        "ix_be_seq": Index("branch_entries", ("session_id", "branch_id", "entry_seq", "entry_id", "entry_type")),
        "ix_be_type": Index("branch_entries", ("session_id", "branch_id", "entry_type", "entry_seq", "entry_id")),
        "ix_be_entry": Index("branch_entries", ("session_id", "entry_id")),
        "ix_bm_tip": Index("branch_meta", ("session_id", "tip_entry_id"), unique=True),
    },
    triggers={"trg_entries_validate": "entries", "trg_usage_ledger_validate": "usage_ledger"},
)
"""What section 27.1 says."""

TRIGGER_BODIES: Final = {
    "trg_entries_validate": (
        "SELECT RAISE(ABORT, 'unknown parent') WHERE new.parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entries"
        " WHERE session_id = new.session_id AND id = new.parent_id); "
        "SELECT RAISE(ABORT, 'the id is taken') WHERE EXISTS (SELECT 1 FROM usage_ledger"
        " WHERE session_id = new.session_id AND id = new.id);"
    ),
    "trg_usage_ledger_validate": (
        "SELECT RAISE(ABORT, 'the id is taken') WHERE EXISTS (SELECT 1 FROM entries"
        " WHERE session_id = new.session_id AND id = new.id);"
    ),
}


def statements() -> Iterator[str]:
    """What makes every table, index and trigger in an empty database."""
    for name, table in SCHEMA.tables.items():
        yield table_statement(name, table)
    for name, index in SCHEMA.indexes.items():
        unique = "UNIQUE " if index.unique else ""
        yield f"CREATE {unique}INDEX {name} ON {index.table} ({', '.join(index.columns)})"
    for name, on in SCHEMA.triggers.items():
        yield f"CREATE TRIGGER {name} BEFORE INSERT ON {on} BEGIN {TRIGGER_BODIES[name]} END"


def table_statement(name: str, table: Table) -> str:
    """What makes one table.

    >>> table_statement("beds", Table(("id TEXT", "note TEXT null"), ("id",)))
    'CREATE TABLE beds (id TEXT NOT NULL, note TEXT, PRIMARY KEY (id)) WITHOUT ROWID'
    """
    columns = [
        column.removesuffix(" null") if column.endswith(" null") else f"{column} NOT NULL" for column in table.columns
    ]
    key = f"PRIMARY KEY ({', '.join(table.key)})"
    return f"CREATE TABLE {name} ({', '.join([*columns, key])}){'' if table.has_rowid else ' WITHOUT ROWID'}"


def schema_of(connection: apsw.Connection) -> Schema:
    """What the database of a connection has. Indexes that SQLite makes by itself are left out."""
    tables: dict[str, Table] = {}
    indexes: dict[str, Index] = {}
    rows = list(connection.execute("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"))
    for name, has_no_rowid in rows:
        if not str(name).startswith("sqlite_"):
            tables[name] = _table(connection, name, not has_no_rowid)
            indexes.update(_indexes(connection, name))
    triggers = dict(connection.execute("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'"))
    return Schema(tables, indexes, triggers)


def _table(connection: apsw.Connection, name: str, has_rowid: bool) -> Table:
    found = list(connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)))
    columns = tuple(f"{column} {kind}{'' if not_null else ' null'}" for column, kind, not_null, _ in found)
    key = tuple(str(column) for place, column in sorted((pk, column) for column, _, _, pk in found) if place)
    return Table(columns, key, has_rowid)


def _indexes(connection: apsw.Connection, table: str) -> Iterator[tuple[str, Index]]:
    made = "SELECT name, \"unique\" FROM pragma_index_list(?) WHERE origin = 'c'"
    for name, unique in list(connection.execute(made, (table,))):
        columns = connection.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        yield str(name), Index(table, tuple(str(column) for (column,) in columns), bool(unique))
