"""Mutants of the suite `fork_branch`."""

from __future__ import annotations

from dataclasses import replace

from forkstore.contract.addresses import BRANCH_TIP, LANE_CONFIG, LANE_STATE
from forkstore.contract.errors import DataOnlyBranch, EntryNotOnBranch, SessionInUse
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import copy_of, put, tip_of, value_at, with_entries


class AnUnknownBranchIsMain(Mutant):
    """Lie: a branch that is not there is taken for `main`."""

    kills = "S-FORK-BR-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and source.scalar(BRANCH_TIP, options.branch) is None:
            options = replace(options, branch="main", entry_id=None)
        return super().fork_state(source, options)


class BranchNamesAreTrimmed(Mutant):
    """Lie: blanks around the name of a branch are removed."""

    kills = "S-FORK-BR-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            options = replace(options, branch=options.branch.strip())
        return super().fork_state(source, options)


class ALaneWithoutATipHasANullTip(Mutant):
    """Lie: a lane is found by its configuration and its state; a missing tip counts as null."""

    kills = "S-FORK-BR-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and source.scalar(LANE_CONFIG, options.branch) is not None:
            source = copy_of(source)
            put(source, BRANCH_TIP, options.branch, tip_of(source, options.branch))
            options = replace(options, entry_id=tip_of(source, options.branch) and options.entry_id)
        return super().fork_state(source, options)


class AStateIsNotNeeded(Mutant):
    """Lie: a branch with a configuration can be forked though it has no state."""

    kills = "S-FORK-BR-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and source.scalar(LANE_STATE, options.branch) is None:
            source = copy_of(source)
            put(source, LANE_STATE, options.branch, None)
        return super().fork_state(source, options)


class AConfigurationIsTakenFromElsewhere(Mutant):
    """Lie: a branch without a configuration gets that of another lane."""

    kills = "S-FORK-BR-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and source.scalar(LANE_CONFIG, options.branch) is None:
            source = copy_of(source)
            put(source, LANE_CONFIG, options.branch, value_at(source, LANE_CONFIG, "main"))
        return super().fork_state(source, options)


class ANullConfigurationIsMissing(Mutant):
    """Lie: a configuration or state that holds null counts as missing."""

    kills = "S-FORK-BR-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and source.scalar(BRANCH_TIP, options.branch) is not None:
            for namespace in (LANE_CONFIG, LANE_STATE):
                if value_at(source, namespace, options.branch) is None:
                    raise DataOnlyBranch(options.branch)
        return super().fork_state(source, options)


class ATipThatNamesNoEntryIsRefused(Mutant):
    """Lie: the tip has to name an entry."""

    kills = "S-FORK-BR-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            tip = tip_of(source, options.branch)
            if isinstance(tip, str) and tip not in source.entries:
                raise EntryNotOnBranch(tip, options.branch)
        return super().fork_state(source, options)


class ATipThatNamesNoEntryBecomesNull(Mutant):
    """Lie: a tip that names no entry is repaired in the fork."""

    kills = "S-FORK-BR-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and tip_of(destination, options.branch) not in list(source.entries):
            put(destination, BRANCH_TIP, options.branch, None)
        return destination, count


class AllLanesAreAudited(Mutant):
    """Lie: a branch fork fails when any lane has no configuration or a broken one."""

    kills = "S-FORK-BR-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        for lane in source.scalars.get(LANE_STATE, {}):
            if lane != getattr(options, "branch", lane) and not value_at(source, LANE_CONFIG, lane):
                raise DataOnlyBranch(lane)
        return super().fork_state(source, options)


class EverythingWrittenBeforeTheTipIsTaken(Mutant):
    """Lie: a branch fork takes the entries whose sequence is at most that of the tip."""

    kills = "S-FORK-BR-09"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and destination.entry_order:
            newest = destination.entry_order[-1].seq
            with_entries(destination, [entry for entry in source.entry_order if entry.seq <= newest])
        return destination, count


class ChildrenOfThePathAreTaken(Mutant):
    """Lie: entries whose parent is on the path come along."""

    kills = "S-FORK-BR-09"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        path = set(destination.entries)
        if isinstance(options, BranchFork) and path:
            kept = [entry for entry in source.entry_order if entry.id in path or entry.parent_id in path]
            with_entries(destination, kept)
        return destination, count


class BusyLanesAreRefused(Mutant):
    """Lie: a lane with an open operation cannot be forked."""

    kills = "S-FORK-BR-10"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            state = value_at(source, LANE_STATE, options.branch)
            if isinstance(state, dict) and state.get("currentOperationId") is not None:
                raise SessionInUse(options.branch)
        return super().fork_state(source, options)


class TheInboxComesAlong(Mutant):
    """Lie: the operation ends with the fork, but the waiting inbox items are copied."""

    kills = "S-FORK-BR-10"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork):
            state = value_at(source, LANE_STATE, options.branch)
            inbox = state.get("inbox", []) if isinstance(state, dict) else []
            idle = {"currentOperationId": None, "lastOperationId": None, "inbox": inbox}
            put(destination, LANE_STATE, options.branch, idle)
        return destination, count
