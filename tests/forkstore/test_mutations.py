"""The mutation line over a storage that suspends: one scope at a time, in order, whatever happens to those who wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    CommitAlreadyAttempted,
    DuplicateId,
    InvalidArgument,
    InvalidValue,
    PendingMessage,
    ScopeEnded,
    SessionClosed,
)
from forkstore.contract.writes import EntryInsert, ValueDelete, ValueSet
from forkstore.mutations import ExclusiveUse, MutationLine

from .gated import METADATA, Opened, settle

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app"), list_address("app")
PENDING = EntryInsert(
    {"id": "e", "parentId": None, "type": "message", "message": {"role": "assistant", "stopReason": "pending"}}
)


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


async def test_a_scope_that_fails_fails_for_its_own_caller_only() -> None:
    """S-MUT-02."""
    opened = Opened()

    async def fails(scope: object) -> None:
        raise LookupError("mine")

    failing = asyncio.create_task(opened.session.mutate(fails))
    behind = asyncio.create_task(opened.session.set_value(SCALAR, 1))
    with pytest.raises(LookupError, match="mine"):
        await failing
    assert (await behind).first_seq == 1


async def test_a_commit_that_fails_leaves_the_line_and_the_session_usable() -> None:
    opened = Opened()
    opened.storage.failing["commit"] = failure = OSError("no room")
    for call in (opened.session.set_value(SCALAR, 1), opened.session.create_branch("garden", None)):
        with pytest.raises(OSError, match="no room") as refusal:
            await call
        assert refusal.value is failure
    del opened.storage.failing["commit"]
    assert (await opened.session.set_value(SCALAR, 2)).first_seq == 1
    await opened.session.close()


REFUSALS: dict[str, tuple[list[Any], type[Exception]]] = {
    "not settled": ([PENDING], PendingMessage),
    "not a write": ([5], InvalidValue),
    "wrong kind": ([ValueSet(LIST, 1)], InvalidValue),
    "twice the id": ([EntryInsert({"id": "e", "parentId": None, "type": "message"})] * 2, DuplicateId),
}


@pytest.mark.parametrize("row", REFUSALS)
async def test_a_refused_commit_is_the_scopes_one_attempt(row: str) -> None:
    """S-MUT-03, S-SESS-10."""
    writes, error = REFUSALS[row]
    opened = Opened()
    scope = await opened.session.begin_mutation()
    with pytest.raises(error):
        await scope.commit(writes)
    with pytest.raises(CommitAlreadyAttempted):
        await scope.commit([])
    await scope.end()
    assert (await opened.session.set_value(SCALAR, 1)).first_seq == 1


async def test_a_second_commit_beside_the_first_is_refused_and_does_not_disturb_it() -> None:
    opened = Opened()
    scope = await opened.session.begin_mutation()
    opened.storage.hold("commit")
    first = asyncio.create_task(scope.commit([ValueSet(SCALAR, 1)]))
    await settle()
    with pytest.raises(CommitAlreadyAttempted):
        await scope.commit([ValueDelete(SCALAR)])
    opened.storage.let_go("commit")
    assert (await first).seqs == [1]
    await scope.end()


async def test_a_commit_does_not_end_its_scope() -> None:
    """S-MUT-04."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    await scope.commit([ValueSet(SCALAR, 1)])
    behind = asyncio.create_task(opened.session.set_value(SCALAR, 2))
    await settle()
    assert not behind.done()
    for on in (scope, opened.session):
        row = await on.get_value(SCALAR)
        assert row is not None
        assert row.value == 1
    await scope.end()
    await behind


