"""A storage that changes what it is told to store: the base of mutants that lie about records, values and addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)
from forkstore.memory.storage import MemoryStorage


class RewritingStorage(MemoryStorage):
    """Stores entries, usage rows, values and addresses as the methods give them; each gives back what it gets."""

    async def commit(self, writes: list[Write]) -> CommitResult:
        return await super().commit([self._rewritten(write) for write in writes])

    def entry(self, entry: Any) -> Any:
        return entry

    def row(self, row: Any) -> Any:
        return row

    def value(self, value: Any) -> Any:
        return value

    def address(self, address: Address) -> Address:
        return address

    def _rewritten(self, write: Any) -> Any:
        if isinstance(write, EntryInsert):
            return EntryInsert(self.entry(write.entry))
        if isinstance(write, UsageInsert):
            return UsageInsert(self.row(write.row))
        if isinstance(write, ValueSet | ListAppend):
            return type(write)(self.address(write.address), self.value(write.value))
        if isinstance(write, ValueDelete | ListDelete):
            return replace(write, address=self.address(write.address))
        return write


class LeafRewritingStorage(RewritingStorage):
    """Gives every value that is neither a plain dict nor a plain list to `leaf`, wherever it stands."""

    def leaf(self, value: Any) -> Any:
        return value

    def entry(self, entry: Any) -> Any:
        return rewritten(entry, self.leaf)

    def row(self, row: Any) -> Any:
        return rewritten(row, self.leaf)

    def value(self, value: Any) -> Any:
        return rewritten(value, self.leaf)


def rewritten(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """The value with `leaf` applied to all that is neither a plain dict nor a plain list."""
    if type(value) is dict:
        return {name: rewritten(member, leaf) for name, member in value.items()}
    if type(value) is list:
        return [rewritten(member, leaf) for member in value]
    return leaf(value)
