"""Failures of the file capability, as the store's callers get them (S-ERR-02)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from forkstore.contract.errors import SessionFileChanged, SessionStoreError, StoreIOError
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
    try:  # every commit comes through here, and a context manager would cost half as much as the call
        return await files.file_info(path)
    except FileError as error:
        raise gone_or_failed(error, path, "file_info") from error


def gone_or_failed(error: FileError, path: str, operation: str) -> SessionStoreError:
    """What a caller of the store gets when a call fails on a session file that was there before: SessionFileChanged
    when it is gone, else StoreIOError. Raise it from the error.
    """
    return SessionFileChanged(path, "it is gone") if error.code in MISSING else store_error(error, operation)


@contextmanager
def file_failures(operation: str) -> Iterator[None]:
    """Raises every FileError of a `with` block as a StoreIOError."""
    try:
        yield
    except FileError as error:
        raise store_error(error, operation) from error
