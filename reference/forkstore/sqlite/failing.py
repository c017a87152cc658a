"""Failures of the database, as the store's callers get them (S-ERR-02)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from forkstore.contract.errors import CorruptSession, SessionStoreError, StoreIOError
from forkstore.system_errors import code_of

_CODES: Final[dict[type[apsw.Error], str]] = {
    apsw.BusyError: "busy",
    apsw.LockedError: "busy",
    apsw.FullError: "no_space",
    apsw.PermissionsError: "permission_denied",
    apsw.ReadOnlyError: "permission_denied",
    apsw.AuthError: "permission_denied",
    apsw.CantOpenError: "cannot_open",
    apsw.IOError: "io_error",
    apsw.NoMemError: "no_memory",
    apsw.TooBigError: "too_big",
    apsw.InterruptError: "interrupted",
}
_DAMAGE: Final = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.SQLError,  # the store's statements are right, so a table or a column is missing
    apsw.ConstraintError,  # a commit has checked what it inserts, so rows contradict each other
    apsw.MismatchError,
)


class Damage(ValueError):
    """Stored rows break the schema or the branch index: where and how.

    Who knows the database raises CorruptSession from it, which is what `database_failures` does.
    """


@contextmanager
def database_failures(operation: str, path: str) -> Iterator[None]:
    """Raises what fails inside a `with` block as a class of the contract, with the original error as its cause.

    Damage of any kind is a CorruptSession, everything else that SQLite or the operating system refuses a StoreIOError
    of the operation. Refusals of the contract pass as they are.
    """
    try:
        yield
    except (apsw.Error, OSError, MemoryError, ValueError) as error:
        raise store_error(error, operation, path) from error


def store_error(error: Exception, operation: str, path: str) -> SessionStoreError:
    """What a caller of the store gets for an error of SQLite, of a row or of the operating system."""
    if isinstance(error, Damage):
        return CorruptSession(path, None, str(error))
    if isinstance(error, UnicodeDecodeError):
        return CorruptSession(path, None, f"a text column holds what is no UTF-8: {error}")
    if isinstance(error, _DAMAGE):
        return CorruptSession(path, None, f"SQLite says: {error}")
    if isinstance(error, OSError | ValueError):
        return StoreIOError(operation, path, code_of(error))
    return StoreIOError(operation, path, database_code(error))


def database_code(error: Exception) -> str:
    """Why SQLite refused, in one word."""
    if isinstance(error, MemoryError):
        return "no_memory"
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), "unknown")
