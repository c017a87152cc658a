"""What fails in the database reaches the caller as a class of the contract, with its cause (S-ERR-02)."""

from __future__ import annotations

import errno

import apsw
import pytest

from forkstore.contract.errors import CorruptSession, DuplicateId, StoreIOError
from forkstore.sqlite.failing import Damage, database_failures

CODES = {
    apsw.SQLITE_BUSY: "busy",
    apsw.SQLITE_BUSY_SNAPSHOT: "busy",
    apsw.SQLITE_LOCKED: "busy",
    apsw.SQLITE_FULL: "no_space",
    apsw.SQLITE_PERM: "permission_denied",
    apsw.SQLITE_READONLY: "permission_denied",
    apsw.SQLITE_READONLY_DIRECTORY: "permission_denied",
    apsw.SQLITE_AUTH: "permission_denied",
    apsw.SQLITE_CANTOPEN: "cannot_open",
    apsw.SQLITE_IOERR: "io_error",
    apsw.SQLITE_IOERR_FSYNC: "io_error",
    apsw.SQLITE_NOMEM: "no_memory",
    apsw.SQLITE_TOOBIG: "too_big",
    apsw.SQLITE_INTERRUPT: "interrupted",
    apsw.SQLITE_PROTOCOL: "unknown",
}
DAMAGE = (
    apsw.SQLITE_CORRUPT,
    apsw.SQLITE_CORRUPT_INDEX,
    apsw.SQLITE_NOTADB,
    apsw.SQLITE_ERROR,
    apsw.SQLITE_CONSTRAINT,
    apsw.SQLITE_MISMATCH,
)


@pytest.mark.parametrize(("result", "code"), CODES.items())
def test_a_refusal_of_sqlite_has_its_code(result: int, code: str) -> None:
    cause = apsw.exception_for(result)
    with pytest.raises(StoreIOError) as failure, database_failures("commit", "/a.sqlite"):
        raise cause
    assert (failure.value.operation, failure.value.path, failure.value.code) == ("commit", "/a.sqlite", code)
    assert failure.value.__cause__ is cause


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "full"), "no_space"),
        (FileNotFoundError(errno.ENOENT, "gone"), "not_found"),
        (OSError(errno.EIO, "broken"), "unknown"),
        (MemoryError(), "no_memory"),
        (ValueError("embedded null byte"), "invalid"),
    ],
)
def test_a_refusal_of_the_system_has_its_code(error: Exception, code: str) -> None:
    with pytest.raises(StoreIOError) as failure, database_failures("open", "/a.sqlite"):
        raise error
    assert failure.value.code == code
    assert failure.value.__cause__ is error


@pytest.mark.parametrize("result", DAMAGE)
def test_what_sqlite_finds_broken_is_a_corrupt_session(result: int) -> None:
    cause = apsw.exception_for(result)
    with pytest.raises(CorruptSession) as failure, database_failures("commit", "/a.sqlite"):
        raise cause
    assert (failure.value.path, failure.value.line) == ("/a.sqlite", None)
    assert failure.value.__cause__ is cause


def test_what_a_reader_finds_broken_is_said_in_its_words() -> None:
    with pytest.raises(CorruptSession, match="entries row 'a': no") as failure, database_failures("read", "/a.sqlite"):
        raise Damage("entries row 'a': no")
    assert failure.value.reason == "entries row 'a': no"


@pytest.mark.parametrize("error", [DuplicateId("a"), KeyError("a"), KeyboardInterrupt()])
def test_everything_else_passes_as_it_is(error: BaseException) -> None:
    with pytest.raises(type(error)) as failure, database_failures("read", "/a.sqlite"):
        raise error
    assert failure.value is error
