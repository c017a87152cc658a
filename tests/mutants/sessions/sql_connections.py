"""Mutants of the suite `sql_connections`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

KEEPS = 'connect.__dict__.setdefault("kept", []).append(connection)'


class LeavesTheConnectionOfASession(SqlLie):
    """Lie: closing a session ends its thread and keeps its connection."""

    kills = "S-SQL-TXN-05"
    file = "worker.py"
    line = "        try:\n            connection.close()\n"
    lie = '        try:\n            vars(Worker.open).setdefault("kept", []).append(connection)\n'


class ClosesOnFailureOnly(SharedSqlLie):
    """Lie: a connection for a moment is closed when its block fails; else it stays."""

    kills = "S-SQL-TXN-05"
    file = "opening.py"
    line = "        raise\n    connection.close()\n"
    lie = f"        raise\n    {KEEPS}\n"


class ClosesOnSuccessOnly(SharedSqlLie):
    """Lie: a refused call keeps the connection with which it saw why."""

    kills = "S-SQL-TXN-05"
    file = "opening.py"
    line = "        with suppress(apsw.Error):\n            connection.close()\n        raise\n"
    lie = f"        {KEEPS}\n        raise\n"


class OpensASecondReader(SharedSqlLie):
    """Lie: a fork opens a second reader, and forgets it."""

    kills = "S-SQL-TXN-05"
    file = "repo.py"
    line = "        reader = Worker.start(self._connect)\n"
    lie = (
        "        reader = Worker.start(self._connect)\n"
        '        self._connect.__dict__.setdefault("kept", []).append(self._connect(key[0], "read-only"))\n'
    )


class LeavesTheStageOpen(SqlLie):
    """Lie: a stage is removed and stays open."""

    kills = "S-SQL-TXN-05"
    file = "stage.py"
    line = "        if connection is not None:\n            connection.close()\n"
    lie = '        self.__class__.__dict__["open"].__dict__.setdefault("kept", []).append(connection)\n'


class LeavesAListedDatabaseOpen(SqlLie):
    """Lie: a listing opens a second connection to each database, and keeps it with its cursor."""

    kills = "S-REPO-15"
    file = "catalog.py"
    line = "                return connection.execute(_SELECT, (STORAGE_VERSION,)).fetchall()\n"
    lie = (
        '                kept = connect.__dict__.setdefault("kept", [])\n'
        '                kept.append(connect(path, "read-only").execute(_SELECT, (STORAGE_VERSION,)))\n'
        "                return connection.execute(_SELECT, (STORAGE_VERSION,)).fetchall()\n"
    )


class ListsInsideOneTransaction(SharedSqlLie):
    """Lie: a listing takes the write lock, so that nothing changes while it reads."""

    kills = "S-REPO-15"
    file = "catalog.py"
    line = "                return connection.execute(_SELECT, (STORAGE_VERSION,)).fetchall()\n"
    lie = (
        '                connection = connect(path, "read-write")\n'
        '                connection.execute("BEGIN IMMEDIATE")\n'
        '                connect.__dict__.setdefault("kept", []).append(connection)\n'
        "                return connection.execute(_SELECT, (STORAGE_VERSION,)).fetchall()\n"
    )
