"""Closing the repository: what is refused from its first step on, and what it waits for (section 11.2)."""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.racing import raced, words
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import RepoClosed, SessionClosed
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}
CALLS: dict[str, Any] = {
    "create": lambda store, closed: store.repo.create(id="new", **store.create_options),
    "open": lambda store, closed: store.repo.open(closed.metadata),
    "list": lambda store, closed: store.repo.list(),
    "delete": lambda store, closed: store.repo.delete(closed.metadata),
    "branch-fork": lambda store, closed: store.repo.fork(closed.metadata, FORKS["branch"]),
    "tree-fork": lambda store, closed: store.repo.fork(closed.metadata, FORKS["tree"]),
}


async def _expect_in_the_store(store: SessionMaker, *subjects: Subject) -> None:
    """Where the store outlives its repository: another one shows exactly these sessions, as they were left."""
    if store.durable:
        await store.reopen_repo()
        await store.assert_only_known_sessions(*subjects)
        await store.check_each(*subjects)


@case("S-REPO-21")
@rows("call", CALLS)
async def a_closed_repository_refuses_every_call(store: SessionMaker, call: Any) -> None:
    """After `repo.close()` every call other than `close` raises `RepoClosed` and does nothing.

    If this fails, look at: calls without the check; a closed repository that opens itself again.
    """
    closed, opened = await store.linear_session(), await store.linear_session()
    await closed.close()
    await store.repo.close()
    for _ in range(2):
        with refused(RepoClosed):
            await call(store, closed)
    await _expect_in_the_store(store, closed, opened)


@case("S-REPO-21")
@rows("call", CALLS)
async def a_closing_repository_refuses_every_call(store: SessionMaker, call: Any) -> None:
    """From the first step of `repo.close()` on every new call raises `RepoClosed`: right behind it, and as long as it
    waits for a session.

    If this fails, look at: a flag set at the end of closing; a flag set after a suspension; calls that wait for the
    closing to end.
    """
    closed, busy = await store.linear_session(), await store.linear_session()
    await closed.close()
    scope = await busy.session.begin_mutation()
    closing = asyncio.create_task(store.repo.close())
    expect_equal(words(await raced(call(store, closed))), ["RepoClosed"], of="a call right behind the closing")
    await settle()
    expect(not closing.done(), "expected: the repository waits for the scope that is held\nseen:     it is closed")
    expect_equal(words(await raced(call(store, closed))), ["RepoClosed"], of="a call while the closing waits")
    await scope.end()
    await closing
    await _expect_in_the_store(store, closed, busy)


@case("S-REPO-22", needs=())
async def every_open_session_is_closed(store: SessionMaker) -> None:
    """`repo.close()` closes every open session: created, opened and forked ones. Their commits stay in a store that
    outlives the repository.

    If this fails, look at: a register that misses opened or forked sessions; a closing that stops at the first one.
    """
    source = await store.rich_session()
    reopened = await store.linear_session()
    await reopened.reopen()
    subjects = [source, reopened, await source.fork(TreeFork()), await source.fork(BranchFork("main"))]
    for subject in subjects:
        await subject.commit(ValueSet(value_address("garden.plan"), "last words"))
    await store.repo.close()
    for subject in subjects:
        with refused(SessionClosed, session_id=subject.id):
            await subject.session.get_stats()
        with refused(SessionClosed, session_id=subject.id):
            await subject.session.set_value(value_address("garden.plan"), "too late")
    await _expect_in_the_store(store, *subjects)


@case("S-REPO-22", needs=())
async def closing_waits_for_all_sessions(store: SessionMaker) -> None:
    """`repo.close()` waits for every session: it has not ended while a scope is held on any of them, and what such a
    scope commits is kept.

    If this fails, look at: closings that are started and not awaited; a wait for the first or the last one only;
    scopes cut off.
    """
    subjects = [await store.linear_session(2, id=f"walk-{number}") for number in range(3)]
    idle = await store.linear_session(id="idle")
    scopes = [await subject.session.begin_mutation() for subject in subjects]
    closing = asyncio.create_task(store.repo.close())
    for number in (1, 2, 0):
        await settle()
        expect(not closing.done(), f"expected: waits for the scope on walk-{number} and others\nseen:     closed")
        write = ValueSet(value_address("garden.plan"), number)
        subjects[number].follow(await scopes[number].commit([write]), write)
        await scopes[number].end()
    await closing
    for subject in (*subjects, idle):
        with refused(SessionClosed, session_id=subject.id):
            await subject.session.get_stats()
    await _expect_in_the_store(store, *subjects, idle)


