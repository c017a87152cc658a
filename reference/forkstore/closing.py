"""Closing once, for every caller, whatever happens to the callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Closing:
    """Runs a closing at most once. Keeps S-SESS-16, S-SESS-18 and S-REPO-23.

    `begin` runs in the first step of the first `close`; `finish` runs as a task of its own, so that cancelling a
    caller does not stop it. Every call of `close` has the outcome of that task.
    """

    def __init__(self, begin: Callable[[], None], finish: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._begin = begin
        self._finish = finish
        self._task: asyncio.Task[None] | None = None

    @property
    def begun(self) -> bool:
        """Whether the first step of the first close has run."""
        return self._task is not None

    async def close(self) -> None:
        """Close, or wait for the closing that runs, and give its outcome."""
        if self._task is None:
            self._begin()
            self._task = asyncio.get_running_loop().create_task(self._finish())
            # Both belong to the owner. Let go of, they leave a closed owner free to go without the garbage collector.
            del self._begin, self._finish
        await asyncio.shield(self._task)
