"""The records of format 4 as they are read, and the checks that decide about one, with a reason (spec section 22.3).

The structs hold the structural fields. Where msgspec decodes straight into them they hold the payload fields that the
contract names as well, for no longer than the line is looked at: decoding them is what checks them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from forkstore.contract.addresses import Address
from forkstore.contract.codec import DEEPEST_READ, UndecodableText, decode, depth, is_deeper
from forkstore.contract.errors import InvalidAddress, InvalidValue
from forkstore.contract.records import ABSENT, Json, Record, check_usage
from forkstore.contract.text import text_fault
from forkstore.contract.writes import LAST_SEQUENCE

from .headers import is_integer

DEEPEST_RECORD: Final = DEEPEST_READ + 2
"""Depth of a record whose payload is just not too deep: the record, and a retained tail around its messages."""
DEEPEST_LINE: Final = DEEPEST_RECORD + 1

Sequence = Annotated[int, Meta(ge=1, le=LAST_SEQUENCE)]
Time = Annotated[int, Meta(ge=0, le=LAST_SEQUENCE)]


class LineFault(ValueError):
    """A line breaks the format: why, worded as the end of a sentence. Who knows file and line raises CorruptSession."""


class StoredEntry(Struct, tag_field="kind", tag="entry", rename="camel", forbid_unknown_fields=True, gc=False):
    """An entry record."""

    id: str
    parent_id: str | None
    seq: Sequence
    timestamp: Time
    type: str
    custom_type: str | UnsetType = UNSET
    message: Any = UNSET
    terminate: Any = UNSET
    summary: Any = UNSET
    retained_tail: Any = UNSET
    tokens_before: Any = UNSET
    from_id: Any = UNSET
    from_hook: Any = UNSET
    details: Any = UNSET
    usage: Any = UNSET
    data: Any = UNSET


class StoredUsage(Struct, tag_field="kind", tag="usage", rename="camel", forbid_unknown_fields=True, gc=False):
    """A usage record; `usage` is its usage object as it stands there."""

    id: str
    seq: Sequence
    usage: Any
    adjustment: bool
    entry_id: str | UnsetType = UNSET
    details: Any = UNSET


class StoredValue(Struct, tag_field="kind", tag="value", forbid_unknown_fields=True, gc=False):
    """A scalar record; `value` is what is set."""

    op: Literal["set", "delete"]
    seq: Sequence
    namespace: str
    key: str
    value: Any = UNSET


class StoredElement(Struct, tag_field="kind", tag="list", forbid_unknown_fields=True, gc=False):
    """A list record; `value` is what is appended."""

    op: Literal["append", "delete"]
    seq: Sequence
    namespace: str
    key: str
    value: Any = UNSET


StoredRow = StoredValue | StoredElement
StoredRecord = StoredEntry | StoredUsage | StoredValue | StoredElement


def read_slowly(data: bytes) -> list[StoredRecord]:
    """The records of a line, each judged field by field. Raises LineFault."""
    try:
        line = decode(data, DEEPEST_LINE)
    except UndecodableText as error:
        raise LineFault(str(error)) from error
    return [_checked(record) for record in (line if type(line) is list else [line])]


def split_slowly(data: bytes) -> list[bytes]:
    """The texts of the members of a line that is an array of valid JSON.

    For lines that msgspec will not walk, such as those with lone surrogates.
    """
    characters = data.decode()
    scan, texts = json.JSONDecoder(), []
    at = _past_white_space(characters, characters.index("[") + 1)
    while characters[at] != "]":
        _, end = scan.raw_decode(characters, at)
        texts.append(characters[at:end].encode())
        at = _past_white_space(characters, end)
        if characters[at] == ",":
            at = _past_white_space(characters, at + 1)
    return texts


def _past_white_space(characters: str, at: int) -> int:
    while characters[at] in " \t\r":
        at += 1
    return at


def check_usage_object(usage: Json) -> Record:
    """The numbers of a usage object. Raises LineFault (spec section 3.3)."""
    try:
        return check_usage(usage, "usage")
    except InvalidValue as error:
        raise LineFault(str(error)) from error


def check_address(namespace: str, key: str) -> None:
    """Raises LineFault for what no address may be (spec section 4)."""
    try:
        Address(namespace, key, "value")
    except InvalidAddress as error:
        raise LineFault(f"{error.field} {error.reason}") from error


def check_row(row: StoredRow) -> None:
    """What the types of a scalar or list record do not say. Raises LineFault."""
    if not row.namespace or "\0" in row.namespace or "\0" in row.key:
        check_address(row.namespace, row.key)
    if row.value is UNSET and row.op != "delete":
        raise LineFault(f"a record with op {row.op!r} has no value")


def check_custom_type(entry: StoredEntry) -> None:
    """A custom type stands on custom entries, and on no others. Raises LineFault."""
    if (entry.type == "custom") is (entry.custom_type is UNSET):
        raise LineFault("customType is missing on a custom entry, or stands on another one")


def check_depths(texts: Iterable[Raw | bytes]) -> None:
    """`check_depth` for the records of a line that may hold one that is too deep. Raises LineFault."""
    for text in texts:
        copy = bytes(text)
        if is_deeper(copy, DEEPEST_READ):
            try:
                check_depth(decode(copy, DEEPEST_RECORD))
            except UndecodableText as error:
                raise LineFault(str(error)) from error


def check_depth(record: Record) -> None:
    """Every field counts on its own, and so does each message of a retained tail (spec section 6, S-VAL-17).

    Raises LineFault.
    """
    for name, field in record.items():
        is_tail = name == "retainedTail" and type(field) is list and record.get("type") == "compaction"
        for payload in field if is_tail else [field]:
            if depth(payload) > DEEPEST_READ:
                raise LineFault(f"{name} is nested too deeply")


def _checked(record: Json) -> StoredRecord:
    if type(record) is not dict:
        raise LineFault("a record is not an object")
    build = _BUILDERS.get(record["kind"]) if type(record.get("kind")) is str else None
    if build is None:
        raise LineFault("kind is none of entry, usage, value and list")
    if not is_integer(record.get("seq"), 1):
        raise LineFault("seq is not an integer of at least 1")
    check_depth(record)
    return build(record)


def _entry(record: Record) -> StoredEntry:
    if not is_integer(record.get("timestamp"), 0):
        raise LineFault("timestamp is not an integer of at least 0")
    parent_id = record.get("parentId", ABSENT)
    entry = StoredEntry(
        id=_text(record, "id"),
        parent_id=None if parent_id is None else _text(record, "parentId"),
        seq=record["seq"],
        timestamp=record["timestamp"],
        type=_text(record, "type"),
        custom_type=_text(record, "customType") if "customType" in record else UNSET,
    )
    check_custom_type(entry)
    return entry


def _usage(record: Record) -> StoredUsage:
    if type(record.get("adjustment")) is not bool:
        raise LineFault("adjustment is not a boolean")
    return StoredUsage(
        id=_text(record, "id"),
        seq=record["seq"],
        usage=check_usage_object(record.get("usage")),
        adjustment=record["adjustment"],
        entry_id=_text(record, "entryId") if "entryId" in record else UNSET,
    )


def _value(record: Record) -> StoredValue:
    return StoredValue(*_row_fields(record, "set"))


def _element(record: Record) -> StoredElement:
    return StoredElement(*_row_fields(record, "append"))


def _row_fields(record: Record, giving: str) -> tuple[Any, int, str, str, Json]:
    if record.get("op") not in (giving, "delete"):
        raise LineFault(f"op is neither {giving!r} nor 'delete'")
    namespace, key = _text(record, "namespace"), _text(record, "key")
    check_address(namespace, key)
    if record["op"] != "delete" and "value" not in record:
        raise LineFault(f"a record with op {giving!r} has no value")
    return record["op"], record["seq"], namespace, key, record.get("value", UNSET)


def value_text_slowly(text: bytes) -> bytes:
    """The text of the last member `value` of a record that is valid JSON, as `split_slowly` finds texts."""
    characters = text.decode()
    scan, value = json.JSONDecoder(), ""
    at = characters.index("{") + 1
    while True:
        at = _past_white_space(characters, at)
        name, at = scan.raw_decode(characters, at)
        start = _past_white_space(characters, _past_white_space(characters, at) + 1)
        _, at = scan.raw_decode(characters, start)
        if name == "value":
            value = characters[start:at]
        at = _past_white_space(characters, at)
        if characters[at] == "}":
            return value.encode()
        at += 1


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    fault = text_fault(value, allow_nul=True)
    if fault is not None or type(value) is not str:
        raise LineFault(f"{name} is missing or {fault}")
    return value


_BUILDERS: Final[dict[str, Callable[[Record], StoredRecord]]] = {
    "entry": _entry,
    "usage": _usage,
    "value": _value,
    "list": _element,
}
