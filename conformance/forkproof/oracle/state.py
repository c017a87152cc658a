"""Logical state (section 21 of the contract): what two sessions must agree on, in a form that can be compared and
shown.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
Location = tuple[str, str]
"""Namespace and key."""


@dataclass(frozen=True)
class LogicalState:
    """A session without sequences, paths and creation times.

    Entries keep their order and everything but `seq`; ledger rows everything but `seq`; absent lists and scalars are
    left out.
    """

    parent_session_id: str | None
    entries: list[Record] = field(default_factory=list)
    scalars: dict[Location, Any] = field(default_factory=dict)
    lists: dict[Location, list[Any]] = field(default_factory=dict)
    ledger: list[Record] = field(default_factory=list)
    message_count: int = 0
    usage: Record = field(default_factory=dict)


def copied(value: Any) -> Any:
    """A copy of a JSON value that shares nothing with it; what is no JSON value stays the object it is."""
    try:
        # Plain values in one step, which pays on every write of every case. Version 2 writes no shared references, so
        # an object that stands in two places becomes two.
        return marshal.loads(marshal.dumps(value, 2))  # noqa: S302 - its own bytes
    except ValueError:
        pass
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copied(member) for member in value]
    return value


def without_seq(record: Record) -> Record:
    """The record as logical state holds it."""
    return {name: value for name, value in record.items() if name != "seq"}
