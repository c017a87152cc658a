"""The repository: creating, opening and finding sessions (section 11.2)."""

from __future__ import annotations

import dataclasses
from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import ClauseBroken, expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.ledger import zero_usage
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import ForeignSession, InvalidArgument, SessionClosed, SessionNotFound
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import ListAppend, ValueSet


def _told(metadata: SessionMetadata) -> dict[str, Any]:
    """What S-REPO-02 asks of metadata."""
    return {
        "id": metadata.id,
        "created_at": metadata.created_at,
        "storage_version": metadata.storage_version,
        "parent_session_id": metadata.parent_session_id,
    }


async def _everything(subject: Subject) -> dict[str, Any]:
    """All that a session shows, with its sequences and the next one."""
    session, locations = subject.session, sorted(subject.model.touched)
    return {
        "entries": await session.scan_entries(),
        "ledger": await session.scan_usage(),
        "statistics": await session.get_stats(),
        "scalars": [await session.get_value(value_address(*location)) for location in locations],
        "lists": [await session.read_list(list_address(*location), limit=10_000) for location in locations],
        "next sequence": (await subject.commit()).first_seq,
    }


@case("S-REPO-01")
async def a_created_session_is_empty(store: SessionMaker) -> None:
    """`create` returns an open session with no branch, no values, no lists, zero statistics and next sequence 1.

    If this fails, look at: a default branch or name written by `create`; sequences that start at 0; a header counted
    as the first write.
    """
    subject = await store.create()
    subject.model.look_at([("garden.plan", ""), ("garden.log", "")])
    await subject.check("a session that was just created")
    stats = await subject.session.get_stats()
    expect_equal(stats.message_count, 0, of="the message count of a created session")
    expect_equal(stats.usage, zero_usage(), of="the usage of a created session", ordered=True)
    for name in ("main", "default", subject.id):
        if name:
            expect_equal(await subject.session.branch(name), None, of=f"the branch {name!r} of a created session")
    expect_equal((await subject.commit()).first_seq, 1, of="the next sequence of a created session")
    await subject.check_everywhere()
    result = await subject.commit(ValueSet(value_address("garden.plan"), 1), ListAppend(list_address("garden.log"), 2))
    expect_equal(result.seqs, [1, 2], of="the first sequences of a created session")


@case("S-REPO-01")
async def nothing_of_other_sessions_is_in_a_created_one(store: SessionMaker) -> None:
    """A created session is empty whatever the store already holds.

    If this fails, look at: state kept on a class; a table without the session in its key; a statistic per store.
    """
    await store.rich_session()
    subject = await store.create()
    subject.model.look_at([("garden.plan", ""), ("garden.log", "kept")])
    await subject.check("a session created beside a rich one")
    expect_equal((await subject.commit()).first_seq, 1, of="the next sequence of a created session")


@case("S-REPO-02")
@rows("id", given="walk-1", generated=None)
@rows("parent", none=None, another="some-other-session", empty="")
async def metadata_says_what_create_was_told(store: SessionMaker, id: str | None, parent: str | None) -> None:
    """Metadata carries the given or generated id, the clock reading of the create, storage version 1 and the given
    parent: on the session, in `list`, and after reopening at another time.

    If this fails, look at: the system clock in place of the option `now`; a time read again on opening or listing; the
    parent dropped; seconds in place of milliseconds.
    """
    await store.create("earlier")
    store.clock.advance(1_234)
    made_at = store.clock.at
    options = {} if parent is None else {"parent_session_id": parent}
    subject = await store.create(id, **options)
    store.clock.advance(5_000)
    expected = {
        "id": subject.id if id is None else id,
        "created_at": made_at,
        "storage_version": 1,
        "parent_session_id": parent,
    }
    expect(type(subject.id) is str and subject.id, f"expected: an id that is a string\nseen:     {subject.id!r}")
    expect_equal(_told(subject.session.metadata), expected, of="the metadata of the created session")
    listed = [_told(metadata) for metadata in await store.list() if metadata.id == subject.id]
    expect_equal(listed, [expected], of="the metadata in the list")
    await subject.reopen()
    expect_equal(_told(subject.session.metadata), expected, of="the metadata of the reopened session")


@case("S-REPO-06")
@in_any_state
async def opening_shows_what_closing_left(subject: Subject) -> None:
    """`open` of a closed session gives a new object that shows the same entries, values, lists, ledger, statistics and
    next sequence, in the same order, as the closed one did.

    If this fails, look at: an order by id or time after reading back; sequences given anew; a ledger or a statistic
    that lives in the open session only; a closed object that is handed out again.
    """
    before = await _everything(subject)
    closed = subject.session
    await subject.reopen()
    expect(subject.session is not closed, "expected: open gives a new object\nseen:     the object that was closed")
    expect_equal(await _everything(subject), before, of="the reopened session against the closed one")
    with refused(SessionClosed, session_id=subject.id):
        await closed.get_stats()
    if subject.store.durable:
        await subject.reopen(elsewhere=True)
        expect_equal(await _everything(subject), before, of="the session opened by another repository object")
    await subject.append("later", "written after reopening")
    await subject.check()


