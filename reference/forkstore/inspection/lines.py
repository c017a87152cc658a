"""The complete lines of a file, in one reading from its start; the file is opened for reading only.

The last line end is looked for first, backwards from the end of the file. So a torn tail is measured and never held,
however large it is, and what another process appends meanwhile is left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Final, Self

CHUNK: Final = 256 * 1024
"""Bytes of one read."""

Progress = Callable[[int, int], None]
"""Is told how many bytes of how many have been read."""


class UnreadableFile(Exception):
    """There is no file that could be read: the path, and why, worded as the end of a sentence."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class FileLines:
    """A regular file, open for reading while a `with` block runs. Raises UnreadableFile."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = _opened(path)
        self.size = os.fstat(self._file.fileno()).st_size
        """Bytes of the file when it was opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def start(self) -> bytes:
        """The first bytes of the file, a chunk at most."""
        return self._read(0, min(CHUNK, self.size))

    def end(self) -> int:
        """The bytes of all complete lines, their LFs included."""
        end = self.size
        while end:
            begin = max(0, end - CHUNK)
            found = self._read(begin, end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def lines(self, end: int, progress: Progress) -> Iterator[bytes]:
        """The lines up to a byte that follows a LF, each without its LF. Only LF ends a line."""
        begun: list[bytes] = []
        for at in range(0, end, CHUNK):
            *complete, rest = self._read(at, min(CHUNK, end - at)).split(b"\n")
            for piece in complete:
                if begun:
                    line = b"".join([*begun, piece])
                    begun.clear()
                    yield line
                else:
                    yield piece
            if rest:
                begun.append(rest)
            progress(min(at + CHUNK, end), end)

    def _read(self, at: int, size: int) -> bytes:
        try:
            data = os.pread(self._file.fileno(), size, at)
            while len(data) < size:
                more = os.pread(self._file.fileno(), size - len(data), at + len(data))
                if not more:
                    raise UnreadableFile(self._path, "became shorter while it was read")
                data += more
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return data


def _opened(path: str) -> FileIO:
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise UnreadableFile(path, "is a directory, not a session file")
        if not stat.S_ISREG(mode):
            raise UnreadableFile(path, "is not a regular file")
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> UnreadableFile:
    return UnreadableFile(path, f"cannot be read: {error.strerror or error}")
