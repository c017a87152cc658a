"""Commits that wait for the write lock that another connection holds (S-SQL-TXN-03)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import apsw

from forkproof.case import case
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.own_connections import can_write_at_once, write_lock
from forkproof.instruments.racing import raced
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import LOG
from forkstore.contract.errors import StoreIOError
from forkstore.contract.writes import ListAppend

LEAST_SECONDS = 4.5
"""What a commit has waited at least when it gives up, on a clock that need not agree with SQLite's."""


@case("S-SQL-TXN-03")
async def a_commit_waits_for_the_write_lock_and_gives_up(store: SessionMaker) -> None:
    """A commit that finds the write lock held is made when it is given back; when it is not given back for 5,000 ms the
    commit raises `StoreIOError` and has written nothing, and the session goes on.

    If this fails, look at: a connection without a busy timeout; a transaction that begins as a reader, which does not
    wait; a retry that goes on for ever; a failed commit that was written.
    """
    subject = await store.linear_session(1)
    subject.model.look_at([(LOG.namespace, LOG.key)])
    path, first = Path(str(subject.metadata.path)), ListAppend(LOG, "waits")
    with write_lock(path):
        waiting = asyncio.ensure_future(subject.session.storage.commit([first]))
        await settle()
        expect(not waiting.done(), "expected: the commit waits for the lock\nseen:     it has ended")
    subject.follow(await waiting, first)
    await subject.check("the session whose commit waited")

    with write_lock(path):
        begun = time.monotonic()
        with refused(StoreIOError) as refusal:
            await subject.session.storage.commit([ListAppend(LOG, "gives up")])
        waited = time.monotonic() - begun
        cause = refusal.error.__cause__
        expect(isinstance(cause, apsw.BusyError), f"expected: StoreIOError from BusyError\nseen:     from {cause!r}")
        expect(waited >= LEAST_SECONDS, f"expected: it waits 5,000 ms\nseen:     {waited * 1000:.0f} ms")
        await subject.check("the session whose commit gave up, while the lock is held")
    expect_equal(can_write_at_once(path), True, of="whether the write lock is free afterwards")
    last = ListAppend(LOG, "afterwards")
    subject.follow(await subject.session.storage.commit([last]), last)
    await subject.reopen()
    await subject.check("the session opened again")


@case("S-SQL-TXN-03")
async def commits_that_wait_for_each_other_are_made(store: SessionMaker) -> None:
    """Two open sessions whose commits wait for one lock, and for each other, both succeed when it is given back.

    If this fails, look at: a lock that is asked for without waiting; a busy timeout that only some connections have.
    """
    subjects = [await store.linear_session(1, id=id) for id in ("a", "b")]
    paths = {Path(str(subject.metadata.path)) for subject in subjects}
    for subject in subjects:
        subject.model.look_at([(LOG.namespace, LOG.key)])
    write = ListAppend(LOG, "waits")
    with write_lock(paths.pop()):
        waiting = [asyncio.ensure_future(subject.session.storage.commit([write])) for subject in subjects]
        await settle()
    endings = await raced(*waiting)
    expect_equal([ending.word for ending in endings], ["returned", "returned"], of="how the commits ended that waited")
    for subject, ending in zip(subjects, endings, strict=True):
        subject.follow(ending.value, write)
        await subject.check(f"the session {subject.id!r}")
