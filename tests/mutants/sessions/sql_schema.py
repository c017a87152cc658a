"""Mutants of the suite `sql_schema`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class ATableKeepsItsRowid(SqlLie):
    """Lie: the table of lists has a rowid."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "PRIMARY KEY (session_id, namespace, key, seq)\n) WITHOUT ROWID;"
    lie = "PRIMARY KEY (session_id, namespace, key, seq)\n);"


class AnIndexOfTheStoresOwn(SharedSqlLie):
    """Lie: scalars have an index that the contract does not know."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "CREATE INDEX IF NOT EXISTS ix_entry_parent"
    lie = f"CREATE INDEX IF NOT EXISTS ix_value_seq ON scalar_values (session_id, seq);\n{line}"


class TwoSegmentsMayHaveOneTip(SqlLie):
    """Lie: the index of tips is not unique."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "CREATE UNIQUE INDEX"
    lie = "CREATE INDEX"


class ATriggerDoesNotLookAtTheSession(SharedSqlLie):
    """Lie: the trigger finds usage rows of other sessions too."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "FROM usage_ledger WHERE session_id = NEW.session_id AND id = NEW.id"
    lie = "FROM usage_ledger WHERE id = NEW.id"


class AParentIsFoundInAnySession(SharedSqlLie):
    """Lie: the trigger takes a parent of another session."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "FROM entries WHERE session_id = NEW.session_id AND id = NEW.parent_id"
    lie = "FROM entries WHERE id = NEW.parent_id"


class AnIndexIsMadeAnew(SharedSqlLie):
    """Lie: an index that stands there is dropped and made again."""

    kills = "S-SQL-SCH-01"
    file = "schema.sql"
    line = "CREATE INDEX IF NOT EXISTS ix_usage_seq"
    lie = "DROP INDEX IF EXISTS ix_usage_seq;\nCREATE INDEX ix_usage_seq"


class OneTableIsTakenForAll(SharedSqlLie):
    """Lie: where a table stands, the rest of the schema is taken to stand too."""

    kills = "S-SQL-SCH-01"
    file = "schema.py"
    line = "    connection.execute(schema_text(), can_cache=False)"
    lie = """    if not connection.table_exists(None, "sessions"):
        connection.execute(schema_text(), can_cache=False)"""


class ANewSessionHasMetadata(SqlLie):
    """Lie: the metadata of a session is an empty object."""

    kills = "S-SQL-SCH-02"
    file = "session_rows.py"
    line = "VALUES (?, ?, ?, ?, NULL, ?, ?, ?)"
    lie = "VALUES (?, ?, ?, ?, '{}', ?, ?, ?)"


class SequencesBeginAtTwo(SqlLie):
    """Lie: the first sequence of a session is 2."""

    kills = "S-SQL-SCH-02"
    file = "session_rows.py"
    line = "next_seq: int = 1"
    lie = "next_seq: int = 2"


class ANewSessionHasASegment(SqlLie):
    """Lie: a new session comes with a row in the branch index."""

    kills = "S-SQL-SCH-02"
    file = "session_rows.py"
    line = '    """Adds the row of a new session, inside the caller\'s write transaction. Keeps S-SQL-SCH-02."""\n'
    lie = """    connection.execute("INSERT INTO branch_meta VALUES (?, '', '', 0, NULL, NULL)", (row.id,))
"""


class AFurtherTableIsDropped(SharedSqlLie):
    """Lie: a table that the schema does not know is dropped."""

    kills = "S-SQL-SCH-06"
    file = "schema.py"
    line = "connection.execute(schema_text(), can_cache=False)"
    lie = 'connection.execute(schema_text() + "DROP TABLE IF EXISTS writer_lease;", can_cache=False)'


class DeleteRunsOverFurtherTables(SharedSqlLie):
    """Lie: a delete removes rows of its session from a table that is not the store's."""

    kills = "S-SQL-SCH-06"
    file = "removing.py"
    line = "for table in TABLES:"
    lie = 'for table in [*TABLES, *["writer_lease"] * connection.table_exists(None, "writer_lease")]:'
