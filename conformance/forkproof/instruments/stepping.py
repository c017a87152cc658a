"""Cancellation, one suspension at a time: runs a call to its k-th suspension and cancels there, for every k.

The call runs in a task of its own under a driver that counts how often its coroutine suspends. At the k-th suspension
the driver cancels the task before it passes the awaited future on, so that asyncio really cancels that future, as it
would for a caller. A second cancellation some suspensions later hits the cleanup of the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Literal

from forkproof.expect import ClauseBroken

Call = Callable[[], Coroutine[Any, Any, Any]]
SETTLE_ROUNDS = 20


@dataclass(frozen=True)
class Stepped:
    """What came of one call: how it ended, and at how many suspensions it was driven through."""

    kind: Literal["returned", "raised", "cancelled"]
    value: Any = None
    error: BaseException | None = None
    suspensions: int = 0
    cancelled_at: tuple[int, ...] = ()

    @property
    def untouched(self) -> bool:
        """The call ended before any cancellation was due."""
        return not self.cancelled_at


class _Driver:
    """Awaits a coroutine, counts its suspensions and cancels the running task at the chosen ones."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], cancel_at: tuple[int, ...]) -> None:
        self._coroutine = coroutine
        self._cancel_at = cancel_at
        self.suspensions = 0
        self.cancelled_at: list[int] = []

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[], Any] = lambda: self._coroutine.send(None)  # noqa: E731 - the next step is a value here
        while True:
            try:
                awaited = step()
            except StopIteration as ended:
                return ended.value
            self.suspensions += 1
            if self.suspensions in self._cancel_at:
                self.cancelled_at.append(self.suspensions)
                _running_task().cancel()
            try:
                sent = yield awaited
            except BaseException as error:  # noqa: BLE001 - the driver is transparent to whatever is thrown in
                step = _throwing(self._coroutine, error)
            else:
                step = _sending(self._coroutine, sent)


def _running_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("stepping needs a running task")
    return task


def _throwing(coroutine: Coroutine[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: coroutine.throw(error)


def _sending(coroutine: Coroutine[Any, Any, Any], value: object) -> Callable[[], Any]:
    return lambda: coroutine.send(value)


async def stepped(call: Call, *cancel_at: int) -> Stepped:
    """Makes the call in a task of its own and cancels it at the given suspensions (counted from 1; none: just counts).

    >>> outcome = await stepped(lambda: repo.fork(source.metadata, TreeFork()), 3)
    >>> outcome.kind
    'cancelled'
    """
    driver = _Driver(call(), cancel_at)

    async def drive() -> Any:
        return await driver

    task = asyncio.ensure_future(drive())
    try:
        await asyncio.wait([task])
    finally:
        task.cancel()
    counted: dict[str, Any] = {"suspensions": driver.suspensions, "cancelled_at": tuple(driver.cancelled_at)}
    if task.cancelled():
        return Stepped("cancelled", error=asyncio.CancelledError(), **counted)
    error = task.exception()
    return Stepped("raised", error=error, **counted) if error else Stepped("returned", value=task.result(), **counted)


async def cancelled_at_every_suspension(
    call: Call,
    check: Callable[[int, Stepped], Awaitable[object]],
    *,
    again_after: int | None = None,
    limit: int = 1_000,
) -> int:
    """For k = 1, 2, …: makes the call, cancels it at its k-th suspension, and awaits `check(k, outcome)`.

    Ends with the first call that passes untouched (not checked; its outcome is what the call does by itself), and
    gives the number of suspensions it had, 0 for a call that never suspends. `again_after=j` cancels a second time j
    suspensions later. An error of the untouched call is raised as it is.

    >>> async def nothing_is_left(k: int, outcome: Stepped) -> None:
    ...     await store.assert_only_known_sessions(source)
    >>> await cancelled_at_every_suspension(lambda: store.repo.fork(source.metadata, TreeFork(id="f")), nothing_is_left)
    """
    for k in range(1, limit + 1):
        points = (k,) if again_after is None else (k, k + again_after)
        outcome = await stepped(call, *points)
        if outcome.untouched:
            if outcome.error is not None:
                raise outcome.error
            return outcome.suspensions
        await check(k, outcome)
    raise ClauseBroken(f"expected: a call that ends\nseen:     still suspended after {limit} suspensions")


async def settle() -> None:
    """Lets everything that is ready run, a fixed number of rounds of the loop: for steps that need no outside event."""
    for _ in range(SETTLE_ROUNDS):
        await asyncio.sleep(0)
