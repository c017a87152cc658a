"""Where the records of a legacy file stand, and what has become of them: the structure that both passes share.

A record is known by its position: 0 for the first one behind the header. Everything here is a number per record, and an
entry per retained one, never payload.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

import msgspec

from .records import ENTRY_TYPES, LegacyRecord

NOWHERE: Final = -1
"""The position of null: the parent of a root, what a branch summary from the root comes from."""


class LegacyEntry(msgspec.Struct, frozen=True, gc=False):
    """What a retained record becomes: the structural fields of its entry but `customType`, which its text has."""

    id: str
    parent_id: str | None
    seq: int
    type: str
    timestamp: int


class RecordTree:
    """The records by position, discarded ones included."""

    def __init__(self) -> None:
        self.entries: list[LegacyEntry] = []
        self.kinds: list[str] = []
        self.references = array("q")
        """Per record the position that it names: where a branch summary comes from, which record a label marks, from
        which one a compaction keeps. NOWHERE if there is none, or none yet.
        """
        self.last_needs = array("q")
        """Per record the position of the last compaction whose walk comes by here, or NOWHERE."""
        self._parents = array("q")
        self._mapped = array("q")  # per record the index of its mapping in `entries`, or NOWHERE

    def __len__(self) -> int:
        return len(self.kinds)

    def add(self, record: LegacyRecord, parent: int) -> int:
        """Takes the next record; gives its position. It is mapped as its parent until `retain` says otherwise."""
        self.kinds.append(record.kind)
        self.references.append(NOWHERE)
        self.last_needs.append(NOWHERE)
        self._parents.append(parent)
        self._mapped.append(NOWHERE if parent == NOWHERE else self._mapped[parent])
        return len(self) - 1

    def retain(self, position: int, entry_id: str, timestamp: int) -> LegacyEntry:
        """Makes the record an entry under the mapping of its parent, with the next sequence (S-V3-08, S-V3-09)."""
        entry_type, seq = ENTRY_TYPES[self.kinds[position]], len(self.entries) + 1
        entry = LegacyEntry(entry_id, self.mapping(position), seq, entry_type, timestamp)
        self._mapped[position] = len(self.entries)
        self.entries.append(entry)
        return entry

    def entry(self, position: int) -> LegacyEntry | None:
        """The entry that the record has become, None if it was discarded."""
        return self.entries[self._mapped[position]] if self.kinds[position] in ENTRY_TYPES else None

    def mapping(self, position: int) -> str | None:
        """The id that stands for the record, or for null, in format 4 (spec section 26.2)."""
        index = NOWHERE if position == NOWHERE else self._mapped[position]
        return None if index == NOWHERE else self.entries[index].id

    def path(self, position: int) -> Iterator[int]:
        """The record and its physical ancestors, up to the root."""
        while position != NOWHERE:
            yield position
            position = self._parents[position]

    def walk(self, compaction: int, first_kept: int) -> Iterator[int]:
        """The walk of a retained tail, newest record first, up to and including the first kept one (S-V3-11).

        It ends at the root if the first kept one is not on the path.
        """
        for position in self.path(self._parents[compaction]):
            yield position
            if position == first_kept:
                return
