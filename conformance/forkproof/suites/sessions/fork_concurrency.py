"""What goes on while forks run: commits to their source, and other forks (S-FORK-ORD-02, S-FORK-ORD-07, S-OWN-15)."""

from __future__ import annotations

import asyncio

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.instruments.racing import raced, words
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker
from forkproof.makers.records import message_entry
from forkstore.contract.addresses import (
    branch_tip,
    entry_label,
    lane_config,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main"), "tree": TreeFork()}
POINTS = {"boundary": "boundary_captured", "batch": "batch_copied", "publish": "before_publish"}


@case("S-FORK-ORD-02", needs=("probe",))
@rows("options", FORKS)
@rows("point", POINTS)
async def what_is_committed_while_a_fork_runs_is_absent(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """Every kind of row that is set, appended or deleted while the fork runs is in it as it was at the boundary.

    If this fails, look at: labels or the name read after the entries; the tip read twice; rows read again at the end.
    """
    source = await store.rich_session()
    model, gate = source.model.fork(options, source.id), store.probe.park(point)
    task = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(task)
    kept = list_address("garden.log", "kept")
    await source.append("main", "after the boundary", id="late")
    await source.commit(
        ValueSet(session_name(), "after the boundary"),
        ValueSet(entry_label("root"), "after the boundary"),
        ValueDelete(entry_label("tip")),
        ValueSet(lane_config("main"), {}),
        ValueSet(value_address("garden.log", "kept"), "after the boundary"),
        ListDelete(kept),
        ListAppend(kept, "after the boundary"),
    )
    gate.release()
    fork = store.subject(await task, model)
    await fork.check("the fork")
    await store.check_each(fork, source)


@case("S-OWN-15")
@rows("options", FORKS)
@rows("point", POINTS)
async def a_fork_ends_while_its_source_is_closing(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """A fork that runs when the closing of its source begins ends well, though the closing has not ended yet.

    If this fails, look at: a second look at the state of the source at the end of the fork; a closing that waits for
    the forks of the session.
    """
    source = await store.linear_session()
    model, gate = source.model.fork(options, source.id), store.probe.park(point)
    task = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(task)
    scope = await source.session.begin_mutation()
    closing = asyncio.create_task(source.session.close())
    await settle()
    gate.release()
    (ended,) = await raced(task)
    expect_equal(ended.word, "returned", of="how the fork ended")
    await scope.end()
    await closing
    await store.check_each(store.subject(ended.value, model), source)


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
