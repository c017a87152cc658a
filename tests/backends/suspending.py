"""A right backend that suspends in every call, as one on files or behind a server does.

Its data lies in the same containers as the memory backend's; everything about time differs. Commits queue, reads come
back later, a session is published long after its id was reserved, a fork copies in small batches beside the commits of
its source, and cleanup takes time of its own. `sessions` may outlive the repository: then the store is durable.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import msgspec

from forkstore.contract.addresses import Address
from forkstore.contract.errors import InvalidArgument, SessionClosed, SessionExists, SessionInUse
from forkstore.contract.forks import ForkOptions, check_fork_options
from forkstore.contract.records import Record, SessionStats
from forkstore.contract.store import ListElement, SessionMetadata, Storage, ValueRow
from forkstore.contract.writes import CommitResult, Write, prepare
from forkstore.memory import MemorySessionRepo
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock, check_parent_session_id
from forkstore.reservations import Reservation
from forkstore.session import Session
from forkstore.state import EntryRecord, SessionState, TextRecord

from .commit_queue import CommitQueue, pause, settled, shielded

T = TypeVar("T")
Sessions = dict[str, tuple[SessionMetadata, SessionState]]


class QueuedState(SessionState):
    """A session's data, and the queue that its commits and the boundaries of its forks go through."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = CommitQueue()

    def frozen(self) -> QueuedState:
        """The data as it is now; later commits do not reach it, because records never change."""
        taken = QueuedState()
        taken.entries, taken.entry_order = self.entries.copy(), self.entry_order.copy()
        taken.scalars = {namespace: keys.copy() for namespace, keys in self.scalars.items()}
        taken.lists = {
            namespace: {key: elements.copy() for key, elements in keys.items()}
            for namespace, keys in self.lists.items()
        }
        taken.message_count, taken.usage, taken.next_seq = self.message_count, self.usage, self.next_seq
        return taken


class SuspendingStorage(MemoryStorage):
    """Every call suspends before and after its work, and a commit waits for those before it."""

    def __init__(self, state: SessionState, clock: Clock) -> None:
        super().__init__(state, clock)
        self._commits = cast("QueuedState", state).commits

    async def commit(self, writes: list[Write]) -> CommitResult:
        return await settled(self._commits.admit(self.job(writes)))

    def job(self, writes: list[Write]) -> Callable[[], CommitResult]:
        """The first step of a commit, and what is left to do when its turn has come."""
        prepare(writes)
        kept = copy.deepcopy(writes)  # what the caller changes from here on is no longer part of the commit
        return lambda: _at_once(super(SuspendingStorage, self).commit(kept))

    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        return await _later(super().get_entries(ids))

    async def get_value(self, address: Address) -> ValueRow | None:
        return await _later(super().get_value(address))

    async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
        return await _later(super().scan_values(prefix_address))

    async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
        return await _later(super().read_list(address, **query))

    async def scan_branch(self, start: str, **query: Any) -> list[Record]:
        return await _later(super().scan_branch(start, **query))

    async def scan_branch_structure(self, start: str, **query: Any) -> list[Record]:
        return await _later(super().scan_branch_structure(start, **query))

    async def scan_entries(self, **query: Any) -> list[Record]:
        return await _later(super().scan_entries(**query))

    async def scan_usage(self, **query: Any) -> list[Record]:
        return await _later(super().scan_usage(**query))

    async def get_stats(self) -> SessionStats:
        return await _later(super().get_stats())

    async def close(self) -> None:
        await self._commits.idle()
        await pause()


