"""Mutation scopes over a storage that suspends: one commit, one owner, and an end in every case."""

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
)
from forkstore.contract.writes import EntryInsert, ValueDelete, ValueSet

from .gated import Opened, settle

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app"), list_address("app")
PENDING = EntryInsert(
    {"id": "e", "parentId": None, "type": "message", "message": {"role": "assistant", "stopReason": "pending"}}
)


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
