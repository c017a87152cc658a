"""The path of a branch through the branch index of a fork's source (spec sections 14 and 30).

Who is an ancestor of whom is asked of the index, by primary key, never of a set of ids (S-SQL-FORK-08). The chain of
segments that the path runs through stands in the stage: a session with many compactions has many of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import apsw

from forkstore.contract.records import Json

from .batches import SizedRow
from .failing import Damage
from .source_entries import ENTRY_COLUMNS, seq_of
from .transactions import immediate

_SEGMENT_OF_ENTRY: Final = """
    SELECT held.branch_id, held.entry_seq, segment.tip_seq, segment.base_branch_id, segment.base_seq
    FROM branch_entries AS held INDEXED BY ix_be_entry
    CROSS JOIN branch_meta AS segment ON segment.session_id = held.session_id AND segment.branch_id = held.branch_id
    WHERE held.session_id = ? AND held.entry_id = ?
        AND held.entry_seq > ifnull(segment.base_seq, 0) AND held.entry_seq <= segment.tip_seq
    ORDER BY segment.tip_seq DESC, held.branch_id LIMIT 1
"""
_BASE: Final = "SELECT tip_seq, base_branch_id, base_seq FROM branch_meta WHERE session_id = ? AND branch_id = ?"
_PROBE: Final = "SELECT entry_seq FROM branch_entries WHERE session_id = ? AND branch_id = ? AND entry_id = ?"
_HELD: Final = """
    FROM branch_entries AS held INDEXED BY ix_be_seq
    LEFT JOIN entries AS entry ON entry.session_id = held.session_id AND entry.id = held.entry_id
        AND entry.seq = held.entry_seq AND entry.type = held.entry_type
    WHERE held.session_id = ? AND held.branch_id = ? AND held.entry_seq > ? AND held.entry_seq <= ?
"""
_ROWS: Final = f"SELECT {ENTRY_COLUMNS} {_HELD} ORDER BY held.entry_seq"
_MISSING: Final = f"SELECT held.entry_id {_HELD} AND entry.id IS NULL LIMIT 1"

_KEEP: Final = "INSERT INTO chain (upto, above, branch_id) VALUES (?, ?, ?)"
_PIECE: Final = "SELECT upto, above, branch_id FROM chain WHERE upto >= ? ORDER BY upto LIMIT 1"
_CUT: Final = ("DELETE FROM chain WHERE above >= ?", "UPDATE chain SET upto = ? WHERE upto > ?")


class BranchPath:
    """An entry and all its ancestors: empty until it follows an entry.

    Raises Damage where the index is broken.
    """

    def __init__(self, source: apsw.Connection, session_id: str, stage: apsw.Connection) -> None:
        self._source = source
        self._session_id = session_id
        self._stage = stage
        self.is_empty = True

    def follow(self, tip: Json) -> None:
        """The path from the tip to the root. What names no entry has no path (S-FORK-BR-03)."""
        upto = seq_of(self._source, self._session_id, tip)
        if upto is None:
            return
        self.is_empty = False
        with immediate(self._stage):
            for piece in self._pieces_from(tip, upto):
                self._stage.execute(_KEEP, piece)

    def _pieces_from(self, tip: Json, upto: int) -> Iterator[tuple[int, int, str]]:
        """The segments that the path runs through, newest first, with the sequences that are counted."""
        found = self._source.execute(_SEGMENT_OF_ENTRY, (self._session_id, tip)).fetchone()
        if found is None or found[1] != upto:
            raise Damage(f"branch index: no segment holds entry {tip!r} within its bounds")
        branch_id, _, *bounds = found
        while True:
            above = _lower_bound(branch_id, upto, *bounds)
            yield upto, above, branch_id
            if not above:
                return
            upto, branch_id = above, bounds[1]
            bounds = self._source.execute(_BASE, (self._session_id, branch_id)).fetchone()
            if bounds is None:
                raise Damage(f"branch index: there is no segment {branch_id!r}, which is the base of another")

    def holds(self, entry_id: str) -> bool:
        """Whether the entry is on the path. Keeps S-FORK-BR-04, S-FORK-CLS-02, S-SQL-FORK-08."""
        seq = seq_of(self._source, self._session_id, entry_id)
        piece = None if seq is None else self._piece(seq)
        if piece is None or seq is None or seq <= piece[1]:
            return False
        return self._source.execute(_PROBE, (self._session_id, piece[2], entry_id)).fetchone() == (seq,)

    def end_at(self, entry_id: str | None) -> None:
        """The path ends at one of its entries, or is empty.

        What is cut off is looked at too: a missing parent breaks the path from the tip (S-FORK-BR-11).
        """
        if self.is_empty:
            return
        if entry_id is not None and not self.holds(entry_id):
            raise Damage(f"the path of the branch breaks off: entry {entry_id!r} is missing")
        seq = seq_of(self._source, self._session_id, entry_id) or 0
        for upto, above, branch_id in self._pieces(seq + 1):
            bounds = self._session_id, branch_id, max(above, seq), upto
            for (missing,) in self._source.execute(_MISSING, bounds):
                raise Damage(f"the path of the branch breaks off: entry {missing!r} is missing")
        self.is_empty = entry_id is None
        with immediate(self._stage):
            self._stage.execute(_CUT[0], (seq,))
            self._stage.execute(_CUT[1], (seq, seq))

    def rows(self) -> Iterator[SizedRow]:
        """The entries of the path, oldest first."""
        for upto, above, branch_id in self._pieces(0):
            yield from self._source.execute(_ROWS, (self._session_id, branch_id, above, upto))

    def _pieces(self, seq: int) -> Iterator[tuple[int, int, str]]:
        """The pieces that reach to a sequence or beyond it, oldest first."""
        while (piece := self._piece(seq)) is not None:
            yield piece
            seq = piece[0] + 1

    def _piece(self, seq: int) -> tuple[Any, ...] | None:
        return self._stage.execute(_PIECE, (seq,)).fetchone()


def _lower_bound(branch_id: str, upto: int, tip_seq: Any, base: Any, base_seq: Any) -> int:
    """The sequence below those that count of a segment, 0 without a base. A chain goes down, so it ends."""
    above = 0 if base is None and base_seq is None else base_seq
    if (
        type(tip_seq) is not int
        or type(above) is not int
        or not above < upto <= tip_seq
        or (not above) != (base is None)
    ):
        raise Damage(f"branch index: segment {branch_id!r} or its base is broken")
    return above
