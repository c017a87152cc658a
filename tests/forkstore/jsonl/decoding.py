"""Lines of format 4 read both ways: as the store reads them, and field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

from forkstore.jsonl.format import read_line, split_line
from forkstore.jsonl.records import (
    LineFault,
    StoredEntry,
    StoredRecord,
    StoredUsage,
    read_slowly,
)

QUIET = settings(
    max_examples=200, derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
"""The same examples on every run."""
Reader = Callable[[bytes], list[StoredRecord]]


def value_line(value: str | bytes, *, op: str = "set") -> bytes:
    """A scalar record with this JSON text as its value."""
    text = value if isinstance(value, bytes) else value.encode()
    return b'{"kind":"value","op":"%b","seq":1,"namespace":"app","key":"k","value":%b}' % (op.encode(), text)


def entry_line(**fields: str) -> bytes:
    """A custom entry; fields are JSON texts that replace or add."""
    own = {"id": '"e1"', "parentId": "null", "type": '"custom"', "customType": '"c"', "seq": "1", "timestamp": "1"}
    members = {"kind": '"entry"'} | own | fields
    return ("{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}").encode()


def usage_line(**fields: str) -> bytes:
    """A usage record; fields are JSON texts that replace or add."""
    numbers = '"input":1,"output":2,"cacheRead":3,"cacheWrite":4'
    usage = f'{{{numbers},"totalTokens":10,"cost":{{{numbers},"total":0.5}}}}'
    members = {"kind": '"usage"', "id": '"u1"', "seq": "1", "usage": usage, "adjustment": "false"} | fields
    return ("{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}").encode()


def lists(depth: int) -> str:
    """The JSON text of empty lists so deep."""
    return "[" * depth + "]" * depth


def shown(record: StoredRecord) -> tuple[object, ...]:
    """What replay and the index take of a record."""
    if isinstance(record, StoredEntry):
        return "entry", record.id, record.parent_id, record.seq, record.timestamp, record.type, record.custom_type
    if isinstance(record, StoredUsage):
        return "usage", record.id, record.seq, repr(record.usage)
    tip = record.value if record.value is None or isinstance(record.value, str) else "odd"
    return type(record).__name__, record.op, record.seq, record.namespace, record.key, tip


def verdict(read: Reader, line: bytes) -> list[tuple[object, ...]] | str:
    """The records of a line, or that it breaks the format."""
    try:
        return [shown(record) for record in read(line)]
    except LineFault:
        return "fault"


def disagreement(line: bytes) -> tuple[Any, Any] | None:
    """How the two ways read a line, when they do not read the same."""
    fast, slow = verdict(read_line, line), verdict(read_slowly, line)
    return None if fast == slow else (fast, slow)


def texts_of(line: bytes) -> list[bytes]:
    """The texts of the records of a good line."""
    return [bytes(text) for text in split_line(line)]
