"""Forks of open legacy v3 sources: refused before the upgrade, and by the ids they showed after it."""

from __future__ import annotations

from forkgen.legacy import LegacyFile
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.racing import raced
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.forking import from_open_and_closed
from forkproof.suites.sessions.legacy_judging import (
    BOTH_SCOPES,
    POSITIONS,
    Position,
    about,
    expect_fork_refused,
    expect_shown,
    gone,
    in_every_room,
    normalized_of,
    opened,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkproof.suites.sessions.legacy_upgrading import upgrade, writes_under
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import (
    DataOnlyBranch,
    EntryNotOnBranch,
    LegacySourceOpen,
    SessionStoreError,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

PLAN = value_address("garden.plan")


def _of_open(file: LegacyFile) -> list[tuple[ForkOptions, tuple[type[SessionStoreError], ...]]]:
    """Forks of the open file, with the classes that are right. A data-only `main` is another reason to refuse."""
    branch = (LegacySourceOpen,) if normalized_of(file).has_complete_lane else (LegacySourceOpen, DataOnlyBranch)
    return [(TreeFork(id="fork"), (LegacySourceOpen,)), (BranchFork("main", id="fork"), branch)]


@case("S-V3-22")
@in_every_room
async def an_open_v3_source_is_not_forked(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A fork of an open session that is still v3 raises LegacySourceOpen in both scopes; it does not upgrade the file,
    and leaves nothing behind.

    If this fails, look at: an open source read like a closed one; an upgrade made for the fork; a check that is made in
    one scope only.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            subject = await opened(session)
            for options, right in _of_open(file):
                await expect_fork_refused(session, options, *right)
            await expect_shown(session, subject)
            await subject.close()


@case("S-V3-22")
@rows("position", at="at", before="before")
async def the_refusal_names_the_missing_upgrade(store: SessionMaker, position: Position) -> None:
    """The refusal carries the session's id, and its text says that a non-empty commit must upgrade the session first;
    by an id that the session shows too. An empty commit changes nothing about it.

    If this fails, look at: a text that only says that the session is open or legacy; ids of the open session that are
    taken; an empty commit that counts.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    points = (None, *subject.model.entries)
    by_branch = [BranchFork("main", point, position, "fork") for point in points]
    choices: tuple[ForkOptions, ...] = (TreeFork(id="fork"), *by_branch)
    for _ in range(2):
        for options in choices:
            text = await expect_fork_refused(session, options, LegacySourceOpen, session_id="shed-7")
            said = text.lower().replace("nonempty", "non-empty").replace("not empty", "non-empty")
            missing = [word for word in ("non-empty", "commit", "upgrade") if word not in said]
            expect(not missing, f"expected: a text that names the missing upgrade\nseen:     {text}")
        await subject.commit()
    await expect_shown(session, subject)


@case("S-V3-22")
async def a_refused_fork_spoils_nothing(store: SessionMaker) -> None:
    """After the refusal the session goes on as before: it is upgraded, and then forked with the same destination id.

    If this fails, look at: a boundary that stays in the commit queue; a reservation of the destination that is kept.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    for options, right in _of_open(RICH):
        await expect_fork_refused(session, options, *right)
    await upgrade(session, subject, *writes_under(subject.model.tip("main")))
    fork = await subject.fork(BranchFork("main", id="fork"))
    await store.check_each(fork, subject)


def _by_id(subject: Subject) -> list[ForkOptions]:
    """Both scopes, and both positions at the ids of the path that the session shows, first and last among them."""
    path = [entry["id"] for entry in subject.model.path(subject.model.tip("main"))]
    points = (path[0], path[1], path[len(path) // 2], path[-1])
    by_id = [BranchFork("main", point, position) for point in points for position in POSITIONS]
    return [TreeFork(), BranchFork("main"), BranchFork("main", position="before"), *by_id]


@case("S-V3-23", "S-V3-20")
@from_open_and_closed
async def an_upgraded_source_forks_by_the_ids_it_showed(store: SessionMaker, source_is: str) -> None:
    """After the upgrade the session forks like any session of format 4, in both scopes and at every entry of its path,
    by the ids that it showed before; ids of an earlier opening name nothing.

    If this fails, look at: a flag that survives the upgrade; ids that are made anew when the session is closed; the
    ledger of the import copied.
    """
    session = planted(store, RICH)
    earlier = await opened(session)
    await earlier.close()
    subject = await opened(session)
    shown = _by_id(subject)
    await upgrade(session, subject, *writes_under(subject.model.tip("main")))
    if source_is == "closed":
        await subject.close()
    with ByteGuard(session.path, of="the upgraded file while it is forked"):
        for options in (*shown, *_by_id(subject)):
            fork = await subject.fork(options)
            await fork.check(f"the fork by {options!r}")
            await gone(fork)
        for id in list(earlier.model.entries)[::4]:
            with refused(EntryNotOnBranch, entry_id=id, branch="main"):
                await store.repo.fork(session.metadata, BranchFork("main", id))


@case("S-V3-23")
@in_every_room
async def every_upgraded_file_forks(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A session of any v3 file forks after its upgrade, with the ids that it showed.

    If this fails, look at: values of the import that a fork of format 4 does not take.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            subject = await opened(session)
            await upgrade(session, subject, ValueSet(PLAN, "upgraded"))
            for options in BOTH_SCOPES if normalized_of(file).has_complete_lane else BOTH_SCOPES[:1]:
                fork = await subject.fork(options)
                await fork.check(f"the fork by {options!r}")
                await gone(fork)
            await subject.close()


@case("S-V3-23")
async def a_fork_behind_the_upgrading_commit_holds_it_or_is_refused(store: SessionMaker) -> None:
    """A fork that is started right behind the upgrading commit, without waiting for it, holds that commit wholly, or is
    refused as one of a v3 source; it never holds the session without it.

    If this fails, look at: the form looked at in the commit queue, and the file read before it.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    committed, fork = await raced(
        subject.session.set_value(PLAN, "first"), store.repo.fork(session.metadata, TreeFork(id="fork"))
    )
    expect_equal(committed.word, "returned", of="the upgrading commit")
    subject.follow(committed.value, ValueSet(PLAN, "first"))
    if fork.word == "returned":
        model = subject.model.fork(TreeFork(), "shed-7")
        await store.subject(fork.value, model).check("the fork that was started behind the upgrading commit")
    else:
        expect_equal(fork.word, "LegacySourceOpen", of="how the fork was refused")
