"""Mutants of the suite `sql_transactions`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

NEW_TRANSACTION = 'connection.execute("COMMIT"); connection.execute("BEGIN IMMEDIATE")'


class BeginsDeferred(SqlLie):
    """Lie: a write transaction takes its lock with its first write."""

    kills = "S-SQL-TXN-01"
    file = "transactions.py"
    line = '"BEGIN IMMEDIATE"'
    lie = '"BEGIN"'


class BeginsExclusive(SharedSqlLie):
    """Lie: a write transaction keeps readers out too."""

    kills = "S-SQL-TXN-01"
    file = "transactions.py"
    line = '"BEGIN IMMEDIATE"'
    lie = '"BEGIN EXCLUSIVE"'


class CommitsWithoutATransaction(SqlLie):
    """Lie: each statement of a commit is a transaction of its own."""

    kills = "S-SQL-TXN-01"
    file = "commits.py"
    line = "        with immediate(connection):\n"
    lie = "        if True:\n"


class WritesStatisticsAfterwards(SharedSqlLie):
    """Lie: statistics and the next sequence are written in a transaction of their own."""

    kills = "S-SQL-TXN-01"
    file = "commits.py"
    line = "                same_usage = placement.usage is usage\n"
    lie = f"                same_usage = placement.usage is usage; {NEW_TRANSACTION}\n"


class IndexesAfterwards(SqlLie):
    """Lie: the tip of a segment is moved in a transaction of its own."""

    kills = "S-SQL-TXN-01"
    file = "commits.py"
    line = "        index.finish()\n"
    lie = f"        {NEW_TRANSACTION}; index.finish()\n"


class LooksBeforeItsTransaction(SqlLie):
    """Lie: a commit looks at the session's row before its transaction begins, and writes on what it saw."""

    kills = "S-SQL-TXN-01"
    file = "commits.py"
    line = (
        "        with immediate(connection):\n"
        "            self._database.check_unchanged()\n"
        "            session = read_session_row(connection, self._session_id, self._database.path)\n"
    )
    lie = (
        "        session = read_session_row(connection, self._session_id, self._database.path)\n"
        "        with immediate(connection):\n"
        "            self._database.check_unchanged()\n"
    )


class DeletesRowAfterRow(SharedSqlLie):
    """Lie: the rows of a session are removed from its container table by table, without a transaction."""

    kills = "S-SQL-TXN-01"
    file = "removing.py"
    line = "        immediate(connection),\n"
    lie = ""


class ReadsInAWriteTransaction(SqlLie):
    """Lie: reads of several statements take the write lock."""

    kills = "S-SQL-TXN-01"
    file = "transactions.py"
    line = '    connection.execute("BEGIN")\n'
    lie = '    connection.execute("BEGIN" + " IMMEDIATE")\n'


class LeavesAReadTransactionOpen(SharedSqlLie):
    """Lie: a read of several statements ends its transaction only when it fails."""

    kills = "S-SQL-TXN-01"
    file = "transactions.py"
    line = "    finally:\n        roll_back(connection)\n"
    lie = "    except BaseException:\n        roll_back(connection)\n        raise\n"


class MakesItsSchemaWithoutATransaction(SqlLie):
    """Lie: tables, indexes and triggers are made one by one before a new session is written."""

    kills = "S-SQL-TXN-01"
    file = "creating.py"
    line = "    with immediate(connection):\n"
    lie = "    make_schema(connection)\n    with immediate(connection):\n"
