"""What a fork copies: the closed classifier, the branch selection, and the driver that streams rows through both.

The only code that knows a namespace's fate (spec sections 14, 16 and 17). `classify` is one closed switch; there is
no registry, hook, rule language or opt-in per address (S-FORK-CLS-09). A backend decides how it finds rows and
membership; which rows reach the destination, and as what, is decided here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, assert_never

from . import addresses
from .addresses import BRANCH_TIP, LANE_STATE, Kind
from .codec import encode
from .errors import DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace, UnknownBranch
from .forks import BranchFork, TreeFork
from .records import Json

IDLE_LANE_STATE: Final = encode({"currentOperationId": None, "lastOperationId": None, "inbox": []}, "idle lane state")
"""JSON text of the state that every forked lane starts with, in the contract's key order (spec section 4.2)."""


class Action(enum.Enum):
    """What a fork does with a row."""

    COPY = enum.auto()
    COPY_WITH_ENTRY = enum.auto()
    TIP = enum.auto()
    CONFIG = enum.auto()
    STATE = enum.auto()
    APPLICATION = enum.auto()
    DROP = enum.auto()
    FAIL = enum.auto()


def classify(namespace: str, kind: Kind) -> Action:
    """The action for a current row, by the table of section 16; the namespace is compared as a whole, with case.

    Keeps S-FORK-CLS-01 and S-FORK-CLS-03 to S-FORK-CLS-08.
    """
    if not addresses.is_reserved(namespace):
        return Action.APPLICATION
    if namespace.startswith(("pi.op.", "pi.pending.")):
        return Action.DROP
    if kind == "list":
        return Action.FAIL
    match namespace:
        case addresses.SESSION_NAME:
            return Action.COPY
        case addresses.ENTRY_LABEL:
            return Action.COPY_WITH_ENTRY
        case addresses.BRANCH_TIP:
            return Action.TIP
        case addresses.LANE_CONFIG:
            return Action.CONFIG
        case addresses.LANE_STATE:
            return Action.STATE
        case addresses.OPERATION_RESULT:
            return Action.DROP
        case _:
            return Action.FAIL


class Fetch(enum.Enum):
    """What a backend that filters in its query fetches of a namespace."""

    NOTHING = enum.auto()
    ROW_OF_BRANCH = enum.auto()
    """The row whose key is the branch."""
    EVERYTHING = enum.auto()


def to_fetch(namespace: str, kind: Kind, *, of_branch: bool) -> Fetch:
    """So much that nothing is left out which `ForkDriver.take` would copy, in branch scope or in tree scope.

    Raises UndeclaredNamespace where `take` would. Keeps S-SQL-FORK-09.
    """
    match classify(namespace, kind):
        case Action.FAIL:
            raise UndeclaredNamespace(namespace, kind)
        case Action.DROP:
            return Fetch.NOTHING
        case Action.TIP | Action.CONFIG | Action.STATE if of_branch:
            return Fetch.ROW_OF_BRANCH
        case Action.APPLICATION if of_branch:
            return Fetch.NOTHING
        case _:
            return Fetch.EVERYTHING


@dataclass(frozen=True, slots=True)
class SelectedBranch:
    """A branch fork after selection: the branch, the tip its fork gets, and the entries that belong to it.

    `tip` is the selected tip: an entry id or null. (A tip row whose content is neither is copied as it is:
    S-FORK-BR-03.)
    """

    branch: str
    tip: Json


def check_lane(branch: str, *, tip: bool, config: bool, state: bool) -> None:
    """Refuses a branch fork by the presence of the lane's rows, whatever they hold (S-FORK-BR-01 to S-FORK-BR-03).

    Raises UnknownBranch before DataOnlyBranch.
    """
    if not tip:
        raise UnknownBranch(branch)
    if not (config and state):
        raise DataOnlyBranch(branch)


def select_branch(
    options: BranchFork,
    tip: Json,
    is_ancestor: Callable[[str, Json], bool],
    parent_of: Callable[[Json], str | None],
) -> SelectedBranch:
    """The selected tip of a branch fork, from the value of the branch's current tip (spec section 14).

    `is_ancestor(entry_id, tip)` says whether the entry is an ancestor of the tip; `parent_of(entry_id)` gives an
    entry's parent, and None for a root and for what names no entry. Raises EntryNotOnBranch. Keeps S-FORK-BR-04 to
    S-FORK-BR-08.
    """
    fork_point = tip if options.entry_id is None else options.entry_id
    if fork_point != tip and not is_ancestor(fork_point, tip):
        raise EntryNotOnBranch(fork_point, options.branch)
    return SelectedBranch(options.branch, fork_point if options.position == "at" else parent_of(fork_point))


class ForkRow(NamedTuple):
    """A current scalar or one surviving list element, as a source holds it and as a destination gets it.

    `text` is the JSON text, copied and never re-encoded (S-FORK-DST-05); `seq` is the row's sequence in the source.
    """

    namespace: str
    key: str
    kind: Kind
    seq: int
    text: bytes


class ForkDriver:
    """Streams the rows of a source through the classifier, one at a time (S-FORK-CLS-11).

    `take` gives the destination writes of one row, at its place, so that a destination in source order rises in
    sequence. `is_member` says whether the fork copies an entry. A backend may leave the lane rows of a branch fork
    out of its stream, since selection has looked at them; it then ends with `finish`, which gives the tip and the
    idle state that no `take` has given.
    """

    def __init__(self, selection: SelectedBranch | TreeFork, is_member: Callable[[str], bool]) -> None:
        self._selection = selection
        self._is_member = is_member
        self._due = {BRANCH_TIP, LANE_STATE} if isinstance(selection, SelectedBranch) else set()

    def take(self, row: ForkRow) -> tuple[ForkRow, ...]:
        """The destination writes of one row, none or one.

        Raises UndeclaredNamespace (S-FORK-CLS-04 to S-FORK-CLS-06).
        """
        action = classify(row.namespace, row.kind)
        match action:
            case Action.COPY:
                return (row,)
            case Action.COPY_WITH_ENTRY:
                return (row,) if self._is_member(row.key) else ()
            case Action.TIP | Action.CONFIG | Action.STATE:
                return self._lane_row(row, action)
            case Action.APPLICATION:
                return () if isinstance(self._selection, SelectedBranch) else (row,)
            case Action.DROP:
                return ()
            case Action.FAIL:
                raise UndeclaredNamespace(row.namespace, row.kind)
        assert_never(action)

    def _lane_row(self, row: ForkRow, action: Action) -> tuple[ForkRow, ...]:
        if isinstance(self._selection, SelectedBranch):
            if row.key != self._selection.branch:
                return ()
            self._due.discard(row.namespace)
            if action is Action.TIP:
                return (row._replace(text=encode(self._selection.tip, "tip")),)
        if action is Action.STATE:
            return (row._replace(text=IDLE_LANE_STATE),)
        return (row,)

    def finish(self) -> tuple[ForkRow, ...]:
        """The tip and the idle state of a branch fork that no `take` has given; `seq` 0 leaves the number to the
        backend.
        """
        if not isinstance(self._selection, SelectedBranch):
            return ()
        texts = {BRANCH_TIP: encode(self._selection.tip, "tip"), LANE_STATE: IDLE_LANE_STATE}
        due, self._due = sorted(self._due), set()
        return tuple(ForkRow(namespace, self._selection.branch, "value", 0, texts[namespace]) for namespace in due)
