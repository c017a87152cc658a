"""A small model of what a session holds: as much as decides which writes and forks are valid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from forkgen.fates import Fate, fate
from forkstore.contract.addresses import (
    BRANCH_TIP,
    Address,
    lane_config,
    lane_state,
)
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.records import Json
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write


@dataclass(frozen=True)
class State:
    """What a session holds, without its payloads: a fresh session first, then `after` each transaction.

    >>> state = State().after([EntryInsert({"id": "e0", "parentId": None, "type": "message", "message": {}})])
    >>> state = state.after([ValueSet(branch_tip("main"), "e0")])
    >>> state.branches, state.path("main"), state.data_only
    (('main',), ['e0'], ('main',))
    """

    parents: Mapping[str, str | None] = field(default_factory=dict)
    """The parent of every entry, oldest entry first."""
    usage_ids: tuple[str, ...] = ()
    tips: Mapping[str, Json] = field(default_factory=dict)
    """The tip of every branch, oldest branch first."""
    live: tuple[Address, ...] = ()
    """Where a current scalar or a list with elements is, oldest first."""

    @property
    def used_ids(self) -> frozenset[str]:
        """The ids that a new entry or usage row may not have (S-TXN-11)."""
        return frozenset((*self.parents, *self.usage_ids))

    @property
    def branches(self) -> tuple[str, ...]:
        """The names of all branches, oldest first."""
        return tuple(self.tips)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The branches with a configuration and a state, which can be forked by name (S-FORK-BR-02)."""
        return tuple(name for name in self.tips if {lane_config(name), lane_state(name)} <= {*self.live})

    @property
    def data_only(self) -> tuple[str, ...]:
        """The other branches."""
        lanes = self.lanes
        return tuple(name for name in self.tips if name not in lanes)

    @property
    def undeclared(self) -> tuple[Address, ...]:
        """The live addresses that fail every fork (spec section 16)."""
        return tuple(address for address in self.live if fate(address) is Fate.REFUSED)

    def path(self, branch: str) -> list[str]:
        """The entries from the tip of a branch to its root, newest first; none for a tip that names no entry."""
        return self._path_from(self.tips[branch])

    def after(self, writes: Iterable[Write]) -> State:
        """The state after a transaction that is valid against this one; whether it is, is not checked."""
        parents, usage_ids = dict(self.parents), [*self.usage_ids]
        live, tips = dict.fromkeys(self.live), dict(self.tips)
        for write in writes:
            match write:
                case EntryInsert(entry):
                    parents[entry["id"]] = entry["parentId"]
                case UsageInsert(row):
                    usage_ids.append(row["id"])
                case ValueSet(address, _) | ListAppend(address, _):
                    live.setdefault(address)
                case ValueDelete(address) | ListDelete(address):
                    live.pop(address, None)
            _follow_tip(tips, write)
        return State(parents, tuple(usage_ids), tips, tuple(live))

    def forked(self, options: ForkOptions) -> State:
        """The state of the destination of a valid fork (spec sections 14 to 17)."""
        if isinstance(options, BranchFork):
            tip = self.tips[options.branch] if options.entry_id is None else options.entry_id
            if options.position == "before":
                tip = self.parents.get(tip)
            members, tips, kept = {*self._path_from(tip)}, {options.branch: tip}, {Fate.KEPT}
        else:
            members, tips, kept = {*self.parents}, dict(self.tips), {Fate.KEPT, Fate.LANE, Fate.APPLICATION}

        def is_copied(address: Address) -> bool:
            match fate(address):
                case Fate.WITH_ITS_ENTRY:
                    return address.key in members
                case Fate.LANE if isinstance(options, BranchFork):
                    return address.key == options.branch
                case other:
                    return other in kept

        parents = {entry_id: parent for entry_id, parent in self.parents.items() if entry_id in members}
        return State(parents, (), tips, tuple(filter(is_copied, self.live)))

    def _path_from(self, tip: Json) -> list[str]:
        path = []
        while isinstance(tip, str) and tip in self.parents:
            path.append(tip)
            tip = self.parents[tip]
        return path


def _follow_tip(tips: dict[str, Json], write: Write) -> None:
    match write:
        case ValueSet(Address(namespace=namespace, key=branch), tip) if namespace == BRANCH_TIP:
            tips[branch] = tip
        case ValueDelete(Address(namespace=namespace, key=branch)) if namespace == BRANCH_TIP:
            tips.pop(branch, None)
