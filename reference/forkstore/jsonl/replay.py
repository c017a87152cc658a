"""Replay: the lines of a file become the data of a session, held to what a commit is held to (S-JSONL-FMT-11)."""

from __future__ import annotations

from forkstore.contract.addresses import Kind
from forkstore.contract.errors import CorruptSession, DuplicateId, SessionStoreError, UnknownParent
from forkstore.contract.records import add_usage
from forkstore.state import EntryRecord, SessionState, TextRecord

from .format import Text, read_line, split_line, value_text
from .records import LineFault, StoredElement, StoredEntry, StoredRecord, StoredUsage, StoredValue


class Replay:
    """Applies transaction after transaction to a state.

    Raises CorruptSession that names the line, with what a commit would have raised as its cause.
    """

    def __init__(self, path: str, next_seq: int | None) -> None:
        self.state = SessionState()
        self._path = path
        self._lower_bound = next_seq or 1
        self._last_seq = 0

    def take(self, data: bytes, number: int) -> None:
        """Applies a complete line, without its LF; `number` is 1-based and counts the header."""
        try:
            records = read_line(data)
        except LineFault as fault:
            raise CorruptSession(self._path, number, str(fault)) from fault
        try:
            for record, text in zip(records, split_line(data), strict=True):
                self._apply(record, text)
        except (SessionStoreError, LineFault) as cause:
            raise CorruptSession(self._path, number, str(cause)) from cause

    def finished(self) -> SessionState:
        """The state after the last line; its next sequence is above every sequence that was ever used
        (S-JSONL-FMT-12).
        """
        self.state.next_seq = max(self._last_seq + 1, self._lower_bound)
        return self.state

    def _apply(self, record: StoredRecord, text: Text) -> None:
        if record.seq <= self._last_seq:
            raise LineFault(f"sequence {record.seq} does not rise above {self._last_seq}")
        self._last_seq = record.seq
        if type(record) is StoredEntry:
            self._add_entry(record, bytes(text))
        elif type(record) is StoredValue or type(record) is StoredElement:
            self._put(record, text)
        elif type(record) is StoredUsage:
            self._add_usage(record, bytes(text))

    def _add_entry(self, record: StoredEntry, text: bytes) -> None:
        state = self.state
        if record.id in state.entries or record.id in state.usage_rows:
            raise DuplicateId(record.id)
        if record.parent_id is not None and record.parent_id not in state.entries:
            raise UnknownParent(record.id, record.parent_id)
        custom_type = record.custom_type if type(record.custom_type) is str else None
        entry = EntryRecord(record.id, record.parent_id, record.seq, record.type, custom_type, record.timestamp, text)
        state.add_entry(entry)
        state.message_count += record.type == "message"

    def _add_usage(self, record: StoredUsage, text: bytes) -> None:
        state = self.state
        if record.id in state.entries or record.id in state.usage_rows:
            raise DuplicateId(record.id)
        state.usage = add_usage(state.usage, record.usage, "usage")
        state.usage_rows[record.id] = TextRecord(record.seq, text)

    def _put(self, record: StoredValue | StoredElement, text: Text) -> None:
        kind: Kind = "value" if type(record) is StoredValue else "list"
        if record.op == "delete":
            self.state.discard(kind, record.namespace, record.key)
        else:
            self.state.put(kind, record.namespace, record.key, TextRecord(record.seq, value_text(text)))
