"""Mutants of the suites `ownership` and `ownership_races`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from forkstore.contract.errors import SessionExists, SessionInUse, SessionStoreError
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class _Keeper(Mutant):
    def keep_reserved(self, session_id: str) -> None:
        """Reserves an id that is free, for no call."""
        self._reservations.reserve(session_id, SessionExists(session_id))
        self._reservations.call_ended()


class CreateReservesLate(Mutant):
    """Lie: `create` suspends before it reserves."""

    kills = "S-OWN-01"

    async def create(self, **options: Any) -> Session:
        await asyncio.sleep(0)
        return await super().create(**options)


class OpenReservesLate(Mutant):
    """Lie: `open` suspends before it reserves."""

    kills = "S-OWN-01"

    async def open(self, metadata: SessionMetadata) -> Session:
        await asyncio.sleep(0)
        return await super().open(metadata)


class BranchForksStepAside(Mutant):
    """Lie: branch forks let the calls behind them go first."""

    kills = "S-OWN-02"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        if isinstance(options, BranchFork):
            await asyncio.sleep(0)
        return await super().fork(metadata, options)


class ReleasesWhenClosingBegins(Mutant):
    """Lie: a session is free as soon as its closing has begun."""

    kills = "S-OWN-03"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        def _refuse_new_calls(self) -> None:
            super()._refuse_new_calls()
            self._release()


class ForksAreNotReserved(Mutant):
    """Lie: the reservation of a fork ends with the call."""

    kills = "S-OWN-03"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        session = await super().fork(metadata, options)
        self._reservations.release(session.metadata.id)
        return session


class CreateReplacesClosedSessions(Mutant):
    """Lie: `create` with the id of a closed session makes it anew."""

    kills = "S-OWN-04"

    async def create(self, *, id: str | None = None, **options: Any) -> Session:
        if id is not None and self._reservations.open_session(id) is None:
            self._sessions.pop(id, None)
        return await super().create(id=id, **options)


class DeletesOpenSessions(Mutant):
    """Lie: an open session can be deleted."""

    kills = "S-OWN-05"

    async def delete(self, metadata: SessionMetadata) -> None:
        self._reservations.release(metadata.id)
        await super().delete(metadata)


class OpensTwice(Mutant):
    """Lie: opening an open session gives the object that is open."""

    kills = "S-OWN-05"

    async def open(self, metadata: SessionMetadata) -> Session:
        return self._reservations.open_session(metadata.id) or await super().open(metadata)


class ForksTakeIdsOver(Mutant):
    """Lie: a fork replaces a session that was just created and is still empty."""

    kills = "S-OWN-06"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        taken = self._sessions.get(getattr(options, "id", None) or "")
        if taken is not None and taken[1].next_seq == 1:
            del self._sessions[taken[0].id]
            self._reservations.release(taken[0].id)
        return await super().fork(metadata, options)


class LosersReleaseTheWinner(Mutant):
    """Lie: an open that is refused gives back the reservation, which is the winner's."""

    kills = "S-OWN-07"

    async def open(self, metadata: SessionMetadata) -> Session:
        try:
            return await super().open(metadata)
        except SessionInUse:
            self._reservations.release(metadata.id)
            raise


class DeleteReservesNothing(Mutant):
    """Lie: a delete takes its time and reserves nothing meanwhile."""

    kills = "S-OWN-08"

    async def delete(self, metadata: SessionMetadata) -> None:
        if self._reservations.open_session(metadata.id) is None and metadata.id in self._sessions:
            await asyncio.sleep(0)
            self._reservations.release(metadata.id)
        await super().delete(metadata)


class DeleteKeepsItsReservation(_Keeper):
    """Lie: the id of a deleted session stays reserved."""

    kills = "S-OWN-08"

    async def delete(self, metadata: SessionMetadata) -> None:
        await super().delete(metadata)
        self.keep_reserved(metadata.id)


class RefusedForksStayReserved(_Keeper):
    """Lie: a fork that is refused keeps its destination id reserved."""

    kills = "S-OWN-09"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except SessionStoreError:
            if isinstance(getattr(options, "id", None), str):
                self.keep_reserved(str(options.id))
            raise


class CancelledForksReleaseLater(_Keeper):
    """Lie: a cancelled fork gives its id back a moment after the cancellation has reached the caller."""

    kills = "S-OWN-09"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except asyncio.CancelledError:
            if options.id is not None:
                self.keep_reserved(options.id)
                asyncio.get_running_loop().call_later(0.001, self._reservations.release, options.id)
            raise


class ForksOntoAClosedSource(Mutant):
    """Lie: a fork of a closed session onto its own id opens it."""

    kills = "S-OWN-12"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        if getattr(options, "id", None) == metadata.id and self._reservations.open_session(metadata.id) is None:
            return await self.open(metadata)
        return await super().fork(metadata, options)


class NamesSessionsByTheirTime(Mutant):
    """Lie: a generated id is made from the time alone."""

    kills = "S-OWN-13"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        return super()._new_metadata(session_id or f"session-{self._clock.read()}", parent_session_id)


class ForkReservesItsSource(Mutant):
    """Lie: a closed source is reserved while its fork runs."""

    kills = "S-OWN-15"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        if metadata.id not in self._sessions or self._reservations.open_session(metadata.id) is not None:
            return await super().fork(metadata, options)
        with self._reservations.reserve(metadata.id, SessionInUse(metadata.id)):
            return await super().fork(metadata, options)


class RefusedCreatesTouchTheMetadata(Mutant):
    """Lie: a create that is refused has written its time into the metadata that were there."""

    kills = "S-OWN-04"

    async def create(self, *, id: str | None = None, **options: Any) -> Session:
        try:
            return await super().create(id=id, **options)
        except SessionExists as refusal:
            if refusal.session_id in self._sessions:
                metadata, state = self._sessions[refusal.session_id]
                self._sessions[metadata.id] = replace(metadata, created_at=self._clock.read()), state
            raise
