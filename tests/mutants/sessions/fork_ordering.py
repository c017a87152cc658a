"""Mutants of the suites `fork_ordering` and `fork_concurrency`."""

from __future__ import annotations

import asyncio
from typing import Any

from forkstore.contract.addresses import ENTRY_LABEL
from forkstore.contract.errors import SessionClosed
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.mutations import MutationScope
from forkstore.session import Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


class BoundaryAfterASuspension(Mutant):
    """Lie: a fork asks for its boundary in its second step."""

    kills = "S-FORK-ORD-01"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        await asyncio.sleep(0)
        return await super().fork(metadata, options)


class ForksRememberTheFirst(Mutant):
    """Lie: further forks of a source start from what the first one saw."""

    kills = "S-FORK-ORD-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        seen = self.__dict__.setdefault("seen", {})
        entries = seen.setdefault(id(source), list(source.entry_order))
        destination, count = super().fork_state(source, options)
        destination.entry_order = [entry for entry in destination.entry_order if entry in entries]
        return destination, count


class OvertakesQueuedCommits(Mutant):
    """Lie: a commit waits for its turn, and the boundary of a fork does not."""

    kills = "S-FORK-ORD-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            await asyncio.sleep(0)
            return await super().commit(writes)


class WaitsForTheMutationLine(Mutant):
    """Lie: a fork lets a held scope go on for a while before it takes its boundary."""

    kills = "S-FORK-ORD-05"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        held = False

        async def begin_mutation(self) -> MutationScope:
            scope = await super().begin_mutation()
            self.held = True
            return scope

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        for _ in range(20):
            if getattr(self._reservations.open_session(metadata.id), "held", False):
                await asyncio.sleep(0)
        return await super().fork(metadata, options)


class ForksAClosingSource(Mutant):
    """Lie: a closing source is forked like an open one."""

    kills = "S-FORK-ORD-06"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        is_closing = False


class SharesOneBoundary(Mutant):
    """Lie: forks of one source that run at the same time share the boundary of the first."""

    kills = "S-FORK-ORD-07"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        running = self.__dict__.setdefault("running", {})
        try:
            return await super().fork(metadata, options)
        finally:
            running.clear()

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        running: dict[Any, tuple[SessionState, int]] = self.__dict__["running"]
        key = (id(source), type(options))
        if key not in running:
            running[key] = super().fork_state(source, options)
        return running[key]


class LabelsAreReadLast(Mutant):
    """Lie: a fork reads the labels of its source when all else is copied and told."""

    kills = "S-FORK-ORD-02"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        session = await super().fork(metadata, options)
        _, source = self._sessions[metadata.id]
        _, destination = self._sessions[session.metadata.id]
        labels = source.scalars.get(ENTRY_LABEL, {})
        destination.scalars[ENTRY_LABEL] = {id: row for id, row in labels.items() if id in destination.entries}
        return session


class AClosingSourceStopsItsForks(Mutant):
    """Lie: a fork whose source is closing when all is copied fails."""

    kills = "S-OWN-15"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        session = await super().fork(metadata, options)
        source = self._reservations.open_session(metadata.id)
        if source is not None and source.is_closing:
            await session.close()
            await self.delete(session.metadata)
            raise SessionClosed(metadata.id)
        return session
