"""Mutants of the suite `sql_text`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

_DECODED = "        return decode(text)\n    except UndecodableText as error:\n"


class ValuesAreEscaped(SqlLie):
    """Lie: the text of a value is ASCII, with spaces."""

    kills = "S-VAL-14"
    file = "commits.py"
    line = "(*place, seq, text.decode())"
    lie = '(*place, seq, __import__("json").dumps(__import__("json").loads(text)))'


class SlashesOfPayloadsAreEscaped(SqlLie):
    """Lie: a slash in a payload is written as an escape."""

    kills = "S-VAL-14"
    file = "rows.py"
    line = "return _join(fields).decode()"
    lie = 'return _join(fields).decode().replace("/", "\\\\/")'


class TheFirstOfEqualMembersWins(SqlLie):
    """Lie: of several members of a value with one name the first counts."""

    kills = "S-VAL-15"
    file = "rows.py"
    line = _DECODED
    lie = f"""        import json
        if b'"a"' in text:
            return json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
{_DECODED}"""


class LoneSurrogatesAreDamage(SqlLie):
    """Lie: a lone surrogate in a value is corruption."""

    kills = "S-VAL-16"
    file = "rows.py"
    line = _DECODED
    lie = f"""        if b"\\\\ud8" in text:
            raise Damage(f"{{place}}: a lone surrogate")
{_DECODED}"""


class ValuesMayBeDeeper(SqlLie):
    """Lie: a value may be nested as deep as a record."""

    kills = "S-VAL-17"
    file = "rows.py"
    line = _DECODED
    lie = _DECODED.replace("decode(text)", "decode(text, DEEPEST_READ + 2)")


class AForkLeavesOutWhatItCannotDecode(SharedSqlLie):
    """Lie: a fork copies the text of a value only if it can be decoded."""

    kills = "S-VAL-17"
    file = "address_rows.py"
    line = 'of_session = f"FROM {table} WHERE session_id = ?"'
    lie = "of_session = f\"FROM {table} WHERE session_id = ? AND value NOT LIKE '%[[[[[[[[%'\""


class AForkRewritesPayloads(SqlLie):
    """Lie: the payload of an entry passes through the JSON functions of the database."""

    kills = "S-FORK-DST-05"
    file = "source_entries.py"
    line = "CAST(entry.payload AS BLOB)"
    lie = "CAST(json(entry.payload) AS BLOB)"


class AForkRewritesValues(SharedSqlLie):
    """Lie: so does the text of a value."""

    kills = "S-FORK-DST-05"
    file = "address_rows.py"
    line = "CAST(value AS BLOB)"
    lie = "CAST(json(value) AS BLOB)"
