"""Commits that meet another writer of their file, or what their own store has left in it (S-JSONL-FMT-16)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Short
from forkproof.instruments.racing import ended, raced, words
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.file_changes import CHANGES, PLAN, changed, expect_refused_commits, kept_aside, used
from forkstore.contract.store import SessionRepo
from forkstore.contract.writes import ValueSet


@case("S-JSONL-FMT-16", needs=("raw-files", "raw-commit"))
async def commits_that_wait_are_refused_too(store: SessionMaker) -> None:
    """Commits that were started together all succeed, for what the one before has written is no change by someone
    else; when someone else has changed the file they are all refused, and other sessions of the repository go on.

    If this fails, look at: a size that is remembered when a commit is admitted; a failure that stops the queue.
    """
    other, subject = await store.linear_session(1), await used(store)
    together = await raced(*(subject.session.storage.commit([ValueSet(PLAN, number)]) for number in range(5)))
    expect_equal(words(together), ["returned"] * 5, of="how the commits ended that were started together")
    for number, one in enumerate(together):
        subject.follow(one.value, ValueSet(PLAN, number))
    with changed(subject, CHANGES["grown-by-a-line"]):
        endings = await raced(*(subject.session.storage.commit([ValueSet(PLAN, "never")]) for _ in range(3)))
        expect_equal(words(endings), ["SessionFileChanged"] * 3, of="how the commits ended")
        await subject.check("the session whose commits were refused")
        await other.append("main", "used beside it")
        await other.check("another session of the repository")
        await subject.close()


async def _deletes(repo: SessionRepo, subject: Subject) -> None:
    await repo.delete(subject.metadata)


async def _commits(repo: SessionRepo, subject: Subject) -> None:
    session = await repo.open(subject.metadata)
    await session.set_name("by another")
    await session.close()


async def _makes_anew(repo: SessionRepo, subject: Subject) -> None:
    """The first file keeps a name while it is removed, so that the new one cannot have its inode."""
    with kept_aside(subject.store.path_of(subject)):
        await repo.delete(subject.metadata)
        session = await repo.create(id=subject.id, cwd="/srv/walk")
        await session.set_name("another session")
        await session.close()


OTHERS: dict[str, Callable[[SessionRepo, Subject], Awaitable[None]]] = {
    "deletes": _deletes,
    "commits": _commits,
    "makes-anew": _makes_anew,
}


@case("S-JSONL-FMT-16", needs=("raw-files", "clock", "raw-commit"))
@rows("act", OTHERS)
async def a_session_that_another_repository_changed_is_refused(
    store: SessionMaker, act: Callable[[SessionRepo, Subject], Awaitable[None]]
) -> None:
    """A session that another repository object has deleted, written to, or made anew under the same name takes no more
    commits here: nothing of it comes back, and what the other has written stays.

    If this fails, look at: an append that makes a deleted file again; two writers on one file.
    """
    subject = await used(store)
    other = await store.open_second_repo()
    await act(other, subject)
    await expect_refused_commits(subject, "another repository's now")
    await subject.close()
    await other.close()


OWN_FAILURES: dict[str, dict[str, Any]] = {
    "append": {"names": {"append_file"}},
    "append-and-repair": {"names": {"append_file", "truncate_file"}, "again_after": 1},
}


@case("S-JSONL-FMT-16", needs=("raw-files", "raw-commit", "fault-injection"))
@rows("failing", OWN_FAILURES)
@rows("share", nothing=0.0, half=0.5, all=1.0)
async def the_stores_own_failed_append_does_not_count(
    store: SessionMaker, failing: dict[str, Any], share: float
) -> None:
    """What the store's own failed append has left in the file is no change by someone else: the next commit succeeds,
    or fails with `StoreIOError`.

    If this fails, look at: a size that is remembered before the failure is looked at; a repair that is tried once.
    """
    subject = await used(store)
    for number in range(3):
        store.faults.arm(Short(share=share), **failing)
        failed = await ended(subject.raw_commit(*all_six(f"failed-{number}")))
        expect_equal(failed.word, "StoreIOError", of="a commit whose append call fails")
        store.faults.disarm()
        again = await ended(subject.raw_commit(ValueSet(PLAN, number)))
        told = f"expected: the next commit succeeds, or raises StoreIOError\nseen:     {again.word}"
        expect(again.word in ("returned", "StoreIOError"), told)
        await subject.check("the session after a failed commit and another one")
