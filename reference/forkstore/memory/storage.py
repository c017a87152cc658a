"""Storage in memory.

No call suspends: each runs wholly in the first step of its coroutine. So the event loop itself is the commit queue,
commits take effect in the order of first steps (S-TXN-03), no read sees half a commit (S-TXN-16), and no cancellation
can fall into one (S-TXN-17).
"""

from __future__ import annotations

from forkstore.contract.writes import CommitResult, Write, prepare
from forkstore.options import Clock
from forkstore.state import SessionState
from forkstore.state_reads import StateReads


class MemoryStorage(StateReads):
    """The storage of an open memory session. Closing it keeps the state (S-REPO-20)."""

    def __init__(self, state: SessionState, clock: Clock) -> None:
        super().__init__(state)
        self._clock = clock

    async def commit(self, writes: list[Write]) -> CommitResult:
        """Applies the writes as one transaction. Keeps S-TXN-01 to S-TXN-14.

        Raises InvalidValue, DuplicateId, UnknownParent; then nothing has changed. All checks come before the first
        change.
        """
        prepared = prepare(writes)
        placement = self._state.place(prepared)
        timestamp = self._clock.read()
        self._state.apply(prepared, placement, timestamp)
        return self._result(placement, timestamp)

    async def close(self) -> None:
        """There is nothing to let go of."""
