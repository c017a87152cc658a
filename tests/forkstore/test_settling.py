"""Work that runs to its end, whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from forkproof.instruments.stepping import stepped
from forkstore.settling import settled

pytestmark = pytest.mark.asyncio


class Jobs:
    """Jobs that note when they begin and end, and suspend in between."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def job(self, name: str, error: BaseException | None = None) -> Callable[[], Coroutine[Any, Any, str]]:
        async def run() -> str:
            self.log.append(f"{name} begins")
            for _ in range(3):
                await asyncio.sleep(0)
            self.log.append(f"{name} ends")
            if error is not None:
                raise error
            return name

        return run


async def test_work_that_is_settled_runs_to_its_end_however_often_its_caller_is_cancelled() -> None:
    jobs = Jobs()
    outcome = await stepped(lambda: settled(jobs.job("a")()), 1, 2, 3)
    assert (outcome.kind, jobs.log) == ("cancelled", ["a begins", "a ends"])
    assert await settled(jobs.job("b")()) == "b"


async def test_what_settled_work_raises_is_raised_or_is_the_cause_of_the_cancellation() -> None:
    jobs, failure = Jobs(), OSError("no room")
    with pytest.raises(OSError, match="no room"):
        await settled(jobs.job("a", failure)())
    task = asyncio.ensure_future(settled(jobs.job("b", failure)()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as cancellation:
        await task
    assert cancellation.value.__cause__ is failure


async def test_settled_work_that_cancels_itself_is_a_cancellation() -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await settled(gives_up())
