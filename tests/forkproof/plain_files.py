"""A file capability on a real directory, as plain as can be: no thread, no suspension, one system call at a time."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import IO, Literal

from forkstore.contract.files import FileError, FileInfo, FileKind


class PlainFiles:
    """Whatever the operating system refuses is `not_found` or `exists`; nothing else is tried on it."""

    def __init__(self) -> None:
        self.readers: list[PlainReader] = []

    def absolute_path(self, path: str) -> str:
        return str(Path(path).absolute())

    def real_path(self, path: str) -> str:
        return str(Path(path).resolve())

    def join_path(self, directory: str, name: str) -> str:
        return str(Path(directory) / name)

    async def exists(self, path: str) -> bool:
        return _stands(path)

    async def file_info(self, path: str) -> FileInfo:
        return _info(_standing(path))

    async def list_dir(self, path: str) -> list[FileInfo]:
        return [_info(one) for one in sorted(_standing(path).iterdir())]

    async def make_dir(self, path: str) -> None:
        _absent(path).mkdir()

    async def remove_dir(self, path: str) -> None:
        _standing(path).rmdir()

    async def read_bytes(self, path: str, limit: int) -> bytes:
        return _standing(path).read_bytes()[:limit]

    async def read_all(self, path: str) -> bytes:
        return _standing(path).read_bytes()

    async def open_line_reader(self, path: str) -> PlainReader:
        self.readers.append(PlainReader(_standing(path).open("rb")))
        return self.readers[-1]

    async def write_file(self, path: str, data: bytes) -> None:
        _put(path, "wb", data)

    async def append_file(self, path: str, data: bytes) -> None:
        _put(path, "ab", data)

    async def truncate_file(self, path: str, size: int) -> None:
        with _standing(path).open("r+b") as file:
            file.truncate(size)

    async def rename_file(self, path: str, target: str) -> None:
        _standing(path).replace(target)

    async def publish_file(self, path: str, target: str) -> None:
        _standing(path).rename(_absent(target))

    async def remove_file(self, path: str) -> None:
        _standing(path).unlink()

    async def sync_file(self, path: str) -> None:
        _standing(path)

    async def sync_dir(self, path: str) -> None:
        _standing(path)


class PlainReader:
    """Reads a file line by line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    @property
    def closed(self) -> bool:
        """Whether the file was let go."""
        return self._file.closed

    async def read_line(self) -> tuple[bytes, bool] | None:
        line = self._file.readline()
        return (line.removesuffix(b"\n"), line.endswith(b"\n")) if line else None

    async def close(self) -> None:
        self._file.close()


def _stands(path: str) -> bool:
    return Path(path).exists()


def _put(path: str, mode: Literal["wb", "ab"], data: bytes) -> None:
    with Path(path).open(mode, buffering=0) as file:
        file.write(data)


def _standing(path: str) -> Path:
    if not _stands(path):
        raise FileError("not_found", path)
    return Path(path)


def _absent(path: str) -> Path:
    if _stands(path):
        raise FileError("exists", path)
    return Path(path)


def _info(path: Path) -> FileInfo:
    found = path.stat()
    identity: Hashable = (found.st_dev, found.st_ino)
    kind: FileKind = "directory" if path.is_dir() else "file"
    return FileInfo(path.name, str(path), kind, found.st_size, found.st_mtime_ns // 1_000_000, identity)
