"""Blocking work in a thread, in such a way that nobody goes on before it has ended.

A thread cannot be stopped. If a cancelled call went back to its caller at once, what the caller does next, such as
removing the file that is being written, would race with a thread that still writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def in_thread(function: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """The result of a function that runs in a thread of the event loop's default executor; raises what it raises.

    When it is cancelled, however often, it waits until the function has ended and then raises CancelledError, with
    the error of the function, if there is one, as its cause. What the function did stays done.
    """
    running = asyncio.get_running_loop().run_in_executor(None, function, *arguments)
    try:
        try:
            await asyncio.wait([running])  # unlike `await running`, it leaves the future alone when it is cancelled
        except asyncio.CancelledError as cancelled:
            await _ended(running)
            raise cancelled from running.exception()
        return running.result()
    finally:
        del running  # it holds an error whose traceback holds this frame


async def _ended(running: asyncio.Future[T]) -> None:
    """Waits for the end of a future and takes no cancellation: one has arrived already, and is raised afterwards."""
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            continue
