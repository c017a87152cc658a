"""The repository of sessions in SQLite databases."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import ClassVar

from forkstore.closing import Closing
from forkstore.contract.errors import (
    ForeignSession,
    InvalidArgument,
    SessionClosed,
    SessionExists,
    SessionInUse,
    SessionNotFound,
)
from forkstore.contract.forks import ForkOptions, check_fork_options
from forkstore.contract.ids import IdGenerator
from forkstore.contract.store import SessionMetadata
from forkstore.contract.text import text_fault
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
from forkstore.threads import in_thread

from .batches import BatchLimits
from .catalog import listed_sessions
from .connect import Connect
from .creating import write_new_session
from .database_file import OpenDatabase
from .failing import database_failures
from .fork import ForkSource, copy_fork
from .groundwork import Groundwork
from .layout import chosen_layout
from .opening import OpenedSession, let_go, opened_session
from .publishing import publish
from .session_metadata import session_metadata
from .session_rows import new_session_row
from .settings import checked_bound, checked_connect, checked_path_or_none, is_in_memory
from .storage import SqliteStorage
from .worker import Worker

Key = tuple[str, str]
"""What a reservation is for: the real path of the database and the id (S-SQL-LAY-02)."""


class SqliteSessionRepo:
    """Sessions in databases of their own under `directory`, or all together in the container `database_path`.

    Options: `connect` (opens connections; `open_connection` by default), `staging_dir` (where the stages of forks lie;
    by default beside the destination), `stage_batch_rows`, `stage_batch_bytes`, `now` (a function that gives Unix
    milliseconds), `id_generator`, `fork_probe`. Raises InvalidArgument, for an in-memory name too (S-SQL-LAY-11). One
    process at a time may write to a session; any number may write to different sessions of one container.
    """

    # What a subclass may replace to build a variant of this backend.
    storage_class: ClassVar[type[SqliteStorage]] = SqliteStorage

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        database_path: str | os.PathLike[str] | None = None,
        connect: Connect | None = None,
        staging_dir: str | os.PathLike[str] | None = None,
        stage_batch_rows: int = 250,
        stage_batch_bytes: int = 1_048_576,
        now: Callable[[], int] | None = None,
        id_generator: IdGenerator | None = None,
        fork_probe: object | None = None,
    ) -> None:
        self._layout = chosen_layout(directory, database_path)
        self._connect = checked_connect(connect)
        self._staging_directory = checked_path_or_none("staging_dir", staging_dir)
        self._limits = BatchLimits(
            rows=checked_bound("stage_batch_rows", stage_batch_rows),
            bytes=checked_bound("stage_batch_bytes", stage_batch_bytes),
        )
        self._clock = Clock(now)
        self._id_generator = checked_generator(id_generator)
        self._probe = Probe(fork_probe)
        self._groundwork = Groundwork(self._connect)
        self._storages: dict[Key, SqliteStorage] = {}
        self._reservations: Reservations[Key, Session] = Reservations()
        self._closing = Closing(self._reservations.refuse_new, self._reservations.close_all)

    async def create(
        self, *, id: str | None = None, parent_session_id: str | None = None, cwd: str | None = None
    ) -> Session:
        """A new open session. Keeps S-REPO-01 to S-REPO-05, S-SQL-LAY-03, S-SQL-LAY-05, S-SQL-SCH-01, S-SQL-SCH-02.

        Raises RepoClosed, InvalidArgument (a `cwd` above all: S-REPO-26), InvalidSessionId, SessionExists,
        CorruptSession, StoreIOError.
        """
        self._reservations.check_open()
        refuse_cwd(cwd)
        parent_session_id = check_parent_session_id(parent_session_id)
        session_id, created_at = new_identity(id, self._clock, self._id_generator)
        key = self._layout.place_of(session_id), session_id
        with self._reserve_new(key) as reservation:
            async with self._layout.destination(self._connect, self._groundwork, *key) as destination:
                row = new_session_row(session_id, created_at, parent_session_id)
                opened = await destination.make(partial(write_new_session, row=row))
                return self._handed_out(opened, key, reservation)

    async def open(self, metadata: SessionMetadata) -> Session:
        """A new object for a closed session. Keeps S-REPO-06 to S-REPO-09, S-SQL-LAY-03.

        Raises RepoClosed, InvalidArgument, SessionInUse, SessionNotFound, ForeignSession, UnsupportedVersion,
        CorruptSession, SessionFileChanged, StoreIOError.
        """
        self._reservations.check_open()
        key = self._named(metadata)
        with self._reservations.reserve(key, SessionInUse(metadata.id)) as reservation:
            self._check_place(key)
            async with opened_session(self._connect, *key) as opened:
                return self._handed_out(opened, key, reservation)

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        """Metadata of every session that can be recognised, latest first. Keeps S-REPO-11 to S-REPO-15, S-SQL-LAY-06.

        Raises RepoClosed, InvalidArgument, StoreIOError.
        """
        self._reservations.check_open()
        refuse_cwd(cwd)
        return await listed_sessions(self._connect, self._layout)

    async def delete(self, metadata: SessionMetadata) -> None:
        """Removes a closed session. Keeps S-REPO-17 to S-REPO-19, S-SQL-LAY-07, S-SQL-LAY-08.

        Raises RepoClosed, InvalidArgument, SessionInUse, SessionNotFound, ForeignSession, UnsupportedVersion,
        CorruptSession, StoreIOError.
        """
        self._reservations.check_open()
        key = self._named(metadata)
        with self._reservations.reserve(key, SessionInUse(metadata.id)):
            self._check_place(key)
            await in_thread(self._layout.delete, self._connect, *key)

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        """A new open session from a branch or the whole tree of another, open or closed (spec sections 13 to 21, 32).

        The boundary of an open source is asked for in the first step (S-FORK-ORD-01). The source is read through a
        connection of its own and never written; it may lie in another directory or container. Raises RepoClosed,
        InvalidArgument, InvalidForkOptions, InvalidSessionId, SessionExists, SessionClosed, SessionNotFound,
        UnsupportedVersion, CorruptSession, SessionFileChanged, StoreIOError, and what the selection and the classifier
        raise. A refused or cancelled fork leaves nothing behind.
        """
        self._reservations.check_open()
        options = check_fork_options(options)
        source_key = self._named(metadata)
        session_id, created_at = new_identity(options.id, self._clock, self._id_generator)
        if session_id == metadata.id:
            raise SessionExists(session_id)  # wherever the source lies (S-OWN-12)
        key = self._layout.place_of(session_id), session_id
        with self._reserve_new(key) as reservation:
            source = self._source(source_key)
            try:
                async with self._layout.destination(self._connect, self._groundwork, *key) as destination:
                    await destination.prepare()
                    async with copy_fork(
                        source,
                        options,
                        connect=self._connect,
                        stage_directory=self._staging_directory or destination.directory,
                        probe=self._probe,
                        limits=self._limits,
                    ) as stage:
                        await self._probe.before_publish()
                        self._reservations.check_open()
                        write = partial(
                            publish,
                            stage=stage,
                            session_id=session_id,
                            created_at=created_at,
                            parent_session_id=metadata.id,
                            path=destination.path,
                        )
                        opened = await destination.make(write)
                    return self._handed_out(opened, key, reservation)
            finally:
                await let_go(source.reader)

    async def close(self) -> None:
        """Closes every open session and waits for the running calls. Keeps S-REPO-21 to S-REPO-24.

        So it must not be awaited inside a mutation scope or a fork probe, which it would wait for. Raises a single
        failure as it is and several as one ExceptionGroup; every further call has the same outcome.
        """
        await self._closing.close()

    def _named(self, metadata: SessionMetadata) -> Key:
        """What the metadata names. Raises InvalidArgument, StoreIOError for a path that no file can have."""
        metadata = check_metadata(metadata)
        path = metadata.path
        if type(path) is not str or is_in_memory(path) or text_fault(path, allow_nul=False) is not None:
            raise InvalidArgument("metadata", "has no path of a database; take metadata that this store has given")
        with database_failures("real_path", path):
            return os.path.realpath(path), metadata.id

    def _check_place(self, key: Key) -> None:
        """Raises ForeignSession unless this is where the repository keeps that session (S-REPO-09)."""
        path, session_id = key
        if text_fault(session_id, allow_nul=True) is not None or path != self._layout.place_of(session_id):
            raise ForeignSession(session_id, path, "path")

    def _reserve_new(self, key: Key) -> Reservation[Key, Session]:
        """Reserves a session to be made. Raises SessionExists (S-OWN-04)."""
        return self._reservations.reserve(key, SessionExists(key[1]))

    def _source(self, key: Key) -> ForkSource:
        """Has the source of a fork opened, and, if it is open, its boundary fixed: at once, before any suspension.

        The reader's queue opens it first; the source's queue waits for that (S-SQL-FORK-02). Raises SessionClosed, and
        SessionNotFound for an id that no session can have.
        """
        if text_fault(key[1], allow_nul=True) is not None:
            raise SessionNotFound(key[1], key[0])
        session, storage = self._reservations.open_session(key), self._storages.get(key)
        if session is not None and session.is_closing:
            raise SessionClosed(key[1])
        identity = _identity(key[0]) if storage is None else storage.database.identity
        reader = Worker.start(self._connect)
        opened = reader.submit_open(key[0], "read-only")
        pinned = None if storage is None else storage.pin(reader)
        return ForkSource(*key, identity, reader, opened, pinned)

    def _handed_out(self, opened: OpenedSession, key: Key, reservation: Reservation[Key, Session]) -> Session:
        """The session object; without a suspension, so that nothing comes between. Raises RepoClosed (S-REPO-24)."""
        self._reservations.check_open()
        storage = type(self).storage_class(opened.worker, opened.database, key[1], self._clock)
        self._storages[key] = storage
        metadata = session_metadata(opened.row, key[0])
        return reservation.hand_to(Session(metadata, storage, self._id_generator, lambda: self._release(key)))

    def _release(self, key: Key) -> None:
        self._storages.pop(key, None)
        self._reservations.release(key)


def _identity(path: str) -> Hashable:
    """Which file stands there; None when there is none, which opening it then says."""
    with suppress(OSError):
        return OpenDatabase.at(path).identity
    return None
