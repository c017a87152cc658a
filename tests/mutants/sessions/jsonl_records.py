"""Mutants of the suite `jsonl_records`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class TheSequenceStandsInFront(SourceLie):
    """Lie: sequence and time stand in front of the caller's fields."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = """b'{"kind":"entry",%b,"seq":%d,"timestamp":%d}' % (entry.text[1:-1], seq, timestamp)"""
    lie = """b'{"kind":"entry","seq":%d,"timestamp":%d,%b}' % (seq, timestamp, entry.text[1:-1])"""


class FieldsAreSorted(SourceLie):
    """Lie: the fields of an entry are written in the order of the alphabet."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = '    return b\'{"kind":"entry",%b'
    lie = """    import json
    fields = json.dumps(json.loads(entry.text), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return b'{"kind":"entry",%b,"seq":%d,"timestamp":%d}' % (fields[1:-1].encode(), seq, timestamp)
    return b'{"kind":"entry",%b"""


class UsageRowsHaveATime(SourceLie):
    """Lie: a usage row has a timestamp like an entry."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = """return b'{"kind":"usage",%b,"seq":%d}'"""
    lie = """return b'{"kind":"usage",%b,"seq":%d,"timestamp":0}'"""


class DeletesWriteNull(SourceLie):
    """Lie: the record of a delete has the value null."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = 'return record + (b"}" if text is None'
    lie = """return record + (b',"value":null}' if text is None"""


class TheSequenceStandsBehindTheAddress(SourceLie):
    """Lie: the sequence of a scalar or element stands at the end of its record."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = "    return record + (b"
    lie = """    record = record.replace(b'"seq":%d,' % seq, b"", 1) + b',"seq":%d' % seq
    return record + (b"""


class NullIsLeftOut(SourceLie):
    """Lie: a null field of an entry is left out."""

    kills = "S-JSONL-FMT-07"
    file = "format.py"
    line = "% (entry.text[1:-1], seq, timestamp)"
    lie = '% (entry.text[1:-1].replace(b\',"data":null\', b""), seq, timestamp)'
