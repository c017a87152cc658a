"""The stored records: what a new entry or usage row must look like, entry structures, and the statistics (spec
section 3).

Records are plain JSON dicts with camelCase names, as on disk. Only structural fields are looked at; everything else is
payload and comes back equal, whether the contract names it or not (S-ENT-04).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .codec import DEEPEST_WRITTEN, LARGEST_INTEGER, SMALLEST_INTEGER, depth, encode
from .errors import InvalidValue, PendingMessage

Json = Any
"""A JSON value: dict with str keys, list, str, int, float, bool or None."""
Record = dict[str, Json]
"""A stored record or a part of one."""


class _Absent(enum.Enum):
    """The one value of ABSENT; an enum member, so that `is` narrows its type and its repr is its name."""

    ABSENT = "ABSENT"

    def __repr__(self) -> str:
        return self.name


ABSENT: Final = _Absent.ABSENT
"""Stands for `data` that is not there, which differs from null (S-ENT-05)."""
Absent = _Absent

ENTRY_TYPES: Final = frozenset({"message", "compaction", "branch_summary", "custom"})
USAGE_NUMBERS: Final = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
COST_NUMBERS: Final = ("input", "output", "cacheRead", "cacheWrite", "total")
OPTIONAL_USAGE_NUMBERS: Final = ("cacheWrite1h", "reasoning")
# `seq` and `timestamp` are the storage's to give (S-ENT-02). `kind` frames a record on disk: a field of that name
# could not come back from a file, so no backend takes it (S-ENT-04, S-VAL-12).
_NOT_ON_ENTRIES: Final = ("seq", "timestamp", "kind")
_NOT_ON_USAGE_ROWS: Final = ("seq", "kind")


class NewEntry(NamedTuple):
    """A checked new entry: its structural fields, and the JSON text of all that the caller supplied."""

    id: str
    parent_id: str | None
    type: str
    custom_type: str | None
    text: bytes


class NewUsageRow(NamedTuple):
    """A checked new usage row: its id, its numbers, and the JSON text of all that the caller supplied."""

    id: str
    usage: Record
    text: bytes


def check_new_entry(entry: Json, where: str) -> NewEntry:
    """The new entry, read once. Raises InvalidValue (S-ENT-01, S-ENT-02, S-VAL-03 to S-VAL-09)."""
    if type(entry) is not dict:
        raise InvalidValue(where, "is not an object")
    _refuse_fields(entry, _NOT_ON_ENTRIES, where)
    entry_id, kind, custom_type = _text(entry, "id", where), _text(entry, "type", where), entry.get("customType")
    parent_id = entry.get("parentId", ABSENT)
    if parent_id is not None and type(parent_id) is not str:
        raise InvalidValue(f"{where}.parentId", "is neither a string nor null")
    if kind not in ENTRY_TYPES:
        raise InvalidValue(f"{where}.type", f"is none of {', '.join(sorted(ENTRY_TYPES))}")
    if kind == "custom":
        custom_type = _text(entry, "customType", where)
    elif "customType" in entry:
        raise InvalidValue(f"{where}.customType", "belongs on custom entries only")
    return NewEntry(entry_id, parent_id, kind, custom_type, _entry_text(entry, kind, where))


def _entry_text(entry: Record, kind: str, where: str) -> bytes:
    """The JSON text.

    Each field's depth counts on its own, and so does each message of a retained tail (spec section 6).
    """
    if kind != "compaction" or type(entry.get("retainedTail")) is not list:
        return encode(entry, where, DEEPEST_WRITTEN + 1)
    text = encode(entry, where, DEEPEST_WRITTEN + 2)
    for name, field in entry.items():
        if name != "retainedTail" and depth(field) > DEEPEST_WRITTEN:
            raise InvalidValue(f"{where}.{name}", "is nested too deeply")
    return text


def check_new_usage_row(row: Json, where: str) -> NewUsageRow:
    """The new usage row, read once. Raises InvalidValue (S-ENT-02, S-ENT-08, S-VAL-03 to S-VAL-09)."""
    if type(row) is not dict:
        raise InvalidValue(where, "is not an object")
    _refuse_fields(row, _NOT_ON_USAGE_ROWS, where)
    row_id = _text(row, "id", where)
    if "entryId" in row:
        _text(row, "entryId", where)
    if type(row.get("adjustment")) is not bool:
        raise InvalidValue(f"{where}.adjustment", "is missing or not a boolean")
    text = encode(row, where, DEEPEST_WRITTEN + 1)
    return NewUsageRow(row_id, check_usage(row.get("usage"), f"{where}.usage"), text)


def check_usage(usage: Json, where: str) -> Record:
    """The numbers of a usage object, as a fresh object of the contract's fields only.

    Raises InvalidValue (S-ENT-08).
    """
    if type(usage) is not dict:
        raise InvalidValue(where, "is missing or not an object")
    cost = usage.get("cost")
    if type(cost) is not dict:
        raise InvalidValue(f"{where}.cost", "is missing or not an object")
    numbers: Record = {name: _number(usage, name, where) for name in USAGE_NUMBERS}
    numbers["cost"] = {name: _number(cost, name, f"{where}.cost") for name in COST_NUMBERS}
    return numbers | {name: _number(usage, name, where) for name in OPTIONAL_USAGE_NUMBERS if name in usage}


def refuse_pending(entry: Json) -> None:
    """Raises PendingMessage for the new entry of an assistant message that is not settled (S-SESS-10)."""
    message = entry.get("message") if isinstance(entry, dict) and entry.get("type") == "message" else None
    if isinstance(message, dict) and message.get("role") == "assistant" and message.get("stopReason") == "pending":
        raise PendingMessage


def entry_structure(
    entry_id: str, parent_id: str | None, seq: int, timestamp: int, entry_type: str, custom_type: str | None
) -> Record:
    """An entry structure: the structural fields of an entry, `customType` on custom entries only (spec section 3.1)."""
    structure: Record = {
        "id": entry_id,
        "parentId": parent_id,
        "seq": seq,
        "timestamp": timestamp,
        "type": entry_type,
    }
    if custom_type is not None:
        structure["customType"] = custom_type
    return structure


@dataclass(frozen=True, slots=True)
class SessionStats:
    """The statistics of a session: its stored message entries, and the field-by-field sum of its usage ledger.

    Keeps S-ENT-09, S-ENT-10, S-ENT-11.
    """

    message_count: int
    usage: Record


def zero_usage() -> Record:
    """A fresh zero usage object in the contract's key order (spec section 3.3, S-ENT-11)."""
    return dict.fromkeys(USAGE_NUMBERS, 0) | {"cost": dict.fromkeys(COST_NUMBERS, 0)}


