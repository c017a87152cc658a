"""Mutants of the suite `sql_listing`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

ROWS = "    FROM sessions WHERE storage_version = ?\n"
READ_ONLY = 'connected(connect, path, "read-only")'


class LaterVersionsAreListed(SqlLie):
    """Lie: rows of later storage versions are listed too."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = ROWS
    lie = ROWS.replace("=", ">=")


class AnyVersionOfAContainerIsListed(SharedSqlLie):
    """Lie: rows of a container are listed whatever their storage version."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = ROWS
    lie = "    FROM sessions WHERE ? = 1\n"


class OneSessionADatabase(SqlLie):
    """Lie: of a database only the first session is listed."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = ROWS
    lie = f"{ROWS}    LIMIT 1\n"


class IdsAreTakenFromNames(SqlLie):
    """Lie: the id of a listed session is the name of its database."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = "id=session_id.decode()"
    lie = "id=path.rpartition('/')[2].removesuffix('.sqlite')"


class NamesMustFit(SqlLie):
    """Lie: a database is listed only when it has a name that an id can give."""

    kills = "S-SQL-LAY-06"
    file = "layout.py"
    line = "if entry.name.endswith(SUFFIX) and"
    lie = "if entry.name.endswith(SUFFIX) and ' ' not in entry.name and"


class NamesMayGoOn(SqlLie):
    """Lie: it is enough that a name holds `.sqlite`."""

    kills = "S-SQL-LAY-06"
    file = "layout.py"
    line = "if entry.name.endswith(SUFFIX) and"
    lie = "if SUFFIX in entry.name and"


class NamesIgnoreCase(SqlLie):
    """Lie: the extension of a database may be in capitals."""

    kills = "S-SQL-LAY-06"
    file = "layout.py"
    line = "if entry.name.endswith(SUFFIX) and"
    lie = "if entry.name.lower().endswith(SUFFIX) and"


class WhatIsNoDatabaseEndsTheList(SqlLie):
    """Lie: a file that is no database makes `list` fail."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = "    apsw.NotADBError,\n"
    lie = ""


class AMissingTableEndsTheList(SqlLie):
    """Lie: a database without the table makes `list` fail."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = "    apsw.SQLError,  # no such table, or no such column\n"
    lie = ""


class ADamagedContainerEndsTheList(SharedSqlLie):
    """Lie: a container that is no database makes `list` fail."""

    kills = "S-SQL-LAY-06"
    file = "catalog.py"
    line = "    apsw.NotADBError,\n"
    lie = ""


class TheLogIsNotRead(SqlLie):
    """Lie: a database that is listed is opened as one that cannot change, past its log."""

    kills = "S-SQL-LAY-06"
    file = "connect.py"
    line = "apsw.Connection(os.path.abspath(path), flags=_FLAGS[mode])"
    lie = (
        "apsw.Connection(f\"file:{os.path.abspath(path)}?immutable={int(mode == 'read-only')}\", "
        "flags=_FLAGS[mode] | apsw.SQLITE_OPEN_URI)"
    )


class DatabasesAreListedThroughWriters(SqlLie):
    """Lie: databases are listed through connections that may write."""

    kills = "S-REPO-13"
    file = "catalog.py"
    line = READ_ONLY
    lie = 'connected(connect, path, "read-write")'


class AMissingDirectoryIsAnError(SqlLie):
    """Lie: a missing directory makes `list` fail."""

    kills = "S-REPO-13"
    file = "layout.py"
    line = "            except (FileNotFoundError, NotADirectoryError):\n                return []\n"
    lie = "            except NotADirectoryError:\n                return []\n"


class AFileInPlaceOfTheDirectoryIsAnError(SqlLie):
    """Lie: a file in the place of the directory makes `list` fail."""

    kills = "S-REPO-13"
    file = "layout.py"
    line = "            except (FileNotFoundError, NotADirectoryError):\n                return []\n"
    lie = "            except FileNotFoundError:\n                return []\n"


class AContainerIsMadeToBeListed(SharedSqlLie):
    """Lie: the container is listed through a connection that makes it."""

    kills = "S-REPO-13"
    file = "layout.py"
    line = "[path] if Path(path).is_file() else []"
    lie = (
        "[path] if Path(path).is_file() or Path(path).parent.is_dir() and not Path(path).exists() and "
        "Path(path).touch() else []"
    )


class TheListStopsAtAPage(SqlLie):
    """Lie: of many databases only the first ones are listed."""

    kills = "S-REPO-11"
    file = "catalog.py"
    line = "range(0, len(paths), _DATABASES_PER_STEP)"
    lie = "range(0, min(len(paths), 256), _DATABASES_PER_STEP)"


class TheListOfAContainerStopsAtAPage(SharedSqlLie):
    """Lie: of the many sessions of a container only the first ones are listed."""

    kills = "S-REPO-11"
    file = "catalog.py"
    line = ROWS
    lie = f"{ROWS}    LIMIT 256\n"


class ForksAreNotListed(SharedSqlLie):
    """Lie: sessions that have a parent are left out."""

    kills = "S-REPO-11"
    file = "catalog.py"
    line = ROWS
    lie = "    FROM sessions WHERE storage_version = ? AND parent_session_id IS NULL\n"
