"""Work that is run to its end, whoever is cancelled meanwhile.

A cancelled caller learns of its cancellation when the work has ended, so what it does next, cleaning up above all,
never races with work that still runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of work that runs in a task of its own. Raises as `ended` does."""
    return await ended(asyncio.get_running_loop().create_task(work))


async def ended(running: asyncio.Future[T]) -> T:
    """The outcome of what runs already: its value, or what it raises.

    Cancelled, however often, it waits for the end and then raises the first CancelledError, with the error of the work,
    if there is one, as its cause.
    """
    cancellation: asyncio.CancelledError | None = None
    try:
        while not running.done():
            try:
                await asyncio.wait([running])  # unlike `await running`, it leaves the work alone when it is cancelled
            except asyncio.CancelledError as error:
                cancellation = cancellation or error
        if cancellation is not None:
            raise cancellation from None if running.cancelled() else running.exception()
        return running.result()
    finally:
        del running, cancellation  # they may hold an error whose traceback holds this frame
