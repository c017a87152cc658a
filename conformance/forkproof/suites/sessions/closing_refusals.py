"""Closing a session: what it refuses and rejects (section 9: S-SESS-13, 14)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkproof.makers import records as made
from forkproof.suites.sessions.appending import branch_of
from forkproof.suites.sessions.racing import endings, yardstick
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import SessionClosed
from forkstore.contract.store import Branch, CallbackScope, Session, Storage
from forkstore.contract.writes import ValueSet

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")


async def _write(scope: CallbackScope) -> None:
    await scope.commit([ValueSet(VALUE, "from a callback")])


ON_BOTH: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "get_entries": lambda it: it.get_entries(["root"]),
    "get_entries-empty": lambda it: it.get_entries([]),
    "get_value": lambda it: it.get_value(VALUE),
    "scan_values": lambda it: it.scan_values(VALUE),
    "read_list": lambda it: it.read_list(LIST),
    "scan_branch": lambda it: it.scan_branch("tip"),
    "scan_branch_structure": lambda it: it.scan_branch_structure("tip"),
    "scan_entries": lambda it: it.scan_entries(),
    "scan_usage": lambda it: it.scan_usage(),
    "get_stats": lambda it: it.get_stats(),
}
ON_SESSION: dict[str, Callable[[Session], Awaitable[Any]]] = {
    **ON_BOTH,
    "get_entry": lambda session: session.get_entry("root"),
    "get_name": lambda session: session.get_name(),
    "get_label": lambda session: session.get_label("root"),
    "find_entries": lambda session: session.find_entries(),
    "find_entries-none": lambda session: session.find_entries(limit=0),
    "find_entry": lambda session: session.find_entry(),
    "branch": lambda session: session.branch("main"),
    "create_branch": lambda session: session.create_branch("new", "tip"),
    "set_value": lambda session: session.set_value(VALUE, 1),
    "delete_value": lambda session: session.delete_value(VALUE),
    "append_list": lambda session: session.append_list(LIST, 1),
    "delete_list": lambda session: session.delete_list(LIST),
    "set_name": lambda session: session.set_name("too late"),
    "set_label": lambda session: session.set_label("root", "too late"),
    "set_label-none": lambda session: session.set_label("root", None),
    "begin_mutation": lambda session: session.begin_mutation(),
    "mutate": lambda session: session.mutate(_write),
}
ON_BRANCH: dict[str, Callable[[Branch], Awaitable[Any]]] = {
    "get_tip_id": lambda branch: branch.get_tip_id(),
    "find_entries": lambda branch: branch.find_entries(),
    "find_entry": lambda branch: branch.find_entry(),
    "append_message": lambda branch: branch.append_message(made.user_message("too late")),
    "append_custom_entry": lambda branch: branch.append_custom_entry("note"),
}
ON_STORAGE: dict[str, Callable[[Storage], Awaitable[Any]]] = {
    **ON_BOTH,
    "commit": lambda storage: storage.commit([ValueSet(VALUE, 1)]),
    "commit-empty": lambda storage: storage.commit([]),
}
CALLS = {
    **{f"session.{name}": ("session", call) for name, call in ON_SESSION.items()},
    **{f"branch.{name}": ("branch", call) for name, call in ON_BRANCH.items()},
    **{f"storage.{name}": ("storage", call) for name, call in ON_STORAGE.items()},
}


async def _run(call: Callable[[Any], Awaitable[Any]], it: Any) -> Any:
    return await call(it)


@case("S-SESS-13")
@rows("call", CALLS)
async def a_closing_session_refuses_new_calls(
    store: SessionMaker, call: tuple[str, Callable[[Any], Awaitable[Any]]]
) -> None:
    """From the first step of `close` on, while the closing still waits for a scope, and after it, every other call on
    the session, its branches and its storage raises `SessionClosed`, and nothing is written.

    If this fails, look at: a flag that is set at the end of closing; reads let through; branches and storage without
    the check.
    """
    subject, lay = await store.bushy_session(), await yardstick(store)
    it = {"session": subject.session, "branch": await branch_of(subject), "storage": subject.session.storage}[call[0]]
    scope = await subject.session.begin_mutation()
    closing = asyncio.create_task(subject.session.close())
    late = asyncio.create_task(_run(call[1], it))
    await settle()
    await scope.end()
    await closing
    expect_equal(await endings([late], lay), ["SessionClosed"], of="how the call during closing ended")
    with refused(SessionClosed, session_id=subject.id):
        await call[1](it)
    await subject.open()
    await subject.check()


@case("S-SESS-14")
async def closing_rejects_the_scopes_that_wait(store: SessionMaker) -> None:
    """Scopes and writers that wait in the line when `close` is called are rejected with `SessionClosed`; no callback of
    theirs starts and nothing of theirs is written.

    If this fails, look at: a line that goes on after closing began; waiting callers that are forgotten; a rejection
    after the callback ran.
    """
    subject, lay = await store.bushy_session(), await yardstick(store)
    session, branch = subject.session, await branch_of(subject)
    started: list[str] = []

    async def callback(scope: CallbackScope) -> None:
        started.append("callback")
        await _write(scope)

    async def hold() -> None:
        scope = await session.begin_mutation()
        started.append("begin_mutation")
        await scope.end()

    scope = await session.begin_mutation()
    calls = (
        session.mutate(callback),
        hold(),
        session.set_value(VALUE, 1),
        session.append_list(LIST, 1),
        session.create_branch("new", "tip"),
        branch.append_message(made.user_message("too late")),
        session.set_name("too late"),
        session.mutate(callback),
    )
    tasks = [asyncio.create_task(call) for call in calls]
    closing = asyncio.create_task(session.close())
    await settle()
    await scope.end()
    await closing
    expect_equal(await endings(tasks, lay), ["SessionClosed"] * len(tasks), of="how the waiting calls ended")
    expect_equal(started, [], of="the scopes that were granted")
    subject.model.look_at([(VALUE.namespace, VALUE.key), (LIST.namespace, LIST.key)])
    await subject.open()
    await subject.check()
