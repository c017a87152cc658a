"""Work that is run to its end, whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """Runs the work to its end in a task of its own, however often the caller is cancelled meanwhile.

    A cancelled caller gets its cancellation when the work has ended; what the work raised is then its context.
    """
    task = asyncio.get_running_loop().create_task(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = cancellation or error
    if cancellation is not None:
        if not task.cancelled():
            cancellation.__context__ = task.exception()
        raise cancellation
    return task.result()
