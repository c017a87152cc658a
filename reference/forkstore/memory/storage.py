"""Storage in memory.

No call suspends: each runs wholly in the first step of its coroutine. So the event loop itself is the commit queue,
commits take effect in the order of first steps (S-TXN-03), no read sees half a commit (S-TXN-16), and no cancellation
can fall into one (S-TXN-17).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TypeVar, Unpack

from forkstore.contract.addresses import Address
from forkstore.contract.codec import decode
from forkstore.contract.errors import UnknownEntry
from forkstore.contract.queries import (
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
from forkstore.contract.records import NewEntry, NewUsageRow, Record, SessionStats, copy_usage, entry_structure
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import AddressWrite, CommitResult, Write, place, prepare
from forkstore.options import Clock

from .state import EntryRecord, MemoryState, TextRecord

R = TypeVar("R", EntryRecord, TextRecord)
_by_seq = attrgetter("seq")


class MemoryStorage:
    """The storage of an open memory session. Closing it keeps the state (S-REPO-20)."""

    def __init__(self, state: MemoryState, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    async def commit(self, writes: list[Write]) -> CommitResult:
        """Applies the writes as one transaction. Keeps S-TXN-01 to S-TXN-14.

        Raises InvalidValue, DuplicateId, UnknownParent; then nothing has changed. All checks come before the first
        change.
        """
        state = self._state
        prepared = prepare(writes)
        placement = place(
            prepared,
            state.next_seq,
            state.message_count,
            state.usage,
            state.entries.__contains__,
            state.usage_rows.__contains__,
        )
        timestamp = self._clock.read()
        for seq, write in zip(placement.seqs, prepared, strict=True):
            if type(write) is NewEntry:
                entry = EntryRecord(
                    write.id, write.parent_id, seq, write.type, write.custom_type, timestamp, write.text
                )
                state.entries[write.id] = entry
                state.entry_order.append(entry)
            elif type(write) is NewUsageRow:
                state.usage_rows[write.id] = TextRecord(seq, write.text)
            elif type(write) is AddressWrite:
                self._apply(seq, write)
        state.message_count, state.usage = placement.message_count, placement.usage
        state.next_seq += len(prepared)
        return CommitResult(placement.seqs.start, list(placement.seqs), timestamp, self._stats())

    def _apply(self, seq: int, write: AddressWrite) -> None:
        address, text = write.address, write.text
        if address.kind == "value":
            if text is None:
                _discard(self._state.scalars, address)
            else:
                self._state.scalars.setdefault(address.namespace, {})[address.key] = TextRecord(seq, text)
        elif text is None:
            _discard(self._state.lists, address)
        else:
            keys = self._state.lists.setdefault(address.namespace, {})
            keys.setdefault(address.key, []).append(TextRecord(seq, text))

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
        return [decode(record.text) | {"seq": record.seq} for record in list(rows)[: scan.limit]]

    async def get_stats(self) -> SessionStats:
        """Keeps S-ENT-09 to S-ENT-11."""
        return self._stats()

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _stats(self) -> SessionStats:
        return SessionStats(self._state.message_count, copy_usage(self._state.usage))

    def _walk(self, query: BranchQuery) -> Iterator[EntryRecord]:
        if query.start not in self._state.entries:
            raise UnknownEntry(query.start)
        return query.select(self._state.path(query.start))


def _entry(record: EntryRecord) -> Record:
    entry: Record = decode(record.text)
    entry["seq"] = record.seq
    entry["timestamp"] = record.timestamp
    return entry


def _between(records: list[R], scan: EntryQuery | UsageQuery) -> Iterator[R]:
    """The records within the bounds, in the asked order."""
    first = 0 if scan.from_seq is None else bisect_left(records, scan.from_seq, key=_by_seq)
    end = len(records) if scan.to_seq is None else bisect_right(records, scan.to_seq, key=_by_seq)
    indexes = range(first, end) if scan.order == "asc" else reversed(range(first, end))
    return (records[index] for index in indexes)


def _discard(addresses: dict[str, dict[str, R]] | dict[str, dict[str, list[TextRecord]]], address: Address) -> None:
    """Removes what is at an address, and the namespace when nothing is left in it."""
    keys = addresses.get(address.namespace)
    if keys is not None and keys.pop(address.key, None) is not None and not keys:
        del addresses[address.namespace]
