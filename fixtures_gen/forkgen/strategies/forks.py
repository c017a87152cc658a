"""Strategies of fork options: valid ones with what they select, and ones that are refused (spec sections 13 to 20)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from forkstore.contract.errors import (
    DataOnlyBranch,
    EntryNotOnBranch,
    InvalidForkOptions,
    InvalidSessionId,
    SessionExists,
    SessionStoreError,
    UndeclaredNamespace,
    UnknownBranch,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

from .names import draw_fresh_id, keys, session_ids, texts
from .sharing import built_once
from .state import State
from .values import broken_texts

_POSITIONS: Final = ("at", "before")


@dataclass(frozen=True)
class ValidFork:
    """Options of a fork that succeeds, and the state of its destination: the entries, the tips, what is live."""

    options: ForkOptions
    selects: State


@dataclass(frozen=True)
class InvalidFork:
    """Options of a fork that is refused: the class of the error and what it must carry, and the clause that asks for
    it. Nothing else is wrong with the fork, or what is comes behind by the contract's own order.
    """

    options: Any
    error: type[SessionStoreError]
    clause: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def fork_options(state: State, *, taken: Collection[str] = ()) -> SearchStrategy[ValidFork]:
    """Forks of a session in this state that succeed, in both scopes; the destination's id is none of `taken`.

    Nothing at all while a live row makes every fork fail: ask `state.undeclared` first.

    >>> find(fork_options(State()), lambda fork: True)
    ValidFork(options=TreeFork(id=None), selects=State(parents={}, usage_ids=(), tips={}, live=()))
    """
    if state.undeclared:
        return st.nothing()
    return _valid_options(state, taken).map(lambda options: ValidFork(options, state.forked(options)))


def invalid_fork_options(state: State, *, taken: Collection[str] = ()) -> SearchStrategy[InvalidFork]:
    """Forks of a session in this state that are refused, for every reason of section 20.1 that options and the state
    of the source can give. `taken` are the ids of existing sessions, the source's own too.

    >>> find(invalid_fork_options(State()), lambda fork: fork.error is UnknownBranch).options
    BranchFork(branch='', entry_id=None, position='at', id=None)
    >>> find(invalid_fork_options(State(), taken=["source"]), lambda fork: fork.error is SessionExists).options
    TreeFork(id='source')
    """
    if state.undeclared:
        return st.one_of(_malformed(), _undeclared(state, taken))
    refused = [_malformed(), _unknown_branches(state), _unusable_ids(state, taken)]
    if state.data_only:
        refused.append(_data_only(state))
    if _forkable(state):
        refused.append(_off_the_branch(state))
    return st.one_of(refused)


def _valid_options(state: State, taken: Collection[str] = ()) -> SearchStrategy[ForkOptions]:
    ids = st.one_of(st.none(), session_ids(taken))
    trees: SearchStrategy[ForkOptions] = st.builds(TreeFork, ids)
    lanes = _forkable(state)
    if not lanes:
        return trees

    def points(branch: str) -> SearchStrategy[ForkOptions]:
        tip = state.tips[branch]
        entries = dict.fromkeys((None, tip, *state.path(branch)))
        return st.builds(BranchFork, st.just(branch), st.sampled_from([*entries]), st.sampled_from(_POSITIONS), ids)

    return st.one_of(trees, st.sampled_from(lanes).flatmap(points))


def _forkable(state: State) -> list[str]:
    """The lanes whose tip is an entry id or null; of other tips no fork point can be told."""
    return [name for name in state.lanes if state.tips[name] is None or isinstance(state.tips[name], str)]


@built_once
def _malformed() -> SearchStrategy[InvalidFork]:
    """What is no fork options at all, and options with a field of the wrong type, also the wire form (S-FORK-OPT-01,
    S-FORK-OPT-03). Whatever else they name, they are refused first (S-FORK-OPT-04).
    """
    others: list[Any] = [None, 0, "tree", (), TreeFork, {"scope": "tree"}, {"scope": "branch", "branch": "main"}]
    wrong: SearchStrategy[Any] = st.sampled_from((0, True, 1.5, b"main", ("main",), ["main"]))
    positions: SearchStrategy[Any] = st.one_of(wrong, st.sampled_from((None, "", "AT", "after", "before ")))
    fields: SearchStrategy[Any] = st.one_of(
        st.builds(TreeFork, wrong),
        st.builds(BranchFork, st.one_of(st.none(), wrong)),
        st.builds(BranchFork, keys(), entry_id=wrong),
        st.builds(BranchFork, keys(), position=positions),
        st.builds(BranchFork, keys(), id=wrong),
    )
    return st.one_of(
        st.sampled_from(others).map(lambda other: InvalidFork(other, InvalidForkOptions, "S-FORK-OPT-01")),
        fields.map(lambda options: InvalidFork(options, InvalidForkOptions, "S-FORK-OPT-03")),
    )


def _unusable_ids(state: State, taken: Collection[str]) -> SearchStrategy[InvalidFork]:
    """A destination id that no session can have (S-REPO-04), or that one has (S-OWN-04, S-OWN-12)."""
    long = st.integers(201, 400).map(lambda length: "a" * length)
    bad = st.one_of(st.sampled_from(("\ud800", "fork\udfff")), long, broken_texts())
    refused = st.builds(_with_id, _valid_options(state), bad).map(_refused_id)
    if not taken:
        return refused
    used = st.builds(_with_id, _valid_options(state), st.sampled_from(sorted(taken)))
    return st.one_of(used.map(_refused_as_taken), refused)


def _with_id(options: ForkOptions, id: str) -> ForkOptions:
    if isinstance(options, BranchFork):
        return BranchFork(options.branch, options.entry_id, options.position, id)
    return TreeFork(id)


def _refused_id(options: ForkOptions) -> InvalidFork:
    return InvalidFork(options, InvalidSessionId, "S-REPO-04", {"session_id": options.id or ""})


def _refused_as_taken(options: ForkOptions) -> InvalidFork:
    return InvalidFork(options, SessionExists, "S-OWN-04", {"session_id": options.id or ""})


def _unknown_branches(state: State) -> SearchStrategy[InvalidFork]:
    """A name without a tip row, the empty name included, whatever entry is asked for (S-FORK-BR-01)."""
    names = st.one_of(keys(), texts()).filter(lambda name: name not in state.tips)
    points = st.one_of(st.none(), texts())
    return st.builds(BranchFork, names, points, st.sampled_from(_POSITIONS)).map(
        lambda options: InvalidFork(options, UnknownBranch, "S-FORK-BR-01", {"name": options.branch})
    )


def _data_only(state: State) -> SearchStrategy[InvalidFork]:
    """A branch without configuration or state (S-FORK-BR-02)."""

    def points(branch: str) -> SearchStrategy[BranchFork]:
        entries = st.sampled_from((None, *state.path(branch)))
        return st.builds(BranchFork, st.just(branch), entries, st.sampled_from(_POSITIONS))

    return (
        st.sampled_from(state.data_only)
        .flatmap(points)
        .map(lambda options: InvalidFork(options, DataOnlyBranch, "S-FORK-BR-02", {"name": options.branch}))
    )


@st.composite
def _off_the_branch(draw: DrawFn, state: State) -> InvalidFork:
    """An entry that is not on the path of the branch: elsewhere, newer than the tip, a usage row, or unknown
    (S-FORK-BR-04).
    """
    branch = draw(st.sampled_from(_forkable(state)))
    on_it = {state.tips[branch], *state.path(branch)}
    off_it = [id for id in (*state.parents, *state.usage_ids) if id not in on_it]
    known = off_it and not draw(st.booleans())
    entry_id = draw(st.sampled_from(off_it)) if known else draw_fresh_id(draw, {*state.used_ids, *on_it}, "e")
    options = BranchFork(branch, entry_id, draw(st.sampled_from(_POSITIONS)))
    return InvalidFork(options, EntryNotOnBranch, "S-FORK-BR-04", {"entry_id": entry_id, "branch": branch})


def _undeclared(state: State, taken: Collection[str]) -> SearchStrategy[InvalidFork]:
    """Options that would succeed without the rows that no fork may meet; any of these rows may be named (S-FORK-CLS-04
    to S-FORK-CLS-06).
    """
    rows = {(address.namespace, address.kind) for address in state.undeclared}
    told: dict[str, str] = {}
    if len(rows) == 1:
        ((told["namespace"], told["kind"]),) = rows
    scalar = state.undeclared[0].kind == "value"
    clause = "S-FORK-CLS-04" if scalar else "S-FORK-CLS-05"
    return _valid_options(state, taken).map(lambda options: InvalidFork(options, UndeclaredNamespace, clause, told))
