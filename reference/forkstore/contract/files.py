"""The file capability: all file work of a store on files goes through an object like this (spec section 2.5).

A store takes one as its option `files`, so that a test can watch, fail or stop every call. Paths go in and come out as
`str`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

FileErrorCode = Literal[
    "not_found",
    "permission_denied",
    "not_directory",
    "is_directory",
    "invalid",
    "not_supported",
    "no_space",
    "exists",
    "unknown",
]
"""What went wrong, in words that do not depend on the operating system."""

FileKind = Literal["file", "directory", "symlink", "other"]

CHUNK: Final = 64 * 1024
"""Bytes that a line reader takes at a time, and the most that a bounded read asks for (S-FORK-STR-01, S-REPO-14)."""


@dataclass(eq=False)
class FileError(Exception):
    """A file call failed. A store raises one of its own classes from it (S-ERR-02)."""

    code: FileErrorCode
    path: str

    def __post_init__(self) -> None:
        super().__init__(self.code, self.path)  # pickled and copied by these

    def __str__(self) -> str:
        return f"{self.path}: {self.code.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What is known of a path without following it: `size` in bytes, `modified_at` in Unix milliseconds.

    `identity` is an opaque value, equal exactly for one and the same file, whatever its name is.
    """

    name: str
    path: str
    kind: FileKind
    size: int
    modified_at: int
    identity: Hashable


class LineReader(Protocol):
    """Gives a file line by line; only LF ends a line."""

    async def read_line(self) -> tuple[bytes, bool] | None:
        """The bytes of the next line without its LF, and whether it had one; None at the end, and on each call after.

        Only a last line can lack its LF. A cancelled read consumes nothing, so it can be repeated. Raises FileError.
        """
        ...

    async def close(self) -> None:
        """Lets go of the file; a further call does nothing."""
        ...


class Files(Protocol):
    """Every file call of a store. All but the path calls are coroutines; each raises FileError when it fails."""

    def absolute_path(self, path: str) -> str:
        """The absolute path without `.`, `..` and a trailing separator; follows no link and never suspends."""
        ...

    def real_path(self, path: str) -> str:
        """The path with all links followed, as far as it exists."""
        ...

    def join_path(self, directory: str, name: str) -> str:
        """The path of a name in a directory."""
        ...

    async def exists(self, path: str) -> bool:
        """Whether something stands at the path."""
        ...

    async def file_info(self, path: str) -> FileInfo:
        """What stands at the path; a link is not followed."""
        ...

    async def list_dir(self, path: str) -> list[FileInfo]:
        """What stands in a directory, by name; what vanishes meanwhile is left out."""
        ...

    async def make_dir(self, path: str) -> None:
        """Makes one directory, whose parent must stand; `exists` when something is there."""
        ...

    async def remove_dir(self, path: str) -> None:
        """Removes an empty directory."""
        ...

    async def read_bytes(self, path: str, limit: int) -> bytes:
        """The first `limit` bytes of a file."""
        ...

    async def read_all(self, path: str) -> bytes:
        """A whole file; never used on the source of a fork (S-FORK-STR-01)."""
        ...

    async def open_line_reader(self, path: str) -> LineReader:
        """A reader at the start of the file."""
        ...

    async def write_file(self, path: str, data: bytes) -> None:
        """Makes the file, or replaces its content."""
        ...

    async def append_file(self, path: str, data: bytes) -> None:
        """Adds the data to the end of a file, which is made if there is none."""
        ...

    async def truncate_file(self, path: str, size: int) -> None:
        """Cuts a file to `size` bytes."""
        ...

    async def rename_file(self, path: str, target: str) -> None:
        """Renames, replacing the target."""
        ...

    async def publish_file(self, path: str, target: str) -> None:
        """Renames; `exists` when there is a target, which stays as it is."""
        ...

    async def remove_file(self, path: str) -> None:
        """Removes a file."""
        ...

    async def sync_file(self, path: str) -> None:
        """Waits until the content of a file has reached the disk."""
        ...

    async def sync_dir(self, path: str) -> None:
        """Waits until the entries of a directory have reached the disk."""
        ...
