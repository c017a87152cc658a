"""Mutants of the suite `sql_fork_publish`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

INSERTS = "        insert_session_row(connection, row)\n"
STATEMENTS = "            connection.execute(statement, (session_id,))\n"
NEW_TRANSACTION = '        connection.execute("COMMIT")\n        connection.execute("BEGIN IMMEDIATE")\n'
FULL = "(not rows_left or row[0] > bytes_left)"


class PublishesTheRowByItself(SqlLie):
    """Lie: the session's row is written in a transaction of its own, before the rest."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = INSERTS
    lie = INSERTS + NEW_TRANSACTION


class PublishesTableByTable(SharedSqlLie):
    """Lie: each table of the destination is written in a transaction of its own."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = STATEMENTS
    lie = STATEMENTS + NEW_TRANSACTION.replace("        connection", "            connection")


class MakesTheSchemaBeforehand(SqlLie):
    """Lie: tables and indexes are made before the transaction of the destination begins."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = "_attached(connection, stage.path), immediate(connection):\n"
    lie = "_attached(connection, stage.path), make_schema(connection) or immediate(connection):\n"


class PublishesValuesBeforeSegments(SharedSqlLie):
    """Lie: scalars and lists are written before the segments of the branch index."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = "_COPIED_INDEX_ROWS, _SEGMENTS, *_ROWS):"
    lie = "_COPIED_INDEX_ROWS, *_ROWS, _SEGMENTS):"


class TriesTheValuesFirst(SqlLie):
    """Lie: scalars and lists are written once, and removed again, before the session's row."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = "        make_schema(connection)\n"
    lie = (
        "        make_schema(connection)\n"
        "        for statement in _ROWS:\n"
        "            connection.execute(statement, (session_id,))\n"
        '        connection.execute("DELETE FROM scalar_values WHERE session_id = ?", (session_id,))\n'
        '        connection.execute("DELETE FROM list_values WHERE session_id = ?", (session_id,))\n'
    )


class CountsAllEntriesAsMessages(SharedSqlLie):
    """Lie: the message count of a destination is the number of its entries."""

    kills = "S-SQL-FORK-13"
    file = "publishing.py"
    line = "message_count=stage.messages,"
    lie = "message_count=stage.entries,"


class LetsABatchPassItsRows(SqlLie):
    """Lie: a batch is full when it holds one row more than it may."""

    kills = "S-SQL-FORK-07"
    file = "batches.py"
    line = FULL
    lie = "(rows_left < 0 or row[0] > bytes_left)"


class ForgetsTheBytes(SharedSqlLie):
    """Lie: a batch is bounded by its rows alone."""

    kills = "S-SQL-FORK-07"
    file = "batches.py"
    line = FULL
    lie = "not rows_left"


class LetsABatchPassItsBytes(SqlLie):
    """Lie: the row that passes the bytes of a batch is still taken into it."""

    kills = "S-SQL-FORK-07"
    file = "batches.py"
    line = FULL
    lie = "(not rows_left or bytes_left < 0)"


class CountsTheBytesOfEntriesOnly(SharedSqlLie):
    """Lie: scalars and elements weigh nothing."""

    kills = "S-SQL-FORK-07"
    file = "address_rows.py"
    line = '"octet_length(namespace) + octet_length(key) + octet_length(value), "'
    lie = '"0, "'


class IgnoresTheRowsItIsGiven(SqlLie):
    """Lie: `stage_batch_rows` is checked and not used."""

    kills = "S-SQL-FORK-07"
    file = "repo.py"
    line = 'rows=checked_bound("stage_batch_rows", stage_batch_rows),'
    lie = 'rows=checked_bound("stage_batch_rows", stage_batch_rows) and 250,'


class IgnoresTheBytesItIsGiven(SharedSqlLie):
    """Lie: `stage_batch_bytes` is checked and not used."""

    kills = "S-SQL-FORK-07"
    file = "repo.py"
    line = 'bytes=checked_bound("stage_batch_bytes", stage_batch_bytes),'
    lie = 'bytes=checked_bound("stage_batch_bytes", stage_batch_bytes) and 1_048_576,'
