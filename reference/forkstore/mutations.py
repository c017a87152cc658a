"""The mutation line of a session and the scopes it grants (spec section 10).

How order is guaranteed: a coroutine runs to its first suspension without interruption, so the order of the first
steps of tasks is the order in which they reach `enter`. There a caller either owns the line at once, or joins a
first-in-first-out queue. `leave` hands the line directly to the first in the queue; it is never free while somebody
waits, so nobody can overtake (S-MUT-01).
"""

from __future__ import annotations

import asyncio
from collections import deque

from .admission import AdmittedScopeReads, Calls
from .contract.errors import CommitAlreadyAttempted, ScopeEnded, SessionClosed
from .contract.records import refuse_pending
from .contract.store import Storage
from .contract.writes import CommitResult, EntryInsert, Write


class MutationLine:
    """Grants exclusive use of a session, one caller at a time, in order."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held = False
        self._closed = False
        self._idle: asyncio.Future[None] | None = None

    async def enter(self) -> None:
        """Waits for the line. Raises SessionClosed when the session is closing, also to those who wait (S-SESS-14)."""
        if self._closed:
            raise SessionClosed(self._session_id)
        if not self._held:
            self._held = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        granted = False
        try:
            await turn
            granted = True
        finally:
            if not granted:
                self._give_up(turn)

    def _give_up(self, turn: asyncio.Future[None]) -> None:
        """A caller was cancelled, or its coroutine closed, before it could use the line (S-MUT-09).

        Still waiting, it leaves the queue. If the line was handed to it but it could not run, it hands the line on.
        """
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif not turn.cancelled() and turn.exception() is None:
            self.leave()

    def leave(self) -> None:
        """Hands the line to the next caller."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._held = False
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def close(self) -> None:
        """Rejects those who wait and all who come (S-SESS-14)."""
        self._closed = True
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(SessionClosed(self._session_id))

    async def idle(self) -> None:
        """After `close`: waits until the scope that still runs has ended (S-SESS-15)."""
        if self._held:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle


class _ScopeCalls:
    """Admission of a scope's calls: until the scope ends, also while the session already closes."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.ended = False

    def __enter__(self) -> None:
        if self.ended:
            raise ScopeEnded
        self._calls.enter_late()

    def __exit__(self, *_: object) -> None:
        self._calls.leave()


class CallbackScope(AdmittedScopeReads):
    """Exclusive use of a session inside `mutate`: the reads of section 2.3 and one commit.

    Every member raises ScopeEnded in the first step of the call once the scope has ended (S-MUT-06).
    """

    def __init__(self, storage: Storage, calls: Calls, line: MutationLine) -> None:
        self._calls = _ScopeCalls(calls)
        super().__init__(storage, self._calls)
        self._line = line
        self._attempted = False
        self._commit_runs = False
        self._left: asyncio.Future[None] | None = None

    async def commit(self, writes: list[Write]) -> CommitResult:
        """The scope's one commit. It does not end the scope (S-MUT-04).

        Raises CommitAlreadyAttempted for a further attempt, also when the first failed or was refused (S-MUT-03),
        PendingMessage for an assistant message that is not settled (S-SESS-10), and what the storage raises.
        """
        with self._calls:
            if self._attempted:
                raise CommitAlreadyAttempted
            self._attempted = True
            refuse_pending_messages(writes)
            self._commit_runs = True
            try:
                return await self._storage.commit(writes)
            finally:
                self._commit_runs = False
                self._leave_when_settled()

    def end_now(self) -> None:
        """Ends the scope.

        The line is left now, or when the commit that still runs has settled; cancelling nobody prevents it.
        """
        if not self._calls.ended:
            self._calls.ended = True
            self._leave_when_settled()

    def _leave_when_settled(self) -> None:
        if self._calls.ended and not self._commit_runs:
            self._line.leave()
            if self._left is not None and not self._left.done():
                self._left.set_result(None)

    async def wait_for_commit(self) -> None:
        """Waits for the commit that runs after the scope has ended (S-MUT-05)."""
        if self._commit_runs:
            self._left = self._left or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._left)


class MutationScope(CallbackScope):
    """Exclusive use of a session until `end`."""

    async def end(self) -> None:
        """Ends the scope in the first step, waits for a running commit, and lets the next scope start.

        A further call does nothing more. Cancelling it does not keep the scope from ending (S-MUT-05).
        """
        self.end_now()
        await self.wait_for_commit()


class ExclusiveUse:
    """A scope of the public writers: `async with` waits for the line, and leaves it whatever happens."""

    def __init__(self, line: MutationLine) -> None:
        self._line = line

    async def __aenter__(self) -> None:
        await self._line.enter()

    async def __aexit__(self, *_: object) -> None:
        self._line.leave()


def refuse_pending_messages(writes: list[Write]) -> None:
    """Raises PendingMessage if one of the writes inserts an assistant message that is not settled (S-SESS-10)."""
    for write in writes if isinstance(writes, list | tuple) else ():
        if isinstance(write, EntryInsert):
            refuse_pending(write.entry)
