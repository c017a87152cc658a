"""Mutants of the suite `sql_layout`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

OPENED = "apsw.Connection(os.path.abspath(path), flags=_FLAGS[mode])"
AS_URI = "apsw.SQLITE_OPEN_URI | _FLAGS[mode]"


class TheDirectoryIsTakenAsGiven(SqlLie):
    """Lie: links to the directory of the databases are not followed."""

    kills = "S-SQL-LAY-02"
    file = "layout.py"
    line = "return str(PurePath(os.path.realpath(self._directory), session_database"
    lie = "return str(PurePath(os.path.abspath(self._directory), session_database"


class TheContainerIsTakenAsGiven(SharedSqlLie):
    """Lie: links to the container are not followed."""

    kills = "S-SQL-LAY-02"
    file = "layout.py"
    line = "return os.path.realpath(self._database_path)"
    lie = "return os.path.abspath(self._database_path)"


class ListedPathsAreTakenAsGiven(SqlLie):
    """Lie: a listed session has the path by which its directory was given."""

    kills = "S-SQL-LAY-02"
    file = "layout.py"
    line = "directory = os.path.realpath(self._directory)"
    lie = "directory = os.path.abspath(self._directory)"


class LinksToDatabasesAreForeign(SqlLie):
    """Lie: the path in metadata is compared as it is written."""

    kills = "S-SQL-LAY-02"
    file = "repo.py"
    line = "return os.path.realpath(path), metadata.id"
    lie = "return os.path.abspath(path), metadata.id"


class OpenSessionsAreKeptByTheirPathAsWritten(SharedSqlLie):
    """Lie: a session that is opened is reserved under the path that its metadata spell."""

    kills = "S-SQL-LAY-02"
    file = "repo.py"
    line = "self._reservations.reserve(key, SessionInUse(metadata.id)) as reservation:"
    lie = "self._reservations.reserve((metadata.path, key[1]), SessionInUse(metadata.id)) as reservation:"


class AnyPathWillDo(SqlLie):
    """Lie: a session is opened and deleted wherever its metadata says that it lies."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = " or path != self._layout.place_of(session_id):"
    lie = ":"


class AnyNameInTheDirectoryWillDo(SqlLie):
    """Lie: it is enough that a database lies in the directory."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = " or path != self._layout.place_of(session_id):"
    lie = " or os.path.dirname(path) != os.path.dirname(self._layout.place_of(session_id)):"


class AnyDirectoryWillDo(SqlLie):
    """Lie: it is enough that a database has the name of the session's."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = " or path != self._layout.place_of(session_id):"
    lie = " or os.path.basename(path) != os.path.basename(self._layout.place_of(session_id)):"


class AnyContainerWillDo(SharedSqlLie):
    """Lie: a session is opened and deleted in whatever container its metadata names."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = " or path != self._layout.place_of(session_id):"
    lie = ":"


class TheDirectoryIsMadeToBeLookedInto(SqlLie):
    """Lie: `list` makes the directory that it looks into."""

    kills = "S-SQL-LAY-03"
    file = "layout.py"
    line = '        with database_failures("list_dir", directory):\n'
    lie = '        os.makedirs(directory, exist_ok=True)\n        with database_failures("list_dir", directory):\n'


class TheConstructorMakesTheDirectory(SqlLie):
    """Lie: the directory of the databases is made when the repository is."""

    kills = "S-SQL-LAY-03"
    file = "layout.py"
    line = "    return PerFileLayout(checked_directory)"
    lie = "    os.makedirs(checked_directory, exist_ok=True)\n    return PerFileLayout(checked_directory)"


class TheConstructorMakesTheContainer(SharedSqlLie):
    """Lie: the container is made when the repository is."""

    kills = "S-SQL-LAY-03"
    file = "layout.py"
    line = '        return SharedLayout(checked_path("database_path", database_path))'
    lie = (
        '        os.makedirs(os.path.dirname(checked_path("database_path", database_path)), exist_ok=True)\n'
        '        return SharedLayout(checked_path("database_path", database_path))'
    )


class AMissingDatabaseIsMadeAndOpened(SqlLie):
    """Lie: to find a session, a missing database is made."""

    kills = "S-SQL-LAY-03"
    file = "opening.py"
    line = "        if not Path(path).is_file():\n"
    lie = (
        "        if Path(path).parent.is_dir():\n            Path(path).touch()\n        if not Path(path).is_file():\n"
    )


class TheReaderOfAForkMakesItsSource(SqlLie):
    """Lie: the source of a fork is opened in the mode that makes what is missing."""

    kills = "S-SQL-LAY-03"
    file = "repo.py"
    line = 'reader.submit_open(key[0], "read-only")'
    lie = 'reader.submit_open(key[0], "create")'


class AMissingDirectoryIsTheCallersAffair(SqlLie):
    """Lie: the directory of the databases must stand."""

    kills = "S-SQL-LAY-03"
    file = "destinations.py"
    line = "            self._groundwork.make_directory(self.directory)\n"
    lie = ""


class TheDirectoryOfAContainerMustStand(SharedSqlLie):
    """Lie: `create` does not make the directory of a container; only a fork does."""

    kills = "S-SQL-LAY-03"
    file = "groundwork.py"
    line = "        self.make_directory(str(PurePath(path).parent))\n"
    lie = ""


class PathsAreUris(SqlLie):
    """Lie: a path is handed to SQLite as a URI that is put together from text."""

    kills = "S-SQL-LAY-04"
    file = "connect.py"
    line = OPENED
    lie = f'apsw.Connection("file:" + os.path.abspath(path), flags={AS_URI})'


class PathsAreUrisForReaders(SharedSqlLie):
    """Lie: a container is opened for reading by a URI that is put together from text."""

    kills = "S-SQL-LAY-04"
    file = "connect.py"
    line = OPENED
    lie = f'apsw.Connection(("file:" if mode == "read-only" else "") + os.path.abspath(path), flags={AS_URI})'


class TheStageIsAttachedByText(SqlLie):
    """Lie: the statement that attaches a stage is put together from its path."""

    kills = "S-SQL-LAY-04"
    file = "publishing.py"
    line = '"ATTACH DATABASE ? AS stage", (stage_path,)'
    lie = "f\"ATTACH DATABASE '{stage_path}' AS stage\""


class AContainerMayBeInMemory(SharedSqlLie):
    """Lie: the name of a database in memory is taken for a path."""

    kills = "S-SQL-LAY-11"
    file = "settings.py"
    line = '    if name in ("", ":memory:"):\n'
    lie = '    if name == "":\n'


class ANamelessContainerIsTheDirectory(SharedSqlLie):
    """Lie: a container without a name is taken for a path."""

    kills = "S-SQL-LAY-11"
    file = "settings.py"
    line = '    if name in ("", ":memory:"):\n'
    lie = '    if name == ":memory:":\n'
