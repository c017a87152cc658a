"""Forks of one source that run at the same time (S-FORK-ORD-07)."""

from __future__ import annotations

import asyncio

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.instruments.racing import raced, words
from forkproof.makers import SessionMaker
from forkproof.makers.records import message_entry
from forkstore.contract.addresses import branch_tip, list_address, session_name
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main"), "tree": TreeFork()}
POINTS = {"boundary": "boundary_captured", "batch": "batch_copied", "publish": "before_publish"}


@case("S-FORK-ORD-07")
@rows("options", FORKS)
@rows("point", POINTS)
@rows("released", oldest_first=(0, 1, 2), newest_first=(2, 1, 0), middle_first=(1, 2, 0))
async def each_fork_has_its_own_boundary(
    store: SessionMaker, options: ForkOptions, point: str, released: tuple[int, ...]
) -> None:
    """Three forks of one source that run at the same time, each begun after a further commit, each hold the state at
    their own boundary, in whatever order they end.

    If this fails, look at: one boundary, snapshot or stage for all forks of a source; state shared between
    destinations; a fork that reads the source again at its end.
    """
    source = await store.bushy_session()
    gates, tasks, models = [], [], []
    for number in range(3):
        id = f"turn-{number}"
        await source.raw_commit(
            EntryInsert(message_entry(id, source.model.tip("main"))),
            ValueSet(branch_tip("main"), id),
            ValueSet(session_name(), id),
            ListAppend(list_address("garden.log", "kept"), id),
        )
        gates.append(store.probe.park(point))
        models.append(source.model.fork(options, source.id))
        tasks.append(asyncio.create_task(store.repo.fork(source.metadata, options)))
        await gates[-1].reached_by(tasks[-1])
    forks = {}
    for number in released:
        gates[number].release()
        forks[number] = store.subject(await tasks[number], models[number])
    for number, fork in sorted(forks.items()):
        await fork.append("main", f"written in fork {number}")
        await fork.check(f"the fork after commit {number}")
    await store.check_each(*forks.values(), source)


@case("S-FORK-ORD-07", needs=())
async def forks_at_once_do_not_disturb_each_other(store: SessionMaker) -> None:
    """Many forks of one source that are started at once all succeed, each with everything, and a write to one shows in
    no other.

    If this fails, look at: destinations that share containers; a lock on the source that refuses a second reader; a
    stage with one name.
    """
    source = await store.rich_session()
    options = [*FORKS.values()] * 4
    endings = await raced(*(store.repo.fork(source.metadata, one) for one in options))
    expect_equal(words(endings), ["returned"] * 8, of="how eight forks of one source ended")
    forks = [
        store.subject(ending.value, source.model.fork(one, source.id))
        for ending, one in zip(endings, options, strict=True)
    ]
    for number, fork in enumerate(forks):
        await fork.append("main", f"written in fork {number}")
    await source.append("main", "written in the source")
    await store.assert_only_known_sessions(source, *forks)
    await store.check_each(*forks, source)


@case("S-FORK-ORD-07")
@rows("options", FORKS)
@rows("point", POINTS)
async def a_failing_fork_does_not_disturb_another(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """Of two forks of one source that run at the same time one is cancelled; the other ends with everything.

    If this fails, look at: cleanup that removes what another fork uses; a snapshot of the source that is shared.
    """
    source = await store.rich_session()
    gates = [store.probe.park(point), store.probe.park(point)]
    model = source.model.fork(options, source.id)
    tasks = []
    for gate in gates:
        tasks.append(asyncio.create_task(store.repo.fork(source.metadata, options)))
        await gate.reached_by(tasks[-1])
    tasks[0].cancel()
    gates[1].release()
    cancelled, forked = await raced(*tasks)
    expect_equal(words([cancelled, forked]), ["CancelledError", "returned"], of="how the two forks ended")
    fork = store.subject(forked.value, model)
    await store.assert_only_known_sessions(source, fork)
    await store.check_each(fork, source)
