"""Listing sessions: which, how often, and in which order (section 11.2)."""

from __future__ import annotations

import asyncio
import contextlib

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkstore.contract.errors import InvalidSessionId
from forkstore.contract.forks import BranchFork, TreeFork


@case("S-REPO-11")
async def every_session_is_listed_once(store: SessionMaker) -> None:
    """`list` reports every session, open or closed, once: created, reopened, forked, and forked without entries.

    If this fails, look at: a list of the open ones; a list of the closed ones; a session listed again by each opening;
    sessions without entries left out.
    """
    await store.assert_only_known_sessions()
    source = await store.bushy_session()
    subjects = [source, await store.empty_session(), await store.linear_session(), await store.create("named")]
    subjects += [await source.fork(TreeFork()), await source.fork(BranchFork("main", entry_id="root"))]
    subjects += [await source.fork(BranchFork("main", entry_id="root", position="before"))]
    await store.assert_only_known_sessions(*subjects)
    for subject in subjects[::2]:
        await subject.close()
    await store.assert_only_known_sessions(*subjects)
    for subject in subjects[1::2]:
        await subject.reopen()
    await store.assert_only_known_sessions(*subjects)
    if store.durable:
        await store.reopen_repo()
        await store.assert_only_known_sessions(*subjects)


@case("S-REPO-11")
async def a_busy_session_is_listed(store: SessionMaker) -> None:
    """A session is listed once while a scope is held on it, while it is closing, and when it is closed.

    If this fails, look at: a list that opens sessions and leaves out those that are busy; a session that is taken from
    one register before it is put into another.
    """
    subject = await store.rich_session()
    scope = await subject.session.begin_mutation()
    await store.assert_only_known_sessions(subject)
    closing = asyncio.create_task(subject.session.close())
    listing = asyncio.create_task(store.listed_ids())
    expect_equal(await listing, [subject.id], of="the ids that are listed while the session is closing")
    await scope.end()
    await closing
    await store.assert_only_known_sessions(subject)


@case("S-REPO-11")
async def the_list_is_the_callers_own(store: SessionMaker) -> None:
    """What a caller does to the list that he was given does not change what is listed.

    If this fails, look at: the repository's own container handed out.
    """
    subjects = [await store.empty_session(), await store.empty_session()]
    (await store.list()).clear()
    await store.assert_only_known_sessions(*subjects)


@case("S-REPO-12")
async def newer_sessions_come_first(store: SessionMaker) -> None:
    """`list` is ordered by `created_at`, descending, whatever the order of creation: clocks go back. Forks stand among
    the others by their own time, and use does not move a session.

    If this fails, look at: the order of creation; an ascending order; a fork that takes its source's time; an order by
    the last use.
    """
    source = await store.linear_session(id="m")
    made = {"m": store.clock.at}
    for id, step in {"b": 1_000, "z": -5_000, "a": 300, "y": 9_000, "c": -2}.items():
        store.clock.advance(step)
        await store.create(id)
        made[id] = store.clock.at
    store.clock.back(500)
    await source.fork(TreeFork(id="fork"))
    made["fork"] = store.clock.at
    expected = sorted(made, key=lambda id: -made[id])
    expect_equal([metadata.id for metadata in await store.list()], expected, of="the ids, newest first")
    store.clock.advance(60_000)
    await source.append("main", "used")
    await source.reopen()
    expect_equal([metadata.id for metadata in await store.list()], expected, of="the ids after one was used")


@case("S-REPO-12")
@rows(
    "ids",
    letters=("b", "a", "Z", "A", "z", "B"),
    numbers=("s10", "s9", "s1", "s100", "s01"),
    lengths=("a", "aa", "a-", "a_", "a0", "aA"),
    code_points=("é", "z", "\uffee", "\U0001f331", "ß", "ss", "e\u0301"),
)
async def sessions_of_one_time_are_ordered_by_id(store: SessionMaker, ids: tuple[str, ...]) -> None:
    """Sessions with one `created_at` are ordered by id, ascending by code point. (Ids that the store refuses are left
    out.)

    If this fails, look at: an order without case or by language; an order by UTF-16 units; a descending order of both
    columns; the order of creation.
    """
    accepted = []
    for id in ids:
        with contextlib.suppress(InvalidSessionId):
            accepted.append((await store.create(id)).id)
    expect_equal([metadata.id for metadata in await store.list()], sorted(accepted), of="the ids of one time")
