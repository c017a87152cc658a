"""What a fork takes of a source in format 4: the records of the structural index that branch and classifier select.

Decided before anything is written. Payloads are not at hand then, and no decision needs one: the driver sees each row
with a stand-in for its text, and gives it back where the record is to be copied as it stands.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, compress
from typing import Final

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.policy import ForkDriver, ForkRow, SelectedBranch, check_lane, select_branch
from forkstore.contract.records import ABSENT, Json

from .index import NONE, Numbers, StructuralIndex

ELSEWHERE: Final = b""
"""The stand-in for the text of a row."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The ordinals of the records that a fork takes, rising, and the rows among them that it writes anew."""

    ordinals: Numbers
    rewritten: dict[int, ForkRow]


def select(index: StructuralIndex, options: ForkOptions) -> Selection:
    """The selection of a fork (spec sections 14 to 16).

    Raises UnknownBranch, DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace.
    """
    if isinstance(options, BranchFork):
        return _of_branch(index, options)
    return _with_rows(index, index.ordinals, ForkDriver(options, index.entries.__contains__))


def _of_branch(index: StructuralIndex, options: BranchFork) -> Selection:
    branch = _selected_branch(index, options)
    members, is_member = _path(index, branch.tip)
    if branch.tip != index.tip:
        return _with_rows(index, members, ForkDriver(branch, is_member))
    # A tip that stays is copied with its text: another writer may have made one that no commit would take.
    selection = _with_rows(index, members, ForkDriver(SelectedBranch(branch.branch, None), is_member))
    tip_ordinal, _ = index.scalars[BRANCH_TIP][branch.branch]
    del selection.rewritten[tip_ordinal]
    return selection


def _selected_branch(index: StructuralIndex, options: BranchFork) -> SelectedBranch:
    def is_ancestor(entry_id: str, tip: Json) -> bool:
        number = index.number_of(entry_id)
        return number != NONE and number in index.path(tip)

    configs, states = index.scalars.get(LANE_CONFIG, {}), index.scalars.get(LANE_STATE, {})
    check_lane(
        options.branch, tip=index.tip is not ABSENT, config=options.branch in configs, state=options.branch in states
    )
    return select_branch(options, index.tip, is_ancestor, index.parent_of)


def _path(index: StructuralIndex, tip: Json) -> tuple[Numbers, Callable[[str], bool]]:
    """The ordinals of the tip and its ancestors, and whether an entry is one of them."""
    flags = bytearray(len(index.parents))
    for number in index.path(tip):
        flags[number] = 1

    def is_member(entry_id: str) -> bool:
        number = index.number_of(entry_id)
        return number != NONE and flags[number] == 1

    return array("Q", compress(index.ordinals, flags)), is_member


def _with_rows(index: StructuralIndex, members: Numbers, driver: ForkDriver) -> Selection:
    """The members and the rows that the driver takes. It sees every lane row, so it owes nothing at the end."""
    rows: Numbers = array("Q")
    rewritten: dict[int, ForkRow] = {}
    for namespace, keys in index.scalars.items():
        for key, (ordinal, seq) in keys.items():
            for row in driver.take(ForkRow(namespace, key, "value", seq, ELSEWHERE)):
                rows.append(ordinal)
                if row.text is not ELSEWHERE:
                    rewritten[ordinal] = row
    for namespace, lists in index.lists.items():
        for key, elements in lists.items():
            # The fate of an element is that of its list, and never depends on a sequence (S-FORK-DST-03).
            if driver.take(ForkRow(namespace, key, "list", 0, ELSEWHERE)):
                rows.extend(elements)
    return Selection(array("Q", sorted(chain(members, rows))) if rows else members, rewritten)