@case("S-REPO-06")
async def opening_again_and_again_adds_nothing(store: SessionMaker) -> None:
    """A session that is opened and closed many times, with a commit each time, holds each commit once.

    If this fails, look at: a replay that is applied twice; a next sequence that grows with every opening.
    """
    subject = await store.empty_session()
    for number in range(1, 8):
        await subject.reopen()
        result = await subject.commit(ListAppend(list_address("garden.log"), number))
        expect_equal(result.seqs, [number], of=f"the sequence of commit {number}, one an opening")
    await subject.check_everywhere()


CALLS: dict[str, Any] = {
    "open": lambda store, metadata: store.repo.open(metadata),
    "delete": lambda store, metadata: store.repo.delete(metadata),
    "tree-fork": lambda store, metadata: store.repo.fork(metadata, TreeFork(id="fork")),
    "branch-fork": lambda store, metadata: store.repo.fork(metadata, BranchFork("main", id="fork")),
}
"""The calls that name a session."""


@case("S-REPO-07")
@rows("call", CALLS)
async def a_deleted_session_is_not_found(store: SessionMaker, call: Any) -> None:
    """`open`, `delete` and `fork` of a deleted session raise `SessionNotFound` and create nothing.

    If this fails, look at: an open that creates what is missing; a register that keeps deleted sessions; a fork that
    makes its destination before it looks for its source.
    """
    other = await store.linear_session()
    gone = await store.linear_session(id="gone")
    await gone.close()
    await store.repo.delete(gone.metadata)
    for _ in range(2):
        with refused(SessionNotFound, session_id="gone"):
            await call(store, gone.metadata)
    await store.assert_only_known_sessions(other)
    again, fork = await store.create("gone"), await store.create("fork")
    await store.assert_only_known_sessions(other, again, fork)
    await store.check_each(again, fork, other)


@case("S-REPO-06")
async def metadata_is_known_by_what_it_says(store: SessionMaker) -> None:
    """A session is opened, forked and deleted by metadata that equals its own, wherever the caller kept it.

    If this fails, look at: metadata compared as objects.
    """
    subject = await store.linear_session()
    kept = dataclasses.replace(subject.metadata)
    fork = await store.repo.fork(kept, TreeFork())
    await subject.close()
    try:
        opened = await store.repo.open(kept)
    except (ForeignSession, SessionNotFound) as error:
        raise ClauseBroken(f"expected: the session is opened\nseen:     {type(error).__name__}") from error
    await opened.close()
    await store.repo.delete(kept)
    expect_equal(await store.listed_ids(), [fork.metadata.id], of="the sessions that are listed")


@case("S-REPO-02")
@rows("at", zero=0, one=1, latest=2**48 - 1)
async def any_time_is_a_time_of_creation(store: SessionMaker, at: int) -> None:
    """Creates and forks carry the reading of the clock, also at the ends of what a generated id can hold.

    If this fails, look at: a reading of 0 taken for none; a column of 32 bits; a time that is clamped.
    """
    store.clock.set(at)
    subject = await store.empty_session()
    fork = await subject.fork(TreeFork())
    expect_equal([subject.metadata.created_at, fork.metadata.created_at], [at, at], of="the times of creation")
    await store.check_each(subject, fork)


@case("S-REPO-07")
@rows("call", CALLS)
async def an_unknown_session_is_not_found(store: SessionMaker, call: Any) -> None:
    """`open`, `delete` and `fork` of a session that never was raise `SessionNotFound` and create nothing. (A store
    whose metadata holds a path may also call it foreign.)

    If this fails, look at: an open that creates what is missing; a search by prefix or without regard to case.
    """
    other = await store.linear_session(id="known")
    for unknown in ("unknown", "know", "known2", "Known"):
        metadata = dataclasses.replace(other.metadata, id=unknown)
        with refused(SessionNotFound, *(() if metadata.path is None else (ForeignSession,)), session_id=unknown):
            await call(store, metadata)
    await store.assert_only_known_sessions(other)
    unknown_one, fork = await store.create("unknown"), await store.create("fork")
    await store.check_each(unknown_one, fork, other)


@case("S-REPO-26")
@rows("cwd", empty="", number=1, true=True, bytes=b"/srv/garden", path="/srv/garden")
async def an_unfit_cwd_is_refused(store: SessionMaker, cwd: Any) -> None:
    """A `cwd` that is not a non-empty string, or that is given to a store without working directories, raises
    `InvalidArgument` from `create` before anything is reserved, and from `list`.

    If this fails, look at: an argument accepted and ignored; the check made after the id was taken.
    """
    subject = await store.empty_session()
    fits = store.cwd is not None and type(cwd) is str and cwd != ""
    if not fits:
        with refused(InvalidArgument, field="cwd"):
            await store.repo.create(id="contested", cwd=cwd)
        with refused(InvalidArgument, field="cwd"):
            await store.repo.list(cwd=cwd)
    if store.cwd is not None:
        with refused(InvalidArgument, field="cwd"):
            await store.repo.create(id="contested")
    await store.assert_only_known_sessions(subject)
    await store.assert_only_known_sessions(subject, await store.create("contested"))


@case("S-REPO-20")
async def a_closed_session_stays_available(store: SessionMaker) -> None:
    """A closed session stays available for `open` and `fork` until it is deleted.

    If this fails, look at: sessions that live as long as their handle; weak references; a limit on closed sessions.
    """
    subjects = [await store.linear_session(2) for _ in range(20)]
    for subject in subjects:
        await subject.close()
    await store.assert_only_known_sessions(*subjects)
    forks = [await subject.fork(TreeFork()) for subject in subjects]
    await store.check_each(*subjects, *forks)
