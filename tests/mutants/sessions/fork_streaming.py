"""Mutants of the suite `fork_streaming`."""

from __future__ import annotations

from forkstore.contract.codec import decode
from forkstore.contract.forks import ForkOptions
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import with_entries


class TheSourceIsDecodedFirst(Mutant):
    """Lie: a fork holds every entry of the source as an object before it copies the first one."""

    kills = "S-FORK-STR-07"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        everything = [decode(entry.text) for entry in source.entry_order]
        destination, _ = super().fork_state(source, options)
        return destination, len(everything)


class TheLastBatchIsLost(Mutant):
    """Lie: entries are copied in batches of 1,000, and the last, smaller one is left out."""

    kills = "S-FORK-STR-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        whole = len(destination.entry_order) // 1_000 * 1_000
        if whole:
            with_entries(destination, destination.entry_order[:whole])
        return destination, count


class AForkHoldsFiveThousandEntries(Mutant):
    """Lie: a fork holds at most 5,000 entries: the oldest."""

    kills = "S-FORK-STR-08"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        return with_entries(destination, destination.entry_order[:5_000]), count
