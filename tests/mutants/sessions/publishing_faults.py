"""Mutants of the suite `publishing_faults`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class HalfWrittenTemporaryFilesStay(SourceLie):
    """Lie: a temporary file counts as made when its first writing has succeeded."""

    kills = "S-JSONL-PUB-03"
    file = "publishing.py"
    line = "self._draft_is_there = True  # a call that fails may have made it all the same"
    lie = "assert not self._draft_is_there"


class ARenamingThatFailedWasNotDone(SourceLie):
    """Lie: a renaming that was done and reported as failed counts as not done."""

    kills = "S-JSONL-PUB-03"
    file = "publishing.py"
    line = "if not await self._is_there(new.identity):"
    lie = "if new:"


class TemporaryFilesStayWhereTheRestFails(SourceLie):
    """Lie: only the file at the destination is cleaned up."""

    kills = "S-JSONL-PUB-03"
    file = "publishing.py"
    line = "await _tried(self._files.remove_file(self._draft))"
    lie = "assert self._draft"
