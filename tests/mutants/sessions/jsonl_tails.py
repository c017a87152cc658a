"""Mutants of the suite `jsonl_tails`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

TORN = "    if scan.torn:\n"
TAKEN = "        replay.take(line, scan.number)\n"
CUT = """(await files.truncate_file(path, (await files.read_all(path)).rfind(b"\\n") + 1))"""
UNTERMINATED = "        if read is None or not read[1]:\n"


class ACompleteRestCounts(SourceLie):
    """Lie: a last line that lacks nothing but its LF is a transaction."""

    kills = "S-JSONL-TAIL-01"
    file = "opening.py"
    line = TORN
    lie = f"""{TORN}        try:
            replay.take((await files.read_all(info.path))[scan.size :], scan.number + 1)
        except Exception:
            pass
"""


class ATornTailIsCorruption(SourceLie):
    """Lie: a file that ends in the middle of a line is damaged there."""

    kills = "S-JSONL-TAIL-01"
    file = "scanning.py"
    line = "        self.torn = is_torn\n"
    lie = """        self.torn = is_torn
        if is_torn and self.number > 1:
            raise CorruptSession(self._path, self.number + 1, "it ends in the middle of a line")
"""


class TheTailIsOnlySkipped(SourceLie):
    """Lie: a torn tail is left out, and stays in the file."""

    kills = "S-JSONL-TAIL-02"
    file = "opening.py"
    line = TORN
    lie = "    if scan is None:\n"


class TheMarkStays(SourceLie):
    """Lie: a repaired file keeps its byte-order mark."""

    kills = "S-JSONL-TAIL-02"
    file = "opening.py"
    line = "(line.removeprefix(MARK) if second.number == 1 else line)"
    lie = "line"


class KeptLinesAreTidiedUp(SourceLie):
    """Lie: a repair takes white space off the lines that it keeps."""

    kills = "S-JSONL-TAIL-02"
    file = "opening.py"
    line = "(line.removeprefix(MARK) if second.number == 1 else line)"
    lie = "(line.removeprefix(MARK) if second.number == 1 else line.strip())"


class ARepairKeepsOneBatch(SourceLie):
    """Lie: a repair keeps what it holds last, and loses what it has already written."""

    kills = "S-JSONL-TAIL-02"
    file = "opening.py"
    line = "                    await publication.write(bytes(batch))\n                    batch.clear()\n"
    lie = "                    batch.clear()\n"


class TheTailIsCutFirst(SourceLie):
    """Lie: a tail is cut off before the file is read."""

    kills = "S-JSONL-TAIL-03"
    file = "opening.py"
    line = "header = read_header(await scan.first_line(), path)"
    lie = f"header = read_header({CUT} or await scan.first_line(), path)"


class TheTailIsCutBeforeTheReplay(SourceLie):
    """Lie: a tail is cut off when the header was understood."""

    kills = "S-JSONL-TAIL-03"
    file = "opening.py"
    line = "if isinstance(header, LegacyHeader):"
    lie = f"if {CUT} or isinstance(header, LegacyHeader):"


class DroppedWritesUseUpSequences(SourceLie):
    """Lie: a dropped transaction has used up a sequence."""

    kills = "S-JSONL-TAIL-04"
    file = "opening.py"
    line = TORN
    lie = f"{TORN}        replay._last_seq += 1\n"


class TheNextLineIsGluedToTheTail(SourceLie):
    """Lie: the next line is appended right behind the tail."""

    kills = "S-JSONL-TAIL-04"
    file = "opening.py"
    line = TORN
    lie = "    if scan is None:\n"


class ALonelyHeaderNeedsNoLf(SourceLie):
    """Lie: a file that is a header without LF is a session."""

    kills = "S-JSONL-TAIL-05"
    file = "scanning.py"
    line = UNTERMINATED
    lie = '        if read is None or not (read[1] or (not self.size and read[0].endswith(b"}"))):\n'


class ATornHeaderIsInNoLine(SourceLie):
    """Lie: a file that ends in its header is corruption in no line."""

    kills = "S-JSONL-TAIL-05"
    file = "scanning.py"
    line = 'raise CorruptSession(self._path, 1, "the file ends inside its first line")'
    lie = 'raise CorruptSession(self._path, None, "the file ends inside its first line")'


class ABrokenLastLineIsATail(SourceLie):
    """Lie: a line that fails a check is dropped if it is the last one."""

    kills = "S-JSONL-TAIL-06"
    file = "opening.py"
    line = TAKEN
    lie = """        if getattr(replay, "broken", None):
            raise replay.broken
        try:
            replay.take(line, scan.number)
        except Exception as error:
            replay.broken = error
"""


class ABlankLineIsPassedOver(SourceLie):
    """Lie: a blank line is passed over."""

    kills = "S-JSONL-TAIL-06"
    file = "opening.py"
    line = TAKEN
    lie = "        if line.strip():\n            replay.take(line, scan.number)\n"
