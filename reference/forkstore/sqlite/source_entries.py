"""The entries of a fork's source, as its reader steps through them: payloads as the text that they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import apsw

from forkstore.contract.records import Json

from .batches import SizedRow
from .binding import any_text

# ruff: noqa: S608 - the columns are names of our own
ENTRY_COLUMNS: Final = """
    ifnull(octet_length(entry.id) + octet_length(entry.type) + octet_length(entry.payload), 0)
        + ifnull(octet_length(entry.parent_id), 0) + ifnull(octet_length(entry.custom_type), 0),
    entry.seq, entry.id, entry.parent_id, entry.type, entry.custom_type, entry.timestamp, CAST(entry.payload AS BLOB)
"""
"""The columns of a `SizedRow` of an entry. As a blob the payload is neither decoded nor judged (S-VAL-17)."""
_ALL: Final = f"""
    SELECT {ENTRY_COLUMNS} FROM entries AS entry INDEXED BY ix_entry_seq WHERE entry.session_id = ? ORDER BY entry.seq
"""
_SEQ: Final = "SELECT seq FROM entries WHERE session_id = ? AND id = ?"
_PARENT: Final = "SELECT parent_id FROM entries WHERE session_id = ? AND id = ?"


def all_entries(source: apsw.Connection, session_id: str) -> Iterator[SizedRow]:
    """Every entry of the session in sequence order, those that no tip reaches included (S-FORK-TREE-01)."""
    return source.execute(_ALL, (session_id,))


def seq_of(source: apsw.Connection, session_id: str, entry_id: Json) -> int | None:
    """The sequence of an entry; None for what names no entry."""
    found = source.execute(_SEQ, (session_id, any_text(entry_id))).fetchone() if isinstance(entry_id, str) else None
    return None if found is None else found[0]


def parent_of(source: apsw.Connection, session_id: str, entry_id: Json) -> str | None:
    """The parent of an entry; None for a root and for what names no entry."""
    found = source.execute(_PARENT, (session_id, any_text(entry_id))).fetchone() if isinstance(entry_id, str) else None
    return None if found is None else found[0]
