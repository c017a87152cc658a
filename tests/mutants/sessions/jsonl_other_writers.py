"""Mutants of the suite `jsonl_other_writers`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class TheOwnRestIsAForeignChange(SourceLie):
    """Lie: what the store's own failed append has left counts as a change by someone else."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "        if not self._size <= info.size <= self._size + self._left_over:\n"
    lie = "        if info.size != self._size:\n"


class TheSizeIsTakenFromTheFile(SourceLie):
    """Lie: after a commit the size of the file is whatever it is."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "        self._size += len(line)\n"
    lie = "        self._size = -1\n"
