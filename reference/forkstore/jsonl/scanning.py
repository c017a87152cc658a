"""One reading of a session file: its complete lines in order, up to a boundary, and the checksum of what was read.

Opening reads a file once and a fork reads its source twice. The checksum and the size say whether the second reading
met what the first one did; the identity says whether it is the same file at all (S-FORK-ORD-08).
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self
from zlib import crc32

from forkstore.contract.errors import CorruptSession, SessionFileChanged, SessionStoreError
from forkstore.contract.files import FileError, FileInfo, Files, LineReader
from forkstore.settling import settled

from .failing import MISSING, file_failures, store_error

_TURN: Final = 256 * 1024
"""Bytes of lines that are given before other tasks get a turn: 1 to 2 ms of work. A reader need not ever suspend."""
_LINE_COST: Final = 512
"""What a line costs besides its bytes, in bytes, so that other tasks get their turn among many short lines too."""


class LineScan:
    """Reads a file from its start: `async with` opens and closes it, `async for` gives its lines without their LF.

    `end` is the number of bytes to read, which must end with a LF; without it the scan goes to the last LF of the file,
    and what stands behind it is left out. `identity` is that of the file to read, if it is known. `missing` is raised
    when there is no file. Raises SessionFileChanged for another file, and for one that ends too early; StoreIOError.
    """

    def __init__(
        self,
        files: Files,
        path: str,
        missing: SessionStoreError,
        *,
        end: int | None = None,
        identity: Hashable | None = None,
    ) -> None:
        self._files = files
        self._path = path
        self._missing = missing
        self._end = end
        self._identity = identity
        self._reader: LineReader | None = None
        self._info: FileInfo | None = None
        self._until_turn = _TURN
        self.number = 0
        """The 1-based number of the line that was given last."""
        self.size = 0
        """Bytes of all lines that were given, their LFs included."""
        self.checksum = 0
        """The checksum of these bytes."""
        self.torn = False
        """Whether bytes without a LF were met at the end of the file."""

    @property
    def info(self) -> FileInfo:
        """The file as it was before the first read."""
        if self._info is None:
            raise RuntimeError("the scan has not begun")
        return self._info

    async def __aenter__(self) -> Self:
        try:
            self._info = await self._same_file(self._identity)
            await settled(self._open())
            # A file that was put there between the look and the opening is noticed here.
            await self._same_file(self._info.identity)
        except BaseException:
            await settled(self._close_after_failure())
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await settled(self._close() if error is None else self._close_after_failure())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._until_turn < 0:
            self._until_turn = _TURN
            await asyncio.sleep(0)
        if self._reader is None:
            raise RuntimeError("the scan has not begun")
        if self.size == self._end:
            raise StopAsyncIteration
        try:
            read = await self._reader.read_line()
        except FileError as error:
            raise store_error(error, "read_line") from error
        if read is None or not read[1]:
            self._check_end(is_torn=read is not None)
            raise StopAsyncIteration
        line = read[0]
        self.number += 1
        self.size += len(line) + 1
        self.checksum = crc32(b"\n", crc32(line, self.checksum))
        self._until_turn -= len(line) + _LINE_COST
        if self._end is not None and self.size > self._end:
            raise SessionFileChanged(self._path, f"no line ends at byte {self._end} any more")
        return line

    async def first_line(self) -> bytes:
        """The first line. Raises CorruptSession when the file holds no complete one (S-JSONL-TAIL-05)."""
        async for line in self:
            return line
        raise CorruptSession(self._path, 1, "the file ends inside its first line")

    def _check_end(self, *, is_torn: bool) -> None:
        if self._end is not None:
            raise SessionFileChanged(self._path, f"it ends before byte {self._end}")
        self.torn = is_torn

    async def _same_file(self, identity: Hashable | None) -> FileInfo:
        try:
            info = await self._files.file_info(self._path)
        except FileError as error:
            raise self._refusal(error, "file_info") from error
        if info.kind in ("directory", "other"):
            raise self._missing
        if identity is not None and info.identity != identity:
            raise SessionFileChanged(self._path, "another file stands in its place")
        return info

    async def _open(self) -> None:
        try:
            self._reader = await self._files.open_line_reader(self._path)
        except FileError as error:
            raise self._refusal(error, "open_line_reader") from error

    def _refusal(self, error: FileError, operation: str) -> SessionStoreError:
        return self._missing if error.code in MISSING else store_error(error, operation)

    async def _close(self) -> None:
        if self._reader is not None:
            with file_failures("close"):
                await self._reader.close()

    async def _close_after_failure(self) -> None:
        """A failure to close does not take the place of the first one (S-FORK-FAIL-07)."""
        if self._reader is not None:
            with suppress(FileError):
                await self._reader.close()
