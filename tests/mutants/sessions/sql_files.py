"""Mutants of the suite `sql_files`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class ADraftReplacesWhatStandsThere(SqlLie):
    """Lie: a complete database is renamed over whatever has its name by then."""

    kills = "S-SQL-LAY-05"
    file = "draft.py"
    line = (
        "            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._path)\n"
        "        remove_files(left_over)\n"
        "        _publish(self._draft, self._path)\n"
    )
    lie = "            remove_files(left_over)\n        os.replace(self._draft, self._path)\n"


class WhatFailsToBePlacedIsRemovedThere(SqlLie):
    """Lie: the cleanup of a database removes whatever stands in its place."""

    kills = "S-SQL-LAY-05"
    file = "draft.py"
    line = "if self._written is not None and OpenDatabase.at(self._path).identity == self._written.identity:"
    lie = "if self._written is not None:"


class DraftsStay(SqlLie):
    """Lie: a database that was not finished is left under the name under which it was made."""

    kills = "S-SQL-LAY-05"
    file = "draft.py"
    line = "            remove_database(self._draft)\n"
    lie = "            pass\n"


class AFileInTheWayIsAFailure(SqlLie):
    """Lie: a file that has taken the name meanwhile is reported as a failure of the system."""

    kills = "S-SQL-LAY-05"
    file = "destinations.py"
    line = "                raise SessionExists(self._session_id) from error\n"
    lie = "                raise OSError(17, 'the name is taken') from error\n"


class AnEmptyFileIsNobodys(SqlLie):
    """Lie: an empty file that has the name is removed for the new database."""

    kills = "S-SQL-LAY-05"
    file = "destinations.py"
    line = "        if os.path.lexists(self.path):\n"
    lie = (
        "        if os.path.isfile(self.path) and not os.path.getsize(self.path):\n            os.remove(self.path)\n"
        "        if os.path.lexists(self.path):\n"
    )


class LinksToNothingAreFollowed(SqlLie):
    """Lie: a link that has the name and leads nowhere is taken away."""

    kills = "S-SQL-LAY-05"
    file = "destinations.py"
    line = "        if os.path.lexists(self.path):\n"
    lie = (
        "        if os.path.islink(self.path) and not os.path.exists(self.path):\n            os.remove(self.path)\n"
        "        if os.path.lexists(self.path):\n"
    )


class AFileBesideTheContainerIsInTheWay(SharedSqlLie):
    """Lie: an id is taken in a container too when a file beside it has the name of its database."""

    kills = "S-SQL-LAY-05"
    file = "destinations.py"
    line = "        if not Path(self.path).is_file():\n            return\n"
    lie = (
        "        if os.path.lexists(Path(self.path).with_name(self._session_id + '.sqlite')):\n"
        "            raise SessionExists(self._session_id)\n"
        "        if not Path(self.path).is_file():\n            return\n"
    )


class SideFilesAreLeftToSqlite(SqlLie):
    """Lie: `delete` removes the database alone."""

    kills = "S-SQL-LAY-07"
    file = "removing.py"
    line = "        remove_files(standing_side_files(path))\n"
    lie = ""


class OnlyTheLogGoesWithTheDatabase(SqlLie):
    """Lie: `delete` removes the database and its log, and leaves the index of it."""

    kills = "S-SQL-LAY-07"
    file = "removing.py"
    line = "        remove_files(standing_side_files(path))\n"
    lie = "        remove_files(standing_side_files(path)[:1])\n"


class DeletedDatabasesAreKeptAside(SqlLie):
    """Lie: a deleted database is renamed."""

    kills = "S-SQL-LAY-07"
    file = "removing.py"
    line = "            Path(path).unlink()\n        except"
    lie = '            Path(path).rename(path + ".deleted")\n        except'


class NamesAreRemovedByTheirBeginning(SqlLie):
    """Lie: `delete` removes every file whose name begins like that of the database."""

    kills = "S-SQL-LAY-07"
    file = "removing.py"
    line = "        remove_files(standing_side_files(path))\n"
    lie = '        remove_files(map(str, Path(path).parent.glob(Path(path).stem + "*")))\n'


class AnEmptyContainerIsRemoved(SharedSqlLie):
    """Lie: `delete` of the last session removes the container."""

    kills = "S-SQL-LAY-07"
    file = "removing.py"
    line = "        remove_rows(connection, session_id)\n"
    lie = (
        "        remove_rows(connection, session_id)\n"
        '        if not connection.execute("SELECT count(*) FROM sessions").get:\n            remove_database(path)\n'
    )
