"""Mutants of the suite `jsonl_appends`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

APPEND = "            await self._files.append_file(self.path, line)\n"
BEGUN = "        self._left_over = len(line)\n        try:\n"


class TheLfIsAppendedByItself(SourceLie):
    """Lie: the LF of a line has an append call of its own."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = APPEND
    lie = """            await self._files.append_file(self.path, line[:-1])
            await self._files.append_file(self.path, b"\\n")
"""


class LargeLinesAreAppendedInPieces(SourceLie):
    """Lie: a line of more than 64 KiB is appended in pieces."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = APPEND
    lie = """            for start in range(0, len(line), 65536):
                await self._files.append_file(self.path, line[start : start + 65536])
"""


class TheFileIsWrittenAnew(SourceLie):
    """Lie: a commit writes the whole file."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = APPEND
    lie = "            await self._files.write_file(self.path, await self._files.read_all(self.path) + line)\n"


class TheStateChangesFirst(SourceLie):
    """Lie: the state changes before the line is appended."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = BEGUN
    lie = f"        apply()\n        apply = lambda: None\n{BEGUN}"


class AFailedAppendCounts(SourceLie):
    """Lie: a commit whose append has failed is in the state all the same."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = "            if isinstance(error, FileError):\n                raise store_error"
    lie = "            if isinstance(error, FileError):\n                apply()\n                raise store_error"


class NobodyWaitsForTheAppend(SourceLie):
    """Lie: a commit succeeds while its line is still being appended."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = "            await (appending if len(line) <= self._inline_bytes else settled(appending))\n"
    lie = """            self._state.apply(prepared, placement, timestamp)
            appending.close()
            self._size += len(line)
            self._append_later = asyncio.ensure_future(self._files.append_file(self.path, line))
            await asyncio.sleep(0)
"""
