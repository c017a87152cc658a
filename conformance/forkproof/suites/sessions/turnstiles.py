"""What suites on file work share: a turnstile that holds chosen file calls until a case lets them through."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, TypeVar

from forkproof.instruments.fault_kinds import Fault, Hit, Operation

T = TypeVar("T")


class Turnstile(Fault):
    """Holds every call that it strikes until it is pushed, one call a push.

    >>> store.faults.arm(turnstile, names={"append_file"})
    >>> committing = asyncio.ensure_future(subject.session.set_name("the pond"))
    >>> await turnstile.arrival()
    >>> turnstile.push()
    """

    lasting: ClassVar[bool] = True

    def __init__(self) -> None:
        self._arrivals = asyncio.Semaphore(0)
        self._pushes = asyncio.Semaphore(0)

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        self._arrivals.release()
        await self._pushes.acquire()
        return await operation.do()

    async def arrival(self) -> None:
        """Waits for the next call."""
        await self._arrivals.acquire()

    async def arrival_or_end(self, task: asyncio.Future[Any]) -> None:
        """Waits for the next call, or for the end of a task, whichever comes first."""
        arriving = asyncio.ensure_future(self.arrival())
        try:
            await asyncio.wait([task, arriving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            arriving.cancel()

    def push(self, times: int = 1) -> None:
        """Lets calls through, those to come included."""
        for _ in range(times):
            self._pushes.release()
