"""The six writes, what a commit gives back, and the rules every commit obeys (spec section 5).

A backend's commit has two halves. `prepare` is its first step: all writes are checked and encoded, so that nothing
the caller changes afterwards matters and a refusal comes before anything is written or queued (S-VAL-10, S-VAL-11).
`place` runs when the commit's turn has come: sequences, ids, parents and statistics against the state as it is then.
Both only look; the backend writes what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .addresses import Address
from .codec import encode
from .errors import DuplicateId, InvalidValue, UnknownParent
from .records import (
    Json,
    NewEntry,
    NewUsageRow,
    Record,
    SessionStats,
    add_usage,
    check_new_entry,
    check_new_usage_row,
)

LAST_SEQUENCE: Final = 2**53 - 1
"""The highest sequence; a commit that would need a higher one is refused (S-TXN-19)."""


@dataclass(frozen=True, slots=True)
class EntryInsert:
    """Insert a new entry (a dict without `seq` and `timestamp`)."""

    entry: Record


@dataclass(frozen=True, slots=True)
class UsageInsert:
    """Insert a row into the usage ledger (a dict without `seq`)."""

    row: Record


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Set the scalar at an address of kind `value`."""

    address: Address
    value: Json


@dataclass(frozen=True, slots=True)
class ValueDelete:
    """Delete the scalar at an address of kind `value`; succeeds when there is none."""

    address: Address


@dataclass(frozen=True, slots=True)
class ListAppend:
    """Append an element to the list at an address of kind `list`."""

    address: Address
    value: Json


@dataclass(frozen=True, slots=True)
class ListDelete:
    """Delete the list at an address of kind `list` as a whole; succeeds when there is none."""

    address: Address


Write = EntryInsert | UsageInsert | ValueSet | ValueDelete | ListAppend | ListDelete


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What a commit did: `seqs[i]` is the sequence of write i, `timestamp` in Unix milliseconds, `stats` right after
    it.
    """

    first_seq: int
    seqs: list[int]
    timestamp: int
    stats: SessionStats


class AddressWrite(NamedTuple):
    """A checked write at an address; `text` is the JSON text of a set or an append, None of a delete."""

    address: Address
    text: bytes | None


PreparedWrite = NewEntry | NewUsageRow | AddressWrite


def prepare(writes: Iterable[Write]) -> list[PreparedWrite]:
    """The first step of a commit: every write checked and encoded.

    Raises InvalidValue for anything but a list of the six writes and for an address of the wrong kind (S-TXN-01), and
    for what an entry, usage row or value may not be (S-ENT-01, S-ENT-02, S-ENT-08, S-VAL-03 to S-VAL-09). `where`
    reads like `writes[2].entry.message.content` (S-VAL-10).
    """
    if not isinstance(writes, list | tuple):
        raise InvalidValue("writes", "is not a list of writes")
    return [_prepared(write, index) for index, write in enumerate(writes)]


def _prepared(write: Write, index: int) -> PreparedWrite:
    match write:
        case EntryInsert():  # patterns with fields in them take three times as long
            return check_new_entry(write.entry, f"writes[{index}].entry")
        case UsageInsert():
            return check_new_usage_row(write.row, f"writes[{index}].row")
        case ValueSet():
            return AddressWrite(_of_kind(write.address, "value", index), encode(write.value, f"writes[{index}].value"))
        case ListAppend():
            return AddressWrite(_of_kind(write.address, "list", index), encode(write.value, f"writes[{index}].value"))
        case ValueDelete():
            return AddressWrite(_of_kind(write.address, "value", index), None)
        case ListDelete():
            return AddressWrite(_of_kind(write.address, "list", index), None)
    raise InvalidValue(f"writes[{index}]", f"is of class {type(write).__qualname__}, which is none of the six writes")


def _of_kind(address: Address, kind: str, index: int) -> Address:
    if not isinstance(address, Address) or address.kind != kind:
        raise InvalidValue(f"writes[{index}].address", f"is not an address of kind {kind!r}")
    return address


class Placement(NamedTuple):
    """Where a commit lands: the sequence of each of its writes, and the statistics after it."""

    seqs: range
    message_count: int
    usage: Record


def place(
    writes: list[PreparedWrite],
    next_seq: int,
    message_count: int,
    usage: Record,
    is_entry: Callable[[str], bool],
    is_usage_row: Callable[[str], bool],
) -> Placement:
    """The second step of a commit, against the storage's state: next sequence, statistics, and what its ids name.

    Raises InvalidValue above the last sequence (S-TXN-19), DuplicateId (S-TXN-11) and UnknownParent (S-TXN-09,
    S-TXN-10). Gives consecutive sequences in write order (S-TXN-05); `usage` is not changed.
    """
    seqs = range(next_seq, next_seq + len(writes))
    if writes and seqs[-1] > LAST_SEQUENCE:
        raise InvalidValue("writes", f"need a sequence above 2^53−1; the next one is {next_seq}")
    entries: set[str] = set()
    usage_rows: set[str] = set()
    for index, write in enumerate(writes):
        if isinstance(write, AddressWrite):
            continue
        if write.id in entries or write.id in usage_rows or is_entry(write.id) or is_usage_row(write.id):
            raise DuplicateId(write.id)
        if isinstance(write, NewUsageRow):
            usage_rows.add(write.id)
            usage = add_usage(usage, write.usage, f"writes[{index}].row.usage")
            continue
        if write.parent_id is not None and write.parent_id not in entries and not is_entry(write.parent_id):
            raise UnknownParent(write.id, write.parent_id)
        entries.add(write.id)
        message_count += write.type == "message"
    return Placement(seqs, message_count, usage)
