"""A legacy v3 file is read and not written, until a commit that is not empty upgrades it (S-V3-02)."""

from __future__ import annotations

from dataclasses import replace

from forkgen.legacy import LegacyFile
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.fault_kinds import Cancel, Fail, Fault, Hit
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.makers.file_states import LegacySession
from forkproof.suites.sessions.legacy_judging import (
    about,
    expect_shown,
    forked,
    gone,
    in_every_room,
    normalized_of,
    opened,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session


def _forks(file: LegacyFile) -> list[ForkOptions]:
    """The forks of the closed file that succeed."""
    lane = [BranchFork("main"), BranchFork("main", position="before")]
    return [TreeFork(), *(lane if normalized_of(file).has_complete_lane else [])]


async def _use(session: LegacySession) -> None:
    """Everything that must not write to the file, twice."""
    for _ in range(2):
        await session.store.list()
        subject = await opened(session)
        await expect_shown(session, subject)
        await session.store.list()
        await subject.close()
        for options in _forks(session.case):
            fork = await forked(session, options)
            await fork.append("main", "written to the fork")
            await gone(fork)


@case("S-V3-02")
@in_every_room
async def a_v3_file_is_only_read(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """`list`, `open`, every reading, an empty commit, `close` and `fork` in both scopes change neither the bytes nor
    the modification time of a v3 file, put nothing beside it, and never open it for writing, not even to cut a torn
    tail.

    If this fails, look at: an upgrade when the session is opened or closed; a torn tail cut as in format 4; an empty
    commit that counts as one; a lock file; a fork that upgrades its source first; a file opened with `r+` or `a`.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            guard = ByteGuard(session.path, root=store.root, of="the file after it was listed, opened, closed, forked")
            with guard, AuditSpy(session.path, of="the file while it was listed, opened, closed and forked"):
                await _use(session)


@case("S-V3-02", needs=("raw-files", "spy-files"))
async def no_file_call_writes_to_a_v3_file(store: SessionMaker) -> None:
    """No call of the file capability changes or syncs a v3 file while it is listed, opened, read, closed and forked, or
    names a file beside it after it.

    If this fails, look at: a write of the bytes that are there already; a temporary file made and removed again; a file
    renamed away and back.
    """
    session = planted(store, RICH)
    await _use(session)
    expect(store.files.only_read(session.path), "expected: the file is only read\nseen:     a call that writes it")
    beside = [str(call) for call in store.files.changes() if session.path.name in f"{call.path}{call.target}"]
    expect_equal(beside, [], of="the changes of files that are named after the v3 file")


@case("S-V3-02")
async def commits_of_nothing_are_no_upgrade(store: SessionMaker) -> None:
    """Empty commits, in callbacks and in a scope, one after the other, leave a v3 file as it is
    and use up no sequence; their results show the statistics of the file.

    If this fails, look at: an upgrade on the first commit of any kind; statistics taken from the empty ledger.
    """
    session = planted(store, RICH)
    with ByteGuard(session.path, root=store.root, of="the file after empty commits"):
        subject = await opened(session)
        results = [await subject.commit(), await subject.commit()]
        scope = await subject.session.begin_mutation()
        results.append(await scope.commit([]))
        await scope.end()
        stats = await subject.session.get_stats()
        for result in results:
            seen = (result.first_seq, result.seqs, result.stats)
            expect_equal(seen, (normalized_of(RICH).next_seq, [], stats), of="the result of an empty commit")
        await subject.check("the session after empty commits")
        await subject.close()


@case("S-V3-02", needs=("raw-files", "fault-injection"))
@rows("options", opening=None, tree=TreeFork(), branch=BranchFork("main"))
@rows("fault", failing=Fail("unknown"), cancelled=Cancel("after"))
async def calls_that_fail_leave_a_v3_file(store: SessionMaker, options: ForkOptions | None, fault: Fault) -> None:
    """An `open` or a `fork` of a v3 file with a torn tail that fails or is cancelled in any of its file calls leaves
    the bytes and the modification time of the file, and nothing beside it.

    If this fails, look at: a clean-up that knows the source by the name of its file; a repair that is begun first.
    """
    session = planted(store, replace(RICH, contents=RICH.contents + RICH.contents[:40]))
    guard = ByteGuard(session.path, root=store.root)
    made: list[Session] = []

    async def call() -> None:
        if options is None:
            made.append(await store.repo.open(session.metadata))
        else:
            made.append(await store.repo.fork(session.metadata, options))

    async def check(_: int, hit: Hit, __: Stepped) -> None:
        for live in made:
            await live.close()
            if options is not None:
                await store.repo.delete(live.metadata)
        made.clear()
        guard.check(f"the v3 file and its neighbours after a call that was struck at {hit}")

    expect(await swept(call, store.faults, fault, check), "expected: file calls that can fail\nseen:     none")
    expect_equal(len(made), 1, of="the sessions that the last call made")
