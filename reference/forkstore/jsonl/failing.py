"""Failures of the file capability, as the store's callers get them (S-ERR-02)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from forkstore.contract.errors import SessionFileChanged, StoreIOError
from forkstore.contract.files import FileError, FileErrorCode, FileInfo, Files


def store_error(error: FileError, operation: str) -> StoreIOError:
    """What a caller of the store gets for a file call that failed; `operation` is the name of the call.

    Raise it from the error, which is then its cause.
    """
    return StoreIOError(operation, error.path, error.code)


MISSING: Final[frozenset[FileErrorCode]] = frozenset({"not_found", "not_directory"})
"""How a file capability says that there is no such file."""


async def look_again(files: Files, path: str) -> FileInfo:
    """What stands where a session file was seen before. Raises SessionFileChanged when it is gone; StoreIOError."""
    with looking_again(path, "file_info"):
        return await files.file_info(path)


@contextmanager
def looking_again(path: str, operation: str) -> Iterator[None]:
    """Raises SessionFileChanged when the file of a call in the block is gone, StoreIOError for other failures."""
    try:
        yield
    except FileError as error:
        if error.code in MISSING:
            raise SessionFileChanged(path, "it is gone") from error
        raise store_error(error, operation) from error


@contextmanager
def file_failures(operation: str) -> Iterator[None]:
    """Raises every FileError of a `with` block as a StoreIOError."""
    try:
        yield
    except FileError as error:
        raise store_error(error, operation) from error
