"""The commit queue of a storage that suspends: jobs one after the other, and nobody's cancellation reaches a job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def pause(rounds: int = 2) -> None:
    """Suspends a few times, as a call that does real input and output would."""
    for _ in range(rounds):
        await asyncio.sleep(0)


async def settled(task: asyncio.Task[T], on_cancel: Callable[[], None] = lambda: None) -> T:
    """The outcome of a task. A cancelled caller learns of its cancellation only when the task has ended."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
            on_cancel()
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # nobody else will ask for it
        raise cancelled
    return task.result()


async def shielded(work: Coroutine[Any, Any, T]) -> T:
    """Runs the work to its end, however often the caller is cancelled meanwhile."""
    return await settled(asyncio.get_running_loop().create_task(work))


class CommitQueue:
    """Runs jobs first in, first out, with suspensions before and after each. A job is admitted by a plain call."""

    def __init__(self) -> None:
        self._last: asyncio.Task[Any] | None = None

    def admit(self, job: Callable[[], T]) -> asyncio.Task[T]:
        """Places a job at the end of the queue, at once; the task has its outcome."""
        self._last = task = asyncio.get_running_loop().create_task(self._run(self._last, job))
        return task

    async def _run(self, previous: asyncio.Task[Any] | None, job: Callable[[], T]) -> T:
        if previous is not None and not previous.done():
            await asyncio.wait([previous])
        await pause(3)
        outcome = job()
        await pause(3)
        return outcome

    async def idle(self) -> None:
        """Waits until no job is left."""
        while self._last is not None and not self._last.done():
            await asyncio.wait([self._last])
