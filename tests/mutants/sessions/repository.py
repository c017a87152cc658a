"""Mutants of the suites `repository`, `repository_listing` and `repository_deleting`."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from forkstore.contract.errors import SessionNotFound
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


class CreatesAMainBranch(Mutant):
    """Lie: `create` makes a branch `main` with a null tip."""

    kills = "S-REPO-01"

    async def create(self, **options: Any) -> Session:
        session = await super().create(**options)
        await session.create_branch("main", None)
        return session


class DropsTheParent(Mutant):
    """Lie: a parent given to `create` is forgotten."""

    kills = "S-REPO-02"

    async def create(self, *, parent_session_id: str | None = None, **options: Any) -> Session:
        return await super().create(**options)


class KeepsTimeInSeconds(Mutant):
    """Lie: `created_at` is cut to whole seconds."""

    kills = "S-REPO-02"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        metadata = super()._new_metadata(session_id, parent_session_id)
        return dataclasses.replace(metadata, created_at=metadata.created_at // 1_000 * 1_000)


class ForgetsTheLedgerOnOpening(Mutant):
    """Lie: usage rows live only as long as the session is open."""

    kills = "S-REPO-06"

    async def open(self, metadata: SessionMetadata) -> Session:
        session = await super().open(metadata)
        self._sessions[metadata.id][1].usage_rows.clear()
        return session


class NumbersAfterTheSurvivors(Mutant):
    """Lie: a reopened session continues behind the highest surviving sequence; deletes are forgotten."""

    kills = "S-REPO-06"

    async def open(self, metadata: SessionMetadata) -> Session:
        session = await super().open(metadata)
        state = self._sessions[metadata.id][1]
        survivors: list[Any] = [*state.entry_order, *state.usage_rows.values(), *state.fork_rows()]
        state.next_seq = max((row.seq for row in survivors), default=0) + 1
        return session


class OpenCreatesWhatIsMissing(Mutant):
    """Lie: opening an unknown session makes it."""

    kills = "S-REPO-07"

    async def open(self, metadata: SessionMetadata) -> Session:
        self._sessions.setdefault(metadata.id, (metadata, SessionState()))
        return await super().open(metadata)


class ListsOpenSessionsOnly(Mutant):
    """Lie: a closed session is not listed."""

    kills = "S-REPO-11"

    async def list(self, **options: Any) -> list[SessionMetadata]:
        return [one for one in await super().list(**options) if self._reservations.open_session(one.id)]


class ListsOldestFirst(Mutant):
    """Lie: `list` is ordered by `created_at`, ascending."""

    kills = "S-REPO-12"

    async def list(self, **options: Any) -> list[SessionMetadata]:
        return sorted(await super().list(**options), key=lambda metadata: (metadata.created_at, metadata.id))


class ListsIdsByUtf16(Mutant):
    """Lie: ids of one time are ordered by their UTF-16 units."""

    kills = "S-REPO-12"

    async def list(self, **options: Any) -> list[SessionMetadata]:
        listed = await super().list(**options)
        return sorted(listed, key=lambda metadata: (-metadata.created_at, metadata.id.encode("utf-16-be")))


class ListsByCreation(Mutant):
    """Lie: sessions of one time are listed in the order in which they were created."""

    kills = "S-REPO-12"

    async def list(self, **options: Any) -> list[SessionMetadata]:
        await super().list(**options)
        return sorted((metadata for metadata, _ in self._sessions.values()), key=lambda metadata: -metadata.created_at)


class IgnoresCwd(Mutant):
    """Lie: a `cwd` that is not wanted is ignored."""

    kills = "S-REPO-26"

    async def create(self, *, cwd: Any = None, **options: Any) -> Session:
        return await super().create(**options)


class DeleteLeavesAGhost(Mutant):
    """Lie: the rows of a deleted session stay, and come back when its id is used again."""

    kills = "S-REPO-17"

    def _publish(self, metadata: SessionMetadata, state: SessionState, reservation: Any) -> Session:
        ghosts = self.__dict__.setdefault("ghosts", {})
        return super()._publish(metadata, ghosts.setdefault(metadata.id, state), reservation)


class DeletesByPrefix(Mutant):
    """Lie: a delete takes along the closed and open sessions whose ids start with the given one."""

    kills = "S-REPO-17"

    async def delete(self, metadata: SessionMetadata) -> None:
        await super().delete(metadata)
        for session_id in [one for one in self._sessions if one.startswith(metadata.id)]:
            del self._sessions[session_id]


class CascadingDelete(Mutant):
    """Lie: deleting a session deletes its forks."""

    kills = "S-REPO-18"

    async def delete(self, metadata: SessionMetadata) -> None:
        await super().delete(metadata)
        for session_id in [id for id, (one, _) in self._sessions.items() if one.parent_session_id == metadata.id]:
            del self._sessions[session_id]


class DeletesInTwoSteps(Mutant):
    """Lie: a delete removes the entries, suspends, and then removes the session."""

    kills = "S-REPO-19"

    async def delete(self, metadata: SessionMetadata) -> None:
        if metadata.id in self._sessions and self._reservations.open_session(metadata.id) is None:
            state = self._sessions[metadata.id][1]
            state.entries.clear()
            state.entry_order.clear()
            await asyncio.sleep(0)
        await super().delete(metadata)


class ForgetsClosedSessions(Mutant):
    """Lie: a session is gone when it is closed."""

    kills = "S-REPO-20"

    def _hand_out(self, metadata: SessionMetadata, state: SessionState, reservation: Any) -> Session:
        def release() -> None:
            self._reservations.release(metadata.id)
            self._sessions.pop(metadata.id, None)

        storage = type(self).storage_class(state, self._clock)
        session: Session = reservation.hand_to(self.session_class(metadata, storage, self._id_generator, release))
        return session


class MetadataIsAnObject(Mutant):
    """Lie: a session is known by the object that its metadata was handed out as."""

    kills = "S-REPO-06"

    async def open(self, metadata: SessionMetadata) -> Session:
        if metadata.id in self._sessions and self._sessions[metadata.id][0] is not metadata:
            raise SessionNotFound(metadata.id)
        return await super().open(metadata)


class NoTimeIsZero(Mutant):
    """Lie: a clock reading of 0 counts as 1."""

    kills = "S-REPO-02"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        made = super()._new_metadata(session_id, parent_session_id)
        return dataclasses.replace(made, created_at=made.created_at or 1)


class EmptyParentsAreForgotten(Mutant):
    """Lie: a parent that is the empty text is none."""

    kills = "S-REPO-02"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        return super()._new_metadata(session_id, parent_session_id or None)
