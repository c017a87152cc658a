"""Strategies of valid transactions, and of whole sessions of them (spec section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from forkgen.content import THINKING_LEVELS, busy_state, idle_state, lane_configuration
from forkgen.plan import Transaction
from forkstore.contract.addresses import (
    BRANCH_TIP,
    Address,
    Kind,
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    operation_result,
    session_name,
)
from forkstore.contract.records import Json
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

from .names import WORK, Reserved, addresses, keys, texts, undeclared_addresses
from .records import draw_new_entry, draw_usage_row
from .sharing import built_once
from .state import State
from .values import json_values

MOST_STEPS: Final = 6
"""Steps of a transaction; a step is one write or a few that belong together."""


def transactions(
    state: State | None = None, *, reserved: Reserved = "declared", max_steps: int = MOST_STEPS
) -> SearchStrategy[Transaction]:
    """Transactions that a session in this state, or a fresh one, takes: all six writes, parents that are stored or
    earlier in the same commit, ids that are fresh, deletes of what is not there, writes that undo each other.

    `reserved` says where rows are made: in application namespaces only, also in those that a fork has a rule for, or
    anywhere, which fails forks. Deletes go everywhere. Raises ValueError for another word.

    >>> find(transactions(), lambda writes: True)
    []
    >>> find(transactions(), lambda writes: writes)
    [ValueSet(address=Address(namespace='app', key='', kind='value'), value=None)]
    """
    addresses(reserved=reserved)
    return _transactions(state or State(), reserved, max_steps)


def sessions(
    *, reserved: Reserved = "declared", max_transactions: int = 6, max_steps: int = MOST_STEPS
) -> SearchStrategy[list[Transaction]]:
    """Lists of transactions that a fresh session takes one after the other. Raises ValueError as `transactions` does.

    >>> find(sessions(), lambda session: True)
    []
    """
    addresses(reserved=reserved)
    return _sessions(reserved, max_transactions, max_steps)


@st.composite
def _transactions(draw: DrawFn, state: State, reserved: Reserved, max_steps: int) -> Transaction:
    writes: Transaction = []
    steps = st.sampled_from(_STEPS[reserved])
    for _ in range(draw(st.integers(0, max_steps))):
        step = draw(steps)(draw, state)
        state = state.after(step)
        writes += step
    return writes


@st.composite
def _sessions(draw: DrawFn, reserved: Reserved, max_transactions: int, max_steps: int) -> list[Transaction]:
    state, session = State(), []
    for _ in range(draw(st.integers(0, max_transactions))):
        writes = draw(_transactions(state, reserved, max_steps))
        state = state.after(writes)
        session.append(writes)
    return session


def _set(draw: DrawFn, state: State) -> Transaction:
    return [ValueSet(_place(draw, state, "value"), draw(json_values()))]


def _listed(draw: DrawFn, state: State) -> Transaction:
    return [ListAppend(_place(draw, state, "list"), draw(json_values()))]


def _place(draw: DrawFn, state: State, kind: Kind) -> Address:
    """Where nothing is yet, or something; tips are moved by steps that know what a tip is."""
    known = [address for address in state.live if address.kind == kind and address.namespace != BRANCH_TIP]
    anywhere = addresses(kind)
    there = bool(known) and draw(st.booleans())
    return draw(st.sampled_from(known) if there else anywhere)


def _inserted(draw: DrawFn, state: State) -> Transaction:
    return [EntryInsert(draw_new_entry(draw, _newest_first(state), state.used_ids))]


def _newest_first(state: State) -> list[str]:
    return [*state.parents][::-1]


def _spent(draw: DrawFn, state: State) -> Transaction:
    return [UsageInsert(draw_usage_row(draw, [*state.parents], state.used_ids))]


def _deleted(draw: DrawFn, state: State) -> Transaction:
    """A delete of what is not there, or of what is."""
    anywhere = addresses(reserved="any")
    there = bool(state.live) and draw(st.booleans())
    return [_delete(draw(st.sampled_from(state.live) if there else anywhere))]


def _delete(address: Address) -> Write:
    return ValueDelete(address) if address.kind == "value" else ListDelete(address)


def _churn(draw: DrawFn, _: State) -> Transaction:
    """Writes of one commit that undo each other (S-TXN-08): the last set wins, appends after a delete start afresh."""
    address = draw(addresses())
    made: Transaction = [_row(address, value) for value in draw(_several_values())]
    return [*made, _delete(address), *(made[:1] if draw(st.booleans()) else [])]


@built_once
def _several_values() -> SearchStrategy[list[Json]]:
    return st.lists(json_values(1), min_size=1, max_size=3)


def _branch(draw: DrawFn, state: State) -> str:
    """The name of a branch, there or not."""
    if draw(st.booleans()):
        return draw(keys())
    return draw(st.sampled_from((*state.branches, "main")))


def _appended(draw: DrawFn, state: State) -> Transaction:
    """An entry below the tip of a branch, and the tip moved to it; on a new branch a root."""
    branch, entry = _branch(draw, state), draw_new_entry(draw, (), state.used_ids)
    tip = state.tips.get(branch)
    parent = tip if isinstance(tip, str) and tip in state.parents else None
    return [EntryInsert(entry | {"parentId": parent}), ValueSet(branch_tip(branch), entry["id"])]


def _lane(draw: DrawFn, state: State) -> Transaction:
    """A branch made a lane, or its configuration or state set alone."""
    branch = _branch(draw, state)
    configuration = lane_configuration("garden", "m", draw(st.sampled_from(THINKING_LEVELS)))
    waiting = [draw(st.sampled_from(("later", *state.parents)))] if draw(st.booleans()) else []
    lane: Transaction = [
        ValueSet(branch_tip(branch), state.tips.get(branch)),
        ValueSet(lane_config(branch), configuration),
        ValueSet(lane_state(branch), busy_state("operation", None, waiting) if waiting else idle_state()),
    ]
    first, end = draw(st.sampled_from(((0, 3), (1, 2), (2, 3))))
    return lane[first:end]


def _tip(draw: DrawFn, state: State) -> Transaction:
    """A branch made or its tip moved: to null, to any entry, now and then to an entry that is not there."""
    tip = draw(st.sampled_from((None, *_newest_first(state), "no such entry")))
    return [ValueSet(branch_tip(_branch(draw, state)), tip)]


def _labelled(draw: DrawFn, state: State) -> Transaction:
    """A label, of an entry or of nothing, or the name of the session."""
    labelled = [entry_label(entry_id) for entry_id in state.parents if "\0" not in entry_id]
    address = draw(st.sampled_from((session_name(), *labelled, entry_label("no such entry"))))
    return [ValueSet(address, draw(texts()))]


def _worked(draw: DrawFn, _: State) -> Transaction:
    """A row that no fork takes along: of an operation or pending work, or a result."""
    kind = draw(st.sampled_from(_KINDS_OF_ROWS))
    address = Address(draw(st.sampled_from(WORK)), draw(keys()), kind)
    if kind == "value" and draw(st.booleans()):
        address = operation_result(address.key)
    return [_row(address, draw(json_values(2)))]


def _undeclared(draw: DrawFn, _: State) -> Transaction:
    """A row that fails every fork."""
    kind = draw(st.sampled_from(_KINDS_OF_ROWS))
    return [_row(draw(undeclared_addresses(kind)), draw(json_values(1)))]


def _row(address: Address, value: Json) -> Write:
    return ValueSet(address, value) if address.kind == "value" else ListAppend(address, value)


_KINDS_OF_ROWS: Final[tuple[Kind, ...]] = ("value", "list")
_PLAIN: Final = (_set, _listed, _inserted, _spent, _deleted, _churn)
_DECLARED: Final = (_appended, _lane, _tip, _labelled, _worked)
_STEPS: Final[Mapping[Reserved, Sequence[Callable[[DrawFn, State], Transaction]]]] = {
    "none": _PLAIN,
    "declared": (*_PLAIN, *_DECLARED),
    "any": (*_PLAIN, *_DECLARED, _undeclared),
}
"""What may come next, plain steps first."""
