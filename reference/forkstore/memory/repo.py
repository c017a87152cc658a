"""The repository of sessions in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from forkstore.closing import Closing
from forkstore.contract.errors import SessionClosed, SessionExists, SessionInUse, SessionNotFound
from forkstore.contract.forks import ForkOptions, check_fork_options
from forkstore.contract.ids import IdGenerator
from forkstore.contract.store import SessionMetadata, Storage
from forkstore.options import (
    Clock,
    Probe,
    check_metadata,
    check_parent_session_id,
    checked_generator,
    new_identity,
    refuse_cwd,
)
from forkstore.reservations import Reservation, Reservations
from forkstore.session import Session
from forkstore.state import SessionState

from .fork import fork_state
from .storage import MemoryStorage


class MemorySessionRepo:
    """Sessions that live as long as the repository. A closed one stays available until it is deleted (S-REPO-20).

    Options: `now` (a function that gives Unix milliseconds), `id_generator`, `fork_probe`. Only a fork with a probe
    ever suspends; every other call runs wholly in its first step.
    """

    # What a subclass may replace to build a variant of this backend.
    storage_class: ClassVar[Callable[[SessionState, Clock], Storage]] = MemoryStorage
    session_class: ClassVar[type[Session]] = Session

    def __init__(
        self,
        *,
        now: Callable[[], int] | None = None,
        id_generator: IdGenerator | None = None,
        fork_probe: object | None = None,
    ) -> None:
        self._clock = Clock(now)
        self._id_generator = checked_generator(id_generator)
        self._probe = Probe(fork_probe)
        self._sessions: dict[str, tuple[SessionMetadata, SessionState]] = {}
        self._reservations: Reservations[str, Session] = Reservations()
        self._closing = Closing(self._reservations.refuse_new, self._close_all)

    async def create(
        self, *, id: str | None = None, parent_session_id: str | None = None, cwd: str | None = None
    ) -> Session:
        """A new open session. Keeps S-REPO-01 to S-REPO-04.

        Raises RepoClosed, InvalidArgument (a `cwd` above all: S-REPO-26), InvalidSessionId, SessionExists.
        """
        self._reservations.check_open()
        refuse_cwd(cwd)
        metadata = self._new_metadata(id, check_parent_session_id(parent_session_id))
        with self._reserve_new(metadata.id) as reservation:
            return self._publish(metadata, SessionState(), reservation)

    async def open(self, metadata: SessionMetadata) -> Session:
        """A new object for a closed session. Raises RepoClosed, SessionNotFound, SessionInUse (S-REPO-06, S-OWN-05)."""
        self._reservations.check_open()
        session_id = check_metadata(metadata).id
        with self._reservations.reserve(session_id, SessionInUse(session_id)) as reservation:
            stored, state = self._find(session_id)
            return self._hand_out(stored, state, reservation)

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        """Metadata of every session, latest first. Raises RepoClosed, InvalidArgument (S-REPO-11, S-REPO-12)."""
        self._reservations.check_open()
        refuse_cwd(cwd)
        found = [metadata for metadata, _ in self._sessions.values()]
        return sorted(found, key=lambda metadata: (-metadata.created_at, metadata.id))

    async def delete(self, metadata: SessionMetadata) -> None:
        """Removes a closed session for good. Raises RepoClosed, SessionNotFound, SessionInUse (S-REPO-17, S-OWN-05)."""
        self._reservations.check_open()
        session_id = check_metadata(metadata).id
        with self._reservations.reserve(session_id, SessionInUse(session_id)):
            self._find(session_id)
            del self._sessions[session_id]

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        """A new open session from a branch or the whole tree of another, open or closed (spec sections 13 to 21).

        The whole copy happens in the first step (S-FORK-ORD-01); then the probe is told, and last the destination is
        published. Raises RepoClosed, InvalidForkOptions, InvalidSessionId, SessionExists, SessionNotFound,
        SessionClosed, and what the selection and the classifier raise. A refused or cancelled fork leaves nothing
        behind (S-FORK-FAIL-01).
        """
        self._reservations.check_open()
        options = check_fork_options(options)
        source_id = check_metadata(metadata).id
        new_metadata = self._new_metadata(options.id, source_id)
        with self._reserve_new(new_metadata.id) as reservation:
            _, source = self._find(source_id)
            open_source = self._reservations.open_session(source_id)
            if open_source is not None and open_source.is_closing:
                raise SessionClosed(source_id)
            destination, writes = self.fork_state(source, options)
            await self._probe.boundary_captured()
            await self._probe.batch_copied(writes)
            await self._probe.before_publish()
            self._reservations.check_open()
            return self._publish(new_metadata, destination, reservation)

    async def close(self) -> None:
        """Closes every open session, waits for the running forks, and lets go of all sessions.

        So it must not be awaited inside a mutation scope or a fork probe, which it would wait for.

        Raises a single failure as it is and several as one ExceptionGroup; every further call has the same outcome.
        Keeps S-REPO-21 to S-REPO-24.
        """
        await self._closing.close()

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        """The destination's state and its number of writes: the one job of a fork. A subclass may replace it."""
        return fork_state(source, options)

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        """Metadata of a session to be made, by one clock reading (S-ENT-15, S-ENT-16). Raises InvalidSessionId."""
        session_id, created_at = new_identity(session_id, self._clock, self._id_generator)
        return SessionMetadata(id=session_id, created_at=created_at, parent_session_id=parent_session_id)

    def _reserve_new(self, session_id: str) -> Reservation[str, Session]:
        """Reserves the id of a session to be made. Raises SessionExists (S-OWN-04)."""
        if session_id in self._sessions:
            raise SessionExists(session_id)
        return self._reservations.reserve(session_id, SessionExists(session_id))

    def _find(self, session_id: str) -> tuple[SessionMetadata, SessionState]:
        if session_id not in self._sessions:
            raise SessionNotFound(session_id)
        return self._sessions[session_id]

    def _publish(
        self, metadata: SessionMetadata, state: SessionState, reservation: Reservation[str, Session]
    ) -> Session:
        self._sessions[metadata.id] = metadata, state
        return self._hand_out(metadata, state, reservation)

    def _hand_out(
        self, metadata: SessionMetadata, state: SessionState, reservation: Reservation[str, Session]
    ) -> Session:
        storage = type(self).storage_class(state, self._clock)
        return reservation.hand_to(
            self.session_class(metadata, storage, self._id_generator, lambda: self._reservations.release(metadata.id))
        )

    async def _close_all(self) -> None:
        try:
            await self._reservations.close_all()
        finally:
            self._sessions.clear()
