"""Mutants of the suite `kills`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class CommitsAreWrittenTogetherWithTheNext(SourceLie):
    """Lie: the line of a commit is kept back for the next append."""

    kills = "S-TXN-15"
    file = "storage.py"
    line = "await self._files.append_file(self.path, line)"
    lie = """self.waiting = getattr(self, "waiting", b"") + line
            if self.waiting.count(b"\\n") == 1:
                self._size -= len(line)
            else:
                await self._files.append_file(self.path, self.waiting)
                self._size += len(self.waiting) - len(line)
                self.waiting = bytes()"""


class HalfALineIsRead(SourceLie):
    """Lie: the bytes behind the last LF count as a line."""

    kills = "S-TXN-15"
    file = "scanning.py"
    line = "if read is None or not read[1]:"
    lie = "if read is None:"


class LeftoversAreListed(SourceLie):
    """Lie: a temporary file is called like a session."""

    kills = "S-FORK-FAIL-09"
    file = "publishing.py"
    line = 'self._draft = f"{path}.{token_hex(8)}.tmp"'
    lie = 'self._draft = f"{path}.{token_hex(8)}.jsonl"'


class LeftoversTakeTheId(SourceLie):
    """Lie: an id is taken by a file whose name only begins like that of its session."""

    kills = "S-FORK-FAIL-09"
    file = "catalog.py"
    line = "if names_session(info.name, ending)"
    lie = "if names_session(info.name.partition(SUFFIX)[0] + SUFFIX, ending)"


class DeletesEmptyTheFileFirst(SourceLie):
    """Lie: a delete empties the file, and then removes it."""

    kills = "S-REPO-19"
    file = "repo.py"
    line = "await self._files.remove_file(named.path)"
    lie = "await self._files.truncate_file(named.path, 0)\n                await self._files.remove_file(named.path)"
