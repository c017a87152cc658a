"""The storage of an open session file: state in memory, every commit one line at the end of the file.

Commits go through a queue, because file calls may suspend: an asyncio lock, which serves first come, first served, in
the order of first steps (S-TXN-03). The state changes only after the append has succeeded
(S-JSONL-FMT-15), so reads never see what the file does not hold. A commit first makes sure that the file is the one the
store left behind, with the size it left it with; what a failed append left is cut off before anything is added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass

from forkstore.contract.errors import LegacySourceOpen, SessionFileChanged, SessionStoreError
from forkstore.contract.files import FileError, FileInfo, Files
from forkstore.contract.records import SessionStats, copy_usage
from forkstore.contract.writes import CommitResult, PreparedWrite, Write, prepare
from forkstore.options import Clock
from forkstore.settling import settled
from forkstore.state_reads import StateReads

from .failing import file_failures, look_again, store_error
from .format import record_text, transaction_line
from .opening import OpenedFile
from .upgrade import LegacyForm


@dataclass(frozen=True, slots=True)
class Boundary:
    """What a fork of an open source sees: the first `size` bytes of this very file, whose sequences lie below
    `next_seq`.
    """

    next_seq: int
    size: int
    identity: Hashable


class JsonlStorage(StateReads):
    """The storage of an open session file."""

    def __init__(self, files: Files, opened: OpenedFile, clock: Clock) -> None:
        super().__init__(opened.state)
        self._files = files
        self._session_id = opened.metadata.id
        self.path = opened.info.path
        """The real path of the file."""
        self._identity = opened.info.identity
        self._size = opened.info.size
        self._legacy = opened.legacy
        self._hold = opened.hold
        self._clock = clock
        self._queue = asyncio.Lock()
        self._inline_bytes = getattr(files, "inline_bytes", -1)
        self._left_over = 0
        self._changed: str | None = None

    async def commit(self, writes: list[Write]) -> CommitResult:
        """Applies the writes as one transaction, one line of the file. Keeps S-TXN-01 to S-TXN-15, S-JSONL-FMT-15.

        The first non-empty commit of a legacy session rewrites its file in format 4 (S-V3-19). Raises InvalidValue,
        DuplicateId, UnknownParent, SessionFileChanged (S-JSONL-FMT-16), StoreIOError; then nothing has changed.
        """
        prepared = prepare(writes)
        await self._queue.acquire()  # `async with` would add two coroutines to every commit
        try:
            await self._check_file()
            if self._legacy is not None and prepared:
                return await settled(self._upgrade(self._legacy, prepared))
            return await self._commit(prepared)
        finally:
            self._queue.release()

    async def boundary(self) -> Boundary:
        """The boundary of a fork, fixed in the commit queue. Raises LegacySourceOpen (S-V3-22)."""
        async with self._queue:
            if self._legacy is not None:
                raise LegacySourceOpen(self._session_id)
            return Boundary(self._state.next_seq, self._size, self._identity)

    async def close(self) -> None:
        """Cuts off what a failed append may have left, and lets go of the file.

        Raises StoreIOError when that fails; the file is let go of all the same.
        """
        async with self._queue:
            try:
                if self._left_over:
                    with suppress(SessionFileChanged):  # a foreign file is none of the store's business
                        await self._check_file()
            finally:
                await self._hold.close()

    def _stats(self) -> SessionStats:
        if self._legacy is None:
            return super()._stats()
        return SessionStats(self._state.message_count, copy_usage(self._legacy.usage))

    async def _commit(self, prepared: list[PreparedWrite]) -> CommitResult:
        placement = self._state.place(prepared)
        timestamp = self._clock.read()
        if prepared:
            records = [record_text(write, seq, timestamp) for seq, write in zip(placement.seqs, prepared, strict=True)]
            line = transaction_line(records)
            appending = self._append(line, lambda: self._state.apply(prepared, placement, timestamp))
            # A call that never suspends cannot be cancelled; any other runs to its end, whoever is cancelled meanwhile.
            await (appending if len(line) <= self._inline_bytes else settled(appending))
        return self._result(placement, timestamp)

    async def _upgrade(self, legacy: LegacyForm, prepared: list[PreparedWrite]) -> CommitResult:
        timestamp = self._clock.read()
        upgrade = legacy.upgrade(self._state, prepared, timestamp)
        info, hold = await upgrade.publish(self._files, self._state)
        legacy_hold, self._hold = self._hold, hold
        self._identity, self._size = info.identity, info.size
        self._legacy = None
        upgrade.apply(self._state)
        await settled(legacy_hold.let_go())
        return self._result(upgrade.callers, timestamp)

    async def _check_file(self) -> None:
        """Raises SessionFileChanged, then and ever after, when the file is not as the store left it; cuts off what a
        failed append left behind.
        """
        if self._changed is not None:
            raise SessionFileChanged(self.path, self._changed)
        try:
            self._compare(await look_again(self._files, self.path))
        except SessionFileChanged as change:
            self._changed = change.reason
            raise
        if self._left_over:
            with file_failures("truncate_file"):
                await self._files.truncate_file(self.path, self._size)
            self._left_over = 0

    def _compare(self, info: FileInfo) -> None:
        if info.identity != self._identity:
            raise SessionFileChanged(self.path, "another file stands in its place")
        if not self._size <= info.size <= self._size + self._left_over:
            raise SessionFileChanged(self.path, f"it has {info.size} bytes, and was left with {self._size}")

    async def _append(self, line: bytes, apply: Callable[[], None]) -> None:
        """Adds the line to the file, and then the commit to the state; or neither (S-TXN-17)."""
        self._left_over = len(line)
        try:
            await self._files.append_file(self.path, line)
        except BaseException as error:
            # Whatever happened, a part of the line or all of it may stand in the file.
            # The next commit, or `close`, tries again when that is not to be cut off now (S-JSONL-TAIL-07).
            with suppress(SessionStoreError):
                await self._check_file()
            if isinstance(error, FileError):
                raise store_error(error, "append_file") from error
            raise
        self._left_over = 0
        self._size += len(line)
        apply()
