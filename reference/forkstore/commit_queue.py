"""The commit queue of a storage whose commits suspend: first in, first out, and cancelled cleanly.

How order is guaranteed: a caller either owns the queue at once or joins the waiting line in the first step of its
coroutine, and the queue is handed on directly, so nobody overtakes (S-TXN-03). A caller that is cancelled while it
waits was never there. A job that runs is run to its end in a task of its own, whatever happens to its caller, who
learns of a cancellation only then: the job is wholly done or wholly failed (S-TXN-17).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class CommitQueue:
    """Runs jobs one after the other."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held = False

    async def run(self, job: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The outcome of the job, when its turn has come. Admitted in the first step of this coroutine."""
        if self._held:
            await self._turn()
        self._held = True
        try:
            return await settled(job())
        finally:
            self._hand_on()

    async def _turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.cancelled():  # handed the queue, but cancelled before it could use it
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._held = False


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """Runs the work to its end in a task of its own, however often the caller is cancelled meanwhile.

    A cancelled caller gets its cancellation when the work has ended; what the work raised is then its context.
    """
    task = asyncio.get_running_loop().create_task(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = cancellation or error
    if cancellation is not None:
        if not task.cancelled():
            cancellation.__context__ = task.exception()
        raise cancellation
    return task.result()
