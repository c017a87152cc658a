"""Faults in a store's file work: the n-th file call fails, is short, finds the disk full, is cancelled, or is the last.

`FileFaults` wraps the file capability that a store is given (contract section 2.5), so it serves any store on files. It
counts calls and lets an armed fault strike one of them; until it is armed it passes everything through untouched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from forkproof.instruments.arming import Faults
from forkproof.instruments.fault_kinds import CHANGES, OPERATIONS, Hit, Operation
from forkstore.contract.files import FileError, FileErrorCode, FileInfo, Files, LineReader

T = TypeVar("T")


class FileFaults(Faults):
    """The faults of one case, over every file capability that it wrapped.

    >>> faults = FileFaults()
    >>> repo = JsonlSessionRepo(sessions_root=root, files=faults.wrap(LocalFiles()))
    >>> session = await repo.create(cwd="/garden")
    >>> faults.arm(Short(code="unknown"), names={"append_file"})
    >>> with refused(StoreIOError) as refusal:
    ...     await session.set_name("the pond")
    >>> refusal.error.__cause__ is faults.hit.error
    True
    """

    world = "file"
    operations = OPERATIONS
    changes = CHANGES

    def wrap(self, files: Files) -> Files:
        """The capability, with faults. All that were wrapped share one count and one plan."""
        return _FaultyFiles(self, files)

    def failure(self, code: FileErrorCode, hit: Hit) -> Exception:
        return FileError(code, hit.path)

    async def at(self, operation: Operation[T]) -> T:
        """Makes a file call, or lets the fault stand in for it. Suspends only where the call or the fault does."""
        found = self.due(operation.name, operation.path, operation.target)
        if found is None:
            return await operation.do()
        fault, hit = found
        return await fault.strike(operation, hit)


class _FaultyFiles:
    """A file capability whose calls go past the faults; the path calls do no file work and pass through."""

    def __init__(self, faults: FileFaults, files: Files) -> None:
        self._faults = faults
        self._files = files
        self.absolute_path = files.absolute_path
        self.real_path = files.real_path
        self.join_path = files.join_path

    async def _at(
        self,
        name: str,
        path: str,
        do: Callable[[], Awaitable[T]],
        *,
        part: Callable[[float], Awaitable[object]] | None = None,
        target: str | None = None,
    ) -> T:
        return await self._faults.at(Operation(name, path, do, part, target))

    async def exists(self, path: str) -> bool:
        return await self._at("exists", path, lambda: self._files.exists(path))

    async def file_info(self, path: str) -> FileInfo:
        return await self._at("file_info", path, lambda: self._files.file_info(path))

    async def list_dir(self, path: str) -> list[FileInfo]:
        return await self._at("list_dir", path, lambda: self._files.list_dir(path))

    async def make_dir(self, path: str) -> None:
        await self._at("make_dir", path, lambda: self._files.make_dir(path))

    async def remove_dir(self, path: str) -> None:
        await self._at("remove_dir", path, lambda: self._files.remove_dir(path))

    async def read_bytes(self, path: str, limit: int) -> bytes:
        return await self._at("read_bytes", path, lambda: self._files.read_bytes(path, limit))

    async def read_all(self, path: str) -> bytes:
        return await self._at("read_all", path, lambda: self._files.read_all(path))

    async def open_line_reader(self, path: str) -> LineReader:
        opened: list[LineReader] = []

        async def open_it() -> LineReader:
            opened.append(await self._files.open_line_reader(path))
            return _FaultyReader(self._faults, opened[0], path)

        try:
            return await self._at("open_line_reader", path, open_it)
        except BaseException:
            # Opened, and then reported as failed or cancelled: nobody has it who could close it.
            for reader in opened:
                await reader.close()
            raise

    async def write_file(self, path: str, data: bytes) -> None:
        await self._at(
            "write_file",
            path,
            lambda: self._files.write_file(path, data),
            part=lambda share: self._files.write_file(path, _first(share, data)),
        )

    async def append_file(self, path: str, data: bytes) -> None:
        await self._at(
            "append_file",
            path,
            lambda: self._files.append_file(path, data),
            part=lambda share: self._files.append_file(path, _first(share, data)),
        )

    async def truncate_file(self, path: str, size: int) -> None:
        async def cut_in_part(share: float) -> None:
            before = (await self._files.file_info(path)).size
            await self._files.truncate_file(path, before + int((size - before) * share))

        await self._at("truncate_file", path, lambda: self._files.truncate_file(path, size), part=cut_in_part)

    async def rename_file(self, path: str, target: str) -> None:
        await self._at("rename_file", path, lambda: self._files.rename_file(path, target), target=target)

    async def publish_file(self, path: str, target: str) -> None:
        await self._at("publish_file", path, lambda: self._files.publish_file(path, target), target=target)

    async def remove_file(self, path: str) -> None:
        await self._at("remove_file", path, lambda: self._files.remove_file(path))

    async def sync_file(self, path: str) -> None:
        await self._at("sync_file", path, lambda: self._files.sync_file(path))

    async def sync_dir(self, path: str) -> None:
        await self._at("sync_dir", path, lambda: self._files.sync_dir(path))


class _FaultyReader:
    """A line reader whose reads and closing go past the faults."""

    def __init__(self, faults: FileFaults, reader: LineReader, path: str) -> None:
        self._faults = faults
        self._reader = reader
        self._path = path
        self._kept: list[tuple[bytes, bool] | None] = []
        """A line that was read and did not reach the caller: a cancelled read consumes nothing."""

    async def read_line(self) -> tuple[bytes, bool] | None:
        line = await self._faults.at(Operation("read_line", self._path, self._read))
        self._kept.clear()
        return line

    async def _read(self) -> tuple[bytes, bool] | None:
        if not self._kept:
            self._kept.append(await self._reader.read_line())
        return self._kept[0]

    async def close(self) -> None:
        try:
            await self._faults.at(Operation("close", self._path, self._reader.close))
        except BaseException:
            # An operating system lets go of a file even when it reports an error; no store can do better.
            await self._reader.close()
            raise


def _first(share: float, data: bytes) -> bytes:
    return data[: int(len(data) * share)]