def copy_usage(usage: Record) -> Record:
    """A usage object that shares nothing with the given one (S-VAL-11)."""
    return usage | {"cost": usage["cost"].copy()}


def add_usage(total: Record, usage: Record, where: str) -> Record:
    """A fresh sum of two usage objects; an optional number appears when either has it (S-ENT-10).

    Raises InvalidValue when a sum can no longer be stored as JSON, which would leave the statistics unreadable.
    """
    names = [*USAGE_NUMBERS, *(name for name in OPTIONAL_USAGE_NUMBERS if name in total or name in usage)]
    summed = {name: _sum(total, usage, name, where) for name in names}
    costs = {name: _sum(total["cost"], usage["cost"], name, f"{where}.cost") for name in COST_NUMBERS}
    required = {name: summed.pop(name) for name in USAGE_NUMBERS}
    return required | {"cost": costs} | summed


def _sum(total: Record, usage: Record, name: str, where: str) -> Json:
    value = total.get(name, 0) + usage.get(name, 0)
    storable = math.isfinite(value) if type(value) is float else SMALLEST_INTEGER <= value <= LARGEST_INTEGER
    if not storable:
        raise InvalidValue(f"{where}.{name}", "takes the sum of the ledger beyond the numbers that can be stored")
    return value


def _refuse_fields(record: Record, names: tuple[str, ...], where: str) -> None:
    for name in names:
        if name in record:
            raise InvalidValue(f"{where}.{name}", "is not the caller's to supply")


def _text(record: Record, name: str, where: str) -> str:
    text = record.get(name)
    if type(text) is not str:
        raise InvalidValue(f"{where}.{name}", "is missing or not a string")
    return text


def _number(record: Record, name: str, where: str) -> int | float:
    number = record.get(name)
    if type(number) is not int and type(number) is not float:
        raise InvalidValue(f"{where}.{name}", "is missing or not a number")
    return number
