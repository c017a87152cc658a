"""Blocking work in a thread, in such a way that nobody goes on before it has ended.

A thread cannot be stopped. If a cancelled call went back to its caller at once, what the caller does next, such as
removing the file that is being written, would race with a thread that still writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from .settling import ended

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def in_thread(function: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """The result of a function that runs in a thread of the event loop's default executor; raises what it raises.

    Cancelled, it waits until the function has ended, as `ended` says. What the function did stays done.
    """
    return await ended(asyncio.get_running_loop().run_in_executor(None, function, *arguments))
