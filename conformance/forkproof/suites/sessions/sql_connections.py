"""Connections live as long as the call or the session that needs them, and a listing holds nothing between two items
(sections 11.2 and 28).
"""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.sql_watching import expect_none, is_stage, told
from forkstore.contract.addresses import value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ValueSet

CALLS: dict[str, Any] = {
    "list": lambda store, open_one, closed: store.repo.list(),
    "create": lambda store, open_one, closed: store.repo.create(**store.create_options),
    "create-existing": lambda store, open_one, closed: store.repo.create(id=closed.id, **store.create_options),
    "open": lambda store, open_one, closed: store.repo.open(closed.metadata),
    "open-in-use": lambda store, open_one, closed: store.repo.open(open_one.metadata),
    "delete": lambda store, open_one, closed: store.repo.delete(closed.metadata),
    "delete-in-use": lambda store, open_one, closed: store.repo.delete(open_one.metadata),
    "fork-open": lambda store, open_one, closed: store.repo.fork(open_one.metadata, TreeFork()),
    "fork-closed": lambda store, open_one, closed: store.repo.fork(closed.metadata, BranchFork("main")),
    "fork-onto-existing": lambda store, open_one, closed: store.repo.fork(open_one.metadata, TreeFork(id=closed.id)),
    "fork-onto-itself": lambda store, open_one, closed: store.repo.fork(closed.metadata, TreeFork(id=closed.id)),
    "fork-unknown-branch": lambda store, open_one, closed: store.repo.fork(closed.metadata, BranchFork("no-such")),
    "fork-data-only": lambda store, open_one, closed: store.repo.fork(open_one.metadata, BranchFork("right")),
    "fork-off-branch": lambda store, open_one, closed: store.repo.fork(
        open_one.metadata, BranchFork("main", entry_id="left")
    ),
    "fork-undeclared": lambda store, open_one, closed: _undeclared(store, open_one),
}
"""One call each, with an open and a closed session there."""

SHOULD_SUCCEED = ("list", "create", "open", "delete", "fork-open", "fork-closed")


async def _undeclared(store: SessionMaker, source: Subject) -> object:
    await source.commit(ValueSet(value_address("pi.unknown"), 1))
    return await store.repo.fork(source.metadata, TreeFork())


async def _open_and_closed(store: SessionMaker) -> tuple[Subject, Subject]:
    open_one, closed = await store.bushy_session(id="open"), await store.linear_session(id="closed")
    await closed.close()
    return open_one, closed


@case("S-SQL-TXN-05")
@rows("name", {name: name for name in CALLS})
async def nothing_stays_open_behind_a_call(store: SessionMaker, name: str) -> None:
    """When a call has ended, well or with a refusal, every connection that it needed is closed, up to that of a session
    that it hands out; and closing that session closes it. The connections of other sessions stay.

    If this fails, look at: a reader that is closed on success only; connections left to the collector; a pool.
    """
    open_one, closed = await _open_and_closed(store)
    before = store.sql.open_connections()
    ending = await ended(CALLS[name](store, open_one, closed))
    expect_equal(ending.error is None, name in SHOULD_SUCCEED, of=f"whether {name} succeeds")
    if hasattr(ending.value, "close"):
        _expect_no_stage_or_reader(store, before, name, ending.value.metadata.path)
        await ending.value.close()
    left = [one for one in store.sql.open_connections() if one not in before]
    expect_none(left, of=f"connections that are open after {name}")
    gone = [one for one in before if one not in store.sql.open_connections()]
    expect_none(gone, of=f"connections of other sessions that {name} has closed")
    expect_none(store.sql.open_transactions(), of=f"transactions that run after {name}")


def _expect_no_stage_or_reader(store: SessionMaker, before: list[Any], name: str, own: str) -> None:
    """The session that is handed out may have as many connections to its own database as it likes."""
    more = [one for one in store.sql.open_connections() if one not in before]
    wrong = [one for one in more if one.path != own or is_stage(one)]
    expect_none(wrong, of=f"readers and stages that are open when {name} hands out its session")


@case("S-SQL-TXN-05")
async def a_closed_repository_has_no_connection(store: SessionMaker) -> None:
    """After `session.close()` the session's connections are closed, and after `repo.close()` all are.

    If this fails, look at: a closing that waits for the thread and forgets the connection; a reader kept for later
    calls.
    """
    first, second = await store.rich_session(), await store.linear_session()
    await first.fork(TreeFork())
    await second.close()
    seen = [one for one in store.sql.open_connections() if one.path == second.metadata.path]
    if second.metadata.path != first.metadata.path:
        expect_none(seen, of="connections to the database of a closed session")
    await store.repo.close()
    expect_none(store.sql.open_connections(), of="connections of a closed repository")


POINTS = ("boundary_captured", "batch_copied", "before_publish")


@case("S-SQL-TXN-05", needs=("spy-sql", "probe"))
@rows("point", {point.replace("_", "-"): point for point in POINTS})
@rows("fails", failed=True, cancelled=False)
async def a_fork_that_ends_early_leaves_no_connection(store: SessionMaker, point: str, fails: bool) -> None:
    """A fork that fails or is cancelled while it copies has closed its reader, its stage and its destination when its
    caller learns of it.

    If this fails, look at: a `finally` that cancellation jumps over; a stage that is removed and still open.
    """
    source = await store.rich_session()
    before = store.sql.open_connections()
    if fails:
        store.probe.fail(point, KeyError("of the probe"))
        ending = await ended(store.repo.fork(source.metadata, TreeFork()))
        expect_equal(ending.word, "KeyError", of="how a fork ends whose probe fails")
    else:
        gate = store.probe.park(point)
        forking = asyncio.ensure_future(store.repo.fork(source.metadata, TreeFork()))
        await gate.reached_by(forking)
        forking.cancel()
        await asyncio.wait([forking])
        expect(forking.cancelled(), f"expected: the fork is cancelled\nseen:     {forking!r}")
    left = [one for one in store.sql.open_connections() if one not in before]
    expect_none(left, of="connections that the fork has left open")


@case("S-REPO-15", needs=("spy-sql",), kinds=("sqlite",))
async def a_listing_holds_nothing_between_two_databases(store: SessionMaker) -> None:
    """When a listing turns to the next database it holds no transaction and no cursor on the one before, and it holds
    nothing when it has ended; it begins no write transaction.

    If this fails, look at: a generator over a cursor that is left standing; all databases opened before the first is
    read.
    """
    subjects = [await store.linear_session(1, id=f"s{number}") for number in range(6)]
    for subject in subjects[1:]:
        await subject.close()
    since = store.sql.forget()
    kept = store.sql.open_connections()
    expect_equal(len(await store.repo.list()), len(subjects), of="the number of sessions that are listed")
    opened = [one for one in store.sql.connections() if one not in kept]
    expect(opened, "expected: the listing opens a connection\nseen:     none")
    for connection in opened:
        _expect_nothing_held(store, connection.opened - 1, f"when {connection} is opened")
    runs = store.sql.executions(since=since)
    expect_none((one for one in runs if one.transaction and one.transaction.kind != "deferred"), of="write locks asked")
    expect_none((one for one in store.sql.open_connections() if one not in kept), of="connections left by a listing")
    _expect_nothing_held(store, store.sql.moment(), "after the listing")


def _expect_nothing_held(store: SessionMaker, at: int, when: str) -> None:
    held = [*store.sql.open_transactions(at), *store.sql.open_statements(at)]
    if held:
        raise ClauseBroken(f"{when}\nexpected: no transaction and no cursor\nseen:     {told(held)}")
