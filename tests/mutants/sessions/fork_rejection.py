"""Mutants of the suites `fork_rejection` and `fork_cancellation`."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from forkstore.contract.errors import SessionExists, SessionStoreError, UndeclaredNamespace, UnknownBranch
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


class RejectedForksLeaveAnEmptySession(Mutant):
    """Lie: the destination is made before the branch is looked at, and stays when there is none."""

    kills = "S-FORK-FAIL-01"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except UnknownBranch:
            made = self._new_metadata(options.id, metadata.id)
            self._sessions[made.id] = made, SessionState()
            raise


class RejectedForksUseASequence(Mutant):
    """Lie: a fork that is rejected for its rows leaves a gap in the sequences of its source."""

    kills = "S-FORK-FAIL-03"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except UndeclaredNamespace:
            self._sessions[metadata.id][1].next_seq += 1
            raise


class RejectedForksCloseTheirSource(Mutant):
    """Lie: a rejected fork closes its source."""

    kills = "S-FORK-FAIL-03"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except UnknownBranch:
            source = self._reservations.open_session(metadata.id)
            if source is not None:
                await source.close()
            raise


class TheSecondFailureStays(Mutant):
    """Lie: two failures on one id keep it reserved for good."""

    kills = "S-FORK-FAIL-04"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        failures: Counter[Any] = self.__dict__.setdefault("failures", Counter())
        try:
            return await super().fork(metadata, options)
        except SessionStoreError:
            wanted: Any = getattr(options, "id", None)
            failures[wanted] += 1
            if failures[wanted] == 2:
                self._reservations.reserve(wanted, SessionExists(wanted))
                self._reservations.call_ended()
            raise


class CreateSuspendsAfterPublication(Mutant):
    """Lie: a create that is cancelled after it has published leaves its session."""

    kills = "S-FORK-FAIL-05"

    async def create(self, **options: Any) -> Session:
        session = await super().create(**options)
        await asyncio.sleep(0)
        return session


class ACancelledForkIsDelivered(Mutant):
    """Lie: a fork that is cancelled in a callback swallows the cancellation and ends."""

    kills = "S-FORK-FAIL-05"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except asyncio.CancelledError:
            return await super().fork(metadata, options)


class CleanupIsNotShielded(Mutant):
    """Lie: the cleanup of a cancelled fork suspends, and a second cancellation stops it."""

    kills = "S-FORK-FAIL-06"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except asyncio.CancelledError:
            if options.id is not None:
                self._reservations.reserve(options.id, SessionExists(options.id))
                self._reservations.call_ended()
                await asyncio.sleep(0)
                self._reservations.release(options.id)
            raise
