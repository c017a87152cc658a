"""Every read of a storage, over a session's data held in memory (spec sections 2.4, 7 and 8).

No read suspends: each runs wholly in the first step of its coroutine and so sees every commit wholly or not at all
(S-TXN-16). A storage of such data adds `commit` and `close`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TypeVar, Unpack

from .contract.addresses import Address
from .contract.codec import DEEPEST_READ, decode
from .contract.errors import UnknownEntry
from .contract.queries import (
    BranchArguments,
    BranchQuery,
    EntryArguments,
    EntryQuery,
    ListArguments,
    ListQuery,
    UsageArguments,
    UsageQuery,
    check_address,
    check_entry_ids,
)
from .contract.records import Record, SessionStats, copy_usage, entry_structure
from .contract.store import ListElement, ValueRow
from .contract.writes import CommitResult, Placement
from .state import EntryRecord, SessionState, TextRecord

R = TypeVar("R", EntryRecord, TextRecord)
_by_seq = attrgetter("seq")
_DEEPEST_RECORD = DEEPEST_READ + 2
"""Depth of a record whose payload is just not too deep: the record, and a retained tail around its messages."""


class StateReads:
    """The reads of section 2.4. Payloads are decoded anew for every caller (S-VAL-11)."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        """Keeps S-QRY-01, S-QRY-02."""
        entries = self._state.entries
        return {entry_id: _entry(entries[entry_id]) for entry_id in check_entry_ids(ids) if entry_id in entries}

    async def get_value(self, address: Address) -> ValueRow | None:
        """Keeps S-VAL-01, S-VAL-02."""
        check_address(address, "value")
        record = self._state.scalar(address.namespace, address.key)
        return None if record is None else ValueRow(address, decode(record.text), record.seq)

    async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
        """Keeps S-QRY-03, S-QRY-04."""
        namespace, prefix = check_address(prefix_address, "value").namespace, prefix_address.key
        rows = self._state.scalars.get(namespace, {}).items()
        return [
            ValueRow(Address(namespace, key, "value"), decode(record.text), record.seq)
            for key, record in sorted(rows, key=lambda row: row[0])
            if key.startswith(prefix)
        ]

    async def read_list(self, address: Address, **query: Unpack[ListArguments]) -> list[ListElement]:
        """Keeps S-LIST-01 to S-LIST-06."""
        page = ListQuery(**query)
        check_address(address, "list")
        elements = self._state.lists.get(address.namespace, {}).get(address.key, [])
        if page.order == "asc":
            first = 0 if page.cursor is None else bisect_right(elements, page.cursor, key=_by_seq)
            chosen = elements[first : first + page.limit]
        else:
            end = len(elements) if page.cursor is None else bisect_left(elements, page.cursor, key=_by_seq)
            chosen = elements[max(0, end - page.limit) : end][::-1]
        return [ListElement(record.seq, decode(record.text)) for record in chosen]

    async def scan_branch(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """Keeps S-QRY-05 to S-QRY-09."""
        return [_entry(record) for record in self._walk(BranchQuery(start, **query))]

    async def scan_branch_structure(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """Keeps S-QRY-10."""
        return [
            entry_structure(record.id, record.parent_id, record.seq, record.timestamp, record.type, record.custom_type)
            for record in self._walk(BranchQuery(start, **query))
        ]

    async def scan_entries(self, **query: Unpack[EntryArguments]) -> list[Record]:
        """Keeps S-QRY-11 to S-QRY-13."""
        scan = EntryQuery(**query)
        return [_entry(record) for record in scan.select(_between(self._state.entry_order, scan))]

    async def scan_usage(self, **query: Unpack[UsageArguments]) -> list[Record]:
        """Keeps S-QRY-11 to S-QRY-13."""
        scan = UsageQuery(**query)
        rows = _between(list(self._state.usage_rows.values()), scan)
        return [_usage_row(record) for record in list(rows)[: scan.limit]]

    async def get_stats(self) -> SessionStats:
        """Keeps S-ENT-09 to S-ENT-11."""
        return self._stats()

    def _stats(self) -> SessionStats:
        return SessionStats(self._state.message_count, copy_usage(self._state.usage))

    def _result(self, placement: Placement, timestamp: int) -> CommitResult:
        """What a commit gives back once it is applied (S-TXN-14)."""
        return CommitResult(placement.seqs.start, list(placement.seqs), timestamp, self._stats())

    def _walk(self, query: BranchQuery) -> Iterator[EntryRecord]:
        if query.start not in self._state.entries:
            raise UnknownEntry(query.start)
        return query.select(self._state.path(query.start))


def _entry(record: EntryRecord) -> Record:
    entry = _stored(record)
    entry["seq"] = record.seq
    entry["timestamp"] = record.timestamp
    return entry


def _usage_row(record: TextRecord) -> Record:
    return _stored(record) | {"seq": record.seq}


def _stored(record: EntryRecord | TextRecord) -> Record:
    """The text may be the caller's, or a whole record of a file, where a field `kind` frames it."""
    stored: Record = decode(record.text, _DEEPEST_RECORD)
    stored.pop("kind", None)
    return stored


def _between(records: list[R], scan: EntryQuery | UsageQuery) -> Iterator[R]:
    """The records within the bounds, in the asked order."""
    first = 0 if scan.from_seq is None else bisect_left(records, scan.from_seq, key=_by_seq)
    end = len(records) if scan.to_seq is None else bisect_right(records, scan.to_seq, key=_by_seq)
    indexes = range(first, end) if scan.order == "asc" else reversed(range(first, end))
    return (records[index] for index in indexes)
