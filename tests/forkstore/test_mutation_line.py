"""The mutation line: granted to one caller at a time, in order, whatever happens to those who wait."""

from __future__ import annotations

import asyncio

import pytest

from forkstore.contract.errors import SessionClosed
from forkstore.mutations import ExclusiveUse, MutationLine

from .gated import METADATA, settle

pytestmark = pytest.mark.asyncio


class Turns:
    """Callers of one line, and the order in which they had it."""

    def __init__(self) -> None:
        self.line = MutationLine(METADATA.id)
        self.had: list[str] = []
        self.leave = asyncio.Event()

    async def caller(self, name: str) -> None:
        async with ExclusiveUse(self.line):
            self.had.append(name)
            await self.leave.wait()

    def start(self, names: str) -> dict[str, asyncio.Task[None]]:
        return {name: asyncio.create_task(self.caller(name)) for name in names}


async def test_the_line_is_granted_in_the_order_of_first_steps() -> None:
    """S-MUT-01."""
    turns = Turns()
    callers = turns.start("abcd")
    await settle()
    assert turns.had == ["a"]
    turns.leave.set()
    await asyncio.gather(*callers.values())
    assert turns.had == ["a", "b", "c", "d"]


async def test_nobody_overtakes_a_caller_that_the_line_was_handed_to() -> None:
    """S-MUT-01: between the end of one scope and the first step of the next, the line is not free."""
    line = MutationLine(METADATA.id)
    await line.enter()
    waiting = asyncio.create_task(line.enter())
    await settle()
    line.leave()
    late = asyncio.create_task(line.enter())
    await settle()
    assert waiting.done()
    assert not late.done()
    line.leave()
    await late


@pytest.mark.parametrize("cancelled", ["b", "c", "d", "bc", "bd", "cd", "bcd"])
async def test_a_cancelled_waiter_leaves_the_queue(cancelled: str) -> None:
    """S-MUT-09, at every place of the queue."""
    turns = Turns()
    callers = turns.start("abcd")
    await settle()
    for name in cancelled:
        callers[name].cancel()
    await settle()
    turns.leave.set()
    await asyncio.gather(*callers.values(), return_exceptions=True)
    assert turns.had == [name for name in "abcd" if name not in cancelled]
    await turns.line.enter()


@pytest.mark.parametrize("waiting", [0, 1, 2])
async def test_a_caller_cancelled_after_it_was_handed_the_line_hands_it_on(waiting: int) -> None:
    """S-MUT-09: handed over, but not run yet."""
    line = MutationLine(METADATA.id)
    await line.enter()
    handed = asyncio.create_task(line.enter())
    behind = [asyncio.create_task(line.enter()) for _ in range(waiting)]
    await settle()
    line.leave()
    handed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handed
    await settle()
    assert [task.done() for task in behind] == [index == 0 for index in range(waiting)]
    for _ in range(waiting):
        line.leave()
        await settle()
    assert all(task.done() for task in behind)
    await line.enter()


async def test_a_waiter_cancelled_in_the_step_of_the_handover_is_passed_over() -> None:
    """The other order: cancelled first, then the line is handed on, before the waiter has run."""
    line = MutationLine(METADATA.id)
    await line.enter()
    first, second = asyncio.create_task(line.enter()), asyncio.create_task(line.enter())
    await settle()
    first.cancel()
    line.leave()
    await settle()
    assert first.cancelled()
    assert second.done()


async def test_closing_rejects_who_waits_and_keeps_who_was_handed_the_line() -> None:
    """S-SESS-14, S-SESS-15."""
    line = MutationLine(METADATA.id)
    await line.enter()
    handed, waiting = asyncio.create_task(line.enter()), asyncio.create_task(line.enter())
    await settle()
    line.leave()
    line.close()
    idle = asyncio.create_task(line.idle())
    assert await handed is None  # type: ignore[func-returns-value]
    with pytest.raises(SessionClosed):
        await waiting
    with pytest.raises(SessionClosed):
        await line.enter()
    await settle()
    assert not idle.done()
    line.leave()
    await idle


async def test_a_caller_cancelled_after_the_handover_does_not_keep_the_line_from_idling() -> None:
    line = MutationLine(METADATA.id)
    await line.enter()
    handed = asyncio.create_task(line.enter())
    await settle()
    line.leave()
    line.close()
    handed.cancel()
    await asyncio.gather(handed, return_exceptions=True)
    await line.idle()


async def test_a_waiting_coroutine_that_is_closed_leaves_the_queue() -> None:
    """S-MUT-09: closed like any coroutine that nobody wants any more, it must not be handed the line."""
    turns = Turns()
    callers = turns.start("a")
    await settle()
    waiting = turns.line.enter()
    waiting.send(None)
    callers |= turns.start("b")
    await settle()
    waiting.close()
    turns.leave.set()
    await asyncio.gather(*callers.values())
    assert turns.had == ["a", "b"]
