"""A fork probe that records its callbacks and can park a fork at a named point until the case releases it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from forkproof.expect import ClauseBroken

POINTS = ("boundary_captured", "batch_copied", "before_publish")


@dataclass(eq=False)
class Gate:
    """One parking place. A fork that arrives waits here until `release()`.

    >>> gate = store.probe.park("before_publish")
    >>> fork = asyncio.create_task(store.repo.fork(source.metadata, TreeFork()))
    >>> await gate.reached()
    >>> gate.release()
    """

    point: str
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    async def reached(self) -> None:
        """Waits until a fork stands at this gate."""
        await self._arrived.wait()

    async def reached_by(self, fork: asyncio.Future[Any]) -> None:
        """Waits until the fork of that task stands at this gate. Breaks the clause when it ends without arriving."""
        arriving = asyncio.ensure_future(self._arrived.wait())
        try:
            await asyncio.wait([arriving, fork], return_when=asyncio.FIRST_COMPLETED)
        finally:
            arriving.cancel()
        if not self.is_reached:
            raise ClauseBroken(f"expected: the fork awaits {self.point}\nseen:     it ended without that callback")

    @property
    def is_reached(self) -> bool:
        """Whether a fork has arrived."""
        return self._arrived.is_set()

    def release(self) -> None:
        """Lets the fork go on; also when it has not arrived yet."""
        self._released.set()

    async def hold(self) -> None:
        """What the fork awaits: arrives, and waits for the release."""
        self._arrived.set()
        await self._released.wait()


class GateProbe:
    """Hand it to a repository as `fork_probe`.

    `calls` lists every callback in order as `(point, count)`; `count` is None except for `batch_copied`. One action per
    arrival: `park`, `run` and `fail` each apply to the next fork that reaches the point, in the order they were asked
    for.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None]] = []
        self._actions: dict[str, deque[Callable[[], Awaitable[object]]]] = {point: deque() for point in POINTS}
        self._gates: list[Gate] = []

    def park(self, point: str) -> Gate:
        """Parks the next fork that reaches `point`; gives the gate to wait at and to release."""
        gate = Gate(point)
        self._gates.append(gate)
        self._actions[point].append(gate.hold)
        return gate

    def run(self, point: str, action: Callable[[], Awaitable[object]]) -> None:
        """Awaits `action()` inside the callback of the next fork that reaches `point`."""
        self._actions[point].append(action)

    def fail(self, point: str, error: BaseException) -> None:
        """Raises `error` from the callback of the next fork that reaches `point`."""

        async def raise_it() -> None:
            raise error

        self._actions[point].append(raise_it)

    def release_all(self) -> None:
        """Opens every gate, so that no fork stays parked."""
        for gate in self._gates:
            gate.release()

    def count(self, point: str) -> int:
        """How often the point was reached."""
        return sum(1 for name, _ in self.calls if name == point)

    @property
    def copied(self) -> int:
        """The sum of the counts of all `batch_copied` callbacks."""
        return sum(count or 0 for name, count in self.calls if name == "batch_copied")

    async def boundary_captured(self) -> None:
        await self._at("boundary_captured", None)

    async def batch_copied(self, count: int) -> None:
        await self._at("batch_copied", count)

    async def before_publish(self) -> None:
        await self._at("before_publish", None)

    async def _at(self, point: str, count: int | None) -> None:
        self.calls.append((point, count))
        if self._actions[point]:
            await self._actions[point].popleft()()
