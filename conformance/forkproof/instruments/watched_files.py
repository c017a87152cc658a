"""A file capability that tells a record of each call, and changes nothing else about it.

A watched call makes the inner call and awaits it in its own first step, so it suspends exactly as often, and in the
same places. Path work is handed through untold: it is no work on files.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from forkstore.contract.files import FileError, FileInfo, Files, LineReader


@dataclass(eq=False)
class FileCall:
    """One call. `size` is the size of the data written, the limit of a read, or the size to cut to; `given` counts the
    bytes that a read gave. `outcome` is `running`, `returned`, the code of a FileError, or the name of another error.
    """

    name: str
    path: str
    target: str | None = None
    size: int | None = None
    outcome: str = "running"
    given: int = 0

    def __str__(self) -> str:
        told = [part for part in (self.path, self.target) if part is not None]
        if self.size is not None:
            told.append(f"{self.size:,}")
        return f"{self.name}({', '.join(told)}) → {self.outcome}"

    def touches(self, path: str) -> bool:
        """Whether the call names the path, as its subject or as its target."""
        return path in (self.path, self.target)

    def end_with(self, error: BaseException) -> None:
        """Notes how the call failed."""
        self.outcome = _word(error)


@dataclass(eq=False)
class ReaderUse:
    """What one line reader gave: how many lines, how many bytes with their LFs, the longest line; and how it was left.

    Lines come in order and a cancelled read consumes nothing, so the number of lines says which lines were delivered.
    `ending` is the outcome of its last read that did not return, as in `FileCall.outcome`.
    """

    path: str
    lines: int = 0
    given: int = 0
    longest: int = 0
    at_end: bool = False
    closes: int = 0
    ending: str | None = None

    def fail(self, error: BaseException) -> None:
        """Notes a read that failed."""
        self.ending = _word(error)

    def deliver(self, line: tuple[bytes, bool] | None) -> None:
        """Notes what a read gave."""
        if line is None:
            self.at_end = True
            return
        data, terminated = line
        self.lines += 1
        self.given += len(data) + terminated
        self.longest = max(self.longest, len(data) + terminated)


def _word(error: BaseException) -> str:
    return error.code if isinstance(error, FileError) else type(error).__name__


class FileRecord(Protocol):
    """What watched files tell."""

    def begin(self, name: str, path: str, target: str | None = None, size: int | None = None) -> FileCall:
        """A call takes its first step."""
        ...

    def opened(self, call: FileCall) -> ReaderUse:
        """The call has opened a line reader."""
        ...


class WatchedFiles:
    """The capability that stands in for `files`."""

    def __init__(self, files: Files, record: FileRecord) -> None:
        self._files = files
        self._record = record

    async def _told(self, call: FileCall, inner: Coroutine[Any, Any, Any]) -> Any:
        try:
            result = await inner
        except BaseException as error:
            call.end_with(error)
            raise
        call.outcome = "returned"
        return result

    async def _read(self, call: FileCall, inner: Coroutine[Any, Any, bytes]) -> bytes:
        data: bytes = await self._told(call, inner)
        call.given = len(data)
        return data

    def absolute_path(self, path: str) -> str:
        return self._files.absolute_path(path)

    def real_path(self, path: str) -> str:
        return self._files.real_path(path)

    def join_path(self, directory: str, name: str) -> str:
        return self._files.join_path(directory, name)

    async def exists(self, path: str) -> bool:
        there: bool = await self._told(self._record.begin("exists", path), self._files.exists(path))
        return there

    async def file_info(self, path: str) -> FileInfo:
        info: FileInfo = await self._told(self._record.begin("file_info", path), self._files.file_info(path))
        return info

    async def list_dir(self, path: str) -> list[FileInfo]:
        found: list[FileInfo] = await self._told(self._record.begin("list_dir", path), self._files.list_dir(path))
        return found

    async def make_dir(self, path: str) -> None:
        await self._told(self._record.begin("make_dir", path), self._files.make_dir(path))

    async def remove_dir(self, path: str) -> None:
        await self._told(self._record.begin("remove_dir", path), self._files.remove_dir(path))

    async def read_bytes(self, path: str, limit: int) -> bytes:
        call = self._record.begin("read_bytes", path, size=limit)
        return await self._read(call, self._files.read_bytes(path, limit))

    async def read_all(self, path: str) -> bytes:
        return await self._read(self._record.begin("read_all", path), self._files.read_all(path))

    async def open_line_reader(self, path: str) -> LineReader:
        call = self._record.begin("open_line_reader", path)
        reader: LineReader = await self._told(call, self._files.open_line_reader(path))
        return _WatchedReader(reader, self._record.opened(call))

    async def write_file(self, path: str, data: bytes) -> None:
        call = self._record.begin("write_file", path, size=len(data))
        await self._told(call, self._files.write_file(path, data))

    async def append_file(self, path: str, data: bytes) -> None:
        call = self._record.begin("append_file", path, size=len(data))
        await self._told(call, self._files.append_file(path, data))

    async def truncate_file(self, path: str, size: int) -> None:
        call = self._record.begin("truncate_file", path, size=size)
        await self._told(call, self._files.truncate_file(path, size))

    async def rename_file(self, path: str, target: str) -> None:
        await self._told(self._record.begin("rename_file", path, target), self._files.rename_file(path, target))

    async def publish_file(self, path: str, target: str) -> None:
        await self._told(self._record.begin("publish_file", path, target), self._files.publish_file(path, target))

    async def remove_file(self, path: str) -> None:
        await self._told(self._record.begin("remove_file", path), self._files.remove_file(path))

    async def sync_file(self, path: str) -> None:
        await self._told(self._record.begin("sync_file", path), self._files.sync_file(path))

    async def sync_dir(self, path: str) -> None:
        await self._told(self._record.begin("sync_dir", path), self._files.sync_dir(path))


class _WatchedReader:
    def __init__(self, reader: LineReader, use: ReaderUse) -> None:
        self._reader = reader
        self._use = use

    async def read_line(self) -> tuple[bytes, bool] | None:
        try:
            line = await self._reader.read_line()
        except BaseException as error:
            self._use.fail(error)
            raise
        self._use.deliver(line)
        return line

    async def close(self) -> None:
        self._use.closes += 1
        await self._reader.close()
