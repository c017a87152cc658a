"""Mutants of the suite `json_text_read`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

SLOW = "        return read_slowly(data)\n"
DEPTHS = "    if is_deeper(data, DEEPEST_READ):\n"


class TheFirstOfEqualNamesWins(SourceLie):
    """Lie: where a scalar holds a lone surrogate, the first of several values counts."""

    kills = "S-VAL-15"
    file = "records.py"
    line = '        if name == "value":\n'
    lie = '        if name == "value" and not value:\n'


class DoubledNamesAreRefused(SourceLie):
    """Lie: a name that stands twice in an object is corruption."""

    kills = "S-VAL-15"
    file = "replay.py"
    line = "        try:\n            records = read_line(data)\n"
    lie = """        def refuse(pairs):
            if len(dict(pairs)) < len(pairs):
                raise CorruptSession(self._path, number, "a name stands twice")
            return dict(pairs)

        import json
        try:
            json.loads(data, object_pairs_hook=refuse)
        except (ValueError, RecursionError):
            pass
        try:
            records = read_line(data)
"""


class LoneSurrogatesAreRefused(SourceLie):
    """Lie: a line that msgspec does not take is corruption."""

    kills = "S-VAL-16"
    file = "format.py"
    line = SLOW
    lie = f"""        if b"\\\\ud" in data or b"\\\\uD" in data:
            from .records import LineFault
            raise LineFault("a lone surrogate")
{SLOW}"""


class LoneSurrogatesAreReplaced(SourceLie):
    """Lie: a lone surrogate in a value is read as U+FFFD."""

    kills = "S-VAL-16"
    file = "replay.py"
    line = "TextRecord(record.seq, value_text(text))"
    lie = 'TextRecord(record.seq, value_text(text).replace(b"\\\\ud800", b"\\\\ufffd"))'


class LargeIntegersAreRefused(SourceLie):
    """Lie: an integer beyond 64 bits is corruption."""

    kills = "S-VAL-16"
    file = "replay.py"
    line = "        try:\n            for record, text in zip("
    lie = """        import re
        if re.search(rb"[:\\[,]-?\\d{19,}", data) and not re.search(rb"9223372036854775807", data):
            raise CorruptSession(self._path, number, "an integer beyond 64 bits")
        try:
            for record, text in zip("""


class DepthIsNotMeasured(SourceLie):
    """Lie: stored payload may be as deep as it likes."""

    kills = "S-VAL-17"
    file = "format.py"
    line = DEPTHS
    lie = "    if records is None:\n"


class DepthIsThatOfTheLine(SourceLie):
    """Lie: the depth of the whole line counts."""

    kills = "S-VAL-17"
    file = "format.py"
    line = DEPTHS
    lie = """    if is_deeper(data, DEEPEST_READ):
        from .records import LineFault
        raise LineFault("it is nested too deeply")
    if is_deeper(data, DEEPEST_READ):
"""


class ATailIsMeasuredAsAWhole(SourceLie):
    """Lie: a retained tail is measured like any field."""

    kills = "S-VAL-17"
    file = "records.py"
    line = 'is_tail = name == "retainedTail" and type(field) is list'
    lie = 'is_tail = name == "retainedTail" and type(field) is str'


class EveryTailIsOne(SourceLie):
    """Lie: a field of that name is a retained tail on any entry."""

    kills = "S-VAL-17"
    file = "records.py"
    line = ' and type(field) is list and record.get("type") == "compaction"'
    lie = " and type(field) is list"


class InfinityIsLetThrough(SourceLie):
    """Lie: the value of a scalar is looked at when it is read."""

    kills = "S-VAL-17"
    file = "records.py"
    line = 'op: Literal["set", "delete"]\n    seq: Sequence\n    namespace: str\n    key: str\n    value: Any'
    lie = 'op: Literal["set", "delete"]\n    seq: Sequence\n    namespace: str\n    key: str\n    value: Raw'
