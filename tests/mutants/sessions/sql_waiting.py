"""Mutants of the suite `sql_waiting`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class ACommitDoesNotWait(SharedSqlLie):
    """Lie: a lock that somebody else holds is a failure at once."""

    kills = "S-SQL-TXN-03"
    file = "connect.py"
    line = "connection.set_busy_timeout(BUSY_TIMEOUT_MS)"
    lie = "connection.set_busy_timeout(0)"


class ACommitGivesUpEarly(SqlLie):
    """Lie: a commit waits for a fifth of its time."""

    kills = "S-SQL-TXN-03"
    file = "connect.py"
    line = "connection.set_busy_timeout(BUSY_TIMEOUT_MS)"
    lie = "connection.set_busy_timeout(BUSY_TIMEOUT_MS // 5)"
