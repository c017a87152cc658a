"""Closing a session: what it waits for, and its outcome (section 9: S-SESS-15 to 18)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.suites.sessions.racing import endings, yardstick
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import SessionClosed, SessionExists, SessionInUse
from forkstore.contract.forks import TreeFork
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")


READS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "get_entries": lambda it: it.get_entries(["root"]),
    "get_value": lambda it: it.get_value(VALUE),
    "scan_values": lambda it: it.scan_values(VALUE),
    "read_list": lambda it: it.read_list(LIST),
    "scan_branch": lambda it: it.scan_branch("tip"),
    "scan_branch_structure": lambda it: it.scan_branch_structure("tip"),
    "scan_entries": lambda it: it.scan_entries(),
    "scan_usage": lambda it: it.scan_usage(),
    "get_stats": lambda it: it.get_stats(),
}


async def _run(call: Callable[[Any], Awaitable[Any]], it: Any) -> Any:
    return await call(it)


@case("S-SESS-15")
async def closing_waits_for_the_running_scope(store: SessionMaker) -> None:
    """`close` waits until the scope that was granted has ended; until then that scope reads and commits as before.

    If this fails, look at: a storage that is closed under a running scope; a scope that is ended by closing.
    """
    subject = await store.bushy_session()
    scope = await subject.session.begin_mutation()
    closing = asyncio.create_task(subject.session.close())
    await settle()
    expect(not closing.done(), "expected: close waits for the running scope\nseen:     it returned")
    expect_equal(await scope.get_entries(["tip"]), {"tip": subject.model.entry("tip")}, of="a read of the scope")
    subject.follow(await scope.commit([ValueSet(VALUE, "last")]), ValueSet(VALUE, "last"))
    await settle()
    expect(not closing.done(), "expected: close waits for the end of the scope\nseen:     it returned after the commit")
    await scope.end()
    await closing
    await subject.open()
    await subject.check()


@case("S-SESS-15")
async def closing_waits_for_a_running_callback(store: SessionMaker) -> None:
    """`close` waits for a callback that runs in `mutate`; its commit is kept and its value reaches its caller.

    If this fails, look at: callbacks that are cancelled by closing; only scopes of `begin_mutation` waited for.
    """
    subject = await store.bushy_session()
    go_on = asyncio.Event()
    writes: list[Write] = [EntryInsert(made.message_entry("late", "tip")), ListAppend(LIST, "late")]

    async def callback(scope: CallbackScope) -> str:
        await go_on.wait()
        subject.follow(await scope.commit(writes), *writes)
        return "value"

    mutation = asyncio.create_task(subject.session.mutate(callback))
    await settle()
    closing = asyncio.create_task(subject.session.close())
    await settle()
    expect(not closing.done(), "expected: close waits for the running callback\nseen:     it returned")
    go_on.set()
    expect_equal(await mutation, "value", of="the value of the callback")
    await closing
    await subject.open()
    await subject.check()


@case("S-SESS-15", needs=("raw-commit",))
async def closing_waits_for_admitted_commits_and_reads(store: SessionMaker) -> None:
    """Commits and reads whose first steps came before that of `close` settle as if nobody closed; when `close` returns
    all of them have.

    If this fails, look at: a queue that is emptied by closing; a storage closed while it works; reads that find it
    closed.
    """
    subject, lay = await store.bushy_session(), await yardstick(store)
    storage = subject.session.storage
    writes: list[list[Write]] = [[ListAppend(LIST, [number, n]) for n in range(300)] for number in range(4)]
    commits = [asyncio.create_task(storage.commit(one)) for one in writes]
    reads = [asyncio.create_task(_run(call, subject.session)) for call in READS.values()]
    await asyncio.create_task(subject.session.close())
    await settle()
    late = sum(not task.done() for task in (*commits, *reads))
    expect_equal(late, 0, of="the number of admitted calls that go on when close has returned")
    expect_equal(await endings([*commits, *reads], lay), ["returned"] * 13, of="how the admitted calls ended")
    for task, one in zip(commits, writes, strict=True):
        subject.follow(task.result(), *one)
    expect_equal(reads[0].result(), {"root": subject.model.entry("root")}, of="get_entries, admitted before close")
    await subject.open()
    await subject.check()


@case("S-SESS-16")
async def every_close_ends_with_the_first(store: SessionMaker) -> None:
    """Calls of `close` during the closing wait for its end as the first does, and calls after it return as the first
    did.

    If this fails, look at: a second close that returns at once; a second close that is refused; a release made twice.
    """
    subject = await store.bushy_session()
    scope = await subject.session.begin_mutation()
    closings = [asyncio.create_task(subject.session.close()) for _ in range(3)]
    await settle()
    early = [number for number, closing in enumerate(closings) if closing.done()]
    expect_equal(early, [], of="the calls of close that returned before the end")
    await scope.end()
    expect_equal(await asyncio.gather(*closings), [None] * 3, of="the outcomes of the three calls")
    for _ in range(2):
        await subject.session.close()


@case("S-SESS-16")
async def a_late_close_leaves_the_reopened_session_alone(store: SessionMaker) -> None:
    """Closing an object again after its session was opened anew does nothing to the new object.

    If this fails, look at: a release by id on every close; storages kept by id.
    """
    subject = await store.bushy_session()
    old = subject.session
    await subject.reopen()
    await old.close()
    with refused(SessionInUse, session_id=subject.id):
        await store.repo.open(subject.metadata)
    await subject.append("main", "still open")
    await subject.check_everywhere()


async def _delete(store: SessionMaker, subject: Subject) -> None:
    await store.repo.delete(subject.metadata)
    await store.assert_only_known_sessions()


async def _open(store: SessionMaker, subject: Subject) -> None:
    subject.session = await store.repo.open(subject.metadata)
    await subject.check()


async def _fork(_: SessionMaker, subject: Subject) -> None:
    await (await subject.fork(TreeFork(id="fork"))).check()


@case("S-SESS-17", needs=())
@rows("use", open=_open, delete=_delete, fork=_fork)
async def the_repository_lets_go_at_the_end_of_closing(
    store: SessionMaker, use: Callable[[SessionMaker, Subject], Awaitable[None]]
) -> None:
    """While the closing waits, the session is still in use and its id taken; when `close` has returned it can be
    opened, deleted and forked.

    If this fails, look at: a release at the start of closing; a release that is left to a later call.
    """
    subject = await store.bushy_session()
    scope = await subject.session.begin_mutation()
    closing = asyncio.create_task(subject.session.close())
    await settle()
    for refuse in (store.repo.open, store.repo.delete):
        with refused(SessionInUse, session_id=subject.id):
            await refuse(subject.metadata)
    with refused(SessionExists, session_id=subject.id):
        await store.create(subject.id)
    await scope.end()
    await closing
    await use(store, subject)


@case("S-SESS-18", needs=())
async def closing_goes_on_when_a_caller_is_cancelled(store: SessionMaker) -> None:
    """Cancelling every task that waits for `close` does not stop the closing: new calls stay refused, and once the
    scope has ended the session is closed and can be opened.

    If this fails, look at: a closing that runs in its caller's task; a flag that is reset on cancellation.
    """
    subject, lay = await store.bushy_session(), await yardstick(store)
    scope = await subject.session.begin_mutation()
    closings = [asyncio.create_task(subject.session.close()) for _ in range(2)]
    await settle()
    for closing in closings:
        closing.cancel()
    expect_equal(await endings(closings, lay), ["CancelledError"] * 2, of="how the cancelled calls ended")
    with refused(SessionClosed, session_id=subject.id):
        await subject.session.get_stats()
    subject.follow(await scope.commit([ValueSet(VALUE, "last")]), ValueSet(VALUE, "last"))
    await scope.end()
    await subject.session.close()
    await subject.open()
    await subject.check()


@case("S-SESS-18", "S-SESS-17", needs=())
@rows("again_after", once=None, twice=1)
async def a_close_cancelled_anywhere_still_closes(store: SessionMaker, again_after: int | None) -> None:
    """A `close` cancelled at any of its suspensions closes the session all the same; what was stored stays.

    If this fails, look at: a closing that stops at its first suspension; a release that cancellation skips.
    """
    subject = await store.bushy_session()

    async def is_closed(k: int, _: Stepped) -> None:
        with refused(SessionClosed, session_id=subject.id):
            await subject.session.get_stats()
        await subject.session.close()
        await subject.open()
        await subject.append("main", f"after cancellation {k}")

    async def close() -> None:
        await subject.session.close()

    await cancelled_at_every_suspension(close, is_closed, again_after=again_after)
    await subject.open()
    await subject.check_everywhere()
