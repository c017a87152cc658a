"""Mutants of the suites `transactions`, `commit_results` and `commit_order`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import msgspec

from forkstore.contract.addresses import branch_tip_prefix
from forkstore.contract.errors import InvalidValue, UnknownParent
from forkstore.contract.writes import CommitResult, EntryInsert, ListDelete, ValueDelete, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


def _joined(first: CommitResult, second: CommitResult) -> CommitResult:
    return replace(second, first_seq=first.first_seq, seqs=first.seqs + second.seqs)


class CountsFromZero(Mutant):
    """Lie: the first write of a created session has sequence 0."""

    kills = "S-TXN-05"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            if not state.entries and state.next_seq == 1:
                state.next_seq = 0


class DeletesOfNothingAreFree(Mutant):
    """Lie: a delete takes no sequence when nothing is there."""

    kills = "S-TXN-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            deletes = [write for write in writes if isinstance(write, ValueDelete)]
            absent = [write for write in deletes if await self.get_value(write.address) is None]
            return await super().commit([write for write in writes if write not in absent])


class CountsOnFromTheHighestRow(Mutant):
    """Lie: an opened session goes on from the highest sequence of its rows."""

    kills = "S-TXN-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            rows = (state.entries.values(), state.usage_rows.values(), state.fork_rows())
            state.next_seq = max((row.seq for some in rows for row in some), default=0) + 1


class TimeMovesWithinACommit(Mutant):
    """Lie: every entry of a commit has a time of its own."""

    kills = "S-TXN-07"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            order = self._state.entry_order
            for index, entry in enumerate(order):
                if entry.seq > result.first_seq:
                    moved = entry.timestamp + entry.seq - result.first_seq
                    order[index] = self._state.entries[entry.id] = msgspec.structs.replace(entry, timestamp=moved)
            return result


class DeletesComeFirst(Mutant):
    """Lie: the list deletes of a commit are applied before its other writes."""

    kills = "S-TXN-08"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit(sorted(writes, key=lambda write: not isinstance(write, ListDelete)))


class OnlyBranchesGrow(Mutant):
    """Lie: nothing can be put below a stored entry that no branch reaches."""

    kills = "S-TXN-09"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            tips = [row.value for row in await self.scan_values(branch_tip_prefix())]
            reached = {entry.id for tip in tips for entry in self._state.path(tip)}
            for write in writes if reached else ():
                parent = write.entry.get("parentId") if isinstance(write, EntryInsert) else None
                if isinstance(write, EntryInsert) and parent in self._state.entries and parent not in reached:
                    raise UnknownParent(write.entry["id"], parent)
            return await super().commit(writes)


class TenThousandWrites(Mutant):
    """Lie: a commit has at most 10,000 writes."""

    kills = "S-TXN-12"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            if len(writes) > 10_000:
                raise InvalidValue("writes", "are too many")
            return await super().commit(writes)


class EmptyCommitsCount(Mutant):
    """Lie: an empty commit uses up a sequence."""

    kills = "S-TXN-13"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            if not writes:
                self._state.next_seq += 1
            return result


class StatisticsOfYesterday(Mutant):
    """Lie: a result carries the statistics from before its commit."""

    kills = "S-TXN-14"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            before = await self.get_stats()
            return replace(await super().commit(writes), stats=before)


class SmallCommitsOvertake(Mutant):
    """Lie: a large commit lets others go first."""

    kills = "S-TXN-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            if len(writes) > 50:
                await asyncio.sleep(0)
            return await super().commit(writes)


class AFailureIsHandedOn(Mutant):
    """Lie: the commit behind a failed one fails with the same error."""

    kills = "S-TXN-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        failure: Exception | None = None

        async def commit(self, writes: list[Write]) -> CommitResult:
            failure, self.failure = self.failure, None
            if failure is not None:
                raise failure
            try:
                return await super().commit(writes)
            except Exception as error:
                self.failure = error
                raise


class CommitsShowInHalves(Mutant):
    """Lie: a large commit shows in two halves."""

    kills = "S-TXN-16"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            if len(writes) < 100:
                return await super().commit(writes)
            first = await super().commit(writes[:100])
            await asyncio.sleep(0)
            return _joined(first, await super().commit(writes[100:]))


class ACancelledCommitStopsMidway(Mutant):
    """Lie: a commit that is cancelled leaves what it had written."""

    kills = "S-TXN-17"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            first = await super().commit(writes[:1])
            await asyncio.sleep(0)
            return _joined(first, await super().commit(writes[1:]))


class ACancelledCommitComesLater(Mutant):
    """Lie: a commit that is cancelled goes on after its caller was told."""

    kills = "S-TXN-17"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await asyncio.shield(asyncio.ensure_future(self._commit_soon(writes)))

        async def _commit_soon(self, writes: list[Write]) -> CommitResult:
            for _ in range(3):
                await asyncio.sleep(0)
            return await super().commit(writes)