class SuspendingSessionRepo(MemorySessionRepo):
    """The repository of such sessions. Reserves in the first step, publishes last, and undoes what it gives up."""

    storage_class: ClassVar[Callable[[SessionState, Clock], Storage]] = SuspendingStorage
    batch_writes: ClassVar[int] = 3
    takes_cwd: ClassVar[bool] = False

    def __init__(self, *, sessions: Sessions | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._durable = sessions is not None
        self._sessions: Sessions = {} if sessions is None else sessions

    async def create(
        self, *, id: str | None = None, parent_session_id: str | None = None, cwd: str | None = None
    ) -> Session:
        self._reservations.check_open()
        self._check_cwd(cwd, needed=True)
        metadata = replace(self._new_metadata(id, check_parent_session_id(parent_session_id)), cwd=cwd)
        with self._reserve_new(metadata.id) as reservation:
            return await self._made(metadata, _empty, reservation)

    async def open(self, metadata: SessionMetadata) -> Session:
        self._reservations.check_open()
        session_id = _identity(metadata)
        with self._reservations.reserve(session_id, SessionInUse(session_id)) as reservation:
            await pause()
            stored, state = self._find(session_id)
            await pause()
            self._reservations.check_open()
            return self._hand_out(stored, state, reservation)

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        self._reservations.check_open()
        self._check_cwd(cwd, needed=False)
        await pause()
        found = [metadata for metadata, _ in self._sessions.values() if cwd in (None, metadata.cwd)]
        await pause()
        return sorted(found, key=lambda metadata: (-metadata.created_at, metadata.id))

    async def delete(self, metadata: SessionMetadata) -> None:
        self._reservations.check_open()
        session_id = _identity(metadata)
        with self._reservations.reserve(session_id, SessionInUse(session_id)):
            await pause()
            self._find(session_id)
            del self._sessions[session_id]
            await pause()

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        self._reservations.check_open()
        options = check_fork_options(options)
        source_id = _identity(metadata)
        new_metadata = self._new_metadata(options.id, source_id)
        with self._reserve_new(new_metadata.id) as reservation:
            stored, source = self._find(source_id)
            new_metadata = replace(new_metadata, cwd=stored.cwd)
            open_source = self._reservations.open_session(source_id)
            if open_source is not None and open_source.is_closing:
                raise SessionClosed(source_id)
            state = cast("QueuedState", source)
            boundary = state.commits.admit(state.frozen)

            async def copied() -> QueuedState:
                return await self._copied(await settled(boundary), options)

            return await self._made(new_metadata, copied, reservation)

    async def _made(
        self, metadata: SessionMetadata, build: Callable[[], Awaitable[QueuedState]], reservation: Reservation[Any, Any]
    ) -> Session:
        """Builds a session's data, publishes it and hands it out; a failure or cancellation undoes everything."""
        published = False
        try:
            state = await build()
            await pause()
            self._reservations.check_open()
            self._publish_once(metadata, state)
            published = True
            await pause()
            self._reservations.check_open()
        except BaseException:
            await shielded(self._undo(metadata.id if published else None))
            raise
        return self._hand_out(metadata, state, reservation)

    def _publish_once(self, metadata: SessionMetadata, state: QueuedState) -> None:
        if metadata.id in self._sessions:  # another repository on a durable store was faster
            raise SessionExists(metadata.id)
        self._sessions[metadata.id] = metadata, state

    def _check_cwd(self, cwd: object, *, needed: bool) -> None:
        if not self.takes_cwd and cwd is not None:
            raise InvalidArgument("cwd", "is not for this store")
        if self.takes_cwd and (needed or cwd is not None) and (type(cwd) is not str or not cwd):
            raise InvalidArgument("cwd", "is missing or not a directory's name")

    async def _undo(self, published: str | None) -> None:
        await pause()
        if published is not None:
            self._sessions.pop(published, None)
        await pause()

    async def _copied(self, source: QueuedState, options: ForkOptions) -> QueuedState:
        """The destination, written batch by batch while the source goes on."""
        await self._probe.boundary_captured()
        await pause()
        selected, _ = self.fork_state(source, options)
        destination, batch = QueuedState(), 0
        for write in self.writes(selected):
            write(destination)
            batch += 1
            if batch == self.batch_writes:
                await self._probe.batch_copied(batch)
                await pause(1)
                batch = 0
        await self._probe.batch_copied(batch)
        await pause()
        await self._probe.before_publish()
        return destination

    def writes(self, selected: SessionState) -> Iterator[Callable[[QueuedState], None]]:
        """The writes that make the destination of what was selected, each with a sequence of its own."""
        numbers = self.numbers()
        for entry in selected.entry_order:
            yield _insert_of(msgspec.structs.replace(entry, seq=next(numbers)))
        for row in selected.fork_rows():
            yield _put_of(row._replace(seq=next(numbers)))

    def numbers(self) -> Iterator[int]:
        """The sequences of a destination: from 1 without gaps."""
        return iter(range(1, 2**53))

    async def _close_all(self) -> None:
        await pause()
        try:
            await self._reservations.close_all()
        finally:
            if not self._durable:
                self._sessions.clear()


def _insert_of(entry: EntryRecord) -> Callable[[QueuedState], None]:
    def insert(destination: QueuedState) -> None:
        destination.entries[entry.id] = entry
        destination.entry_order.append(entry)
        destination.message_count += entry.type == "message"
        destination.next_seq = entry.seq + 1

    return insert


def _put_of(row: Any) -> Callable[[QueuedState], None]:
    def put(destination: QueuedState) -> None:
        destination.put(row.kind, row.namespace, row.key, TextRecord(row.seq, row.text))
        destination.next_seq = row.seq + 1

    return put


async def _empty() -> QueuedState:
    await pause()
    return QueuedState()


async def _later(read: Awaitable[T]) -> T:
    try:
        await pause()
    except BaseException:
        read.close()  # type: ignore[attr-defined]
        raise
    answer = await read
    await pause()
    return answer


def _at_once(call: Any) -> Any:
    """The outcome of a coroutine that never suspends."""
    try:
        call.send(None)
    except StopIteration as ended:
        return ended.value
    raise RuntimeError("the call suspends")


def _identity(metadata: SessionMetadata) -> str:
    if not isinstance(metadata, SessionMetadata):
        raise InvalidArgument("metadata", "is not SessionMetadata")
    return metadata.id
