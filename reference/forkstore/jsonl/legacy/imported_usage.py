"""The usage of a legacy session, which has no ledger: what its records have spent (S-V3-15, S-V3-16)."""

from __future__ import annotations

from typing import Final

from forkstore.contract.errors import InvalidValue
from forkstore.contract.records import (
    COST_NUMBERS,
    OPTIONAL_USAGE_NUMBERS,
    USAGE_NUMBERS,
    Json,
    Record,
    add_usage,
    zero_usage,
)
from forkstore.jsonl.records import LineFault

from .records import LegacyRecord

_SPENDING_ROLES: Final = ("assistant", "toolResult")
_SPENDING_KINDS: Final = ("compaction", "branch_summary")


class ImportedUsage:
    """The sum over all records of the file, in file order, abandoned branches included."""

    def __init__(self) -> None:
        self.total: Record = zero_usage()

    def add(self, record: LegacyRecord) -> None:
        """Adds what a record has spent. Raises LineFault when the sum can no longer be stored, as in a ledger."""
        usage = _spent(record)
        if usage is None:
            return
        try:
            self.total = add_usage(self.total, usage, "usage")
        except InvalidValue as error:
            raise LineFault(str(error)) from error


def _spent(record: LegacyRecord) -> Record | None:
    """A whole usage object of what stands there. What is missing or not a number counts as 0."""
    spender: Record = {}
    if record.kind in _SPENDING_KINDS:
        spender = record.fields
    elif record.kind == "message" and record.fields["message"].get("role") in _SPENDING_ROLES:
        spender = record.fields["message"]
    usage = spender.get("usage")
    if type(usage) is not dict:
        return None
    cost = usage.get("cost")
    numbers: Record = {name: _number(usage.get(name)) for name in USAGE_NUMBERS}
    numbers["cost"] = {name: _number(cost.get(name) if type(cost) is dict else None) for name in COST_NUMBERS}
    return numbers | {name: usage[name] for name in OPTIONAL_USAGE_NUMBERS if _is_number(usage.get(name))}


def _number(value: Json) -> int | float:
    return value if _is_number(value) else 0


def _is_number(value: Json) -> bool:
    return type(value) is int or type(value) is float
