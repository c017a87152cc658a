"""The row of a session: identity, version, statistics and next sequence (spec section 27.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import apsw

from forkstore.contract.codec import UndecodableText, decode, encode
from forkstore.contract.errors import InvalidValue, SessionNotFound, UnsupportedVersion
from forkstore.contract.records import Record, check_usage, zero_usage
from forkstore.contract.store import STORAGE_VERSION
from forkstore.contract.writes import LAST_SEQUENCE

from .failing import Damage

ZERO_USAGE_TEXT: Final = encode(zero_usage(), "usage").decode()
"""JSON text of the statistics of an empty ledger."""

_SELECT: Final = """
    SELECT created_at, parent_session_id, storage_version, message_count, usage_payload, next_seq
    FROM sessions WHERE id = ?
"""
_INSERT: Final = """
    INSERT INTO sessions
        (id, created_at, parent_session_id, storage_version, metadata, message_count, usage_payload, next_seq)
    VALUES (?, ?, ?, ?, NULL, ?, ?, ?)
"""
_UPDATE: Final = "UPDATE sessions SET message_count = ?, usage_payload = ?, next_seq = ? WHERE id = ?"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A row of `sessions`, of an empty session unless more is said (S-SQL-SCH-02).

    `usage_text` is JSON text, `created_at` Unix milliseconds.
    """

    id: str
    created_at: int
    parent_session_id: str | None
    message_count: int = 0
    usage_text: str = ZERO_USAGE_TEXT
    next_seq: int = 1

    def usage(self) -> Record:
        """The usage of the statistics, a fresh object. Raises Damage."""
        try:
            return check_usage(decode(self.usage_text), "usage_payload")
        except (UndecodableText, InvalidValue) as error:
            raise Damage(f"sessions row {self.id!r}: usage_payload: {error}") from error


def new_session_row(session_id: str, created_at: int, parent_session_id: str | None) -> SessionRow:
    """The row of a session that is empty (S-SQL-SCH-02)."""
    return SessionRow(session_id, created_at, parent_session_id)


def read_session_row(connection: apsw.Connection, session_id: str, path: str) -> SessionRow:
    """The row of a session; `path` is the database, for the refusals. A database without the table holds no session.

    Raises SessionNotFound, UnsupportedVersion (S-REPO-08), Damage.
    """
    try:
        row: tuple[Any, ...] | None = connection.execute(_SELECT, (session_id,)).get
    except apsw.SQLError as error:
        if connection.table_exists(None, "sessions"):
            raise
        raise SessionNotFound(session_id, path) from error
    if row is None:
        raise SessionNotFound(session_id, path)
    created_at, parent_session_id, version, message_count, usage_text, next_seq = row
    if version != STORAGE_VERSION:
        raise UnsupportedVersion(path, version)
    if not (
        _is_within(created_at, 0)
        and _is_within(message_count, 0)
        and _is_within(next_seq, 1)
        and type(usage_text) is str
        and (parent_session_id is None or type(parent_session_id) is str)
    ):
        raise Damage(f"sessions row {session_id!r}: a column is of the wrong type or out of range")
    return SessionRow(session_id, created_at, parent_session_id, message_count, usage_text, next_seq)


def insert_session_row(connection: apsw.Connection, row: SessionRow) -> None:
    """Adds the row of a new session, inside the caller's write transaction. Keeps S-SQL-SCH-02."""
    connection.execute(
        _INSERT,
        (
            row.id,
            row.created_at,
            row.parent_session_id,
            STORAGE_VERSION,
            row.message_count,
            row.usage_text,
            row.next_seq,
        ),
    )


def update_session_row(
    connection: apsw.Connection, session_id: str, message_count: int, usage_text: str, next_seq: int
) -> None:
    """Sets what a commit changes, inside its transaction. Keeps S-SQL-SCH-04."""
    connection.execute(_UPDATE, (message_count, usage_text, next_seq, session_id))


def _is_within(value: object, least: int) -> bool:
    return type(value) is int and least <= value <= LAST_SEQUENCE + 1
