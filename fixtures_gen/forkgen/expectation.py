"""What a session must hold after a recipe, and what every fork of it must: compact, and open to checks that stream.

An expectation knows its session by functions of an index and keeps nothing per entry; a branch fork's keeps one byte
for each entry of its source. It comes from the recipe's own description of the end (`forkgen.plan`), never from
replaying the writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from forkstore.contract.addresses import (
    BRANCH_TIP,
    ENTRY_LABEL,
    LANE_CONFIG,
    LANE_STATE,
    Address,
    Kind,
    branch_tip,
    lane_config,
    lane_state,
)
from forkstore.contract.errors import DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace, UnknownBranch
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.records import Json, Record, SessionStats
from forkstore.contract.store import ListElement, ValueRow

from . import checking
from .content import idle_state
from .fates import Fate, fate
from .plan import Elements, Holdings, Scalar
from .tree import Entries, Members, ancestry
from .usage_total import summed


class Expectation:
    """What one session must hold.

    >>> expected = recipe("linear")(seed=1, size=3).expectation
    >>> list(expected.path("main"))
    ['linear-entry-00000002', 'linear-entry-00000001', 'linear-entry-00000000']
    """

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings

    @property
    def entry_count(self) -> int:
        """The number of entries."""
        return len(self._holdings.members)

    @cached_property
    def message_count(self) -> int:
        """The number of message entries (S-ENT-09); counted when it is first asked for."""
        return sum(entry["type"] == "message" for entry in self.entries())

    @cached_property
    def usage(self) -> Record:
        """The sum of the usage ledger (S-ENT-10); added up when it is first asked for."""
        return summed(self.usage_rows())

    def entry_ids(self) -> Iterator[str]:
        """The ids of all entries, in commit order."""
        return map(self._holdings.entries.id, self._holdings.members)

    def entries(self) -> Iterator[Record]:
        """All entries in commit order, without `seq` and `timestamp`, fresh objects."""
        return map(self._holdings.entries.new_entry, self._holdings.members)

    def scalars(self) -> Iterator[Scalar]:
        """The current scalars with their addresses, by namespace and then key."""
        return self._holdings.scalars()

    def lists(self) -> Iterator[Elements]:
        """The lists: address and surviving elements, oldest first; by namespace and then key."""
        return self._holdings.lists()

    def usage_rows(self) -> Iterator[Record]:
        """The usage ledger in commit order, without `seq`."""
        return self._holdings.usage_rows()

    def namespaces(self) -> list[str]:
        """Where a full check must look for scalars: all that were ever set, deleted ones and a source's included."""
        return self._holdings.namespaces()

    def touched_lists(self) -> Iterator[Address]:
        """Where a full check must look for lists, those that must be gone included."""
        return self._holdings.touched_lists()

    def labels(self) -> Iterator[tuple[str, Json]]:
        """The labels: entry id and text, by id. The entry need not exist."""
        return ((address.key, value) for address, value in self.scalars() if address.namespace == ENTRY_LABEL)

    def branches(self) -> Iterator[tuple[str, Json]]:
        """The branches: name and tip, by name."""
        return ((address.key, value) for address, value in self.scalars() if address.namespace == BRANCH_TIP)

    def value(self, address: Address) -> Json:
        """The current scalar at an address. Raises KeyError when there is none."""
        for found, value in self.scalars():
            if found == address:
                return value
        raise KeyError(address)

    def path(self, branch: str) -> Iterator[str]:
        """The ids from a branch's tip to its root, newest first; nothing when the tip names no entry.

        Raises KeyError when there is no such branch.
        """
        return self.path_from(self.value(branch_tip(branch)))

    def path_from(self, entry_id: Json) -> Iterator[str]:
        """The ids from an entry to its root, newest first; nothing when there is no such entry."""
        entries = self._holdings.entries
        return map(entries.id, ancestry(entries, self._index(entry_id)))

    def holds(self, entry_id: Json) -> bool:
        """Whether this is the id of an entry of the session."""
        return self._index(entry_id) is not None

    def undeclared(self) -> Iterator[tuple[str, Kind]]:
        """The rows that make every fork fail: namespace and kind, once a row or list."""
        for address, _ in chain[tuple[Address, object]](self.scalars(), self.lists()):
            if fate(address) is Fate.REFUSED:
                yield address.namespace, address.kind

    def fork(self, options: ForkOptions) -> Expectation:
        """What a fork with these options must hold.

        Raises the error that the fork must raise: UnknownBranch, DataOnlyBranch, EntryNotOnBranch, or
        UndeclaredNamespace, which then names one of `undeclared`.
        """
        if isinstance(options, BranchFork):
            return self.branch_fork(options.branch, options.entry_id, before=options.position == "before")
        return self.tree_fork()

    def tree_fork(self) -> Expectation:
        """What a tree fork must hold. Raises UndeclaredNamespace."""
        self._refuse_undeclared()
        return Expectation(_TreeFork(self._holdings))

    def branch_fork(self, branch: str, entry_id: str | None = None, *, before: bool = False) -> Expectation:
        """What a branch fork must hold, at an entry of the branch's path or before it; None is the tip.

        Raises UnknownBranch, DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace.
        """
        tip = self._selected_tip(branch, entry_id, before=before)
        self._refuse_undeclared()
        members = Members(self._holdings.entries, self._index(tip))
        return Expectation(_BranchFork(self._holdings, branch, tip, self.value(lane_config(branch)), members))

    def _selected_tip(self, branch: str, entry_id: str | None, *, before: bool) -> Json:
        try:
            tip = self.value(branch_tip(branch))
        except KeyError:
            raise UnknownBranch(branch) from None
        if not self._is_configured(branch):
            raise DataOnlyBranch(branch)
        point = tip if entry_id is None else entry_id
        index = self._index(point)
        if point != tip and (index is None or index not in ancestry(self._holdings.entries, self._index(tip))):
            raise EntryNotOnBranch(point, branch)
        if not before:
            return point
        parent = None if index is None else self._holdings.entries.parent(index)
        return None if parent is None else self._holdings.entries.id(parent)

    def _is_configured(self, branch: str) -> bool:
        needed = {lane_config(branch), lane_state(branch)}
        return sum(address in needed for address, _ in self.scalars()) == len(needed)

    def _index(self, entry_id: Json) -> int | None:
        index = self._holdings.entries.index_of(entry_id) if isinstance(entry_id, str) else None
        return index if index is not None and index in self._holdings.members else None

    def _refuse_undeclared(self) -> None:
        for namespace, kind in self.undeclared():
            raise UndeclaredNamespace(namespace, kind)

    def check_entries(self, stored: Iterable[Record]) -> None:
        """Checks all entries of the session, given in commit order. Raises ExpectationBroken."""
        checking.check_entries(self.entries(), stored)

    def check_values(self, rows: Iterable[ValueRow]) -> None:
        """Checks all scalars, given by namespace and then key: `scan_values` of every one of `namespaces`, in order.

        Raises ExpectationBroken.
        """
        checking.check_values(self.scalars(), rows)

    def check_list(self, address: Address, elements: Iterable[ListElement]) -> None:
        """Checks one list, given oldest first; a list that must be gone has no elements. Raises ExpectationBroken."""
        expected = next((found for place, found in self.lists() if place == address), iter(()))
        checking.check_list(address, expected, elements)

    def check_usage(self, rows: Iterable[Record]) -> None:
        """Checks the usage ledger, given in commit order. Raises ExpectationBroken."""
        checking.check_usage(self.usage_rows(), rows)

    def check_stats(self, stats: SessionStats) -> None:
        """Checks the statistics. Raises ExpectationBroken."""
        checking.check_stats(self.message_count, self.usage, stats)

    def check_path(self, branch: str, ids: Iterable[str]) -> None:
        """Checks the path of a branch, newest entry first. Raises ExpectationBroken; KeyError as `path` does."""
        checking.check_path(branch, self.path(branch), ids)


