"""Small tools for lies about forks: a source that may be changed, and rows to change it with."""

from __future__ import annotations

from collections.abc import Iterable

from forkstore.contract.addresses import BRANCH_TIP, Kind, is_reserved
from forkstore.contract.codec import decode, encode
from forkstore.contract.records import Json
from forkstore.state import EntryRecord, SessionState, TextRecord


def copy_of(state: SessionState) -> SessionState:
    """The same data in containers of its own."""
    copied = SessionState()
    copied.scalars = {namespace: dict(keys) for namespace, keys in state.scalars.items()}
    copied.lists = {
        namespace: {key: list(elements) for key, elements in keys.items()} for namespace, keys in state.lists.items()
    }
    copied.usage_rows, copied.usage = dict(state.usage_rows), state.usage
    copied.next_seq = state.next_seq
    return with_entries(copied, state.entry_order)


def with_entries(state: SessionState, entries: Iterable[EntryRecord]) -> SessionState:
    """The state, holding these entries and no others."""
    state.entry_order = list(entries)
    state.entries = {entry.id: entry for entry in state.entry_order}
    state.message_count = sum(entry.type == "message" for entry in state.entry_order)
    return state


def put(state: SessionState, namespace: str, key: str, value: Json, seq: int | None = None) -> None:
    """Sets a scalar; with the sequence of the row it replaces, if it replaces one."""
    old = state.scalar(namespace, key)
    number = seq or (old.seq if old else state.next_seq)
    state.next_seq = max(state.next_seq, number + 1)
    state.scalars.setdefault(namespace, {})[key] = TextRecord(number, encode(value, "a lie"))


def value_at(state: SessionState, namespace: str, key: str) -> Json:
    """The value of a scalar; None when there is none."""
    row = state.scalar(namespace, key)
    return None if row is None else decode(row.text)


def tip_of(state: SessionState, branch: str) -> Json:
    """The value of a branch's tip."""
    return value_at(state, BRANCH_TIP, branch)


def without(state: SessionState, namespaces: Iterable[str], *kinds: Kind) -> SessionState:
    """A copy without the rows of these namespaces, of these kinds."""
    copied = copy_of(state)
    for namespace in list(namespaces):
        if "value" in kinds:
            copied.scalars.pop(namespace, None)
        if "list" in kinds:
            copied.lists.pop(namespace, None)
    return copied


def applications(names: Iterable[str]) -> list[str]:
    """Those of the namespaces that are not reserved."""
    return [name for name in names if not is_reserved(name)]
