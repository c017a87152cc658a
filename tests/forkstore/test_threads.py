"""Work in a thread: its outcome is the call's outcome, and nobody goes on before it has ended."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from contextlib import suppress
from typing import Literal

import pytest

from forkstore.threads import in_thread

from .gated import settle
from .held import HeldThreads, cancelled_while_held

pytestmark = pytest.mark.asyncio
Moment = Literal["before", "after"]


class Broken(Exception):
    """The error of a function."""


def fail() -> None:
    raise Broken


async def test_the_function_runs_in_another_thread_with_its_arguments() -> None:
    assert await in_thread(threading.get_ident) != threading.get_ident()
    assert await in_thread(divmod, 7, 2) == (3, 1)


async def test_its_error_is_the_error_of_the_call() -> None:
    with pytest.raises(Broken):
        await in_thread(fail)


async def test_other_tasks_run_meanwhile() -> None:
    with HeldThreads("before") as threads:
        task = asyncio.create_task(in_thread(int))
        await threads.until_held(task)
        await settle()
        assert not task.done()
        threads.let_go()
        assert await task == 0


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_cancelled_call_ends_after_its_thread(moment: Moment) -> None:
    done: list[int] = []
    end = await cancelled_while_held(in_thread(done.append, 1), moment)
    assert done == [1]
    assert end.__cause__ is None


async def test_the_error_of_a_cancelled_function_is_kept_as_the_cause() -> None:
    end = await cancelled_while_held(in_thread(fail), "before")
    assert isinstance(end.__cause__, Broken)


async def test_the_first_cancellation_is_the_one_that_is_raised() -> None:
    with HeldThreads("before") as threads:
        task = asyncio.create_task(in_thread(int))
        await threads.until_held(task)
        task.cancel("first")
        await settle()
        task.cancel("second")
        await settle()
        threads.let_go()
        with pytest.raises(asyncio.CancelledError, match="first"):
            await task


@pytest.mark.parametrize("steps", range(4))
async def test_a_cancellation_between_the_end_of_the_thread_and_the_end_of_the_call_counts(steps: int) -> None:
    with HeldThreads("before") as threads:
        task = asyncio.create_task(in_thread(int))
        await threads.until_held(task)
        threads.let_go()
        threads.shutdown()  # while the loop stands still
        for _ in range(steps):
            await asyncio.sleep(0)
        counts = task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() == counts


async def test_a_call_that_waits_for_a_thread_runs_before_it_ends() -> None:
    """All threads are busy when it is cancelled: its function is not left out."""
    done: list[int] = []
    with HeldThreads("before") as threads:
        busy = [asyncio.create_task(in_thread(int)) for _ in range(2)]
        task = asyncio.create_task(in_thread(done.append, 1))
        await threads.until_held(task)
        task.cancel()
        await settle()
        assert not task.done()
        threads.let_go()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done == [1]
        assert await asyncio.gather(*busy) == [0, 0]


async def test_a_time_limit_ends_after_the_thread() -> None:
    done: list[int] = []
    with HeldThreads("before") as threads:

        async def limited() -> None:
            async with asyncio.timeout(0):
                await in_thread(done.append, 1)

        task = asyncio.create_task(limited())
        await threads.until_held(task)
        await settle()
        assert not task.done()
        threads.let_go()
        with pytest.raises(TimeoutError):
            await task
    assert done == [1]


async def test_an_error_leaves_nothing_for_the_garbage_collector() -> None:
    error = Broken()
    seen = weakref.ref(error)

    def fail_with(errors: list[Broken]) -> None:
        raise errors.pop()

    errors = [error]
    del error
    gc.disable()
    try:
        with suppress(Broken):
            await in_thread(fail_with, errors)
        await settle()
        assert seen() is None
    finally:
        gc.enable()
