"""Strategies of transactions that every store refuses, each for one reason (spec sections 3.5, 5 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, SessionStoreError, UnknownParent
from forkstore.contract.records import COST_NUMBERS, USAGE_NUMBERS, Record
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet

from .names import draw_fresh_id
from .records import draw_new_entry, draw_usage_row
from .state import State
from .transactions import transactions
from .values import broken_texts, illegal_values


@dataclass(frozen=True)
class InvalidTransaction:
    """A transaction that is refused as a whole: the class of its error and what this must carry, the clause that asks
    for it, and the place of the write at fault. Nothing else is wrong with the transaction.
    """

    writes: list[Any]
    error: type[SessionStoreError]
    clause: str
    index: int
    attributes: Mapping[str, str] = field(default_factory=dict)


def invalid_transactions(state: State | None = None) -> SearchStrategy[InvalidTransaction]:
    """Transactions with one fault among valid writes: an id that is used, a parent that is not known, an address of the
    wrong kind, what is none of the six writes, a value or a record that cannot be stored.

    An assistant message that is pending is not among them: a scope refuses it, a storage takes it.

    >>> find(invalid_transactions(), lambda refused: refused.error is UnknownParent).attributes
    {'entry_id': 'e0', 'parent_id': 'e1'}
    >>> find(invalid_transactions(), lambda refused: refused.clause == "S-TXN-01").writes
    [None]
    """
    return _invalid_transactions(state or State())


@dataclass(frozen=True)
class _Fault:
    """Writes of which the one at `index` is refused; the others are valid."""

    writes: list[Any]
    index: int
    error: type[SessionStoreError]
    clause: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@st.composite
def _invalid_transactions(draw: DrawFn, state: State) -> InvalidTransaction:
    before = draw(transactions(state, max_steps=2))
    state = state.after(before)
    fault = draw(st.sampled_from(_FAULTS))(draw, state)
    # The ids of the fault are used up for what follows, or a second fault could be there.
    behind = draw(transactions(replace(state, usage_ids=(*state.usage_ids, *_ids(fault.writes))), max_steps=2))
    writes = [*before, *fault.writes, *behind]
    return InvalidTransaction(writes, fault.error, fault.clause, len(before) + fault.index, fault.attributes)


def _ids(writes: list[Any]) -> Iterator[str]:
    for write in writes:
        record = write.entry if isinstance(write, EntryInsert) else getattr(write, "row", None)
        if isinstance(record, dict) and isinstance(record.get("id"), str):
            yield record["id"]


def _invalid(clause: str, write: Any) -> _Fault:
    return _Fault([write], 0, InvalidValue, clause)


def _entry(draw: DrawFn, state: State) -> Record:
    return draw_new_entry(draw, (), state.used_ids)


def _usage_row(draw: DrawFn, state: State) -> Record:
    return draw_usage_row(draw, (), state.used_ids)


def _without(record: Record, name: str) -> Record:
    return {other: value for other, value in record.items() if other != name}


def _no_write(draw: DrawFn, _: State) -> _Fault:
    """What is none of the six writes (S-TXN-01)."""
    others: list[Any] = [None, 0, "", [], {}, (), {"entry": {}}, ValueSet, value_address("app")]
    return _invalid("S-TXN-01", draw(st.sampled_from(others)))


def _wrong_kind(draw: DrawFn, _: State) -> _Fault:
    """A list written as a scalar and a scalar as a list (S-TXN-01); also what is no address."""
    text: Any = "app"
    writes = (
        *(ValueSet(_LIST, None), ValueDelete(_LIST), ListAppend(_SCALAR, None), ListDelete(_SCALAR)),
        *(ValueSet(text, None), ListDelete(text)),
    )
    return _invalid("S-TXN-01", draw(st.sampled_from(writes)))


def _illegal_value(draw: DrawFn, state: State) -> _Fault:
    """A value that cannot be stored, wherever a payload can be."""
    place, illegal = draw(st.integers(0, 3)), draw(illegal_values())
    match place:
        case 0:
            return _invalid(illegal.clause, ValueSet(_SCALAR, illegal.value))
        case 1:
            return _invalid(illegal.clause, ListAppend(_LIST, illegal.value))
        case 2:
            return _invalid(illegal.clause, EntryInsert(_entry(draw, state) | {"x": illegal.value}))
    return _invalid(illegal.clause, UsageInsert(_usage_row(draw, state) | {"details": illegal.value}))


def _broken_id(draw: DrawFn, state: State) -> _Fault:
    """An id with a lone surrogate (S-VAL-08)."""
    broken = {"id": draw(broken_texts())}
    if draw(st.booleans()):
        return _invalid("S-VAL-08", UsageInsert(_usage_row(draw, state) | broken))
    return _invalid("S-VAL-08", EntryInsert(_entry(draw, state) | broken))


def _ill_formed_entry(draw: DrawFn, state: State) -> _Fault:
    """An entry with a structural field that is missing or wrong (S-ENT-01), or is the storage's to give (S-ENT-02)."""
    name, *wrong = draw(st.sampled_from(_WRONG_IN_ENTRIES))
    entry = _entry(draw, state)
    if name == "customType":
        entry |= {"type": "custom"}
    clause = "S-ENT-02" if name in ("seq", "timestamp") else "S-ENT-01"
    return _invalid(clause, EntryInsert(entry | {name: wrong[0]} if wrong else _without(entry, name)))


