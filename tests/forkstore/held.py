"""Threads that stop where a test holds them, so that a test can act while one works."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

import pytest

from .gated import settle

P = ParamSpec("P")
T = TypeVar("T")


class HeldThreads(ThreadPoolExecutor):
    """The executor of the running loop. In a `with` block each thread stops before or after its work until it is let go
    or the block ends.
    """

    def __init__(self, moment: Literal["before", "after"]) -> None:
        super().__init__(2)
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(self)
        self._moment = moment
        self._go = threading.Event()
        self._stopped = asyncio.Event()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        def held() -> T:
            if self._moment == "before":
                self._hold()
            try:
                return function(*args, **kwargs)
            finally:
                if self._moment == "after":
                    self._hold()

        return super().submit(held)

    def _hold(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._go.wait()

    async def until_held(self, task: asyncio.Future[Any]) -> None:
        """Waits until a thread has stopped; the task must still wait for it."""
        stopped = asyncio.ensure_future(self._stopped.wait())
        await asyncio.wait({stopped, task}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        assert not task.done(), "the call ended without the thread"

    def let_go(self) -> None:
        """From now on no thread stops."""
        self._go.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.let_go()


async def cancelled_while_held(call: Awaitable[object], moment: Literal["before", "after"]) -> asyncio.CancelledError:
    """Cancels a call twice while its thread is held, and shows that it ends only after its thread; gives its end."""
    with HeldThreads(moment) as threads:
        task = asyncio.ensure_future(call)
        await threads.until_held(task)
        for _ in range(2):
            task.cancel()
            await settle()
            assert not task.done()
        threads.let_go()
        with pytest.raises(asyncio.CancelledError) as end:
            await task
    return end.value


def at_once(call: Awaitable[T]) -> T:
    """The result of a call that must not suspend."""
    steps: Any = call.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    pytest.fail("the call suspends")
