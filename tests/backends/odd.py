"""A right backend with choices that nobody expects and the contract allows.

Its forks are numbered with gaps from a number of their own, and its records come back with their structural fields
first. It mints ids in its own way, refuses session ids that are not plain, wants a working directory, and lists a path
and a time of change that nobody else knows of. A commit that is cancelled in the queue is withdrawn, and that an id is
taken by a closed session turns out late.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from forkstore.contract.errors import InvalidArgument, InvalidSessionId, SessionExists
from forkstore.contract.ids import check_session_id
from forkstore.contract.records import Record
from forkstore.contract.store import SessionMetadata, Storage
from forkstore.contract.writes import CommitResult, Write
from forkstore.options import Clock
from forkstore.reservations import Reservation
from forkstore.session import Session
from forkstore.state import SessionState

from .commit_queue import pause, settled
from .suspending import SuspendingSessionRepo, SuspendingStorage

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TURNS = itertools.count(1)
_STRUCTURE = ("seq", "timestamp", "type", "parentId", "id")


class CountingGenerator:
    """UUIDs of version 7 that count in their free bits, where the built-in generator has random ones."""

    def __init__(self) -> None:
        self._latest = 0

    def next(self, timestamp_ms: int | None = None) -> str:
        if timestamp_ms is None:
            timestamp_ms = self._latest = max(self._latest, time.time_ns() // 1_000_000)
        if type(timestamp_ms) is not int or not 0 <= timestamp_ms < 2**48:
            raise InvalidArgument("timestamp_ms", "is no time in 48 bits")
        digits = f"{timestamp_ms << 80 | 0x7 << 76 | 0b10 << 62 | next(_TURNS):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class OddStorage(SuspendingStorage):
    """Records with their structural fields first, and commits that can be withdrawn while they wait."""

    async def commit(self, writes: list[Write]) -> CommitResult:
        job = self.job(writes)
        withdrawn = asyncio.Event()

        def unless_withdrawn() -> CommitResult:
            if withdrawn.is_set():
                raise asyncio.CancelledError
            return job()

        return await settled(self._commits.admit(unless_withdrawn), on_cancel=withdrawn.set)

    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        found = await super().get_entries(ids)
        return {entry_id: _structure_first(entry) for entry_id, entry in found.items()}

    async def scan_branch(self, start: str, **query: Any) -> list[Record]:
        await pause(4)
        return [_structure_first(entry) for entry in await super().scan_branch(start, **query)]

    async def scan_entries(self, **query: Any) -> list[Record]:
        return [_structure_first(entry) for entry in await super().scan_entries(**query)]

    async def scan_usage(self, **query: Any) -> list[Record]:
        return [_structure_first(row) for row in await super().scan_usage(**query)]


class OddSessionRepo(SuspendingSessionRepo):
    """Destinations numbered 1007, 1010, 1013, …; plain session ids only."""

    storage_class: ClassVar[Callable[[SessionState, Clock], Storage]] = OddStorage
    batch_writes: ClassVar[int] = 7
    takes_cwd: ClassVar[bool] = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"id_generator": CountingGenerator()} | options)

    def numbers(self) -> Iterator[int]:
        return itertools.count(1007, 3)

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        listed = await super().list(cwd=cwd)
        return [replace(one, path=f"/odd/{one.id}", modified_at=self._changed_at(one)) for one in listed]

    def _changed_at(self, metadata: SessionMetadata) -> int:
        _, state = self._find(metadata.id)
        return metadata.created_at + state.next_seq

    def _reserve_new(self, session_id: str) -> Reservation[str, Session]:
        return self._reservations.reserve(session_id, SessionExists(session_id))

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        if session_id is not None and not _PLAIN_ID.fullmatch(check_session_id(session_id)):
            raise InvalidSessionId(session_id, "is not made of plain letters, digits, '.', '_' and '-'")
        return super()._new_metadata(session_id, parent_session_id)


def _structure_first(record: Record) -> Record:
    return {name: record[name] for name in _STRUCTURE if name in record} | record
