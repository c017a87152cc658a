"""Cancellation in the mutation line and inside a scope (section 10: S-MUT-09, 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import count
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.racing import endings, yardstick
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import ScopeEnded
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import ListAppend, ValueSet

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")


async def _logged(subject: Subject) -> list[Any]:
    return [element.value for element in await subject.session.read_list(LIST)]


def _call(subject: Subject, way: str, value: int) -> Coroutine[Any, Any, Any]:
    """Appends `value` to LIST by one of the three ways to have the session to oneself."""

    async def callback(scope: CallbackScope) -> None:
        await scope.commit([ListAppend(LIST, value)])

    async def begun() -> None:
        scope = await subject.session.begin_mutation()
        try:
            await scope.commit([ListAppend(LIST, value)])
        finally:
            await scope.end()

    if way == "begin_mutation":
        return begun()
    return subject.session.mutate(callback) if way == "mutate" else subject.session.append_list(LIST, value)


WAYS = {"mutate": "mutate", "begin_mutation": "begin_mutation", "writer": "writer"}


@case("S-MUT-09")
@rows("way", WAYS)
@rows("cancelled", first=(0,), middle=(2,), last=(4,), neighbours=(1, 2), all_but_one=(0, 1, 2, 4), all=(0, 1, 2, 3, 4))
async def a_cancelled_waiter_leaves_the_line(store: SessionMaker, way: str, cancelled: tuple[int, ...]) -> None:
    """Tasks that are cancelled while they wait for a scope leave the line at once and write nothing; the others are
    granted in order, and the line goes on afterwards.

    If this fails, look at: a place in the line that nobody holds; a scope granted to a cancelled task; an order that
    is lost with a waiter.
    """
    subject, lay = await store.create(), await yardstick(store)
    held = await subject.session.begin_mutation()
    tasks = [asyncio.create_task(_call(subject, way, number)) for number in range(5)]
    await settle()
    for number in cancelled:
        tasks[number].cancel()
    left = await endings([tasks[number] for number in cancelled], lay)
    await held.end()
    expect_equal(left, ["CancelledError"] * len(cancelled), of="how the cancelled ones ended while the scope was held")
    stayed = [number for number in range(5) if number not in cancelled]
    others = await endings([tasks[number] for number in stayed], lay)
    expect_equal(others, ["returned"] * len(stayed), of="how the others ended")
    await subject.session.append_list(LIST, "after")
    expect_equal(await _logged(subject), [*stayed, "after"], of="what was written, in order")


@case("S-MUT-09")
@rows("way", WAYS)
@rows("rounds", at_once=0, one=1, two=2, three=3)
async def a_waiter_cancelled_when_its_turn_comes_passes_it_on(store: SessionMaker, way: str, rounds: int) -> None:
    """A task cancelled at the moment its scope is granted either runs or passes the line on; those behind it are
    granted in order.

    If this fails, look at: a grant that is lost when its receiver was cancelled before it could run.
    """
    subject, lay = await store.create(), await yardstick(store)
    held = await subject.session.begin_mutation()
    tasks = [asyncio.create_task(_call(subject, way, number)) for number in range(3)]
    await settle()
    await held.end()
    for _ in range(rounds):
        await asyncio.sleep(0)
    tasks[0].cancel()
    ended = await endings(tasks, lay)
    expect_equal(ended[1:], ["returned"] * 2, of="how the tasks behind the cancelled one ended")
    written = await _logged(subject)
    expect_equal([value for value in written if value != 0], [1, 2], of="what they wrote, in order")
    expect(ended[0] == "CancelledError" or written[:1] == [0], f"expected: the first wrote\nseen:     {written}")
    await subject.session.append_list(LIST, "after")


@case("S-MUT-10")
@rows("moment", before_commit="before", after_commit="after")
async def a_task_cancelled_inside_a_callback_ends_its_scope(store: SessionMaker, moment: str) -> None:
    """Cancelling a task inside its callback ends the scope: the error reaches the caller, the scope can no longer be
    used, the next one is granted, and a commit made before stays.

    If this fails, look at: a line that is left on return only; a cancellation that is swallowed.
    """
    subject, lay = await store.create(), await yardstick(store)
    entered = asyncio.Event()
    scopes: list[CallbackScope] = []

    async def callback(scope: CallbackScope) -> None:
        scopes.append(scope)
        if moment == "after":
            await scope.commit([ListAppend(LIST, "cancelled")])
        entered.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(subject.session.mutate(callback))
    behind = asyncio.create_task(subject.session.append_list(LIST, "behind"))
    await entered.wait()
    task.cancel()
    await asyncio.wait([task])
    with refused(asyncio.CancelledError):
        await task
    with refused(ScopeEnded):
        await scopes[0].get_value(VALUE)
    expect_equal(await endings([behind], lay), ["returned"], of="how the call behind the cancelled one ended")
    expect_equal(await _logged(subject), ["cancelled", "behind"][moment == "before" :], of="what was written")


@case("S-MUT-10", "S-TXN-17", needs=())
@rows("again_after", once=None, twice=1)
async def a_mutation_cancelled_anywhere_ends_its_scope(store: SessionMaker, again_after: int | None) -> None:
    """A mutation cancelled at any of its suspensions, once or twice, frees the line; its commit is there wholly or not
    at all.

    If this fails, look at: a cleanup that a second cancellation interrupts; a suspension before the scope is ended.
    """
    subject = await store.create()
    numbers = count(1)

    async def mutate() -> None:
        number = next(numbers)

        async def callback(scope: CallbackScope) -> None:
            await asyncio.sleep(0)
            await scope.get_value(VALUE)
            await asyncio.sleep(0)
            await scope.commit([ListAppend(LIST, number), ValueSet(VALUE, number)])
            await asyncio.sleep(0)

        await subject.session.mutate(callback)

    async def is_free(k: int, _: Stepped) -> None:
        await subject.session.append_list(LIST, f"after {k}")
        row = await subject.session.get_value(VALUE)
        written = k in await _logged(subject)
        expect_equal(row is not None and row.value == k, written, of=f"whether both writes of mutation {k} are there")

    suspensions = await cancelled_at_every_suspension(mutate, is_free, again_after=again_after)
    expect(suspensions >= 3, f"expected: the callback's own three suspensions\nseen:     {suspensions}")
    await subject.session.append_list(LIST, "last")
