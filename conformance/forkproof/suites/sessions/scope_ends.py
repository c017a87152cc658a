"""The end of a mutation scope (section 10: S-MUT-05, 06)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.stepping import settle, stepped
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.racing import endings, yardstick
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    ScopeEnded,
)
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import ListAppend, ValueSet, Write

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")


@case("S-MUT-05")
async def an_end_waits_for_the_running_commit(store: SessionMaker) -> None:
    """`end()` returns when the commit that runs has settled, and only then the next scope starts, which sees it.

    If this fails, look at: a line that is left while the commit still runs; a commit that is cancelled by the end.
    """
    subject, lay = await store.create(), await yardstick(store)
    writes: list[Write] = [ListAppend(LIST, number) for number in range(500)]
    length: list[int] = []

    async def look(_: CallbackScope) -> None:
        length.append(len(await subject.session.read_list(LIST)))

    scope = await subject.session.begin_mutation()
    following = asyncio.create_task(subject.session.mutate(look))
    commit = asyncio.create_task(scope.commit(writes))
    end = asyncio.create_task(scope.end())
    await end
    length.append(len(await subject.session.read_list(LIST)))
    await following
    expect_equal(await endings([commit], lay), ["returned"], of="how the commit ended")
    expect_equal(length, [500, 500], of="the elements seen after the end and by the next scope")
    subject.follow(commit.result(), *writes)
    await subject.check_everywhere()


@case("S-MUT-05")
async def a_further_end_does_nothing(store: SessionMaker) -> None:
    """A further `end()` succeeds and does nothing: it neither ends the scope that was granted since nor lets another
    one in.

    If this fails, look at: a line that is left on every call; a refusal of the second call.
    """
    subject = await store.create()
    first = await subject.session.begin_mutation()
    await first.end()
    await first.end()
    second = await subject.session.begin_mutation()
    third = asyncio.create_task(subject.session.begin_mutation())
    for _ in range(3):
        await first.end()
    await settle()
    early = third.done()
    subject.follow(await second.commit([ListAppend(LIST, 2)]), ListAppend(LIST, 2))
    await second.end()
    await (await third).end()
    expect(not early, "expected: the third scope waits for the second\nseen:     it was granted")
    await subject.check_everywhere()


@case("S-MUT-05")
async def ends_beside_each_other_end_once(store: SessionMaker) -> None:
    """Calls of `end()` that do not wait for each other, one of them cancelled, end the scope once; the scopes behind it
    are granted one by one.

    If this fails, look at: a line that is left by each call; an end that its cancelled caller takes along.
    """
    subject = await store.create()
    scope = await subject.session.begin_mutation()
    commit = asyncio.create_task(scope.commit([ListAppend(LIST, 0)]))
    waiting = [asyncio.create_task(subject.session.begin_mutation()) for _ in range(2)]
    ends = [asyncio.create_task(scope.end()) for _ in range(3)]
    await asyncio.sleep(0)
    ends[0].cancel()
    second = await waiting[0]
    await asyncio.gather(commit, *ends, return_exceptions=True)
    await settle()
    early = waiting[1].done()
    await second.end()
    await (await waiting[1]).end()
    expect(not early, "expected: one scope is granted by one end\nseen:     both were granted")


MEMBERS: dict[str, Callable[[CallbackScope], Awaitable[Any]]] = {
    "get_entries": lambda scope: scope.get_entries(["root"]),
    "get_entries-empty": lambda scope: scope.get_entries([]),
    "get_value": lambda scope: scope.get_value(VALUE),
    "scan_values": lambda scope: scope.scan_values(VALUE),
    "read_list": lambda scope: scope.read_list(LIST),
    "scan_branch": lambda scope: scope.scan_branch("tip"),
    "get_stats": lambda scope: scope.get_stats(),
    "commit": lambda scope: scope.commit([ValueSet(VALUE, "too late")]),
    "commit-empty": lambda scope: scope.commit([]),
}


@case("S-MUT-06")
@rows("member", MEMBERS)
@rows("way", begin_mutation="begin_mutation", mutate="mutate")
async def an_ended_scope_refuses_every_call_at_once(
    store: SessionMaker, member: Callable[[CallbackScope], Awaitable[Any]], way: str
) -> None:
    """Every other member of a scope that has ended raises `ScopeEnded` in the first step of the call, also while
    another scope is held, and writes nothing.

    If this fails, look at: members that check nothing; a refusal that waits for the storage or for the line.
    """
    subject = await store.bushy_session()
    scopes: list[CallbackScope] = []

    async def leak(scope: CallbackScope) -> None:
        scopes.append(scope)

    if way == "mutate":
        await subject.session.mutate(leak)
    else:
        scope = await subject.session.begin_mutation()
        await scope.end()
        scopes.append(scope)
    held = await subject.session.begin_mutation()

    async def call() -> None:
        await member(scopes[0])

    outcome = await stepped(call)
    await held.end()
    with refused(ScopeEnded):
        if outcome.error is not None:
            raise outcome.error
    expect_equal(outcome.suspensions, 0, of="the suspensions of the refused call")
    subject.model.look_at([(VALUE.namespace, VALUE.key)])
    await subject.check_everywhere()
