"""Mutants of the suite `sql_commit_faults`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

_ROLL_BACK = "    except BaseException:\n        roll_back(connection)\n        raise"


class AFailedCommitKeepsTheLock(SqlLie):
    """Lie: nobody rolls a failed transaction back."""

    kills = "S-SQL-TXN-02"
    file = "transactions.py"
    line = _ROLL_BACK
    lie = "    except BaseException:\n        raise"


class ARefusedCommitKeepsTheLock(SharedSqlLie):
    """Lie: a transaction is rolled back when SQLite fails, and not when the store refuses."""

    kills = "S-SQL-TXN-02"
    file = "transactions.py"
    line = _ROLL_BACK
    lie = "    except apsw.Error:\n        roll_back(connection)\n        raise"
