"""Rows of the tables and the records they stand for: what is written, and what is read and checked (spec section 27.1).

Every stored row is judged when it is read and not before, so one damaged row leaves the others readable (S-QRY-20).
Text columns with JSON are fetched as bytes, so that text that is no UTF-8 is found by the reader that can name its row.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from forkstore.contract.addresses import Address
from forkstore.contract.codec import DEEPEST_READ, UndecodableText, decode, depth, is_deeper
from forkstore.contract.records import ENTRY_TYPES, Json, NewEntry, NewUsageRow, Record, entry_structure
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.text import text_fault
from forkstore.contract.writes import LAST_SEQUENCE

from .failing import Damage

Row = tuple[Any, ...]
"""A row of SQLite as it comes: any column may hold a value of any type."""


def json_column(column: str) -> str:
    """The expression that fetches a column of JSON text as bytes, or as NULL when it holds no text."""
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) END"


STRUCTURE_COLUMNS: Final = "e.id, e.parent_id, e.seq, e.timestamp, e.type, e.custom_type"
"""The columns of `entries AS e` that `structure` takes."""
ENTRY_COLUMNS: Final = f"{STRUCTURE_COLUMNS}, {json_column('e.payload')}"
"""The columns of `entries AS e` that `entry` takes."""
USAGE_COLUMNS: Final = (
    f"id, seq, entry_id, adjustment, {json_column('usage')}, details IS NULL, {json_column('details')}"
)
"""The columns of `usage_ledger` that `usage_row` takes."""

_FURTHER_FIELDS: Final = "\udfff"
"""The member of a stored usage object that holds the further fields of its row, which have no column (S-ENT-04). No
caller's member has this name, for a commit refuses lone surrogates."""

_split: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_join: Final = msgspec.json.Encoder().encode


def payload_text(entry: NewEntry) -> str:
    """The text of a new entry without the fields that have a column, each of the others as it stands."""
    fields = _split(entry.text)
    del fields["id"], fields["parentId"], fields["type"]
    fields.pop("customType", None)
    return _join(fields).decode()


def usage_texts(row: NewUsageRow) -> tuple[str | None, bool, str, str | None]:
    """The columns `entry_id`, `adjustment`, `usage` and `details` of a new usage row."""
    fields = _split(row.text)
    entry_id, adjustment = fields.pop("entryId", None), fields.pop("adjustment")
    usage, details = bytes(fields.pop("usage")), fields.pop("details", None)
    del fields["id"]
    if fields:
        usage = b'%b,"\\udfff":%b}' % (usage[:-1], _join(fields))
    return (
        None if entry_id is None else msgspec.json.decode(entry_id, type=str),
        bytes(adjustment) == b"true",
        usage.decode(),
        None if details is None else bytes(details).decode(),
    )


def structure(row: Row) -> Record:
    """The structure of an entry. Raises Damage (S-SQL-SCH-05)."""
    entry_id, parent_id, seq, timestamp, entry_type, custom_type = row[:6]
    if type(entry_id) is not str:
        raise Damage("entries: an id is no text")
    if not (
        (parent_id is None or type(parent_id) is str)
        and _is_within(seq, 1)
        and _is_within(timestamp, 0)
        and entry_type in ENTRY_TYPES
    ):
        raise Damage(f"entries row {entry_id!r}: a column is of the wrong type or out of range")
    if (type(custom_type) is str) is not (entry_type == "custom") or (
        entry_type != "custom" and custom_type is not None
    ):
        raise Damage(f"entries row {entry_id!r}: custom_type is missing on a custom entry, or stands on another one")
    return entry_structure(entry_id, parent_id, seq, timestamp, entry_type, custom_type)


def entry(row: Row) -> Record:
    """An entry: its structure and the fields of its payload. Raises Damage."""
    record = structure(row)
    place = f"entries row {row[0]!r}: payload"
    payload = _object(row[6], place)
    if is_deeper(row[6], DEEPEST_READ):
        _check_depths(payload, place, tail="retainedTail" if row[4] == "compaction" else None)
    if not record.keys().isdisjoint(payload):
        raise Damage(f"{place} repeats a field that has a column")
    return record | payload


def usage_row(row: Row) -> Record:
    """A row of the usage ledger. Raises Damage."""
    row_id, seq, entry_id, adjustment, usage_text, no_details, details_text = row
    if type(row_id) is not str:
        raise Damage("usage_ledger: an id is no text")
    place = f"usage_ledger row {row_id!r}"
    if not (
        _is_within(seq, 1)
        and type(adjustment) is int
        and adjustment in (0, 1)
        and (entry_id is None or type(entry_id) is str)
    ):
        raise Damage(f"{place}: a column is of the wrong type or out of range")
    usage, further = _usage(usage_text, f"{place}: usage")
    record: Record = {"id": row_id, "usage": usage}
    if entry_id is not None:
        record["entryId"] = entry_id
    record["adjustment"] = bool(adjustment)
    if not no_details:
        record["details"] = _value(details_text, f"{place}: details")
    return record | further | {"seq": seq}


def _usage(text: bytes | None, place: str) -> tuple[Record, Record]:
    """The usage object of a row, and the further fields of that row."""
    usage = _object(text, place)
    further = usage.pop(_FURTHER_FIELDS, {})
    if type(further) is not dict:
        raise Damage(f"{place} has a member that is not the store's")
    _check_depths({"usage": usage} | further, place)
    return usage, further


def value_row(namespace: str, row: Row) -> ValueRow:
    """A scalar, from its key, sequence and text. Raises Damage."""
    key, seq, text = row
    if text_fault(key, allow_nul=False) is not None:
        raise Damage(f"scalar_values row {namespace!r}, {key!r}: the key is none that an address can have")
    place = f"scalar_values row {namespace!r}, {key!r}"
    return ValueRow(Address(namespace, key, "value"), _value(text, place), _seq(seq, place))


def list_element(address: Address, row: Row) -> ListElement:
    """A list element, from its sequence and text. Raises Damage."""
    seq, text = row
    place = f"list_values row {address.namespace!r}, {address.key!r}, {seq!r}"
    return ListElement(_seq(seq, place), _value(text, place))


def _seq(seq: object, place: str) -> int:
    if type(seq) is not int or not _is_within(seq, 1):
        raise Damage(f"{place}: seq is of the wrong type or out of range")
    return seq


def _value(text: bytes | None, place: str) -> Json:
    if text is None:
        raise Damage(f"{place} holds no text")
    try:
        return decode(text)
    except UndecodableText as error:
        raise Damage(f"{place}: {error}") from error


def _object(text: bytes | None, place: str) -> Record:
    """A JSON object, as deep as the fields of a record and the messages of a retained tail in one may be."""
    if text is None:
        raise Damage(f"{place} holds no text")
    try:
        value = decode(text, DEEPEST_READ + 2)
    except UndecodableText as error:
        raise Damage(f"{place}: {error}") from error
    if type(value) is not dict:
        raise Damage(f"{place} is no JSON object")
    return value


def _check_depths(fields: Record, place: str, tail: str | None = None) -> None:
    """Every field counts on its own, and so does each message of a retained tail (spec section 6, S-VAL-17)."""
    for name, field in fields.items():
        for payload in field if name == tail and type(field) is list else [field]:
            if depth(payload) > DEEPEST_READ:
                raise Damage(f"{place}: {name} is nested too deeply")


def _is_within(value: object, least: int) -> bool:
    return type(value) is int and least <= value <= LAST_SEQUENCE
