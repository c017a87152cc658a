"""The branch index of a destination, made while its entries go into the stage (spec section 30).

A path is one segment, and so is every run of entries that each have the one before as parent. Only where an entry has
another parent, the source is asked for that one's sequence and the stage for its place. The insert rules then come
down to this: an entry whose parent is the tip of the parent's own segment moves that tip; any other begins a segment,
which hangs on the nearest compaction of the parent's path and holds copies of all above it. A compaction is never
copied, so the segment that holds it is the one it was inserted into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import apsw

from .batches import SizedRow
from .failing import Damage

_PLACE_OF_PARENT: Final = """
    SELECT parent.segment, segments.tip, parent.compaction
    FROM entries AS parent JOIN segments ON segments.first = parent.segment
    WHERE parent.source_seq = ?
"""
_BEGIN_SEGMENT: Final = """
    INSERT INTO segments (first, tip, base, base_at)
    VALUES (?1, ?1, (SELECT segment FROM entries WHERE source_seq = ?2), ?2)
"""
_MOVE_TIP: Final = "UPDATE segments SET tip = ? WHERE first = ?"


class Lineage:
    """Gives each entry its place; `stage` is written while its rows are taken, inside the caller's transaction.

    `seq_of` gives the sequence of an entry of the source. A path allows one root, at its beginning, and no other
    parent than the entry before. Raises Damage for a missing parent (S-FORK-BR-11) and for sequences that do not rise.
    """

    def __init__(self, stage: apsw.Connection, seq_of: Callable[[str], int | None], *, is_path: bool) -> None:
        self._stage = stage
        self._seq_of = seq_of
        self._is_path = is_path
        self.last_id: str | None = None
        self._last_seq = 0
        self._segment = 0
        self._compaction: int | None = None
        self.entries = 0
        self.messages = 0

    def placed(self, rows: Iterator[SizedRow]) -> Iterator[tuple[Any, ...]]:
        """The rows of the stage for entries of the source. Each must be in the stage before the next one is taken."""
        for _, seq, entry_id, parent_id, entry_type, custom_type, timestamp, payload in rows:
            if type(seq) is not int or type(entry_id) is not str or seq <= self._last_seq:
                raise self._misplaced(entry_id, seq)
            parent: int | None = self._last_seq
            if parent_id is None or parent_id != self.last_id:
                parent = self._turn_to(entry_id, seq, parent_id)
            if entry_type == "compaction":
                self._compaction = seq
            self.entries += 1
            self.messages += entry_type == "message"
            self.last_id, self._last_seq = entry_id, seq
            yield (
                seq,
                self.entries,
                entry_id,
                parent_id,
                entry_type,
                custom_type,
                timestamp,
                self._segment,
                parent,
                self._compaction,
                payload,
            )

    def finish(self) -> None:
        """There are no more entries."""
        self._stage.execute(_MOVE_TIP, (self._last_seq, self._segment))

    def _misplaced(self, entry_id: object, seq: object) -> Damage:
        if entry_id is None:  # the path comes from the branch index, whose rows are joined to their entries
            return Damage(f"branch_entries row behind entry {self.last_id!r}: no entry has its id, sequence and type")
        return Damage(f"entries row {entry_id!r}: its id or its sequence {seq!r} cannot follow entry {self.last_id!r}")

    def _turn_to(self, entry_id: str, seq: int, parent_id: str | None) -> int | None:
        """Leaves the segment of the entry before for that of another one; gives the sequence of the parent."""
        self.finish()
        if self._is_path and (self.entries or parent_id is not None):
            raise Damage(f"the path of the branch breaks off: the parent of entry {entry_id!r} is not before it")
        parent = None if parent_id is None else self._seq_of(parent_id)
        place = None if parent is None else self._stage.execute(_PLACE_OF_PARENT, (parent,)).fetchone()
        if parent_id is not None and place is None:
            raise Damage(f"entries row {entry_id!r}: its parent {parent_id!r} is missing or comes later")
        segment, tip, self._compaction = place or (seq, None, None)
        if place is None or tip != parent:
            segment = seq
            self._stage.execute(_BEGIN_SEGMENT, (seq, self._compaction))
        self._segment = segment
        return parent
