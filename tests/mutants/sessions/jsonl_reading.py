"""Mutants of the suite `jsonl_reading`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

TAKEN = "            for record, text in zip(records, split_line(data), strict=True):\n"


class EmptyArraysAreRefused(SourceLie):
    """Lie: a line without writes is corruption."""

    kills = "S-JSONL-FMT-02"
    file = "replay.py"
    line = TAKEN
    lie = f'            if not records:\n                raise LineFault("it holds nothing")\n{TAKEN}'


class ArraysOfOneAreRefused(SourceLie):
    """Lie: an array with one write is corruption."""

    kills = "S-JSONL-FMT-02"
    file = "replay.py"
    line = TAKEN
    lie = f"""            if len(records) == 1 and data[:1] == b"[":
                raise LineFault("it is an array of one")
{TAKEN}"""


class TextIsSplitAtOtherSeparators(SourceLie):
    """Lie: lines are split as Python splits text."""

    kills = "S-JSONL-FMT-03"
    file = "opening.py"
    line = "        replay.take(line, scan.number)\n"
    lie = "        for part in line.decode().splitlines():\n            replay.take(part.encode(), scan.number)\n"


class CrIsNoWhiteSpace(SourceLie):
    """Lie: a CR before LF breaks the line."""

    kills = "S-JSONL-FMT-03"
    file = "replay.py"
    line = TAKEN
    lie = f'            if data.endswith(b"\\r"):\n                raise LineFault("it ends with CR")\n{TAKEN}'


class MoreThanWhiteSpaceIsStripped(SourceLie):
    """Lie: a vertical tab or form feed around a line is white space."""

    kills = "S-JSONL-FMT-03"
    file = "opening.py"
    line = "        replay.take(line, scan.number)\n"
    lie = "        replay.take(line.strip(), scan.number)\n"


class NextSeqOfTheHeaderIsIgnored(SourceLie):
    """Lie: the next sequence follows the last one, whatever the header says."""

    kills = "S-JSONL-FMT-12"
    file = "replay.py"
    line = "max(self._last_seq + 1, self._lower_bound)"
    lie = "self._last_seq + 1"


class NextSeqOfTheHeaderWins(SourceLie):
    """Lie: the next sequence is that of the header where it has one."""

    kills = "S-JSONL-FMT-12"
    file = "replay.py"
    line = "max(self._last_seq + 1, self._lower_bound)"
    lie = "self._lower_bound if self._lower_bound > 1 else self._last_seq + 1"


class GapsAreRefused(SourceLie):
    """Lie: sequences follow each other without gaps."""

    kills = "S-JSONL-FMT-12"
    file = "replay.py"
    line = "if record.seq <= self._last_seq:"
    lie = "if record.seq != self._last_seq + 1:"


class MarksAreNotAccepted(SourceLie):
    """Lie: a byte-order mark at the start is corruption."""

    kills = "S-JSONL-FMT-13"
    file = "headers.py"
    line = "header = decode(line.removeprefix(MARK))"
    lie = "header = decode(line)"


class EveryMarkIsDropped(SourceLie):
    """Lie: a byte-order mark at the start of any line is left out."""

    kills = "S-JSONL-FMT-13"
    file = "opening.py"
    line = "        replay.take(line, scan.number)\n"
    lie = "        replay.take(line.removeprefix(MARK), scan.number)\n"


class TwoMarksAreAccepted(SourceLie):
    """Lie: any number of marks may stand at the start."""

    kills = "S-JSONL-FMT-13"
    file = "headers.py"
    line = "header = decode(line.removeprefix(MARK))"
    lie = "header = decode(line.lstrip(MARK))"
