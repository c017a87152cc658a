"""The structural index of a fork's source: where its current rows and its entries stand, and no payload (section 25).

The first scan folds line after line into it, held to what replay is held to, so that a fork refuses what opening
refuses (S-JSONL-FORK-04). With ids and keys of 24 letters it takes 140 bytes for an entry, 215 for an address, as much
again where an address has a namespace for itself, and 8 for an element of a list; what is dead takes nothing.

A record is found again by its ordinal, its running number in the file. Its sequence would do too, but to know that a
record must be decoded, and the second scan decodes nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import lt
from typing import Any, Final, TypeAlias, cast

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.errors import CorruptSession, DuplicateId, SessionStoreError, UnknownParent
from forkstore.contract.records import ABSENT, Absent, Json, Record, add_usage, zero_usage

from .format import read_line
from .records import LineFault, StoredElement, StoredEntry, StoredRecord, StoredRow, StoredUsage, StoredValue

Numbers: TypeAlias = "array[int]"
NONE: Final = -1
"""The number of no entry: a root's parent has it."""
ODD_TIP: Final[Json] = {}
"""Stands for every tip that is neither a string nor null. It names no entry, and what it is does not matter."""
_LONG_LINE: Final = 8
"""Records from which on it pays to look at a line as a whole first."""


