"""Mutants of the suite `jsonl_unknown_parts`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

APPLIED = "        if type(record) is StoredEntry:\n            self._add_entry(record, bytes(text))\n"
KNOWN = '("message", "compaction", "branch_summary", "custom")'


class KindStandsFirst(SourceLie):
    """Lie: a record begins with its kind."""

    kills = "S-JSONL-FMT-08"
    file = "replay.py"
    line = APPLIED
    lie = f"""        if not bytes(text).startswith(b'{{"kind"'):
            raise LineFault("it does not begin with kind")
{APPLIED}"""


class UnknownFieldsAreDropped(SourceLie):
    """Lie: fields that the contract does not name are left out."""

    kills = "S-JSONL-FMT-08"
    file = "replay.py"
    line = "            self._add_entry(record, bytes(text))\n"
    lie = """            import json
            kept = {name: value for name, value in json.loads(bytes(text)).items() if name not in ("note", "")}
            self._add_entry(record, json.dumps(kept).encode())
"""


class UnknownFieldsAreRefused(SourceLie):
    """Lie: a field that the contract does not name is corruption."""

    kills = "S-JSONL-FMT-08"
    file = "format.py"
    line = "        return read_slowly(data)\n"
    lie = '        from .records import LineFault\n        raise LineFault("it holds something unknown")\n'


class AForkRenamesUnknownFields(SourceLie):
    """Lie: a fork gives an unknown field the name of a known one."""

    kills = "S-JSONL-FMT-08"
    file = "format4_source.py"
    line = "        return records, size\n"
    lie = """        return [bytes(record).replace(b'"note":', b'"data":') for record in records], size\n"""


class UnknownTypesAreRefused(SourceLie):
    """Lie: an entry of another type than the four is corruption."""

    kills = "S-JSONL-FMT-09"
    file = "replay.py"
    line = APPLIED
    lie = f"""        if type(record) is StoredEntry and record.type not in {KNOWN}:
            raise LineFault("its type is unknown")
{APPLIED}"""


class UnknownTypesAreSkipped(SourceLie):
    """Lie: an entry of another type than the four is passed over."""

    kills = "S-JSONL-FMT-09"
    file = "replay.py"
    line = APPLIED
    lie = f"        if type(record) is StoredEntry and record.type not in {KNOWN}:\n            return\n{APPLIED}"


class TypesAreComparedWithoutCase(SourceLie):
    """Lie: `Message` is a message."""

    kills = "S-JSONL-FMT-09"
    file = "replay.py"
    line = 'state.message_count += record.type == "message"'
    lie = 'state.message_count += record.type.lower() == "message"'


class AForkMakesUnknownTypesCustom(SourceLie):
    """Lie: a fork turns an entry of an unknown type into a custom one."""

    kills = "S-JSONL-FMT-09"
    file = "format4_source.py"
    line = "        return records, size\n"
    lie = """        custom = b'"type":"custom","customType":"forecast"'
        return [bytes(one).replace(b'"type":"forecast"', custom) for one in records], 2 * size + 1000\n"""
