"""Mutants of the suite `second_readers`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class WritesTheLastBatchLater(SourceLie):
    """Lie: the last batch of a fork is still on its way when the destination is published."""

    kills = "S-FORK-DST-12"
    file = "fork.py"
    line = "    await batches.flush()\n"
    lie = ""


class KeepsSmallCommitsInMemory(SourceLie):
    """Lie: a small commit is acknowledged before it is in the file."""

    kills = "S-FORK-EQ-03"
    file = "storage.py"
    line = "            await self._files.append_file(self.path, line)\n"
    lie = "            await self._files.append_file(self.path, line if len(line) > 1_000 else b'')\n"


class ListsTemporaryFiles(SourceLie):
    """Lie: whatever has `.jsonl` in its name may be a session."""

    kills = "S-FORK-FAIL-09"
    file = "catalog.py"
    line = 'if info.kind == "file" and info.name.endswith(SUFFIX) else None'
    lie = 'if info.kind == "file" and SUFFIX in info.name else None'


class TemporaryFilesTakeIds(SourceLie):
    """Lie: a temporary file that was left over keeps the id of its session."""

    kills = "S-FORK-FAIL-09"
    file = "naming.py"
    line = "late or file_name[_TIME_AND_DASH:] == ending"
    lie = "late or file_name[_TIME_AND_DASH:].startswith(ending)"


class ForeignGrowthDoesNotMatter(SourceLie):
    """Lie: a commit does not look at the size of the file."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "        if not self._size <= info.size <= self._size + self._left_over:\n"
    lie = "        if info.size < self._size:\n"


class WritesTheFileAnew(SourceLie):
    """Lie: a commit writes the whole file anew, with its line at the end."""

    kills = "S-JSONL-FMT-15"
    file = "storage.py"
    line = "            await self._files.append_file(self.path, line)\n"
    lie = "            await self._files.write_file(self.path, await self._files.read_all(self.path) + line)\n"
