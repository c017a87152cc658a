"""Calls that are started one after the other without waiting for each other.

Each call gets a task of its own. Tasks take their first steps in the order in which they were made, and the contract
builds admission and reservation on that order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """How one call ended: its value, or the error it raised."""

    value: Any = None
    error: BaseException | None = None

    @property
    def word(self) -> str:
        """`returned`, or the name of the error's class."""
        return "returned" if self.error is None else type(self.error).__name__


async def ended(call: Awaitable[Any]) -> Ended:
    """Awaits one call in place, in the step in which the caller stands."""
    try:
        return Ended(value=await call)
    except Exception as error:  # noqa: BLE001 - how it ended is what is asked
        return Ended(error=error)


async def raced(*calls: Awaitable[Any]) -> list[Ended]:
    """Starts the calls in this order and waits for all of them.

    >>> first, second = await raced(repo.create(id="s"), repo.create(id="s"))
    >>> words([first, second])
    ['returned', 'SessionExists']
    """
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    return [Ended(error=one) if isinstance(one, BaseException) else Ended(value=one) for one in outcomes]


def words(endings: Iterable[Ended]) -> list[str]:
    """How the calls ended, in a form that can be compared and shown."""
    return [ending.word for ending in endings]
