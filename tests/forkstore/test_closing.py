"""Closing a session: once, for every caller, after everything that was admitted, and never without letting go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from forkstore.closing import Closing
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import ScopeEnded, SessionClosed
from forkstore.contract.writes import ValueSet

from .gated import READS, Opened, settle

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app"), list_address("app")
Call = Callable[[Any], Awaitable[object]]

READ_CALLS: dict[str, Call] = {
    "get_entries": lambda on: on.get_entries(["e"]),
    "get_value": lambda on: on.get_value(SCALAR),
    "scan_values": lambda on: on.scan_values(SCALAR),
    "read_list": lambda on: on.read_list(LIST),
    "scan_branch": lambda on: on.scan_branch("e"),
    "scan_branch_structure": lambda on: on.scan_branch_structure("e"),
    "scan_entries": lambda on: on.scan_entries(),
    "scan_usage": lambda on: on.scan_usage(),
    "get_stats": lambda on: on.get_stats(),
}
SESSION_CALLS: dict[str, Call] = READ_CALLS | {
    "get_entry": lambda on: on.get_entry("e"),
    "get_name": lambda on: on.get_name(),
    "get_label": lambda on: on.get_label("e"),
    "find_entries": lambda on: on.find_entries(),
    "find_entry": lambda on: on.find_entry(),
    "branch": lambda on: on.branch("garden"),
    "create_branch": lambda on: on.create_branch("plot", None),
    "set_value": lambda on: on.set_value(SCALAR, 1),
    "delete_value": lambda on: on.delete_value(SCALAR),
    "append_list": lambda on: on.append_list(LIST, 1),
    "delete_list": lambda on: on.delete_list(LIST),
    "set_name": lambda on: on.set_name("walk"),
    "set_label": lambda on: on.set_label("e", "oak"),
    "begin_mutation": lambda on: on.begin_mutation(),
    "mutate": lambda on: on.mutate(lambda scope: scope.get_stats()),
}
BRANCH_CALLS: dict[str, Call] = {
    "get_tip_id": lambda on: on.get_tip_id(),
    "find_entries": lambda on: on.find_entries(),
    "find_entry": lambda on: on.find_entry(start="e"),
    "append_message": lambda on: on.append_message({"role": "user"}),
    "append_custom_entry": lambda on: on.append_custom_entry("weather"),
}
STORAGE_CALLS: dict[str, Call] = READ_CALLS | {"commit": lambda on: on.commit([])}


async def refused_in_its_first_step(call: Awaitable[object]) -> bool:
    """Whether the call raises SessionClosed before it suspends."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    return task.done() and isinstance(task.exception(), SessionClosed)


@pytest.mark.parametrize("moment", ["closing", "closed"])
async def test_every_call_but_close_is_refused_from_the_first_step_on(moment: str) -> None:
    """S-SESS-13, on the session, its branches and its storage."""
    opened = Opened()
    branch = await opened.session.create_branch("garden", None)
    opened.storage.hold("close")
    closing = asyncio.create_task(opened.session.close())
    await asyncio.sleep(0)
    if moment == "closed":
        opened.storage.let_go("close")
        await closing
    for on, calls in (
        (opened.session, SESSION_CALLS),
        (branch, BRANCH_CALLS),
        (opened.session.storage, STORAGE_CALLS),
    ):
        for name, call in calls.items():
            assert await refused_in_its_first_step(call(on)), f"{type(on).__name__}.{name}"
    if moment == "closing":
        opened.storage.let_go("close")
        await closing


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("through", ["session", "storage"])
async def test_closing_waits_for_an_admitted_read(read: str, through: str) -> None:
    """S-SESS-15."""
    opened = Opened()
    opened.storage.hold(read)
    on = opened.session if through == "session" else opened.session.storage
    reading = asyncio.ensure_future(READ_CALLS[read](on))
    await settle()
    closing = asyncio.create_task(opened.session.close())
    await settle()
    assert "close" not in opened.storage.begun
    opened.storage.let_go(read)
    await asyncio.gather(reading, return_exceptions=True)  # a walk from an unknown entry fails; it settles all the same
    await closing
    assert opened.storage.ended[-2:] == [read, "close"]


async def test_closing_waits_for_an_admitted_commit() -> None:
    opened = Opened()
    opened.storage.hold("commit")
    committing = asyncio.create_task(opened.session.storage.commit([ValueSet(SCALAR, 1)]))
    closing = asyncio.create_task(opened.session.close())
    await settle()
    assert "close" not in opened.storage.begun
    opened.storage.let_go("commit")
    assert (await committing).first_seq == 1
    await closing
    assert opened.released == 1


