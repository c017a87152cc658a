"""The branch index of section 30, built from nothing but the entries: an independent model of the insert rules.

Everything is found by looking through all segments, in the words of the section; nothing is fast and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class IndexedEntry(NamedTuple):
    """What the index knows of an entry, and its parent."""

    id: str
    parent_id: str | None
    seq: int
    type: str


class Held(NamedTuple):
    """A row of a segment."""

    id: str
    seq: int
    type: str


@dataclass
class Segment:
    """A run of entries that ends at its tip, and the base that it may hang on."""

    tip: str
    tip_seq: int
    base: str | None = None
    base_seq: int | None = None
    rows: list[Held] = field(default_factory=list)
    """In the order of their sequences."""

    @property
    def floor(self) -> int:
        """The sequence above which its rows count."""
        return self.base_seq or 0


BranchIndex = dict[str, Segment]
"""The segments by their ids."""


def branch_index(entries: Iterable[IndexedEntry]) -> BranchIndex:
    """The segments that the insert rules give for entries in the order of their sequences.

    >>> r, a, b = IndexedEntry("r", None, 1, "message"), IndexedEntry("a", "r", 2, "message"), ...
    >>> sorted(branch_index([r, a, b]))
    ['b', 'r']
    """
    segments: BranchIndex = {}
    for entry in entries:
        _insert(segments, entry)
    return segments


def _insert(segments: BranchIndex, entry: IndexedEntry) -> None:
    new = Held(entry.id, entry.seq, entry.type)
    if entry.parent_id is None:
        segments[entry.id] = Segment(entry.id, entry.seq, rows=[new])
        return
    for segment in segments.values():
        if segment.tip == entry.parent_id:
            segment.rows.append(new)
            segment.tip, segment.tip_seq = entry.id, entry.seq
            return
    chain = chain_of(segments, entry.parent_id)
    compactions = [(row.seq, name) for name, rows in chain for row in rows if row.type == "compaction"]
    base_seq, base = max(compactions) if compactions else (None, None)
    copied = [row for _, rows in chain for row in rows if row.seq > (base_seq or 0)]
    segments[entry.id] = Segment(entry.id, entry.seq, base, base_seq, [*sorted(copied, key=lambda row: row.seq), new])


def chain_of(segments: BranchIndex, entry_id: str) -> list[tuple[str, list[Held]]]:
    """The segments of an entry's chain, the nearest first, each with its rows that count, in the order of their
    sequences. Raises LookupError when no segment holds the entry within bounds, or a base is missing.
    """
    name, upper = _holder(segments, entry_id)
    chain: list[tuple[str, list[Held]]] = []
    at: str | None = name
    while at is not None:
        segment = segments[at]
        chain.append((at, [row for row in segment.rows if segment.floor < row.seq <= upper]))
        at, upper = segment.base, segment.floor
    return chain


def _holder(segments: BranchIndex, entry_id: str) -> tuple[str, int]:
    """The segment that an entry's chain begins with, and the entry's sequence."""
    found = [
        (-segment.tip_seq, name, row.seq)
        for name, segment in segments.items()
        for row in segment.rows
        if row.id == entry_id and segment.floor < row.seq <= segment.tip_seq
    ]
    if not found:
        raise LookupError(f"no segment holds {entry_id!r} within bounds")
    _, name, seq = min(found)
    return name, seq