@pytest.mark.parametrize("cancelled", [False, True])
async def test_end_waits_for_the_running_commit(cancelled: bool) -> None:
    """S-MUT-05: also when the task that ends the scope is cancelled, the next scope starts after the commit."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    opened.storage.hold("commit")
    committing = asyncio.create_task(scope.commit([ValueSet(SCALAR, 1)]))
    behind = asyncio.create_task(opened.session.begin_mutation())
    await settle()
    ends = [asyncio.create_task(scope.end()) for _ in range(2)]
    await settle()
    if cancelled:
        ends[0].cancel()
        await settle()
    assert not behind.done()
    assert not ends[1].done()
    opened.storage.let_go("commit")
    await committing
    outcomes = await asyncio.gather(*ends, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError) is cancelled
    await (await behind).end()
    await scope.end()


async def test_a_commit_that_is_cancelled_after_its_scope_ended_still_frees_the_line() -> None:
    opened = Opened()
    scope = await opened.session.begin_mutation()
    opened.storage.hold("commit")
    committing = asyncio.create_task(scope.commit([ValueSet(SCALAR, 1)]))
    await settle()
    ending = asyncio.create_task(scope.end())
    await settle()
    committing.cancel()
    await ending
    assert committing.cancelled()
    await (await opened.session.begin_mutation()).end()


async def test_every_member_of_an_ended_scope_is_refused_in_its_first_step() -> None:
    """S-MUT-06."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    await scope.end()
    await scope.end()
    for call in (
        scope.get_entries([]),
        scope.get_value(SCALAR),
        scope.scan_values(SCALAR),
        scope.read_list(LIST),
        scope.scan_branch("e"),
        scope.get_stats(),
        scope.commit([]),
    ):
        task = asyncio.ensure_future(call)
        await asyncio.sleep(0)
        assert isinstance(task.exception(), ScopeEnded)
    assert opened.storage.begun == []


async def test_a_callback_gets_a_scope_without_end_that_ends_with_it() -> None:
    """S-MUT-07."""
    opened = Opened()
    kept: list[Any] = []

    async def callback(scope: Any) -> str:
        kept.append(scope)
        await scope.commit([ValueSet(SCALAR, 1)])
        return "value"

    assert await opened.session.mutate(callback) == "value"
    assert not hasattr(kept[0], "end")
    with pytest.raises(ScopeEnded):
        await kept[0].get_stats()


async def test_a_callback_that_leaves_its_commit_running_is_waited_for() -> None:
    """S-MUT-07, S-MUT-05."""
    opened = Opened()
    opened.storage.hold("commit")
    left: list[asyncio.Task[Any]] = []

    async def callback(scope: Any) -> None:
        left.append(asyncio.create_task(scope.commit([ValueSet(SCALAR, 1)])))
        await settle()

    mutating = asyncio.create_task(opened.session.mutate(callback))
    await settle()
    await settle()
    assert not mutating.done()
    opened.storage.let_go("commit")
    await mutating
    assert left[0].done()


@pytest.mark.parametrize("callback", [None, "text", lambda scope: None, lambda scope: 5])
async def test_a_callback_is_a_coroutine_function(callback: Any) -> None:
    opened = Opened()
    with pytest.raises(InvalidArgument) as refusal:
        await opened.session.mutate(callback)
    assert refusal.value.field == "callback"
    await (await opened.session.begin_mutation()).end()


async def test_a_writer_called_inside_a_callback_runs_after_the_scope() -> None:
    """S-MUT-08."""
    opened = Opened()
    inside: list[asyncio.Task[Any]] = []

    async def callback(scope: Any) -> bool:
        inside.append(asyncio.create_task(opened.session.set_value(SCALAR, "inside")))
        await settle()
        return inside[0].done()

    assert await opened.session.mutate(callback) is False
    await inside[0]


async def test_a_task_cancelled_inside_a_callback_ends_its_scope() -> None:
    """S-MUT-10."""
    opened = Opened()
    opened.storage.hold("commit")

    async def callback(scope: Any) -> None:
        await scope.commit([ValueSet(SCALAR, 1)])

    mutating = asyncio.create_task(opened.session.mutate(callback))
    behind = asyncio.create_task(opened.session.begin_mutation())
    await settle()
    mutating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await mutating
    await (await behind).end()
