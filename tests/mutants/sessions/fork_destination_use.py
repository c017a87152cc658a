"""Mutants of the suite `fork_destination_use`."""

from __future__ import annotations

from typing import Any

import msgspec

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.options import Clock
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import applications, with_entries, without


class EntriesAreOrderedById(Mutant):
    """Lie: a fork numbers its entries in the order of their ids."""

    kills = "S-FORK-DST-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        sequences = [entry.seq for entry in destination.entry_order]
        by_id = sorted(destination.entry_order, key=lambda entry: entry.id)
        numbered = zip(by_id, sequences, strict=True)
        with_entries(destination, [msgspec.structs.replace(entry, seq=seq) for entry, seq in numbered])
        return destination, count


class TheRewrittenTipSharesASequence(Mutant):
    """Lie: the tip of a branch fork gets the sequence of the entry that it names."""

    kills = "S-FORK-DST-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, BranchFork) and destination.entry_order:
            rows = destination.scalars[BRANCH_TIP]
            seq = destination.entry_order[-1].seq
            rows[options.branch] = msgspec.structs.replace(rows[options.branch], seq=seq)
        return destination, count


class SequencesBeginAgain(Mutant):
    """Lie: the first commit of a fork begins at sequence 1."""

    kills = "S-FORK-DST-09"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        destination.next_seq = 1
        return destination, count


class SequencesGoOnAfterTheEntries(Mutant):
    """Lie: the next sequence of a fork is set from its entries alone."""

    kills = "S-FORK-DST-09"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        destination.next_seq = 1 + max((entry.seq for entry in destination.entry_order), default=0)
        return destination, count


class AForkIsNotReserved(Mutant):
    """Lie: the reservation of a fork ends with the call that made it."""

    kills = "S-FORK-DST-11"

    latest: SessionState

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        self.latest, count = super().fork_state(source, options)
        return self.latest, count

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Any:
        reserved = await super().fork(metadata, options)
        await reserved.close()
        storage = type(self).storage_class(self.latest, Clock(None))
        return self.session_class(reserved.metadata, storage, reserved.id_generator, lambda: None)


class ListsAreShared(Mutant):
    """Lie: a tree fork holds the very lists of its source."""

    kills = "S-FORK-DST-13"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for namespace, keys in destination.lists.items():
            for key in keys:
                keys[key] = source.lists[namespace][key]
        return destination, count


class WholeNamespacesAreShared(Mutant):
    """Lie: where a fork takes all scalars of a namespace it shares them with its source."""

    kills = "S-FORK-DST-13"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for namespace, rows in source.scalars.items():
            if destination.scalars.get(namespace) == rows:
                destination.scalars[namespace] = rows
        return destination, count


class AForkOfAForkHasNoLists(Mutant):
    """Lie: lists that were copied once are not copied again."""

    kills = "S-FORK-DST-14"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.made: list[SessionState] = []

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if any(source is one for one in self.made):
            source = without(source, applications(source.lists), "list")
        destination, count = super().fork_state(source, options)
        self.made.append(destination)
        return destination, count
