"""Mutants of the suite `legacy_records`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class TornLastLinesCount(SourceLie):
    """Lie: a last line without LF is a line like any other."""

    kills = "S-V3-05"
    file = "scanning.py"
    line = "        if read is None or not read[1]:"
    lie = "        if read is None:"


class BlankLinesAreSkipped(SourceLie):
    """Lie: blank lines are skipped."""

    kills = "S-V3-05"
    file = "legacy/index.py"
    line = "            self._take(read_record(line))"
    lie = "            if line.strip():\n                self._take(read_record(line))"


class UnknownTypesAreDropped(SourceLie):
    """Lie: records of an unknown type are discarded."""

    kills = "S-V3-05"
    file = "legacy/records.py"
    line = "        raise LineFault(f\"type is none of {', '.join(KINDS)}\")"
    lie = '        kind = fields["type"] = "session_info"'


class HeaderIsNoLine(SourceLie):
    """Lie: lines are counted from the one behind the header."""

    kills = "S-V3-05"
    file = "legacy/index.py"
    line = "            raise CorruptSession(self._path, number, str(fault)) from fault"
    lie = "            raise CorruptSession(self._path, number - 1, str(fault)) from fault"


class OneDeeperIsRead(SourceLie):
    """Lie: a line of depth 201 is read."""

    kills = "S-V3-05"
    file = "legacy/records.py"
    line = "DEEPEST_LINE: Final = 200"
    lie = "DEEPEST_LINE: Final = 201"


class OneLessDeepIsNot(SourceLie):
    """Lie: a line of depth 200 is corruption."""

    kills = "S-V3-05"
    file = "legacy/records.py"
    line = "DEEPEST_LINE: Final = 200"
    lie = "DEEPEST_LINE: Final = 199"


class FurtherFieldsAreNotChecked(SourceLie):
    """Lie: a record may lack the fields of its type."""

    kills = "S-V3-05"
    file = "legacy/records.py"
    line = "    _check_further_fields(fields, kind)\n"
    lie = ""


class DiscardedIdsMayRepeat(SourceLie):
    """Lie: the id of a discarded record may be used already."""

    kills = "S-V3-06"
    file = "legacy/index.py"
    line = "        if record.id in self._positions:"
    lie = "        if record.id in self._positions and record.kind in ENTRY_TYPES:"


class UnknownParentsAreNull(SourceLie):
    """Lie: a record with an unknown parent is a root."""

    kills = "S-V3-06"
    file = "legacy/index.py"
    line = '            raise LineFault(f"parent {record.parent_id!r} is not an earlier record")'
    lie = "            parent = NOWHERE"


class MissingParentsAreNull(SourceLie):
    """Lie: a record without `parentId` is a root."""

    kills = "S-V3-06"
    file = "legacy/records.py"
    line = 'fields.get("parentId", ABSENT)'
    lie = 'fields.get("parentId")'


class BadDatesAreZero(SourceLie):
    """Lie: a record without a proper date has the time 0."""

    kills = "S-V3-06"
    file = "legacy/records.py"
    line = '        raise LineFault("timestamp is missing or not a date with a time and `Z` or an offset")'
    lie = "        timestamp = 0"
