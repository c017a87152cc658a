"""The data of one session held in memory: immutable records that hold JSON text, in plain containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .contract.addresses import Kind
from .contract.policy import ForkRow
from .contract.records import Json, NewEntry, NewUsageRow, Record, zero_usage
from .contract.writes import AddressWrite, Placement, PreparedWrite, place


# Records refer only to text and numbers, so the garbage collector need not look at them.
class EntryRecord(msgspec.Struct, frozen=True, gc=False):
    """A stored entry: its structural fields, and its JSON text, which need not hold `seq` and `timestamp`."""

    id: str
    parent_id: str | None
    seq: int
    type: str
    custom_type: str | None
    timestamp: int
    text: bytes


class TextRecord(msgspec.Struct, frozen=True, gc=False):
    """A stored scalar, list element or usage row: its sequence and its JSON text."""

    seq: int
    text: bytes


class SessionState:
    """Everything a session holds. Containers are in sequence order; addresses are nested by namespace, then key."""

    def __init__(self) -> None:
        self.entries: dict[str, EntryRecord] = {}
        self.entry_order: list[EntryRecord] = []
        self.scalars: dict[str, dict[str, TextRecord]] = {}
        self.lists: dict[str, dict[str, list[TextRecord]]] = {}
        self.usage_rows: dict[str, TextRecord] = {}
        self.message_count = 0
        self.usage: Record = zero_usage()
        self.next_seq = 1

    def scalar(self, namespace: str, key: str) -> TextRecord | None:
        """The current scalar at an address."""
        return self.scalars.get(namespace, {}).get(key)

    def path(self, entry_id: Json) -> Iterator[EntryRecord]:
        """The entry and its ancestors, newest first; nothing if it is unknown."""
        entry = self.entries.get(entry_id) if isinstance(entry_id, str) else None
        while entry is not None:
            yield entry
            entry = None if entry.parent_id is None else self.entries[entry.parent_id]

    def fork_rows(self) -> Iterator[ForkRow]:
        """All current scalars and surviving list elements."""
        for namespace, keys in self.scalars.items():
            for key, record in keys.items():
                yield ForkRow(namespace, key, "value", record.seq, record.text)
        for namespace, lists in self.lists.items():
            for key, elements in lists.items():
                for record in elements:
                    yield ForkRow(namespace, key, "list", record.seq, record.text)

    def place(self, writes: list[PreparedWrite]) -> Placement:
        """Where the writes of a commit land, as `writes.place` says. Raises what it raises."""
        return place(
            writes,
            self.next_seq,
            self.message_count,
            self.usage,
            self.entries.__contains__,
            self.usage_rows.__contains__,
        )

    def apply(self, writes: Sequence[PreparedWrite], placement: Placement, timestamp: int) -> None:
        """Makes a placed commit current."""
        for seq, write in zip(placement.seqs, writes, strict=True):
            if type(write) is NewEntry:
                self.add_entry(
                    EntryRecord(write.id, write.parent_id, seq, write.type, write.custom_type, timestamp, write.text)
                )
            elif type(write) is NewUsageRow:
                self.usage_rows[write.id] = TextRecord(seq, write.text)
            elif type(write) is AddressWrite:
                address, text = write.address, write.text
                if text is None:
                    self.discard(address.kind, address.namespace, address.key)
                else:
                    self.put(address.kind, address.namespace, address.key, TextRecord(seq, text))
        self.message_count, self.usage = placement.message_count, placement.usage
        self.next_seq = placement.seqs.stop

    def add_entry(self, entry: EntryRecord) -> None:
        """Takes an entry; entries arrive in order."""
        self.entries[entry.id] = entry
        self.entry_order.append(entry)

    def put(self, kind: Kind, namespace: str, key: str, record: TextRecord) -> None:
        """Sets a scalar, or appends to a list; the elements of one list arrive in order."""
        if kind == "value":
            self.scalars.setdefault(namespace, {})[key] = record
        else:
            self.lists.setdefault(namespace, {}).setdefault(key, []).append(record)

    def discard(self, kind: Kind, namespace: str, key: str) -> None:
        """Removes the scalar or the whole list at an address, and the namespace when nothing is left in it."""
        places: dict[str, dict[str, Any]] = self.scalars if kind == "value" else self.lists
        keys = places.get(namespace)
        if keys is not None and keys.pop(key, None) is not None and not keys:
            del places[namespace]
