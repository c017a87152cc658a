"""Calls that run beside each other, and how each of them ended.

Nobody can wait for what never comes, and no number of seconds says that it never will. So a store's own work is the
measure: while one call is waited for, others of its kind are made on a session of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkstore.contract.addresses import list_address

Yardstick = Callable[[], Awaitable[object]]

PATIENCE = 60
"""How many times a yardstick is laid before a call counts as waiting for ever."""


async def yardstick(store: SessionMaker) -> Yardstick:
    """A write and some reads on a session of their own."""
    session = (await store.empty_session()).session

    async def lay() -> None:
        await session.append_list(list_address("garden.yardstick"), 0)
        await session.scan_entries()
        await settle()

    return lay


async def all_end(tasks: Iterable[asyncio.Future[Any]], lay: Yardstick) -> bool:
    """Waits for tasks that have nothing to wait for but the store; gives whether all of them ended."""
    listed = list(tasks)
    for lap in range(PATIENCE):
        if all(task.done() for task in listed):
            return True
        await lay()
        # A store may do its work in a thread per session: the system has to give the other one its turn.
        await asyncio.sleep(lap / 1_000)
    return all(task.done() for task in listed)


async def endings(tasks: Iterable[asyncio.Task[Any]], lay: Yardstick) -> list[str]:
    """How each task ended: the name of its error's class, `returned`, or `still waiting` (it is cancelled then)."""
    listed = list(tasks)
    await all_end(listed, lay)
    waiting = [task for task in listed if not task.done() and task.cancel()]
    ended = await asyncio.gather(*listed, return_exceptions=True)
    return [
        "still waiting" if task in waiting else type(end).__name__ if isinstance(end, BaseException) else "returned"
        for task, end in zip(listed, ended, strict=True)
    ]
