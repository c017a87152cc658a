"""Mutants of the suite `fork_probe`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.errors import StoreIOError
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Probe
from forkstore.session import Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


class ClosedSourcesHaveNoProbe(Mutant):
    """Lie: forks of closed sources do not know the probe."""

    kills = "S-FORK-ORD-09"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        probe = self._probe
        if self._reservations.open_session(metadata.id) is None:
            self._probe = Probe(None)
        try:
            return await super().fork(metadata, options)
        finally:
            self._probe = probe


class _ProbeToldTwice(Probe):
    async def boundary_captured(self) -> None:
        await super().boundary_captured()
        await super().boundary_captured()


class TellsTheBoundaryTwice(Mutant):
    """Lie: the boundary is told once a scan, and there are two scans."""

    kills = "S-FORK-ORD-10"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._probe = _ProbeToldTwice(self._probe.target)


class _ProbeWithoutBoundary(Probe):
    async def boundary_captured(self) -> None:
        """Was told before."""


class TellsTheBoundaryTooEarly(Mutant):
    """Lie: the boundary is told before it is fixed."""

    kills = "S-FORK-ORD-10"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        await Probe(self._probe.target).boundary_captured()
        self._probe = _ProbeWithoutBoundary(self._probe.target)
        return await super().fork(metadata, options)


class CountsEntriesOnly(Mutant):
    """Lie: `batch_copied` counts entries, and no scalars and list elements."""

    kills = "S-FORK-ORD-11"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, _ = super().fork_state(source, options)
        return destination, len(destination.entries)


class _ProbeOfEmptyBatches(Probe):
    async def batch_copied(self, count: int) -> None:
        await super().batch_copied(count)
        await self._call("batch_copied", 0)


class TellsAnEmptyBatch(Mutant):
    """Lie: the end of copying is told as a batch of nothing."""

    kills = "S-FORK-ORD-11"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._probe = _ProbeOfEmptyBatches(self._probe.target)


class PublishesBeforeTheProbe(Mutant):
    """Lie: the destination is listed while the callbacks are awaited."""

    kills = "S-FORK-ORD-12"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        probe, self._probe = self._probe, Probe(None)
        try:
            session = await super().fork(metadata, options)
        finally:
            self._probe = probe
        await probe.boundary_captured()
        await probe.batch_copied(self.copied)
        await probe.before_publish()
        return session

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, self.copied = super().fork_state(source, options)
        return destination, self.copied


class LocksTheSourceWhileItForks(Mutant):
    """Lie: commits to the source fail as busy until the fork has ended."""

    kills = "S-FORK-ORD-13"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            if getattr(self._state, "forking", False):
                raise StoreIOError("commit", "memory", "busy")
            return await super().commit(writes)

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        state: Any = self._sessions[metadata.id][1] if metadata.id in self._sessions else SessionState()
        state.forking = True
        try:
            return await super().fork(metadata, options)
        finally:
            state.forking = False


class NullTipsAreNotCounted(Mutant):
    """Lie: a tip that is null is not counted."""

    kills = "S-FORK-ORD-11"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        return destination, count - any(row.text == b"null" for row in destination.scalars.get(BRANCH_TIP, {}).values())
