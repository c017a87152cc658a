"""The files of a machine that speaks POSIX, as the store asks for them (spec section 2.5).

What a call costs decides where it runs. On two cores, Python 3.11, ext4 and files in the page cache, a hop into a
thread and back takes 62 µs (at best 42); to open, write and close a file takes 3 µs for 500 bytes, 7 µs for 16 KiB,
14 µs for 64 KiB, 38 µs for 256 KiB, 73 µs for 512 KiB and 150 µs for 1 MiB (2.4 ms once the system holds writers back);
to open one and read 64 KiB takes 7 µs. So calls whose work has a bound run at once and never suspend. Long or unbounded
work, and what waits for the disk, runs in a thread with one hop per call; cancelled there, the call ends after its work
has. The hops are dearer than they look: a fork that writes 49 MB in 200 calls takes 15 ms longer with them on an idle
machine, and 50 ms longer on one whose cores are all busy.

Removing a file counts as bounded, though the system takes 2 ms to let go of 49 MB and 25 ms for 500 MB.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from io import FileIO
from typing import Final

from forkstore.contract.files import CHUNK, FileError, FileInfo, FileKind, LineReader
from forkstore.system_errors import code_of
from forkstore.threads import in_thread

from .file_errors import FileErrors
from .line_reader import LocalLineReader

# Paths are `str` here and taken as they are; a Path would fold `//` and `.`, and costs more than the call.
# ruff: noqa: PTH100, PTH102, PTH104, PTH105, PTH106, PTH108, PTH118

INLINE_BYTES: Final = 256 * 1024
"""The most that is written without a thread: the work (38 µs) then takes less than a hop (62 µs)."""

_TO_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK  # opening a pipe would wait for its other end
_KINDS: Final[dict[int, FileKind]] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
_NO_LINKS: Final = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""How a file system says that it has no hard links. A lack of permission says it too; then renaming fails as well."""


class LocalFiles:
    """The files of this machine; satisfies the protocol `Files`, whose calls it documents.

    All calls but these run at once and never suspend: `list_dir`, `read_all`, `truncate_file`, `sync_file`, `sync_dir`,
    reads of more than 64 KiB, writes of more than `INLINE_BYTES`, and those reads of a line reader that the page cache
    cannot serve.
    """

    inline_bytes: Final = INLINE_BYTES
    """Writes and appends of so many bytes never suspend; a store may look for this attribute and save a task."""

    def absolute_path(self, path: str) -> str:
        with FileErrors(path):
            return os.path.abspath(path)

    def real_path(self, path: str) -> str:
        with FileErrors(path):
            return os.path.realpath(path)

    def join_path(self, directory: str, name: str) -> str:
        return os.path.join(directory, name)

    async def exists(self, path: str) -> bool:
        with FileErrors(path):
            try:
                os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    async def file_info(self, path: str) -> FileInfo:
        try:  # spelled out here and in `_write`: these two calls are every commit's
            status = os.lstat(path)
        except (OSError, ValueError) as error:
            raise FileError(code_of(error), path) from error
        return _info(path.rstrip("/").rpartition("/")[2], path, status)

    async def list_dir(self, path: str) -> list[FileInfo]:
        return await in_thread(_list_dir, path)

    async def make_dir(self, path: str) -> None:
        with FileErrors(path):
            os.mkdir(path)

    async def remove_dir(self, path: str) -> None:
        """Removes an empty directory; `exists` when something stands in it."""
        with FileErrors(path):
            os.rmdir(path)

    async def read_bytes(self, path: str, limit: int) -> bytes:
        return _read(path, limit) if limit <= CHUNK else await in_thread(_read, path, limit)

    async def read_all(self, path: str) -> bytes:
        return await in_thread(_read_all, path)

    async def open_line_reader(self, path: str) -> LineReader:
        with FileErrors(path):
            return LocalLineReader(path, _open_to_read(path))

    async def write_file(self, path: str, data: bytes) -> None:
        if len(data) <= INLINE_BYTES:
            _write(path, data, os.O_TRUNC)
        else:
            await in_thread(_write, path, data, os.O_TRUNC)

    async def append_file(self, path: str, data: bytes) -> None:
        """Adds the data to the end of the file with one call of the system, which may take a part of it only; then the
        rest follows. A call that fails can leave a part of the data behind.
        """
        if len(data) <= INLINE_BYTES:
            _write(path, data, os.O_APPEND)
        else:
            await in_thread(_write, path, data, os.O_APPEND)

    async def truncate_file(self, path: str, size: int) -> None:
        """Cuts a file to `size` bytes; `invalid` when it is shorter, for it is never filled up."""
        await in_thread(_truncate, path, size)

    async def rename_file(self, path: str, target: str) -> None:
        with FileErrors(path):
            os.replace(path, target)

    async def publish_file(self, path: str, target: str) -> None:
        with FileErrors(path):
            _publish(path, target)

    async def remove_file(self, path: str) -> None:
        with FileErrors(path):
            os.unlink(path)

    async def sync_file(self, path: str) -> None:
        """Waits until the content has reached the disk; `not_supported` when nothing there can be waited for."""
        await in_thread(_sync, path, os.O_NONBLOCK)

    async def sync_dir(self, path: str) -> None:
        """Waits until the entries have reached the disk; `not_supported` when the file system does not offer it."""
        await in_thread(_sync, path, os.O_DIRECTORY)


