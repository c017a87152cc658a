"""The data of one memory session: immutable records that hold JSON text, in plain containers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from forkstore.contract.policy import ForkRow
from forkstore.contract.records import Json, Record, zero_usage


# Records refer only to text and numbers, so the garbage collector need not look at them.
class EntryRecord(msgspec.Struct, frozen=True, gc=False):
    """A stored entry: its structural fields, and the JSON text that the caller's fields were encoded to."""

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


class MemoryState:
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

    def put(self, row: ForkRow) -> None:
        """Takes a row of a fork; the elements of one list arrive in order."""
        record = TextRecord(row.seq, row.text)
        if row.kind == "value":
            self.scalars.setdefault(row.namespace, {})[row.key] = record
        else:
            self.lists.setdefault(row.namespace, {}).setdefault(row.key, []).append(record)
