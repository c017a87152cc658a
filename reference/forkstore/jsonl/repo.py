"""The repository of sessions in files of JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import ClassVar

from forkstore.closing import Closing
from forkstore.contract.errors import (
    ForeignSession,
    InvalidArgument,
    RepoClosed,
    SessionClosed,
    SessionExists,
    SessionInUse,
    SessionNotFound,
)
from forkstore.contract.files import CHUNK, FileError, Files
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
)
from forkstore.reservations import Reservation, Reservations
from forkstore.session import Session
from forkstore.settling import settled

from .catalog import Catalog
from .failing import file_failures
from .files import LocalFiles
from .fork import ForkSource, copy_fork
from .headers import Header
from .naming import SUFFIX, session_file_name
from .opening import check_identity, open_file
from .publishing import Publication
from .storage import JsonlStorage

Key = tuple[str, str]
"""What a reservation is for: absolute working directory and id (S-OWN-10)."""


@dataclass(frozen=True, slots=True)
class Named:
    """What metadata names: id and working directory as they stand in the file, the file's real path, and the key."""

    id: str
    cwd: str
    path: str
    key: Key


class JsonlSessionRepo:
    """Sessions under `sessions_root`, one file each, in a directory per working directory.

    Options: `now` (a function that gives Unix milliseconds), `id_generator`, `fork_probe`, `files` (the file
    capability, `LocalFiles()` by default). One process at a time may write to a session; some accidents are noticed all
    the same (S-JSONL-FMT-16).
    """

    # What a subclass may replace to build a variant of this backend.
    storage_class: ClassVar[type[JsonlStorage]] = JsonlStorage

    def __init__(
        self,
        sessions_root: str | os.PathLike[str],
        *,
        now: Callable[[], int] | None = None,
        id_generator: IdGenerator | None = None,
        fork_probe: object | None = None,
        files: Files | None = None,
    ) -> None:
        self._files: Files = LocalFiles() if files is None else _checked_files(files)
        self._catalog = Catalog(self._files, self._absolute_path(_path(sessions_root)))
        self._clock = Clock(now)
        self._id_generator = checked_generator(id_generator)
        self._probe = Probe(fork_probe)
        self._reservations: Reservations[Key, Session] = Reservations()
        self._open_files: dict[Key, JsonlStorage] = {}
        self._closing = Closing(self._reservations.refuse_new, self._reservations.close_all)

    async def create(
        self, *, id: str | None = None, parent_session_id: str | None = None, cwd: str | None = None
    ) -> Session:
        """A new open session in a file of its own. Keeps S-REPO-01 to S-REPO-05, S-JSONL-FMT-04, S-JSONL-PUB-05.

        `cwd` is its working directory, which need not exist. Raises RepoClosed, InvalidArgument (S-REPO-26),
        InvalidSessionId, SessionExists, StoreIOError.
        """
        self._reservations.check_open()
        cwd = self._absolute(cwd)
        parent_session_id = check_parent_session_id(parent_session_id)
        session_id, created_at = new_identity(id, self._clock, self._id_generator)
        key = cwd, session_id
        with self._reserve_new(key) as reservation:
            path = await self._new_path(session_id, cwd, created_at)
            header = Header(id=session_id, created_at=created_at, cwd=cwd, parent_session_id=parent_session_id)
            async with Publication(self._files, path) as publication:
                await publication.write(_listable(header))
                return await self._published(publication, header, reservation, key)

    async def open(self, metadata: SessionMetadata) -> Session:
        """A new object for a closed session. Keeps S-REPO-06 to S-REPO-10, S-JSONL-TAIL-01 to S-JSONL-TAIL-06.

        Cuts off a torn tail, and never writes anything else. Raises RepoClosed, InvalidArgument, SessionInUse,
        SessionNotFound, ForeignSession, UnsupportedVersion, CorruptSession, SessionFileChanged, StoreIOError.
        """
        self._reservations.check_open()
        named = self._named(metadata)
        with self._reservations.reserve(named.key, SessionInUse(named.id)) as reservation:
            self._check_place(named)
            return await self._opened(named.path, named.id, named.cwd, reservation, named.key)

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        """Metadata of every session that can be recognised, latest first; of one working directory if it is given.

        Raises RepoClosed, InvalidArgument, StoreIOError. Keeps S-REPO-11 to S-REPO-16.
        """
        self._reservations.check_open()
        return await self._catalog.sessions(None if cwd is None else self._absolute(cwd))

    async def delete(self, metadata: SessionMetadata) -> None:
        """Removes the file of a closed session. Keeps S-REPO-17 to S-REPO-19.

        Raises RepoClosed, InvalidArgument, SessionInUse, SessionNotFound, ForeignSession, UnsupportedVersion,
        CorruptSession, StoreIOError.
        """
        self._reservations.check_open()
        named = self._named(metadata)
        with self._reservations.reserve(named.key, SessionInUse(named.id)):
            self._check_place(named)
            await check_identity(self._files, named.path, named.id, named.cwd)
            await self._remove(named)

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        """A new open session from a branch or the whole tree of another, open or closed (spec sections 13 to 21, 25).

        The boundary of an open source is asked for in the first step (S-FORK-ORD-01). The source is read from its file
        in two scans and never written; it may lie in another repository. Raises RepoClosed, InvalidArgument,
        InvalidForkOptions, InvalidSessionId, SessionExists, SessionClosed, SessionNotFound, ForeignSession,
        UnsupportedVersion, CorruptSession, LegacySourceOpen, LegacyEntryId, SessionFileChanged, StoreIOError, and what
        the selection and the classifier raise. A refused or cancelled fork leaves nothing behind.
        """
        self._reservations.check_open()
        options = check_fork_options(options)
        named = self._named(metadata)
        session_id, created_at = new_identity(options.id, self._clock, self._id_generator)
        key = named.key[0], session_id
        if key == named.key:
            raise SessionExists(session_id)  # a closed source, whatever its file is called (S-OWN-12)
        with self._reserve_new(key) as reservation:
            source = await self._source(named)
            path = await self._new_path(session_id, named.cwd, created_at)
            async with Publication(self._files, path) as publication:
                header = await copy_fork(
                    self._files,
                    source,
                    options,
                    publication,
                    session_id=session_id,
                    created_at=created_at,
                    id_generator=self._id_generator,
                    probe=self._probe,
                )
                return await self._published(publication, header, reservation, key)

    async def close(self) -> None:
        """Closes every open session and waits for the running calls. Keeps S-REPO-21 to S-REPO-24.

        So it must not be awaited inside a mutation scope or a fork probe, which it would wait for. Raises a single
        failure as it is and several as one ExceptionGroup; every further call has the same outcome.
        """
        await self._closing.close()

    def _absolute(self, cwd: object) -> str:
        """The absolute working directory, without suspension and without following links (S-OWN-10, S-REPO-16)."""
        fault = text_fault(cwd, allow_nul=False)
        if fault is not None or not isinstance(cwd, str) or not cwd:
            raise InvalidArgument("cwd", fault or "is missing or empty")
        return self._absolute_path(cwd)

    def _absolute_path(self, path: str) -> str:
        with file_failures("absolute_path"):
            return self._files.absolute_path(path)

    def _named(self, metadata: SessionMetadata) -> Named:
        """What the metadata names. Raises InvalidArgument, StoreIOError for a path that no file can have."""
        metadata = check_metadata(metadata)
        if type(metadata.path) is not str or type(metadata.cwd) is not str:
            raise InvalidArgument("metadata", "has no path or no cwd; take metadata that this store has given")
        key = self._absolute_path(metadata.cwd), metadata.id
        with file_failures("real_path"):
            return Named(metadata.id, metadata.cwd, self._files.real_path(metadata.path), key)

    def _check_place(self, named: Named) -> None:
        """Raises ForeignSession unless the file lies where this repository keeps that session (S-REPO-09)."""
        with file_failures("real_path"):
            directory = self._files.real_path(self._catalog.directory_of(named.cwd))
        if str(PurePath(named.path).parent) != directory or not named.path.endswith(SUFFIX):
            raise ForeignSession(named.id, named.path, "path")

    def _reserve_new(self, key: Key) -> Reservation[Key, Session]:
        """Reserves a session to be made. Raises SessionExists (S-OWN-04)."""
        return self._reservations.reserve(key, SessionExists(key[1]))

    async def _remove(self, named: Named) -> None:
        with file_failures("remove_file"):
            try:
                await self._files.remove_file(named.path)
            except FileError as error:
                if error.code != "not_found":
                    raise
                raise SessionNotFound(named.id, named.path) from error

    async def _new_path(self, session_id: str, cwd: str, created_at: int) -> str:
        """The file of a session to be made. Raises SessionExists when the id is taken, and StoreIOError."""
        if await self._catalog.is_taken(session_id, cwd):
            raise SessionExists(session_id)
        self._reservations.check_open()
        return self._files.join_path(self._catalog.directory_of(cwd), session_file_name(session_id, created_at))

    async def _source(self, named: Named) -> ForkSource:
        """The source of a fork; an open one has its boundary. Raises SessionClosed, LegacySourceOpen."""
        session, storage = self._reservations.open_session(named.key), self._open_files.get(named.key)
        if session is None or storage is None or storage.path != named.path:
            return ForkSource(named.path, named.id, named.cwd, None)  # S-JSONL-FORK-03
        if session.is_closing:
            raise SessionClosed(named.id)
        return ForkSource(named.path, named.id, named.cwd, await storage.boundary())

    async def _published(
        self, publication: Publication, header: Header, reservation: Reservation[Key, Session], key: Key
    ) -> Session:
        """Publishes what is written and opens it; what fails in here is taken back by the publication."""
        self._reservations.check_open()
        await publication.publish(header.id)
        return await self._opened(self._files.real_path(publication.path), header.id, header.cwd, reservation, key)

    async def _opened(
        self, path: str, session_id: str, cwd: str, reservation: Reservation[Key, Session], key: Key
    ) -> Session:
        opened = await open_file(self._files, path, session_id, cwd, self._id_generator)
        try:
            self._reservations.check_open()
        except RepoClosed:
            await settled(opened.hold.let_go())
            raise
        storage = type(self).storage_class(self._files, opened, self._clock)
        self._open_files[key] = storage
        session = Session(opened.metadata, storage, self._id_generator, lambda: self._release(key))
        return reservation.hand_to(session)

    def _release(self, key: Key) -> None:
        self._open_files.pop(key, None)
        self._reservations.release(key)


def _path(path: object) -> str:
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if type(text) is not str or not text or "\0" in text:
        raise InvalidArgument("sessions_root", "is not a path")
    return text


def _listable(header: Header) -> bytes:
    """The line of a header that a listing can read. Raises InvalidArgument (S-REPO-11, S-REPO-14)."""
    line = header.line()
    if len(line) > CHUNK:
        longest = "cwd" if header.parent_session_id is None else "parent_session_id"
        raise InvalidArgument(longest, f"makes a header of more than {CHUNK} bytes, which no listing would read")
    return line


def _checked_files(files: Files) -> Files:
    calls = [name for name in vars(Files) if not name.startswith("_")]
    lacking = [name for name in calls if not callable(getattr(files, name, None))]
    if lacking or isinstance(files, type):
        raise InvalidArgument("files", f"is no file capability: it lacks {', '.join(lacking) or 'an instance'}")
    return files
