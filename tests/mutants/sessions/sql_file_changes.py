"""Mutants of the suite `sql_file_changes`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class CommitsDoNotLookAtTheFile(SqlLie):
    """Lie: a commit writes into the file that was opened, wherever it is by now."""

    kills = "S-SQL-LAY-10"
    file = "commits.py"
    line = "            self._database.check_unchanged()\n"
    lie = ""


class CommitsDoNotLookAtTheContainer(SharedSqlLie):
    """Lie: a commit writes into the container that was opened, wherever it is by now."""

    kills = "S-SQL-LAY-10"
    file = "commits.py"
    line = "            self._database.check_unchanged()\n"
    lie = ""


class AnyFileOfThatNameWillDo(SqlLie):
    """Lie: it is enough that some file stands where the database was."""

    kills = "S-SQL-LAY-10"
    file = "database_file.py"
    line = "    return status.st_dev, status.st_ino\n"
    lie = "    return status.st_dev\n"


class FilesAreComparedByTheirSize(SqlLie):
    """Lie: a database is known by its size, which its log does not change."""

    kills = "S-SQL-LAY-10"
    file = "database_file.py"
    line = "    return status.st_dev, status.st_ino\n"
    lie = "    return status.st_dev, status.st_size\n"


class AMissingFileIsAFailure(SqlLie):
    """Lie: a database that is gone is reported as a failure of the system."""

    kills = "S-SQL-LAY-10"
    file = "database_file.py"
    line = '            raise SessionFileChanged(self.path, "it is gone") from error\n'
    lie = "            raise\n"


class AMissingFileIsNothingToSpeakOf(SqlLie):
    """Lie: a database that is gone takes commits; only one that was replaced does not."""

    kills = "S-SQL-LAY-10"
    file = "database_file.py"
    line = '            raise SessionFileChanged(self.path, "it is gone") from error\n'
    lie = "            return\n"


class AMissingRowIsEmpty(SharedSqlLie):
    """Lie: a session whose row is gone takes commits as if it were new."""

    kills = "S-SQL-LAY-10"
    file = "session_rows.py"
    line = "        raise SessionNotFound(session_id, path)\n"
    lie = "        return SessionRow(session_id, 0, None)\n"


class AMissingRowOfADatabaseIsDamage(SqlLie):
    """Lie: a session whose row is gone is a damaged one."""

    kills = "S-SQL-LAY-10"
    file = "session_rows.py"
    line = "        raise SessionNotFound(session_id, path)\n"
    lie = '        raise Damage("there is no row of the session")\n'


class LaterVersionsAreRead(SqlLie):
    """Lie: a session of the next storage version is read as if it were of this one."""

    kills = "S-REPO-08"
    file = "session_rows.py"
    line = "    if version != STORAGE_VERSION:\n"
    lie = "    if version > STORAGE_VERSION + 1 or version < STORAGE_VERSION:\n"


class EarlierVersionsAreRead(SharedSqlLie):
    """Lie: a session of an earlier storage version is read as if it were of this one."""

    kills = "S-REPO-08"
    file = "session_rows.py"
    line = "    if version != STORAGE_VERSION:\n"
    lie = "    if version > STORAGE_VERSION:\n"


class DeletesWhateverVersionADatabaseHas(SqlLie):
    """Lie: `delete` removes a database without a look at its version."""

    kills = "S-REPO-08"
    file = "removing.py"
    line = (
        "    look_up(connect, path, session_id)\n"
        '    with database_failures("delete", path):\n'
        '        with connected(connect, path, "read-write") as connection:\n'
        "            read_session_row(connection, session_id, path)\n"
    )
    lie = '    with database_failures("delete", path):\n'


class DeletesRowsOfWhateverVersion(SharedSqlLie):
    """Lie: `delete` removes the rows of a session without a look at its version."""

    kills = "S-REPO-08"
    file = "removing.py"
    line = "    look_up(connect, path, session_id)\n    with (\n"
    lie = "    read_session_row = lambda *_: None\n    with (\n"


class TheVersionIsBroughtUpToDate(SqlLie):
    """Lie: whoever meets another storage version writes his own."""

    kills = "S-REPO-08"
    file = "session_rows.py"
    line = "        raise UnsupportedVersion(path, version)\n"
    lie = (
        "        with __import__('contextlib').suppress(apsw.Error):\n"
        "            apsw.Connection(path).execute('UPDATE sessions SET storage_version = 1')\n"
        "        raise UnsupportedVersion(path, version)\n"
    )
