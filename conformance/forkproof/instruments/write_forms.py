"""Writes as plain JSON values, so that an order to another process can carry them."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

_ON_ADDRESSES: dict[str, Any] = {one.__name__: one for one in (ValueSet, ValueDelete, ListAppend, ListDelete)}


def form_of(write: Write) -> list[Any]:
    """The form of a write: the name of its class, then what it is made of.

    >>> form_of(ListDelete(list_address("garden", "beds")))
    ['ListDelete', 'garden', 'beds', 'list']
    """
    if isinstance(write, EntryInsert):
        return ["EntryInsert", write.entry]
    if isinstance(write, UsageInsert):
        return ["UsageInsert", write.row]
    value = [write.value] if isinstance(write, ValueSet | ListAppend) else []
    return [type(write).__name__, write.address.namespace, write.address.key, write.address.kind, *value]


def write_of(form: list[Any]) -> Write:
    """The write of a form."""
    name, *parts = form
    if name == "EntryInsert":
        return EntryInsert(*parts)
    if name == "UsageInsert":
        return UsageInsert(*parts)
    namespace, key, kind, *value = parts
    made: Write = _ON_ADDRESSES[name](Address(namespace, key, kind), *value)
    return made
