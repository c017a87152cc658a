"""Failures of the file capability, as the store's callers get them (S-ERR-02)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forkstore.contract.errors import StoreIOError
from forkstore.contract.files import FileError


def store_error(error: FileError, operation: str) -> StoreIOError:
    """What a caller of the store gets for a file call that failed; `operation` is the name of the call.

    Raise it from the error, which is then its cause.
    """
    return StoreIOError(operation, error.path, error.code)


@contextmanager
def file_failures(operation: str) -> Iterator[None]:
    """Raises every FileError of a `with` block as a StoreIOError."""
    try:
        yield
    except FileError as error:
        raise store_error(error, operation) from error
