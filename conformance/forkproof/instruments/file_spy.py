"""Watches a store's file work: wraps the file capability, records every call, and answers what a case asks of them.

The record is counts and sizes, never payloads, so it stays small beside any file. What the store sees is what it would
see without the spy: results, errors and cancellations pass through unchanged, and no call suspends more often.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

from forkproof.instruments.watched_files import FileCall, ReaderUse, WatchedFiles
from forkstore.contract.files import CHUNK, Files

CALLS_KEPT: Final = 50_000
"""How many calls are kept one by one."""

CHANGES: Final = frozenset(
    {
        "make_dir",
        "remove_dir",
        "write_file",
        "append_file",
        "truncate_file",
        "rename_file",
        "publish_file",
        "remove_file",
    }
)
"""The calls that change what is on disk."""

_SYNCS: Final = frozenset({"sync_file", "sync_dir"})

PathText = str | os.PathLike[str]


class FileSpy:
    """Records the file calls of every capability it has wrapped.

    >>> spy = FileSpy()
    >>> repo = JsonlSessionRepo(sessions_root=root, files=spy.wrap(LocalFiles()))
    >>> fork = await repo.fork(source, TreeFork())
    >>> spy.whole_file_reads(source.path), max(spy.lines_read(source.path)[1:]), spy.only_read(source.path)
    ([], 2, True)

    Paths are compared with the links of their directories followed, so any way to a file will do in a question. A
    question about single calls raises LookupError when there were more than are kept: `forget` before the act.
    """

    def __init__(self) -> None:
        self.seen = 0
        """All calls so far, forgotten ones included."""
        self.forget()

    def forget(self) -> None:
        """Forgets what it saw: from here on every question is about later calls, and about readers opened later."""
        self._kept: list[FileCall] = []
        self._readers: list[ReaderUse] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._totals: Counter[str] = Counter()
        self._directories: dict[str, str] = {}

    def wrap(self, files: Files) -> Files:
        """The capability to hand to the store in place of `files`."""
        return WatchedFiles(files, self)

    @property
    def calls(self) -> list[FileCall]:
        """The calls in the order of their first steps. Raises LookupError when there were more than are kept."""
        if self._totals.total() > len(self._kept):
            raise LookupError(f"more than {CALLS_KEPT:,} file calls since the last forget(): not all are kept")
        return self._kept

    def calls_on(self, path: PathText) -> list[FileCall]:
        """The calls that name the path, as their subject or their target, in order."""
        place = self._place(path)
        return [call for call in self.calls if call.touches(place)]

    def sequence(self, *names: str) -> list[str]:
        """The names of the calls, in order; only those that are asked for, when some are.

        >>> spy.sequence("write_file", "append_file", "sync_file", "publish_file", "sync_dir")
        ['write_file', 'append_file', 'sync_file', 'publish_file', 'sync_dir']
        """
        return [call.name for call in self.calls if not names or call.name in names]

    def count(self, name: str, path: PathText | None = None) -> int:
        """How often a call was made: on one path, as its subject or its target, or on all."""
        return self._totals[name] if path is None else self._counts[name, self._place(path)]

    def opens(self, path: PathText) -> int:
        """How often the path was opened for reading: by line readers, bounded reads and whole reads."""
        return sum(self.count(name, path) for name in ("open_line_reader", "read_bytes", "read_all"))

    def readers(self, path: PathText | None = None) -> list[ReaderUse]:
        """The line readers that were opened, on one path or on all."""
        if path is None:
            return list(self._readers)
        place = self._place(path)
        return [reader for reader in self._readers if reader.path == place]

    @property
    def open_readers(self) -> list[ReaderUse]:
        """The line readers that were not closed."""
        return [reader for reader in self._readers if not reader.closes]

    def lines_read(self, path: PathText) -> list[int]:
        """How often each line of the path was delivered, the first line first."""
        ends = Counter(reader.lines for reader in self.readers(path))
        times, delivered = ends.total(), []
        for line in range(max(ends, default=0)):
            times -= ends[line]
            delivered.append(times)
        return delivered

    def bytes_asked(self, path: PathText) -> int:
        """The sum of the limits of all bounded reads of the path."""
        return sum(call.size or 0 for call in self.calls_on(path) if call.name == "read_bytes")

    def bytes_given(self, path: PathText) -> int:
        """The bytes that all reads of the path gave, those of line readers included."""
        return sum(call.given for call in self.calls_on(path)) + sum(reader.given for reader in self.readers(path))

    def whole_file_reads(self, path: PathText | None = None) -> list[FileCall]:
        """The calls that read a whole file, or ask for more than 64 KiB at once: of one path, or of any."""
        calls = self.calls if path is None else self.calls_on(path)
        large = [call for call in calls if call.name == "read_bytes" and (call.size or 0) > CHUNK]
        return [call for call in calls if call.name == "read_all" or call in large]

    def changes(self, path: PathText | None = None) -> list[FileCall]:
        """The calls that change what is on disk: on one path, also as the target of a rename, or on any."""
        calls = self.calls if path is None else self.calls_on(path)
        return [call for call in calls if call.name in CHANGES]

    def only_read(self, path: PathText) -> bool:
        """Whether nothing but reading was done to the path: no change, and no sync, for which it is opened to write."""
        return not any(self.count(name, path) for name in CHANGES | _SYNCS)

    def begin(self, name: str, path: str, target: str | None = None, size: int | None = None) -> FileCall:
        """Notes a call that takes its first step; for the wrapped capability."""
        call = FileCall(name, self._place(path), None if target is None else self._place(target), size)
        self.seen += 1
        self._totals[name] += 1
        self._counts.update({(name, place): 1 for place in (call.path, call.target) if place is not None})
        if len(self._kept) < CALLS_KEPT:
            self._kept.append(call)
        return call

    def opened(self, call: FileCall) -> ReaderUse:
        """Notes a line reader that was opened; for the wrapped capability."""
        self._readers.append(ReaderUse(call.path))
        return self._readers[-1]

    def _place(self, path: PathText) -> str:
        directory, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - a Path would follow nothing here either
        if directory not in self._directories:
            self._directories[directory] = os.path.realpath(directory)
        return os.path.join(self._directories[directory], name)  # noqa: PTH118
