"""Mutants of the suite `sql_undecodable`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class AnEntryIsNotNamed(SqlLie):
    """Lie: the reason says that a payload is damaged, and not which."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = 'f"entries row {row[0]!r}: payload"'
    lie = '"the payload of an entry"'


class AUsageRowIsNotNamed(SharedSqlLie):
    """Lie: the reason names the ledger without the row."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = 'place = f"usage_ledger row {row_id!r}"'
    lie = 'place = "usage_ledger"'


class AnElementIsNotNamed(SqlLie):
    """Lie: the reason names the sequence of an element without its list."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = 'place = f"list_values row {address.namespace!r}, {address.key!r}, {seq!r}"'
    lie = 'place = f"list_values row {seq!r}"'


class TextIsDecodedByTheDriver(SqlLie):
    """Lie: text that is no UTF-8 fails before anybody knows its row."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = """return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) END\""""
    lie = "return column"


class AnUndecodableScalarIsNull(SqlLie):
    """Lie: a scalar whose text cannot be decoded is read as null."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = "        return decode(text)\n    except UndecodableText as error:\n"
    lie = "        return decode(text)\n    except UndecodableText as error:\n        return None\n"


class APayloadOfAnotherKindIsEmpty(SqlLie):
    """Lie: a payload that is no object counts as an empty one."""

    kills = "S-QRY-20"
    file = "rows.py"
    line = '        raise Damage(f"{place} is no JSON object")\n'
    lie = "        return {}\n"


class StructuresDecodePayloads(SqlLie):
    """Lie: a structure is made of the whole entry."""

    kills = "S-QRY-20"
    file = "reads.py"
    line = "return branches.scan(connection, self._session_id, query, payload=payload)"
    lie = """found = branches.scan(connection, self._session_id, query, payload=True)
            names = ("id", "parentId", "seq", "timestamp", "type", "customType")
            return found if payload else [{n: e[n] for n in names if n in e} for e in found]"""