def _misplaced_custom_type(draw: DrawFn, state: State) -> _Fault:
    """A custom type on an entry of another type (S-ENT-01)."""
    entry = _entry(draw, state) | {"customType": "note", "type": draw(st.sampled_from(_OTHER_TYPES))}
    return _invalid("S-ENT-01", EntryInsert(entry))


def _ill_formed_usage_row(draw: DrawFn, state: State) -> _Fault:
    """A usage row with a structural field that is missing or wrong (S-ENT-08), or is the storage's to give
    (S-ENT-02).
    """
    name, *wrong = draw(st.sampled_from(_WRONG_IN_USAGE_ROWS))
    row = _usage_row(draw, state)
    clause = "S-ENT-02" if name == "seq" else "S-ENT-08"
    return _invalid(clause, UsageInsert(row | {name: wrong[0]} if wrong else _without(row, name)))


def _ill_formed_usage(draw: DrawFn, state: State) -> _Fault:
    """A usage row with a number that is missing or none (S-ENT-08)."""
    row = _usage_row(draw, state)
    usage, wrong = row["usage"], draw(st.sampled_from((None, True, "1", [1])))
    if draw(st.booleans()):
        name = draw(st.sampled_from(COST_NUMBERS))
        cost = _without(usage["cost"], name) if wrong is None else usage["cost"] | {name: wrong}
        return _invalid("S-ENT-08", UsageInsert(row | {"usage": usage | {"cost": cost}}))
    name = draw(st.sampled_from((*USAGE_NUMBERS, "cost") if wrong is None else (*USAGE_NUMBERS, "reasoning")))
    return _invalid(
        "S-ENT-08", UsageInsert(row | {"usage": _without(usage, name) if wrong is None else usage | {name: wrong}})
    )


def _duplicate(draw: DrawFn, state: State) -> _Fault:
    """An id that an entry or a usage row has, stored or earlier in the commit; the parent may be unknown (S-TXN-11)."""
    stored = [ids for ids in ([*state.parents], [*state.usage_ids]) if ids]
    used, before = draw(st.sampled_from(draw(st.sampled_from([*stored, [None]])))), []
    if used is None:
        first = _insert(draw, state)
        used, before = first.entry["id"] if isinstance(first, EntryInsert) else first.row["id"], [first]
    again = _insert(draw, state)
    if isinstance(again, EntryInsert):
        parent = draw(st.sampled_from((None, "no such entry")))
        again = EntryInsert(again.entry | {"id": used, "parentId": parent})
    else:
        again = UsageInsert(again.row | {"id": used})
    return _Fault([*before, again], len(before), DuplicateId, "S-TXN-11", {"id": used})


def _insert(draw: DrawFn, state: State) -> EntryInsert | UsageInsert:
    return UsageInsert(_usage_row(draw, state)) if draw(st.booleans()) else EntryInsert(_entry(draw, state))


def _unknown_parent(draw: DrawFn, state: State) -> _Fault:
    """A parent that is not there, is the entry itself, comes later in the commit, or is a usage row (S-TXN-10)."""
    entry = _entry(draw, state)
    free = draw_fresh_id(draw, {*state.used_ids, entry["id"]}, "e")
    kind = draw(st.sampled_from(("nowhere", "itself", "later", "usage row", *state.usage_ids)))
    before, behind, parent = [], [], free
    if kind == "itself":
        parent = entry["id"]
    elif kind == "later":
        behind = [EntryInsert(_entry(draw, state) | {"id": free})]
    elif kind == "usage row":
        before = [UsageInsert(_usage_row(draw, state) | {"id": free})]
    elif kind in state.usage_ids:
        parent = kind
    writes = [*before, EntryInsert(entry | {"parentId": parent}), *behind]
    told = {"entry_id": entry["id"], "parent_id": parent}
    return _Fault(writes, len(before), UnknownParent, "S-TXN-10", told)


_SCALAR: Final = value_address("app")
_LIST: Final = list_address("app")
_OTHER_TYPES: Final = ("message", "compaction", "branch_summary")
_NO_TEXT: Final[tuple[Any, ...]] = (None, 0, True, ["e0"], {})
# A field of a record and a wrong value for it; a field alone is left out.
_WRONG_IN_ENTRIES: Final[tuple[tuple[Any, ...], ...]] = (
    *(("id",), ("parentId",), ("type",), ("customType",)),
    *(("id", wrong) for wrong in _NO_TEXT),
    *(("parentId", wrong) for wrong in _NO_TEXT[1:]),
    *(("type", wrong) for wrong in (*_NO_TEXT, "", "Message", "branch-summary", "note")),
    *(("customType", wrong) for wrong in _NO_TEXT),
    *(("seq", 1), ("seq", None), ("timestamp", 0)),
)
_WRONG_IN_USAGE_ROWS: Final[tuple[tuple[Any, ...], ...]] = (
    *(("id",), ("usage",), ("adjustment",)),
    *(("id", wrong) for wrong in _NO_TEXT),
    *(("usage", wrong) for wrong in (*_NO_TEXT, "")),
    *(("entryId", wrong) for wrong in _NO_TEXT),
    *(("adjustment", wrong) for wrong in (None, 0, 1, "false")),
    *(("seq", 1), ("seq", None)),
)
_FAULTS: Final[Sequence[Callable[[DrawFn, State], _Fault]]] = (
    _no_write,
    _wrong_kind,
    _illegal_value,
    _broken_id,
    _ill_formed_entry,
    _misplaced_custom_type,
    _ill_formed_usage_row,
    _ill_formed_usage,
    _duplicate,
    _unknown_parent,
)
