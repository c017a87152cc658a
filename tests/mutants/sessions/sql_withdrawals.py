"""Mutants of the suite `sql_withdrawals`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class EmptyContainersStay(SharedSqlLie):
    """Lie: a container that a failed call has made stays."""

    kills = "S-SQL-LAY-13"
    file = "groundwork.py"
    line = "        if self._calls == 1 and self._container is not None:\n"
    lie = "        if False:\n"


class ContainersGoWhateverIsInThem(SharedSqlLie):
    """Lie: a container that a failed call has made goes with the sessions of others."""

    kills = "S-SQL-LAY-13"
    file = "groundwork.py"
    line = '    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM sessions)").get)\n'
    lie = "    return False\n"


class SideFilesOfAContainerStay(SharedSqlLie):
    """Lie: of a container that a failed call has made only the database goes."""

    kills = "S-SQL-LAY-13"
    file = "groundwork.py"
    line = "remove_files([*standing_side_files(path), path])"
    lie = "remove_files([path])"


class DirectoriesOfDatabasesStay(SqlLie):
    """Lie: a directory that a failed call has made stays."""

    kills = "S-SQL-LAY-13"
    file = "groundwork.py"
    line = "                    directory.rmdir()\n"
    lie = "                    pass\n"


class DirectoriesThatStoodGoToo(SqlLie):
    """Lie: a failed call removes the directory of its database even if it was there before."""

    kills = "S-SQL-LAY-13"
    file = "groundwork.py"
    line = "        missing = []\n"
    lie = "        missing = []\n        self._directories.append(Path(path))\n"


class DatabasesStay(SqlLie):
    """Lie: a database that a failed call has put in its place stays."""

    kills = "S-SQL-LAY-13"
    file = "draft.py"
    line = "                remove_database(self._path)\n"
    lie = "                pass\n"


class OnlyTheDatabaseIsTakenBack(SqlLie):
    """Lie: the side files of a database that a failed call has made stay."""

    kills = "S-SQL-LAY-13"
    file = "draft.py"
    line = "                remove_database(self._path)\n"
    lie = "                Path(self._path).rename(self._path + '-shm')\n"


class CancelledCallsKeepWhatTheyMade(SharedSqlLie):
    """Lie: what a call has made is taken back when it fails, not when it is cancelled."""

    kills = "S-SQL-LAY-13"
    file = "destinations.py"
    line = "        if error is None:\n            self._groundwork.keep()\n"
    lie = "        if not isinstance(error, Exception):\n            self._groundwork.keep()\n"


class TheSessionOfAnotherGoesToo(SharedSqlLie):
    """Lie: a `create` that finds its id taken takes back the rows of that id."""

    kills = "S-SQL-LAY-13"
    file = "destinations.py"
    line = "self._rows_written = connection.total_changes() > before"
    lie = "self._rows_written = True"