@dataclass(frozen=True)
class _TreeFork:
    """A source's holdings as a tree fork takes them."""

    source: Holdings

    @property
    def entries(self) -> Entries:
        return self.source.entries

    @property
    def members(self) -> Collection[int]:
        return self.source.members

    def scalars(self) -> Iterator[Scalar]:
        for address, value in self.source.scalars():
            match fate(address):
                case Fate.WITH_ITS_ENTRY if self.entries.index_of(address.key) not in self.members:
                    pass
                case Fate.KEPT | Fate.WITH_ITS_ENTRY | Fate.LANE | Fate.APPLICATION:
                    yield address, idle_state() if address.namespace == LANE_STATE else value

    def lists(self) -> Iterator[Elements]:
        return (found for found in self.source.lists() if fate(found[0]) is Fate.APPLICATION)

    def usage_rows(self) -> Iterator[Record]:
        return iter(())

    def namespaces(self) -> list[str]:
        return self.source.namespaces()

    def touched_lists(self) -> Iterator[Address]:
        return self.source.touched_lists()


@dataclass(frozen=True)
class _BranchFork:
    """A source's holdings as a branch fork takes them."""

    source: Holdings
    branch: str
    tip: Json
    config: Json
    members: Collection[int] = field(repr=False)

    @property
    def entries(self) -> Entries:
        return self.source.entries

    def scalars(self) -> Iterator[Scalar]:
        lane = {BRANCH_TIP: self.tip, LANE_CONFIG: self.config, LANE_STATE: idle_state()}
        for address, value in self.source.scalars():
            match fate(address):
                case Fate.KEPT:
                    yield address, value
                case Fate.WITH_ITS_ENTRY if self.entries.index_of(address.key) in self.members:
                    yield address, value
                case Fate.LANE if address.key == self.branch:
                    yield address, lane[address.namespace]

    def lists(self) -> Iterator[Elements]:
        return iter(())

    def usage_rows(self) -> Iterator[Record]:
        return iter(())

    def namespaces(self) -> list[str]:
        return self.source.namespaces()

    def touched_lists(self) -> Iterator[Address]:
        return self.source.touched_lists()
