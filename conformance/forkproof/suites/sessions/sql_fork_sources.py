"""Which database a fork reads and what goes on beside it: sources of other places, a live writer in another process,
and commits while the fork publishes (S-SQL-FORK-04, S-SQL-FORK-05, S-SQL-FORK-15).
"""

from __future__ import annotations

import asyncio

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.live_writer import LiveWriter
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.fork_ordering import turn
from forkproof.suites.sessions.forking import CLOSED, OPEN, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.other_places import new_place, store_at
from forkstore.contract.addresses import list_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend

POINTS = ("boundary_captured", "batch_copied", "before_publish")
SCOPES: tuple[ForkOptions, ...] = (BranchFork("main"), TreeFork())
LOG = list_address("garden.log", "beside")


async def _fork_here(store: SessionMaker, source: Subject, options: ForkOptions) -> Subject:
    """A fork of a session of another place into the store of the case."""
    model = source.model.fork(options, source.id)
    ending = await ended(store.repo.fork(source.metadata, options))
    expect(ending.error is None, f"expected: a source of another place is forked\nseen:     {ending.error!r}")
    return store.subject(ending.value, model)


@case("S-SQL-FORK-04")
@in_both_scopes
@from_open_and_closed
async def a_source_of_another_place_is_forked(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """A session in another directory or container can be forked, also while a repository there has it open; the fork
    lies in the repository that was asked, and nothing changes in the other place.

    If this fails, look at: the path of a source compared with the repository's own; a source that is looked for under
    the repository's own directory.
    """
    with new_place() as place:
        async with store_at(store, place) as other:
            source = await other.rich_session("source")
            if source_is == CLOSED:
                await source.close()
            with ByteGuard(str(source.metadata.path), root=place, of="the other place"):
                fork = await _fork_here(store, source, options)
            expect(
                not str(fork.metadata.path).startswith(str(place)),
                f"expected: a fork in the place of its own repository\nseen:     {fork.metadata.path}",
            )
            await fork.check_everywhere()
            if source_is == CLOSED:
                await source.open()
            await source.check("the source in the other place")
            await other.assert_only_known_sessions(source)
    await store.assert_only_known_sessions(fork)


@case("S-SQL-FORK-04")
@in_both_scopes
@from_open_and_closed
async def a_session_of_the_same_id_elsewhere_is_another_one(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A fork by the metadata of another place holds what lies there, although the repository has a session of the same
    id open; so does a fork by the metadata of its own.

    If this fails, look at: open sessions that are found by their id alone; a boundary in the queue of the wrong
    session; a reader that is opened on the path of the open one.
    """
    with new_place() as place:
        async with store_at(store, place) as other:
            here, there = await store.linear_session(3, id="twin"), await other.linear_session(6, id="twin")
            await there.append("main", "only there", id="there")
            if source_is == CLOSED:
                await there.close()
            for source in (there, here):
                fork = await _fork_here(store, source, options)
                await fork.check(f"the fork of the session {'there' if source is there else 'here'}")
            await here.append("main", "as before")
            await here.check("the open session of the same id")


@case("S-SQL-FORK-05")
async def what_another_process_commits_meanwhile_is_not_in_the_fork(store: SessionMaker) -> None:
    """A commit that another process makes to the source between the boundary and the publishing is absent from the
    fork, wholly, and present in the next one; in both scopes, at every callback.

    If this fails, look at: a snapshot that is begun anew for each batch; a boundary that is only a sequence; rows read
    outside of the transaction.
    """
    source = await store.linear_session(30)
    await source.close()
    async with LiveWriter.started(store.harness) as writer:
        await writer.open(source.metadata)
        for number, (options, point) in enumerate((options, point) for options in SCOPES for point in POINTS):
            model = source.model.fork(options, source.id)
            gate = store.probe.park(point)
            forking = asyncio.create_task(store.repo.fork(source.metadata, options))
            await gate.reached_by(forking)
            writes = turn(number, source.model.tip("main"))
            source.follow(await writer.commit(*writes), *writes)
            gate.release()
            fork = store.subject(await forking, model)
            await fork.check(f"{options!r}, with a commit of another process at {point}")
            await fork.close()
        for options in SCOPES:
            later = await source.fork(options)
            await later.check(f"{options!r} of the source with all these commits")


@case("S-SQL-FORK-15", needs=("probe",))
@rows("source_is", open=OPEN, closed=CLOSED)
async def commits_beside_a_publishing_fork_succeed(store: SessionMaker, source_is: str) -> None:
    """While a fork publishes, commits to another session succeed, in this process and in another one: they wait for
    its transaction, and fail none.

    If this fails, look at: a lock that outlives the transaction; a busy timeout that was lost; one long transaction for
    copying and publishing.
    """
    source, beside = await store.large_session(600), await store.create("beside")
    if source_is == CLOSED:
        await source.close()
    async with LiveWriter.started(store.harness) as writer:
        elsewhere = await writer.create("elsewhere")
        begun = asyncio.Event()

        async def begin() -> None:
            begun.set()

        store.probe.run("before_publish", begin)
        forking = asyncio.create_task(source.fork(TreeFork()))
        await asyncio.wait([forking, asyncio.create_task(begun.wait())], return_when=asyncio.FIRST_COMPLETED)
        many = asyncio.create_task(writer.commit_often(20))
        number = 0
        while not (forking.done() and many.done()):
            ending = await ended(beside.commit(ListAppend(LOG, number)))
            expect(
                ending.error is None, f"expected: commit {number} beside the fork succeeds\nseen:     {ending.error!r}"
            )
            number += 1
        await many
        fork = await forking
    await fork.check("the fork that was published among other commits")
    await beside.check("the session beside the fork")
    expect_equal(elsewhere.id in await store.listed_ids(), True, of="whether the other process's session is listed")
