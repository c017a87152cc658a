"""Mutants of the suite `sql_fork_destination`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

INSERTS = "        insert_session_row(connection, row)\n"
SETS_UP = '        connection.execute("ATTACH DATABASE ? AS stage", (stage_path,))\n'


class WritesPayloadsAnew(SqlLie):
    """Lie: SQLite reads the payloads of entries as JSON and writes them anew."""

    kills = "S-FORK-DST-05"
    file = "publishing.py"
    line = "timestamp, CAST(payload AS TEXT)"
    lie = "timestamp, json(CAST(payload AS TEXT))"


class WritesValuesAnew(SharedSqlLie):
    """Lie: values and elements are decoded, and encoded again."""

    kills = "S-FORK-DST-05"
    file = "staging.py"
    line = "write.namespace, write.key, write.text\n"
    lie = (
        "write.namespace, write.key, "
        '__import__("json").dumps(__import__("json").loads(write.text), separators=(",", ":")).encode()\n'
    )


class TakesElementsForNumbers(SqlLie):
    """Lie: an element that looks like a number is stored as one."""

    kills = "S-FORK-DST-05"
    file = "publishing.py"
    line = "CAST(value AS TEXT) FROM stage.list_values"
    lie = "CAST(CAST(value AS TEXT) AS NUMERIC) FROM stage.list_values"


class KeepsTheForkToItself(SharedSqlLie):
    """Lie: no other process can read the destination while it is open."""

    kills = "S-FORK-DST-12"
    file = "publishing.py"
    line = SETS_UP
    lie = f'{SETS_UP}        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()\n'


class KeepsTheSequencesOfItsSource(SqlLie):
    """Lie: entries keep the sequences that they have in the source."""

    kills = "S-FORK-DST-10"
    file = "lineage.py"
    line = "                seq,\n                self.entries,\n"
    lie = "                seq,\n                seq,\n"


class ClearsTheLedgerOfAll(SharedSqlLie):
    """Lie: the empty ledger of a destination is made by emptying the table."""

    kills = "S-SQL-FORK-14"
    file = "publishing.py"
    line = INSERTS
    lie = f'{INSERTS}        connection.execute("DELETE FROM usage_ledger")\n'


class ClearsRowsByAPattern(SharedSqlLie):
    """Lie: rows that a failed fork may have left are removed first, by a pattern."""

    kills = "S-SQL-FORK-14"
    file = "publishing.py"
    line = INSERTS
    lie = f'{INSERTS}        connection.execute("DELETE FROM scalar_values WHERE session_id LIKE ?", (session_id,))\n'