def _info(name: str, path: str, status: os.stat_result) -> FileInfo:
    """The identity tells files apart that stand, or are held open, at the same time: a system may give the number of a
    removed file to a new one.
    """
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    identity = (status.st_dev, status.st_ino)
    return FileInfo(name, path, kind, status.st_size, status.st_mtime_ns // 1_000_000, identity)


def _list_dir(path: str) -> list[FileInfo]:
    infos = []
    with FileErrors(path), os.scandir(path) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                infos.append(_info(entry.name, entry.path, entry.stat(follow_symlinks=False)))
    return sorted(infos, key=lambda info: info.name)


def _open_to_read(path: str) -> FileIO:
    """A file to read. A pipe or a device is refused: there a read could wait, or go on, for ever."""
    file = FileIO(path, opener=_open_without_waiting)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a file", path)
    return file


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # opening a pipe would wait for its other end


def _read(path: str, limit: int) -> bytes:
    pieces = []
    with FileErrors(path), _open_to_read(path) as file:
        while limit > 0 and (piece := file.read(min(limit, CHUNK))):
            pieces.append(piece)
            limit -= len(piece)
    return b"".join(pieces)


def _read_all(path: str) -> bytes:
    with FileErrors(path), _open_to_read(path) as file:
        return file.readall()


def _write(path: str, data: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, _TO_WRITE | mode, 0o666)
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise FileError(code_of(error), path) from error


def _truncate(path: str, size: int) -> None:
    with FileErrors(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        try:
            if size > os.fstat(descriptor).st_size:
                raise FileError("invalid", path)
            os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)


def _publish(path: str, target: str) -> None:
    """A second name for the file, made only where there is none, and then the first name goes: a process killed at any
    point leaves no target or the complete one.

    Where there are no hard links it looks and then renames: as safe from a kill, but it replaces a target that another
    process makes between the two. To hold the place with an empty file would be safe from that, and leave the empty
    file behind after a kill.
    """
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError as error:
        raise FileError("exists", target) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileError("exists", target) from error
        os.rename(path, target)
    else:
        # The target stands, so the call has succeeded. A first name that stays is one more name of the same file.
        with suppress(OSError):
            os.unlink(path)


def _sync(path: str, mode: int) -> None:
    with FileErrors(path):
        descriptor = os.open(path, os.O_RDONLY | mode)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno == errno.EINVAL:  # how a system says that it cannot sync this
                raise FileError("not_supported", path) from error
            raise
        finally:
            os.close(descriptor)
