"""Mutants of the suites `ledger` and `statistics`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forkstore.contract.codec import decode
from forkstore.contract.errors import InvalidValue
from forkstore.contract.forks import ForkOptions
from forkstore.contract.records import COST_NUMBERS, SessionStats, add_usage, zero_usage
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import RewritingStorage


class LedgerChecksItsEntries(Mutant):
    """Lie: a usage row may only name a stored entry."""

    kills = "S-ENT-07"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            if "entryId" in row and row["entryId"] not in self._state.entries:
                raise InvalidValue("row.entryId", "names no entry")
            return row


class BooleansCountInUsage(Mutant):
    """Lie: a boolean is a number of a usage object."""

    kills = "S-ENT-08"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            usage = row.get("usage")
            if not isinstance(usage, dict):
                return row
            numbers = {name: int(value) if isinstance(value, bool) else value for name, value in usage.items()}
            return {**row, "usage": numbers}


class MissingCostsAreZero(Mutant):
    """Lie: a number that is missing in the cost counts as 0."""

    kills = "S-ENT-08"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            usage = row.get("usage")
            if not isinstance(usage, dict) or not isinstance(usage.get("cost"), dict):
                return row
            return {**row, "usage": {**usage, "cost": {**dict.fromkeys(COST_NUMBERS, 0), **usage["cost"]}}}


class NullEntryIdIsNone(Mutant):
    """Lie: a null `entryId` counts as a missing one."""

    kills = "S-ENT-08"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return {name: value for name, value in row.items() if (name, value) != ("entryId", None)}


class AdjustmentMayBeANumber(Mutant):
    """Lie: 0 and 1 are booleans."""

    kills = "S-ENT-08"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return {**row, "adjustment": row["adjustment"] == 1} if row.get("adjustment", 5) in (0, 1) else row


class CountsEveryEntry(Mutant):
    """Lie: the message count is the number of entries."""

    kills = "S-ENT-09"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            return replace(super()._stats(), message_count=len(self._state.entries))


class ForkStartsCountingAnew(Mutant):
    """Lie: the message count of a fork starts at 0."""

    kills = "S-ENT-09"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        destination.message_count = 0
        return destination, count


class SumsByTheNewest(Mutant):
    """Lie: the ledger is summed from the newest row to the oldest."""

    kills = "S-ENT-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            usage = zero_usage()
            for row in reversed(self._state.usage_rows.values()):
                usage = add_usage(usage, decode(row.text)["usage"], "usage")
            return replace(super()._stats(), usage=usage)


class OptionalNumbersAlways(Mutant):
    """Lie: the optional numbers are in every sum."""

    kills = "S-ENT-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            stats = super()._stats()
            return replace(stats, usage={**stats.usage, "reasoning": stats.usage.get("reasoning", 0)})


class AdjustmentsAreNotSpending(Mutant):
    """Lie: adjustments are left out of the sum."""

    kills = "S-ENT-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            usage = zero_usage()
            for row in map(decode, (record.text for record in self._state.usage_rows.values())):
                usage = usage if row["adjustment"] else add_usage(usage, row["usage"], "usage")
            return replace(super()._stats(), usage=usage)


class EmptyLedgerHasNoUsage(Mutant):
    """Lie: without usage rows the usage is empty."""

    kills = "S-ENT-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            return super()._stats() if self._state.usage_rows else replace(super()._stats(), usage={})


class ZeroesOutOfOrder(Mutant):
    """Lie: the members of the zero object are sorted."""

    kills = "S-ENT-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            stats = super()._stats()
            return replace(stats, usage=dict(sorted(stats.usage.items())))


class ForkKeepsTheBill(Mutant):
    """Lie: a fork starts with the sum of its source."""

    kills = "S-ENT-11"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        destination.usage = source.usage
        return destination, count


class SumsByIdAfterReopening(Mutant):
    """Lie: opening a session sums its ledger in the order of the ids."""

    kills = "S-ENT-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            state.usage = zero_usage()
            for id in sorted(state.usage_rows):
                state.usage = add_usage(state.usage, decode(state.usage_rows[id].text)["usage"], "a lie")
