"""What a failed `create` or `fork` takes back of the databases and directories that it made, and what it leaves
(S-SQL-LAY-13).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import tree
from forkproof.instruments.fault_kinds import Fail, Hit
from forkproof.instruments.fault_scenes import Meanwhile
from forkproof.instruments.gates import POINTS
from forkproof.instruments.own_connections import can_write_at_once
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.case_instruments import CaseInstruments
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import BRANCH, NEW, TREE, Creates, Forks, Makes
from forkproof.suites.sessions.first_sessions import first_session
from forkproof.suites.sessions.other_places import store_at
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    CorruptSession,
    EntryNotOnBranch,
    RepoClosed,
    SessionExists,
    SessionStoreError,
    StoreIOError,
    UndeclaredNamespace,
    UnknownBranch,
)
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.writes import ListAppend, ValueSet

NEEDS = ("raw-files", "probe")
AT_POINTS: dict[str, tuple[str, ForkOptions]] = {
    point.replace("_", "-"): (point, TREE if number % 2 else BRANCH) for number, point in enumerate(POINTS)
}
"""Where a fork is when something happens, and which fork it is."""
OPTIONS: dict[str, ForkOptions | None] = {"create": None, "branch-fork": BRANCH, "tree-fork": TREE}
EMPTY_PLACES: dict[str, tuple[ForkOptions | None, bool]] = {
    "create-nothing": (None, False),
    "create-the-empty-directory": (None, True),
    "branch-fork-the-empty-directory": (BRANCH, True),
    "tree-fork-nothing": (TREE, False),
}
"""Who makes the first session, and whether the directory of the databases stands."""


class GardenError(Exception):
    """An error of the caller, which no store knows."""


@case("S-SQL-LAY-13", needs=NEEDS)
@rows("call", EMPTY_PLACES)
async def a_cancelled_call_leaves_an_empty_place_empty(
    store: SessionMaker, call: tuple[ForkOptions | None, bool]
) -> None:
    """A `create` or `fork` that is cancelled at any of its suspensions, and would have made the first session of a
    store, leaves neither a database nor a container nor side files, and no directory that it made; one that stood
    there stays.

    If this fails, look at: a container that is kept although nothing is in it; side files that outlive their database;
    a directory that is forgotten, or one that was there and is removed; a cleanup for errors and not for cancellation.
    """
    options, stands = call
    async with first_session(store, options, CaseInstruments(probe=store.probe), stands=stands) as first:

        async def nothing_is_left(k: int, outcome: Stepped) -> None:
            if outcome.kind == "returned":
                await first.accept(outcome.value)
            first.check(f"after a call that was cancelled at its suspension {k}")

        struck = await cancelled_at_every_suspension(first.call, nothing_is_left)
        expect(struck, "expected: a call that suspends\nseen:     none of its steps can be cancelled")
        expect_equal(await first.store.listed_ids(), [NEW], of="the sessions after a call that nobody cancelled")


@case("S-SQL-LAY-13", needs=NEEDS)
@rows("at", AT_POINTS)
async def a_failed_fork_leaves_an_empty_place_empty(store: SessionMaker, at: tuple[str, ForkOptions]) -> None:
    """A fork that fails in a callback of its probe, and would have made the first session of a store, leaves nothing of
    it; the next one succeeds.

    If this fails, look at: a container that is made for the stage's sake and kept; an error that skips the cleanup.
    """
    point, options = at
    async with first_session(store, options, CaseInstruments(probe=store.probe)) as first:
        for _ in range(2):
            store.probe.fail(point, GardenError("no water"))
            with refused(GardenError):
                await first.call()
            first.check(f"after a fork that failed at {point}")
        await first.accept(await first.call())


REFUSED: dict[str, tuple[ForkOptions, type[SessionStoreError]]] = {
    "unknown-branch": (BranchFork("no-such-branch", id=NEW), UnknownBranch),
    "unknown-entry": (BranchFork("main", "no-such-entry", id=NEW), EntryNotOnBranch),
    "undeclared-branch": (BRANCH, UndeclaredNamespace),
    "undeclared-tree": (TREE, UndeclaredNamespace),
}


@case("S-SQL-LAY-13", needs=NEEDS)
@rows("refusal", REFUSED)
async def a_refused_fork_leaves_an_empty_place_empty(
    store: SessionMaker, refusal: tuple[ForkOptions, type[SessionStoreError]]
) -> None:
    """A fork that its source does not allow, and that would have made the first session of a store, leaves nothing of
    it; nor does one of a source that is not there.

    If this fails, look at: a destination that is made before the selection; a stage's directory that stays.
    """
    options, error = refusal
    async with first_session(store, options, CaseInstruments(probe=store.probe)) as first:
        if error is UndeclaredNamespace:
            await first.source.commit(ValueSet(value_address("pi.unknown", "key"), None))
        for _ in range(2):
            with refused(error):
                await first.call()
            first.check("after a fork that was refused")


@case("S-SQL-LAY-13", needs=NEEDS)
@rows("at", AT_POINTS)
async def what_somebody_else_made_there_stays(store: SessionMaker, at: tuple[str, ForkOptions]) -> None:
    """When somebody else makes a session in the place that a fork is the first to use, and the fork fails then, that
    session stays whole, open or closed, with its container or the directory of its database, and nothing else does.

    If this fails, look at: a container that is removed by whoever made it, whatever is in it by now; a look into the
    container without its lock; a directory that is removed with all that is in it.
    """
    point, options = at
    async with (
        first_session(store, options, CaseInstruments(probe=store.probe)) as first,
        store_at(store, first.place / "garden") as others,
    ):
        theirs: list[Subject] = []

        async def comes() -> None:
            theirs.append(await others.linear_session(2, id="theirs"))
            if options is TREE:
                await theirs[0].close()
            raise GardenError("no water")

        store.probe.run(point, comes)
        with refused(GardenError):
            await first.call()
        if options is TREE:
            await theirs[0].open()
        await theirs[0].append("main", "afterwards")
        await theirs[0].check_everywhere()
        stands = sorted(name for name in tree(first.store.databases.directory).files if name)
        expect_equal(stands, [first.store.databases.place("theirs").name], of="what stands beside that session")
        expect_equal(await first.store.listed_ids(), ["theirs"], of="the sessions that are listed")


@case("S-SQL-LAY-13", needs=("raw-files", "fault-injection"))
@rows("options", create=None, tree_fork=TREE)
@rows("closes", open_session=False, closed_session=True)
async def what_somebody_else_put_into_a_new_container_stays(
    store: SessionMaker, options: ForkOptions | None, closes: bool
) -> None:
    """When somebody else makes a session in a container, or in the directory of the databases, before any connection of
    the call that makes it is opened, and that connection fails, his session stays, open or closed, and nothing else
    does.

    If this fails, look at: a container that is removed by whoever made it, whatever is in it by now; a look into it
    without its lock.
    """
    faults = CaseInstruments(sql_faults=store.sql_faults)
    async with first_session(store, options, faults) as first, store_at(store, first.place / "garden") as others:
        theirs: list[Subject] = []

        async def comes(_: Hit) -> None:
            theirs.append(await others.linear_session(1, id="theirs"))
            if closes:
                await theirs[-1].close()

        async def is_left(_: int, hit: Hit, outcome: Stepped) -> None:
            expect_equal(outcome.kind, "raised", of=f"how a call ended that failed at {hit}")
            if closes:
                await theirs[-1].open()
            await theirs[-1].check(f"the session of somebody else, after a call that failed at {hit}")
            stands = sorted(name for name in tree(first.store.databases.directory).files if name)
            expect_equal(stands, [first.store.databases.place("theirs").name], of=f"what stands there, {hit}")
            await theirs[-1].close()
            await others.repo.delete(theirs[-1].metadata)
            first.clear()

        await swept(first.call, store.faults, Meanwhile(comes, Fail()), is_left, names={"connect"})
        expect(theirs, "expected: a call that opens connections\nseen:     none")


@case("S-SQL-LAY-13", needs=("raw-files",))
@rows("make", create=Creates, tree_fork=lambda: Forks(TREE, closed=False))
async def what_another_repository_made_of_that_id_stays(store: SessionMaker, make: Callable[[], Makes]) -> None:
    """When another repository object has made a session of the same id, `create` and `fork` raise `SessionExists`, and
    that session stays as it is, with its rows and its database.

    If this fails, look at: a cleanup by the id, whoever's session that is.
    """
    attempt = await make().arrange(store)
    other = await store.open_second_repo()
    theirs = store.subject(await other.create(id=NEW), SessionModel())
    await theirs.append("main", "theirs")
    for _ in range(2):
        with refused(SessionExists, session_id=NEW):
            await attempt.call()
        await theirs.append("main", "still theirs")
        await theirs.check("the session that another repository has made")
    await theirs.close()
    await other.delete(theirs.metadata)
    await attempt.call()
    await attempt.accept("the session, once the id is free")


@case("S-SQL-LAY-13", needs=NEEDS)
@rows("options", OPTIONS)
async def a_closing_repository_withdraws_its_first_session(store: SessionMaker, options: ForkOptions | None) -> None:
    """A `create` or `fork` that still runs when `repo.close()` is called raises `RepoClosed`, and leaves nothing of the
    first session of a store.

    If this fails, look at: a closing that waits for the call and keeps what it made.
    """
    async with first_session(store, options, CaseInstruments(probe=store.probe)) as first:
        running = asyncio.ensure_future(first.call())
        await asyncio.sleep(0)
        await first.store.repo.close()
        with refused(RepoClosed):
            await running
        first.check("after the repository was closed")


IN_THE_WAY = {
    "sessions": "sessions (storage_version)",
    "entries": "entries (id)",
    "branch-entries": "branch_entries (entry_id)",
    "branch-meta": "branch_meta (branch_id)",
    "scalar-values": "scalar_values (namespace, key)",
    "list-values": "list_values (namespace, key)",
}
"""What a unique index may be on that lets no second session have the rows of the first."""


@case("S-SQL-LAY-13", needs=("raw-files",))
@rows("columns", IN_THE_WAY)
async def a_fork_that_fails_midway_leaves_the_others_in_the_container(store: SessionMaker, columns: str) -> None:
    """When a row of a fork cannot be written into a shared container, the fork fails; the container keeps all rows of
    the other sessions and has none of the fork's, no stage is left, and another connection can write at once.

    If this fails, look at: a transaction per table; a container that is taken for one that the fork has made.
    """
    attempt = Forks(TREE, closed=False)
    await attempt.arrange(store)
    source = attempt.source
    await source.commit(ValueSet(value_address("garden.plan"), 1), ListAppend(list_address("garden.log"), 1))
    path = store.path_of(source)
    if store.databases.container is not None:
        store.databases.change(path, f"CREATE UNIQUE INDEX stop ON {columns}")
        before, stood = store.databases.picture(path), tree(path.parent).files.keys()
        for _ in range(2):
            with refused(StoreIOError, CorruptSession, path=str(path)):
                await attempt.call()
            expect_equal(store.databases.picture(path), before, of="all rows after a fork that failed")
            expect_equal(tree(path.parent).files.keys() - stood, set(), of="files that are left of it")
            expect(can_write_at_once(path), "expected: another connection can write\nseen:     the lock is held")
        store.databases.change(path, "DROP INDEX stop")
    await attempt.call()
    await attempt.accept("the fork, once nothing is in its way")
