"""Transactions of format 4: the one decoder of a line, and the writer of lines (spec sections 22.2 and 22.3).

Opening, the index of a fork and its copying all read through here. A line is checked as a whole. Its records come back
as their structural fields, their texts as views into the line, so that a fork copies them and never encodes again.

The fast path is one pass of msgspec over the line: every field that the contract names is decoded, which checks all of
it, UTF-8 and the range of numbers included, and structural fields get their types. What the fast path does not take (an
unknown field, a lone surrogate, a broken line) goes through `records.py`, which reads the line as plain JSON and
decides, with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from forkstore.contract.codec import DEEPEST_READ, is_deeper
from forkstore.contract.records import NewEntry, NewUsageRow
from forkstore.contract.writes import AddressWrite, PreparedWrite

from .records import (
    StoredEntry,
    StoredRecord,
    StoredUsage,
    check_custom_type,
    check_depths,
    check_row,
    check_usage_object,
    read_slowly,
    split_slowly,
    value_text_slowly,
)

Text = Raw | bytes
"""The JSON text of one record: a view into its line, or a copy. `bytes(text)` and `b"".join` take both."""
WHITE_SPACE: Final = b" \t\r"
"""JSON's white space without LF, which ends a line."""


class _WithValue(Struct):
    value: Raw


_read_fast = msgspec.json.Decoder(StoredRecord | list[StoredRecord]).decode
_name_text = msgspec.json.Encoder().encode  # names of an address: texts that were checked when it was built
_read_value = msgspec.json.Decoder(_WithValue).decode
_split_fast = msgspec.json.Decoder(list[Raw]).decode


def read_line(data: bytes) -> list[StoredRecord]:
    """The records of a complete line, without its LF; an empty array has none (S-JSONL-FMT-02).

    Raises LineFault for every breach of section 22.3. Keeps S-JSONL-FMT-03, -08, -09, S-VAL-15 to S-VAL-17.
    """
    try:
        line = _read_fast(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return read_slowly(data)
    records = line if type(line) is list else [line]
    for record in records:
        if type(record) is StoredEntry:
            if record.type == "custom" or type(record.custom_type) is str:
                check_custom_type(record)
        elif type(record) is StoredUsage:
            record.usage = check_usage_object(record.usage)
        else:
            check_row(record)
    if is_deeper(data, DEEPEST_READ):
        check_depths(split_line(data))
    return records


def split_line(data: bytes) -> Sequence[Text]:
    """The texts of the records of a line that `read_line` has taken, in order."""
    text = data.strip(WHITE_SPACE)
    if text[:1] != b"[":
        return [text]
    try:
        return _split_fast(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return split_slowly(text)


def value_text(text: Text) -> bytes:
    """The text of the value in the record of a set or an append."""
    try:
        return bytes(_read_value(text).value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return value_text_slowly(bytes(text))


def entry_text(entry: NewEntry, seq: int, timestamp: int) -> bytes:
    """The record of a new entry. The caller's fields keep their order: their text goes in as it is, brackets off."""
    return b'{"kind":"entry",%b,"seq":%d,"timestamp":%d}' % (entry.text[1:-1], seq, timestamp)


def usage_text(row: NewUsageRow, seq: int) -> bytes:
    """The record of a new usage row."""
    return b'{"kind":"usage",%b,"seq":%d}' % (row.text[1:-1], seq)


def row_text(kind: str, seq: int, namespace: str, key: str, text: bytes | None) -> bytes:
    """The record of a set, an append, or with None of a delete; `kind` is `value` or `list`."""
    op = "delete" if text is None else "set" if kind == "value" else "append"
    record = b'{"kind":"%b","op":"%b","seq":%d,"namespace":%b,"key":%b' % (
        kind.encode(), op.encode(), seq, _name_text(namespace), _name_text(key),
    )  # fmt: skip
    return record + (b"}" if text is None else b',"value":%b}' % text)


def record_text(write: PreparedWrite, seq: int, timestamp: int) -> bytes:
    """The record of one write of a commit, with the fields and the order of section 22.2 (S-JSONL-FMT-07)."""
    if type(write) is NewEntry:
        return entry_text(write, seq, timestamp)
    if type(write) is NewUsageRow:
        return usage_text(write, seq)
    assert isinstance(write, AddressWrite)
    return row_text(write.address.kind, seq, write.address.namespace, write.address.key, write.text)


def transaction_line(texts: Iterable[Text]) -> bytes:
    """One line: an object for one write and an array for more, with its LF (S-JSONL-FMT-01, S-JSONL-FMT-02)."""
    records = [*texts]
    return b"%b\n" % records[0] if len(records) == 1 else b"[%b]\n" % b",".join(records)