async def test_closing_waits_for_the_running_scope_and_lets_it_finish_its_work() -> None:
    """S-SESS-15: what was granted before closing began may read and commit until it ends."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    closing = asyncio.create_task(opened.session.close())
    await settle()
    assert await scope.get_value(SCALAR) is None
    await scope.commit([ValueSet(SCALAR, 1)])
    row = await scope.get_value(SCALAR)
    assert row is not None
    assert row.value == 1
    assert not closing.done()
    await scope.end()
    await closing
    with pytest.raises(ScopeEnded):
        await scope.get_stats()


async def test_a_scope_left_open_by_a_read_still_counts_the_read() -> None:
    """A read of an ended scope that still runs is an admitted call."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    opened.storage.hold("get_stats")
    reading = asyncio.create_task(scope.get_stats())
    await settle()
    closing = asyncio.create_task(opened.session.close())
    await scope.end()
    await settle()
    assert "close" not in opened.storage.begun
    opened.storage.let_go("get_stats")
    await reading
    await closing


async def test_queued_scopes_are_rejected_and_queued_callbacks_never_start() -> None:
    """S-SESS-14."""
    opened = Opened()
    started: list[str] = []

    async def callback(scope: object) -> None:
        started.append("callback")

    scope = await opened.session.begin_mutation()
    queued = [
        asyncio.create_task(call)
        for call in (
            opened.session.mutate(callback),
            opened.session.begin_mutation(),
            opened.session.set_value(SCALAR, 1),
            opened.session.create_branch("garden", None),
        )
    ]
    await settle()
    closing = asyncio.create_task(opened.session.close())
    outcomes = await asyncio.gather(*queued, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [SessionClosed] * 4
    assert not closing.done()
    await scope.end()
    await closing
    assert started == []
    assert opened.storage.begun == ["close"]


async def test_a_queued_caller_that_is_cancelled_as_closing_begins_leaves_no_unheard_error() -> None:
    opened = Opened()
    scope = await opened.session.begin_mutation()
    queued = asyncio.create_task(opened.session.begin_mutation())
    await settle()
    closing = asyncio.create_task(opened.session.close())
    await asyncio.sleep(0)
    queued.cancel()
    with pytest.raises(asyncio.CancelledError):
        await queued
    await scope.end()
    await closing


async def test_every_close_has_the_outcome_of_the_first() -> None:
    """S-SESS-16, while the first still runs and afterwards."""
    opened = Opened()
    opened.storage.hold("close")
    closings = [asyncio.create_task(opened.session.close()) for _ in range(3)]
    closings.append(asyncio.create_task(opened.session.storage.close()))
    await settle()
    opened.storage.let_go("close")
    assert await asyncio.gather(*closings) == [None] * 4
    await opened.session.close()
    assert (opened.storage.begun, opened.released) == (["close"], 1)


async def test_a_closing_that_fails_lets_go_and_fails_for_everyone() -> None:
    """S-SESS-16, S-SESS-17."""
    opened = Opened()
    opened.storage.failing["close"] = failure = OSError("no room")
    outcomes = await asyncio.gather(*(opened.session.close() for _ in range(3)), return_exceptions=True)
    assert outcomes == [failure] * 3
    with pytest.raises(OSError, match="no room") as again:
        await opened.session.close()
    assert again.value is failure
    assert opened.released == 1
    assert opened.storage.begun == ["close"]


@pytest.mark.parametrize("waits_for", ["scope", "read", "storage"])
async def test_cancelling_who_waits_does_not_stop_the_closing(waits_for: str) -> None:
    """S-SESS-18, whatever the closing waits for, and for a second waiter alike."""
    opened = Opened()
    scope = await opened.session.begin_mutation() if waits_for == "scope" else None
    held = {"read": "get_stats", "storage": "close"}.get(waits_for)
    if held is not None:
        opened.storage.hold(held)
    reading = asyncio.create_task(opened.session.get_stats())
    await settle()
    waiters = [asyncio.create_task(opened.session.close()) for _ in range(2)]
    await settle()
    for waiter in waiters:
        waiter.cancel()
    outcomes = await asyncio.gather(*waiters, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2
    assert opened.released == 0
    if scope is not None:
        await scope.end()
    if held is not None:
        opened.storage.let_go(held)
    await reading
    await opened.session.close()
    assert (opened.released, opened.storage.begun.count("close")) == (1, 1)


async def test_a_cancelled_close_that_never_began_closes_nothing() -> None:
    opened = Opened()
    closing = asyncio.create_task(opened.session.close())
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not opened.session.is_closing
    await opened.session.get_stats()


async def test_closing_is_a_value_of_its_own() -> None:
    """`Closing` alone: begins in the first step, runs once, and knows whether it has begun."""
    steps: list[str] = []

    async def finish() -> None:
        steps.append("finish")

    closing = Closing(lambda: steps.append("begin"), finish)
    begun = [closing.begun]
    task = asyncio.create_task(closing.close())
    await asyncio.sleep(0)
    assert steps[:1] == ["begin"]
    begun.append(closing.begun)
    await task
    await closing.close()
    assert steps == ["begin", "finish"]
    assert begun == [False, True]
