"""Mutants of the suite `fork_tree`."""

from __future__ import annotations

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from forkstore.contract.forks import ForkOptions, TreeFork
from forkstore.state import SessionState, TextRecord
from tests.mutants.catalogue import Mutant
from tests.mutants.states import applications, put, tip_of, value_at, with_entries


class _TreeLie(Mutant):
    """Base of lies about a tree fork when it is made."""

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, TreeFork):
            self.spoil(source, destination)
        return destination, count

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        """The lie."""


class OnlyReachableEntriesAreCopied(_TreeLie):
    """Lie: a tree fork takes the paths of the tips."""

    kills = "S-FORK-TREE-01"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        tips = [tip_of(source, branch) for branch in source.scalars.get(BRANCH_TIP, {})]
        reached = {entry.id for tip in tips for entry in source.path(tip)}
        with_entries(destination, [entry for entry in source.entry_order if entry.id in reached])


class NullTipsAreLeftOut(_TreeLie):
    """Lie: branches with a null tip are not copied."""

    kills = "S-FORK-TREE-02"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        tips = destination.scalars.get(BRANCH_TIP, {})
        for branch in [branch for branch in tips if tip_of(source, branch) is None]:
            del tips[branch]


class TipsThatNameNoEntryBecomeNull(_TreeLie):
    """Lie: a tip that names no entry is repaired."""

    kills = "S-FORK-TREE-02"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for branch in destination.scalars.get(BRANCH_TIP, {}):
            if tip_of(source, branch) not in list(source.entries):
                put(destination, BRANCH_TIP, branch, None)


class LaneStatesAreCopied(_TreeLie):
    """Lie: a tree fork keeps the state of every lane."""

    kills = "S-FORK-TREE-03"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for branch in destination.scalars.get(LANE_STATE, {}):
            put(destination, LANE_STATE, branch, value_at(source, LANE_STATE, branch))


class ConfigurationsAreRebuilt(_TreeLie):
    """Lie: the members of a configuration are put into their usual order."""

    kills = "S-FORK-TREE-03"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for branch in destination.scalars.get(LANE_CONFIG, {}):
            config = value_at(source, LANE_CONFIG, branch)
            if isinstance(config, dict):
                put(destination, LANE_CONFIG, branch, dict(sorted(config.items())))


class LanesWithoutATipAreDropped(_TreeLie):
    """Lie: configuration and state without a tip are taken for leftovers."""

    kills = "S-FORK-TREE-04"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for namespace in (LANE_CONFIG, LANE_STATE):
            rows = destination.scalars.get(namespace, {})
            for branch in [branch for branch in rows if source.scalar(BRANCH_TIP, branch) is None]:
                del rows[branch]


class EveryConfiguredBranchGetsAState(_TreeLie):
    """Lie: a missing state is made up beside a configuration."""

    kills = "S-FORK-TREE-04"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for branch in list(destination.scalars.get(LANE_CONFIG, {})):
            if destination.scalar(LANE_STATE, branch) is None:
                put(destination, LANE_STATE, branch, value_at(destination, LANE_STATE, "main"))


class DataOnlyBranchesAreDropped(_TreeLie):
    """Lie: a branch with a tip alone is not copied."""

    kills = "S-FORK-TREE-05"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        tips = destination.scalars.get(BRANCH_TIP, {})
        for branch in [branch for branch in tips if source.scalar(LANE_CONFIG, branch) is None]:
            del tips[branch]


class NullScalarsAreLeftOut(_TreeLie):
    """Lie: application scalars that hold null are not copied."""

    kills = "S-FORK-TREE-06"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for namespace in applications(destination.scalars):
            rows = destination.scalars[namespace]
            destination.scalars[namespace] = {key: row for key, row in rows.items() if row.text != b"null"}


class TheEmptyKeyIsLeftOut(_TreeLie):
    """Lie: application scalars with an empty key are not copied."""

    kills = "S-FORK-TREE-06"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for namespace in applications(destination.scalars):
            destination.scalars[namespace].pop("", None)


class ListsStopAtTenThousand(_TreeLie):
    """Lie: lists are read through one page of 10,000 elements."""

    kills = "S-FORK-TREE-07"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for keys in destination.lists.values():
            for elements in keys.values():
                del elements[10_000:]


class ListsBeginAtTheirNewestElements(_TreeLie):
    """Lie: the elements of a list are copied newest first."""

    kills = "S-FORK-TREE-07"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        for keys in destination.lists.values():
            for key, elements in keys.items():
                texts = [record.text for record in reversed(elements)]
                keys[key] = [TextRecord(one.seq, text) for one, text in zip(elements, texts, strict=True)]


class AnEmptySessionGetsABranch(_TreeLie):
    """Lie: the fork of a session without branches gets a branch `main`."""

    kills = "S-FORK-TREE-08"

    def spoil(self, source: SessionState, destination: SessionState) -> None:
        if not source.scalars.get(BRANCH_TIP):
            put(destination, BRANCH_TIP, "main", None)


class HigherPlanesAreNoNamespaces(Mutant):
    """Lie: scalars in namespaces with letters beyond 16 bits are not copied."""

    kills = "S-FORK-TREE-06"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for namespace in [name for name in destination.scalars if max(name) > "\uffff"]:
            del destination.scalars[namespace]
        return destination, count
