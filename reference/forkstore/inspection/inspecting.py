"""One inspection, from the first byte of a file to its last line end."""

from __future__ import annotations

from typing import Protocol

from forkstore.jsonl.headers import LEGACY_FORMAT, MARK, Header

from .facts import Contents, Inspection
from .findings import Findings
from .format_4 import Format4Lines
from .headers import NO_FIRST_LINE, FirstLine, begins_like_a_session, facts_of, read_first_line
from .legacy import LegacyLines
from .lines import FileLines, Progress


class FoldedLines(Protocol):
    """The lines behind a header, as its format has them."""

    def take(self, line: bytes, number: int) -> None:
        """The next complete line, without its LF; `number` is 1-based and counts the header."""
        ...

    def finish(self) -> Contents:
        """What was in the lines."""
        ...


def inspect_file(path: str, progress: Progress) -> Inspection:
    """Inspects a file, which is read once and not changed in any way. Raises UnreadableFile.

    Besides the structure of the session no more is held than the longest line, decoded.
    """
    with FileLines(path) as file:
        inspector = Inspector(path, file.size)
        start = file.start()
        if not begins_like_a_session(start):
            return inspector.refused("the file does not begin with a header, so it is no session file", None)
        if start.startswith(MARK):
            inspector.findings.note("byte-order-mark", 1, "the file begins with a byte-order mark")
        end = file.end()
        if not end:
            reason = "the file ends inside its first line" if file.size else "the file is empty"
            return inspector.refused(reason, file.size)
        for line in file.lines(end, progress):
            inspector.take(line)
    return inspector.inspection(file.size - end)


class Inspector:
    """Takes all complete lines of a file."""

    def __init__(self, path: str, size: int) -> None:
        self.findings = Findings()
        self._path = path
        self._size = size
        self._first = NO_FIRST_LINE
        self._folded: FoldedLines | None = None
        self._lines = 0
        self._largest: tuple[int, int] | None = None

    def take(self, line: bytes) -> None:
        """The next line, without its LF."""
        self._lines += 1
        if self._largest is None or len(line) > self._largest[1]:
            self._largest = self._lines, len(line)
        if self._lines == 1:
            self._first = read_first_line(line, self._path, self.findings)
            self._folded = _folded_lines(self._first, self.findings)
        elif self._folded is not None:
            self._folded.take(line, self._lines)

    def inspection(self, torn_tail: int) -> Inspection:
        """What came out; `torn_tail` is the number of bytes behind the last line."""
        contents = None
        if self._folded is not None:
            contents = self._folded.finish()
            if torn_tail:
                what = "ignores them" if self._first.format == LEGACY_FORMAT else "cuts them off"
                self.findings.note(
                    "torn-tail", self._lines + 1, f"{torn_tail:,} bytes without a line end; opening {what}"
                )
        return self._made(contents, torn_tail)

    def refused(self, reason: str, torn_tail: int | None) -> Inspection:
        """What comes out for a file of which no line was taken; `torn_tail` is None when it was not looked for."""
        self.findings.error("header", 1, reason)
        return self._made(None, torn_tail)

    def _made(self, contents: Contents | None, torn_tail: int | None) -> Inspection:
        first = self._first
        return Inspection(
            path=self._path,
            size=self._size,
            lines=None if torn_tail is None else self._lines,
            largest_line=self._largest,
            torn_tail=torn_tail,
            format=first.format,
            storage_version=first.storage_version,
            header=None if first.header is None else facts_of(first.header, self._path),
            contents=contents,
            findings=self.findings,
        )


def _folded_lines(first: FirstLine, findings: Findings) -> FoldedLines | None:
    if not first.is_understood:
        return None
    if first.format == LEGACY_FORMAT:
        return LegacyLines(findings)
    return Format4Lines(first.header.next_seq if isinstance(first.header, Header) else None, findings)
