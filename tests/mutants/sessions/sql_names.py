"""Mutants of the suite `sql_names`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

NAMED = "session_database_name(session_id) + SUFFIX"


class PaddingStays(SqlLie):
    """Lie: the padding of base64 stays in a name."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = '(n := session_database_name(session_id)) + "=" * (-(len(n) - 1) % 4 if n[:1] == "~" else 0) + SUFFIX'


class NamesUseTheOtherAlphabet(SqlLie):
    """Lie: names are encoded with the alphabet of base64 that has a plus."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = '(n if (n := session_database_name(session_id))[:1] != "~" else n.replace("-", "+")) + SUFFIX'


class NamesEncodeUtf8(SqlLie):
    """Lie: the bytes that a name encodes are those of UTF-8."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = (
        '(n if (n := session_database_name(session_id))[:1] != "~" else "~" + '
        '__import__("base64").urlsafe_b64encode(session_id.encode()).decode().rstrip("=")) + SUFFIX'
    )


class NamesEncodeBigEndian(SqlLie):
    """Lie: the bytes that a name encodes stand in the other order."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = (
        '(n if (n := session_database_name(session_id))[:1] != "~" else "~" + '
        '__import__("base64").urlsafe_b64encode(session_id.encode("utf-16-be")).decode().rstrip("=")) + SUFFIX'
    )


class NamesHaveNoTilde(SqlLie):
    """Lie: an encoded name does not begin with a tilde."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = 'session_database_name(session_id).removeprefix("~") + SUFFIX'


class LettersOfAnyAlphabetArePlain(SqlLie):
    """Lie: an id of letters and digits of any alphabet is its own name."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = "(session_id if session_id.isalnum() else session_database_name(session_id)) + SUFFIX"


class ALineFeedAtTheEndIsPlain(SqlLie):
    """Lie: the check of a plain id does not see a line feed at its end."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = NAMED
    lie = '(session_id if session_id.endswith("\\n") else session_database_name(session_id)) + SUFFIX'


class DatabasesHaveAnotherExtension(SqlLie):
    """Lie: the name of a database ends in `.db`."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = 'SUFFIX: Final = ".sqlite"'
    lie = 'SUFFIX: Final = ".db"'


class OddIdsHaveAContainerOfTheirOwn(SharedSqlLie):
    """Lie: sessions whose ids are not plain lie in a second container."""

    kills = "S-SQL-LAY-01"
    file = "layout.py"
    line = "return os.path.realpath(self._database_path)"
    lie = 'return os.path.realpath(self._database_path + ("" if session_id.isalnum() else "-2"))'


class IdsIgnoreCase(SharedSqlLie):
    """Lie: ids of a container are compared without case."""

    kills = "S-REPO-03"
    file = "schema.sql"
    line = "    id TEXT NOT NULL,\n    created_at"
    lie = "    id TEXT NOT NULL COLLATE NOCASE,\n    created_at"


class IdsIgnoreBlanksAtTheEnd(SharedSqlLie):
    """Lie: ids of a container are compared without the blanks at their end."""

    kills = "S-REPO-03"
    file = "schema.sql"
    line = "    id TEXT NOT NULL,\n    created_at"
    lie = "    id TEXT NOT NULL COLLATE RTRIM,\n    created_at"


class IdsTurnIntoNumbers(SharedSqlLie):
    """Lie: the column of the ids turns text into numbers."""

    kills = "S-REPO-03"
    file = "schema.sql"
    line = "    id TEXT NOT NULL,\n    created_at"
    lie = "    id NUMERIC NOT NULL,\n    created_at"


class IdsArePatterns(SharedSqlLie):
    """Lie: the row of a session is looked for with LIKE."""

    kills = "S-REPO-03"
    file = "session_rows.py"
    line = "    FROM sessions WHERE id = ?\n"
    lie = "    FROM sessions WHERE id LIKE ?\n"


class DatabasesIgnoreCase(SqlLie):
    """Lie: the name of a database is in lower case."""

    kills = "S-REPO-03"
    file = "layout.py"
    line = NAMED
    lie = "session_database_name(session_id).lower() + SUFFIX"


class IdsEndAtANul(SqlLie):
    """Lie: an id ends at its first NUL."""

    kills = "S-REPO-03"
    file = "layout.py"
    line = NAMED
    lie = 'session_database_name(session_id.split("\\0")[0]) + SUFFIX'


class IdsAreJoinedToTheDirectory(SqlLie):
    """Lie: an id stands in the name of its database as it is."""

    kills = "S-REPO-05"
    file = "layout.py"
    line = NAMED
    lie = "session_id + SUFFIX"


class OnlySlashesAreReplaced(SqlLie):
    """Lie: of an id only the separator of directories is replaced."""

    kills = "S-REPO-05"
    file = "layout.py"
    line = NAMED
    lie = 'session_id.replace("/", "~") + SUFFIX'


class EachSessionLeavesANote(SharedSqlLie):
    """Lie: a container has a file beside it for every session that is made."""

    kills = "S-REPO-05"
    file = "destinations.py"
    line = "await self._worker.run(partial(self._written"
    lie = 'Path(f"{self.path}.made").touch()\n        await self._worker.run(partial(self._written'
