"""The calls that run on a session's storage: who is admitted, and when all of them have settled.

A session closes in two moments. From the first step of `close` on, new calls are refused; the storage itself is
closed only when every admitted call has settled. Backends know nothing of this: their storage sees only admitted
calls, and its `close` last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Unpack

from .contract.addresses import Address
from .contract.errors import SessionClosed
from .contract.queries import BranchArguments, EntryArguments, ListArguments, UsageArguments
from .contract.records import Record, SessionStats
from .contract.store import ListElement, Storage, ValueRow
from .contract.writes import CommitResult, Write


class Admission(Protocol):
    """Admits one call for the length of a `with` block, or refuses it in the call's first step."""

    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class Calls:
    """The calls that run on one session.

    As an admission it refuses with SessionClosed once closing has begun (S-SESS-13).
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._running = 0
        self._closing = False
        self._settled: asyncio.Future[None] | None = None

    def check_open(self) -> None:
        """Raises SessionClosed once closing has begun."""
        if self._closing:
            raise SessionClosed(self._session_id)

    def __enter__(self) -> None:
        self.check_open()
        self._running += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    def enter_late(self) -> None:
        """Admits a call of a scope that was granted before closing began and may still finish its work (S-SESS-15)."""
        self._running += 1

    def leave(self) -> None:
        """Ends an admitted call."""
        self._running -= 1
        if not self._running and self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    def refuse_new(self) -> None:
        """From now on new calls are refused."""
        self._closing = True

    async def settled(self) -> None:
        """Waits until no admitted call runs (S-SESS-15)."""
        while self._running:
            self._settled = asyncio.get_running_loop().create_future()
            await self._settled


class AdmittedScopeReads:
    """The reads of section 2.3, each admitted in its first step and then passed to the storage.

    Reads never queue (S-QRY-18).
    """

    def __init__(self, storage: Storage, admission: Admission) -> None:
        self._storage = storage
        self._admission = admission

    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        """The known entries among the ids, in requested order. Raises InvalidQuery. Keeps S-QRY-01."""
        with self._admission:
            return await self._storage.get_entries(ids)

    async def get_value(self, address: Address) -> ValueRow | None:
        """The current scalar at the address, or None. Raises InvalidQuery. Keeps S-VAL-02."""
        with self._admission:
            return await self._storage.get_value(address)

    async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
        """The scalars of a namespace whose key starts with the given key.

        Raises InvalidQuery. Keeps S-QRY-03, S-QRY-04.
        """
        with self._admission:
            return await self._storage.scan_values(prefix_address)

    async def read_list(self, address: Address, **query: Unpack[ListArguments]) -> list[ListElement]:
        """A page of a list. Raises InvalidQuery. Keeps S-LIST-01 to S-LIST-06."""
        with self._admission:
            return await self._storage.read_list(address, **query)

    async def scan_branch(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """Entries of the path from `start` to the root.

        Raises UnknownEntry, InvalidQuery. Keeps S-QRY-05 to S-QRY-09.
        """
        with self._admission:
            return await self._storage.scan_branch(start, **query)

    async def get_stats(self) -> SessionStats:
        """The statistics. Keeps S-ENT-09 to S-ENT-11."""
        with self._admission:
            return await self._storage.get_stats()


class AdmittedReads(AdmittedScopeReads):
    """All reads of section 2.4, admitted."""

    async def scan_branch_structure(self, start: str, **query: Unpack[BranchArguments]) -> list[Record]:
        """The structures of what `scan_branch` gives. Raises UnknownEntry, InvalidQuery. Keeps S-QRY-10."""
        with self._admission:
            return await self._storage.scan_branch_structure(start, **query)

    async def scan_entries(self, **query: Unpack[EntryArguments]) -> list[Record]:
        """Entries of the whole session by sequence. Raises InvalidQuery. Keeps S-QRY-11."""
        with self._admission:
            return await self._storage.scan_entries(**query)

    async def scan_usage(self, **query: Unpack[UsageArguments]) -> list[Record]:
        """The usage ledger by sequence. Raises InvalidQuery. Keeps S-QRY-11."""
        with self._admission:
            return await self._storage.scan_usage(**query)


class AdmittedStorage(AdmittedReads):
    """The storage as a session hands it out: every call admitted, and closed only with its session."""

    def __init__(self, storage: Storage, calls: Calls, close_session: Closer) -> None:
        super().__init__(storage, calls)
        self._close_session = close_session

    async def commit(self, writes: list[Write]) -> CommitResult:
        """One transaction, reserved namespaces included. Raises as the storage does, and SessionClosed."""
        with self._admission:
            return await self._storage.commit(writes)

    async def close(self) -> None:
        """Closes the session, which is the only owner of the storage."""
        await self._close_session()


class Closer(Protocol):
    """Closes the session that owns a storage."""

    async def __call__(self) -> None: ...