@case("S-REPO-23")
async def every_further_close_has_the_outcome_of_the_first(store: SessionMaker) -> None:
    """Every further call of `repo.close()` waits for the first and ends as it does, during the closing and after it.

    If this fails, look at: `RepoClosed` from a second close; a second close that returns before the first has ended;
    sessions closed twice.
    """
    subject = await store.linear_session()
    scope = await subject.session.begin_mutation()
    closings = [asyncio.create_task(store.repo.close()) for _ in range(3)]
    await settle()
    done = [closing.done() for closing in closings]
    expect_equal(done, [False] * 3, of="which of three closings have ended while a scope is held")
    await scope.end()
    closings.append(asyncio.create_task(store.repo.close()))
    endings = await raced(*closings, store.repo.close())
    expect_equal(words(endings), ["returned"] * 5, of="how five closings ended")
    expect_equal([ending.value for ending in endings], [None] * 5, of="what five closings gave")
    await _expect_in_the_store(store, subject)


@case("S-REPO-23")
async def an_empty_repository_closes_twice(store: SessionMaker) -> None:
    """Closing a repository without open sessions works, and works again.

    If this fails, look at: `RepoClosed` from a second close; a closing that waits for a first session.
    """
    endings = [*await raced(store.repo.close(), store.repo.close()), *await raced(store.repo.close())]
    expect_equal(words(endings), ["returned"] * 3, of="how three closings ended")


@case("S-REPO-24")
@rows("options", FORKS)
@rows("closed", source_open=False, source_closed=True)
@rows("point", boundary="boundary_captured", batch="batch_copied", publish="before_publish")
async def a_running_fork_ends_with_the_repository(
    store: SessionMaker, options: ForkOptions, closed: bool, point: str
) -> None:
    """A `fork` that is still running when `repo.close()` is called raises `RepoClosed` and leaves nothing behind, and
    `repo.close()` waits for it.

    If this fails, look at: a fork that publishes into a closed repository; a closing that waits for open sessions only;
    a fork that is cancelled in place of refused.
    """
    source = await store.linear_session()
    if closed:
        await source.close()
    gate = store.probe.park(point)
    fork = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(fork)
    closing = asyncio.create_task(store.repo.close())
    await settle()
    waited = not closing.done()
    gate.release()
    endings = await raced(fork, closing)
    expect_equal(words(endings), ["RepoClosed", "returned"], of="how the fork and the closing ended")
    expect(waited, "expected: the closing waits for the fork that runs\nseen:     it has ended before the fork")
    await _expect_in_the_store(store, source)


@case("S-REPO-24", needs=())
@rows("call", {name: CALLS[name] for name in ("create", "open", "branch-fork", "tree-fork")})
async def a_call_that_races_the_closing_leaves_nothing_open(store: SessionMaker, call: Any) -> None:
    """A `create`, `open` or `fork` started right before `repo.close()` either had ended by then, and its session is
    closed with the others, or raises `RepoClosed` and leaves nothing behind.

    If this fails, look at: a session handed out after the repository was closed; a destination published and refused.
    """
    closed = await store.linear_session()
    await closed.close()
    made, closing = await raced(call(store, closed), store.repo.close())
    expect_equal(closing.word, "returned", of="how the closing ended")
    expect(made.word in ("returned", "RepoClosed"), f"expected: a session or RepoClosed\nseen:     {made.word}")
    if made.value is not None:
        with refused(SessionClosed, session_id=made.value.metadata.id):
            await made.value.get_stats()
    if store.durable:
        await store.reopen_repo()
        known = {closed.id} | ({made.value.metadata.id} if made.value is not None else set())
        expect_equal(await store.listed_ids(), sorted(known), of="the sessions in the store")
