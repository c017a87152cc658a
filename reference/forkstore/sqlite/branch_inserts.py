"""The branch index written: where a new entry goes (spec section 30, S-SQL-IDX-01)."""

from __future__ import annotations

from typing import Final

import apsw

from .branches import Link, chain
from .failing import Damage

_SEGMENT_AT: Final = "SELECT branch_id FROM branch_meta WHERE session_id = ? AND tip_entry_id = ?"
_NEW_SEGMENT: Final = """
    INSERT INTO branch_meta (session_id, branch_id, tip_entry_id, tip_seq, base_branch_id, base_seq)
    VALUES (?, ?, ?, ?, ?, ?)
"""
_MOVE_TIP: Final = "UPDATE branch_meta SET tip_entry_id = ?, tip_seq = ? WHERE session_id = ? AND branch_id = ?"
_ADD_ROW: Final = """
    INSERT INTO branch_entries (session_id, branch_id, entry_id, entry_seq, entry_type) VALUES (?, ?, ?, ?, ?)
"""
_NEWEST_COMPACTION: Final = """
    SELECT max(entry_seq) FROM branch_entries
    WHERE session_id = ? AND branch_id = ? AND entry_seq > ? AND entry_seq <= ? AND entry_type = 'compaction'
"""
_COPY_ROWS: Final = """
    INSERT INTO branch_entries (session_id, branch_id, entry_id, entry_seq, entry_type)
    SELECT session_id, ?, entry_id, entry_seq, entry_type FROM branch_entries
    WHERE session_id = ? AND branch_id = ? AND entry_seq > ? AND entry_seq <= ?
"""


class BranchInserts:
    """Takes the new entries of one transaction in sequence order, and then `finish`.

    A run of entries, each the child of the one before, moves its segment's tip once, at its end.
    """

    def __init__(self, connection: apsw.Connection, session_id: str) -> None:
        self._connection = connection
        self._session_id = session_id
        self._segment: str | None = None
        self._tip_id = ""
        self._tip_seq = 0

    def insert(self, entry_id: str, parent_id: str | None, seq: int, entry_type: str) -> None:
        """Adds an entry to the index. Raises Damage when the chain of its parent is broken."""
        if self._segment is None or parent_id != self._tip_id:
            self.finish()
            self._segment = None if parent_id is None else self._segment_at(parent_id)
        segment = self._segment
        if segment is None:
            segment = entry_id
            self._new_segment(entry_id, parent_id, seq)
        else:
            self._segment, self._tip_id, self._tip_seq = segment, entry_id, seq
        self._connection.execute(_ADD_ROW, (self._session_id, segment, entry_id, seq, entry_type))

    def finish(self) -> None:
        """Moves the tip of the segment that grew last."""
        if self._segment is not None:
            self._connection.execute(_MOVE_TIP, (self._tip_id, self._tip_seq, self._session_id, self._segment))
            self._segment = None

    def _segment_at(self, tip_id: str) -> str | None:
        """The segment whose tip is that entry."""
        found: str | None = self._connection.execute(_SEGMENT_AT, (self._session_id, tip_id)).get
        return found

    def _new_segment(self, entry_id: str, parent_id: str | None, seq: int) -> None:
        """A segment for a root or an entry that diverges, with what lies between it and the last compaction.

        Its row comes first, so that the row of the entry itself is the caller's, as for every entry.
        """
        base = None if parent_id is None else self._copy_chain(entry_id, parent_id)
        base_id, base_seq = base or (None, None)
        self._connection.execute(_NEW_SEGMENT, (self._session_id, entry_id, entry_id, seq, base_id, base_seq))

    def _copy_chain(self, entry_id: str, parent_id: str) -> tuple[str, int] | None:
        """Copies the chain of the parent down to its newest compaction, which stays where it is: that is the base."""
        link = None
        for link in chain(self._connection, self._session_id, parent_id):
            compaction: int | None = self._connection.execute(_NEWEST_COMPACTION, (self._session_id, *link)).get
            above = link.above if compaction is None else compaction
            self._copy_rows(entry_id, link._replace(above=above))
            if compaction is not None:
                return link.branch_id, compaction
        if link is None:
            raise Damage(f"entries row {parent_id!r}: no segment of the branch index holds it within its bounds")
        return None

    def _copy_rows(self, entry_id: str, link: Link) -> None:
        self._connection.execute(_COPY_ROWS, (entry_id, self._session_id, *link))