class StructuralIndex:
    """What replay would hold after the lines so far, by ordinals; entries are numbered from 0 in their order.

    `branch` is the branch whose tip a fork needs; `boundary` is the next sequence of an open source. Raises
    CorruptSession that names the line, with what a commit would have raised as its cause.
    """

    def __init__(self, path: str, *, branch: str | None = None, boundary: int | None = None) -> None:
        self.last_seq = 0
        self.tip: Json | Absent = ABSENT
        """The current tip of the branch; ABSENT when it has none."""
        self.entries: dict[str, int] = {}
        """The number of every entry, by its id; in order."""
        self.parents: Numbers = array("q")
        """The number of every entry's parent, or NONE."""
        self.ordinals: Numbers = array("Q")
        """The ordinal of every entry."""
        self.scalars: dict[str, dict[str, tuple[int, int]]] = {}
        """Ordinal and sequence of every current scalar, by namespace and key."""
        self.lists: dict[str, dict[str, Numbers]] = {}
        """The ordinals of every list's surviving elements, by namespace and key."""
        self._path = path
        self._branch = branch
        self._boundary = boundary
        self._usage_ids: set[str] = set()
        self._usage: Record = zero_usage()
        self._record_count = 0

    def take(self, line: bytes, number: int) -> None:
        """Folds a complete line, without its LF; `number` is 1-based and counts the header."""
        try:
            records = read_line(line)
            if self._boundary is not None:
                _refuse_straddling(records, self._boundary)
            if len(records) < _LONG_LINE or not self._fold_chain(records):
                self._fold(records)
        except (LineFault, SessionStoreError) as cause:
            raise CorruptSession(self._path, number, str(cause)) from cause

    def number_of(self, entry_id: Json) -> int:
        """The number of an entry; NONE for what names no entry."""
        return self.entries.get(entry_id, NONE) if type(entry_id) is str else NONE

    def path(self, entry_id: Json) -> Iterator[int]:
        """The numbers of an entry and its ancestors, newest first; nothing for what names no entry."""
        parents, number = self.parents, self.number_of(entry_id)
        while number != NONE:
            yield number
            number = parents[number]

    def parent_of(self, entry_id: Json) -> str | None:
        """The id of an entry's parent; None for a root and for what names no entry."""
        number = self.number_of(entry_id)
        parent = NONE if number == NONE else self.parents[number]
        return None if parent == NONE else next(islice(self.entries, parent, None))

    def _fold_chain(self, records: Sequence[StoredRecord]) -> bool:
        """Folds a line that continues one path with nothing but entries, in a few steps for all of them.

        False, with nothing done, for any other line and for one with a fault. Seeding and importing write such lines.
        """
        if set(map(type, records)) != {StoredEntry}:
            return False
        entries = cast("Sequence[StoredEntry]", records)
        ids, parent_ids, seqs = [e.id for e in entries], [e.parent_id for e in entries], [e.seq for e in entries]
        parent = NONE if parent_ids[0] is None else self.entries.get(parent_ids[0])
        rises = self.last_seq < seqs[0] and all(map(lt, seqs, seqs[1:]))
        if parent is None or parent_ids[1:] != ids[:-1] or not rises or not self._usage_ids.isdisjoint(ids):
            return False
        count, first = len(ids), len(self.parents)
        self.entries.update(zip(ids, range(first, first + count), strict=True))
        if len(self.entries) < first + count:
            raise DuplicateId(self._first_duplicate(ids, first))
        self.parents.append(parent)
        self.parents.extend(range(first, first + count - 1))
        self.ordinals.extend(range(self._record_count, self._record_count + count))
        self._record_count += count
        self.last_seq = seqs[-1]
        return True

    def _first_duplicate(self, ids: list[str], known: int) -> str:
        """The first id of a line that was there before: among the first `known` ones, or earlier in the line."""
        there = {*islice(self.entries, known)}
        return next(entry_id for place, entry_id in enumerate(ids) if entry_id in there or entry_id in ids[:place])

    def _fold(self, records: Sequence[StoredRecord]) -> None:
        for record in records:
            if record.seq <= self.last_seq:
                raise LineFault(f"sequence {record.seq} does not rise above {self.last_seq}")
            self.last_seq = record.seq
            if type(record) is StoredEntry:
                self._fold_entry(record)
            elif type(record) is StoredValue:
                self._fold_scalar(record)
            elif type(record) is StoredElement:
                self._fold_element(record)
            elif type(record) is StoredUsage:
                self._fold_usage(record)
            self._record_count += 1

    def _fold_entry(self, entry: StoredEntry) -> None:
        if entry.id in self.entries or entry.id in self._usage_ids:
            raise DuplicateId(entry.id)
        parent = NONE if entry.parent_id is None else self.entries.get(entry.parent_id)
        if parent is None:
            raise UnknownParent(entry.id, cast("str", entry.parent_id))
        self.entries[entry.id] = len(self.parents)
        self.parents.append(parent)
        self.ordinals.append(self._record_count)

    def _fold_usage(self, row: StoredUsage) -> None:
        if row.id in self.entries or row.id in self._usage_ids:
            raise DuplicateId(row.id)
        self._usage = add_usage(self._usage, row.usage, "usage")
        self._usage_ids.add(row.id)

    def _fold_scalar(self, row: StoredValue) -> None:
        if row.op == "set":
            self.scalars.setdefault(row.namespace, {})[row.key] = self._record_count, row.seq
        else:
            _discard(self.scalars, row)
        if row.namespace == BRANCH_TIP and row.key == self._branch:
            self.tip = ABSENT if row.op == "delete" else _tip(row.value)

    def _fold_element(self, row: StoredElement) -> None:
        if row.op == "append":
            self.lists.setdefault(row.namespace, {}).setdefault(row.key, array("Q")).append(self._record_count)
        else:
            _discard(self.lists, row)


def _refuse_straddling(records: Sequence[StoredRecord], boundary: int) -> None:
    """Raises LineFault for a transaction on both sides of the boundary (S-JSONL-FORK-06)."""
    above = sum(record.seq >= boundary for record in records)
    if 0 < above < len(records):
        raise LineFault(f"the transaction lies on both sides of the boundary at sequence {boundary}")


def _discard(places: dict[str, dict[str, Any]], row: StoredRow) -> None:
    keys = places.get(row.namespace)
    if keys is not None and keys.pop(row.key, None) is not None and not keys:
        del places[row.namespace]


def _tip(value: Json) -> Json:
    return value if value is None or type(value) is str else ODD_TIP
