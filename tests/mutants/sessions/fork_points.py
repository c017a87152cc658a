"""Mutants of the suite `fork_points`."""

from __future__ import annotations

from dataclasses import replace

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import copy_of, put, tip_of, with_entries


class AnyEntryIsAForkPoint(Mutant):
    """Lie: the fork point is looked for in the whole tree."""

    kills = "S-FORK-BR-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and options.entry_id in source.entries:
            source = copy_of(source)
            put(source, BRANCH_TIP, options.branch, options.entry_id)
        return super().fork_state(source, options)


class ChildrenOfTheTipAreOnTheBranch(Mutant):
    """Lie: an entry right above the tip counts as part of the branch."""

    kills = "S-FORK-BR-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            entry = source.entries.get(options.entry_id or "")
            if entry is not None and entry.parent_id == tip_of(source, options.branch) is not None:
                source = copy_of(source)
                put(source, BRANCH_TIP, options.branch, entry.id)
        return super().fork_state(source, options)


class AnEmptyEntryIdMeansTheTip(Mutant):
    """Lie: an empty entry id is taken for none."""

    kills = "S-FORK-BR-04"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and not options.entry_id:
            options = replace(options, entry_id=None)
        return super().fork_state(source, options)


class TheTipIsAlwaysTheForkPoint(Mutant):
    """Lie: an older entry is checked and then forgotten: the fork holds the whole branch."""

    kills = "S-FORK-BR-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        super().fork_state(source, options)
        if isinstance(options, BranchFork):
            options = replace(options, entry_id=None)
        return super().fork_state(source, options)


class WithoutAnEntryTheForkEndsBeforeTheTip(Mutant):
    """Lie: without an entry the fork point is left out."""

    kills = "S-FORK-BR-05"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and options.entry_id is None:
            options = replace(options, position="before")
        return super().fork_state(source, options)


class BeforeNeedsAnEntry(Mutant):
    """Lie: `before` is ignored when no entry is named."""

    kills = "S-FORK-BR-06"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork) and options.entry_id is None:
            options = replace(options, position="at")
        return super().fork_state(source, options)


class BeforeIsTheEntryWrittenBefore(Mutant):
    """Lie: `before` gives the entry that was written before the fork point, and not its parent."""

    kills = "S-FORK-BR-06"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and options.position == "before" and destination.entry_order:
            point = options.entry_id or tip_of(source, options.branch)
            older = [entry for entry in source.entry_order if entry.seq < source.entries[point].seq]
            put(destination, BRANCH_TIP, options.branch, older[-1].id)
            with_entries(destination, reversed(list(source.path(older[-1].id))))
        return destination, count


class BeforeARootKeepsTheRoot(Mutant):
    """Lie: `before` stops at the root."""

    kills = "S-FORK-BR-07"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            point = source.entries.get(options.entry_id or tip_of(source, options.branch) or "")
            if point is not None and point.parent_id is None:
                options = replace(options, position="at")
        return super().fork_state(source, options)


class ANullTipHasNoRow(Mutant):
    """Lie: a fork whose tip would be null has no tip row."""

    kills = "S-FORK-BR-07"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and tip_of(destination, options.branch) is None:
            del destination.scalars[BRANCH_TIP]
        return destination, count


class ANullTipMeansTheWholeTree(Mutant):
    """Lie: a branch fork of a null tip takes every entry."""

    kills = "S-FORK-BR-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and tip_of(source, options.branch) is None:
            with_entries(destination, source.entry_order)
        return destination, count
