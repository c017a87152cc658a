"""The fork probe: which callbacks a fork awaits, when, and what is free meanwhile (section 19.2)."""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal
from forkproof.harness import Seams
from forkproof.instruments.gates import POINTS
from forkproof.instruments.racing import raced, words
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.model import SessionModel
from forkstore.contract.addresses import value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}
NOTE = value_address("garden.plan", "note")


class _OnlyBoundary:
    async def boundary_captured(self) -> None:
        await asyncio.sleep(0)


class _OnlyBatches:
    async def batch_copied(self, count: int) -> None:
        await asyncio.sleep(0)


class _OnlyPublish:
    async def before_publish(self) -> None:
        await asyncio.sleep(0)


def _rows_of(model: SessionModel) -> int:
    """The entries, scalars and list elements that a destination of that model holds."""
    state = model.state()
    return len(state.entries) + len(state.scalars) + sum(len(elements) for elements in state.lists.values())


async def _open_repo_with(store: SessionMaker, probe: object | None) -> None:
    """From now on `store.repo` is a repository with that probe."""
    repo = await store.harness.open_repo(Seams(probe=probe))
    store.repo = store.trace.watch_repo(repo)
    store.repos.append(store.repo)


@case("S-FORK-ORD-09")
@rows("options", FORKS)
@rows("closed", source_open=False, source_closed=True)
async def every_fork_awaits_its_callbacks(store: SessionMaker, options: ForkOptions, closed: bool) -> None:
    """Every fork awaits the probe's callbacks, of an open source and of a closed one, and holds what it should.

    If this fails, look at: a probe that only some kinds of fork know; callbacks called and not awaited.
    """
    source = await store.rich_session()
    if closed:
        await source.close()
    gate = store.probe.park(POINTS[0])
    forking = asyncio.create_task(store.repo.fork(source.metadata, options))
    for following in (*POINTS[1:], None):
        await gate.reached_by(forking)
        expect_equal(forking.done(), False, of=f"whether the fork has ended while it is held at {gate.point}")
        held = gate
        if following is not None:  # parked one by one: a fork that leaves a callback out runs to its end
            gate = store.probe.park(following)
        held.release()
    fork = store.subject(await forking, source.model.fork(options, source.id))
    order = list(dict.fromkeys(point for point, _ in store.probe.calls))
    expect_equal(order, list(POINTS), of="the callbacks of a fork, in order")
    await store.check_each(fork, source)


@case("S-FORK-ORD-09")
@rows("options", FORKS)
@rows(
    "probe",
    none=None,
    no_method=object(),
    boundary=_OnlyBoundary(),
    batches=_OnlyBatches(),
    publish=_OnlyPublish(),
)
async def a_probe_changes_no_result(store: SessionMaker, options: ForkOptions, probe: object | None) -> None:
    """A fork without a probe, and one with a probe that lacks methods, hold the same as one with a whole probe.

    If this fails, look at: a probe that is required; a missing method that raises; a path of its own for forks with a
    probe.
    """
    await _open_repo_with(store, probe)
    source = await store.rich_session()
    fork = await source.fork(options)
    await fork.append("main", "written in the fork")
    await fork.check()
    await source.check()


@case("S-FORK-ORD-10")
@rows("options", FORKS)
@rows("closed", source_open=False, source_closed=True)
async def the_boundary_is_told_once(store: SessionMaker, options: ForkOptions, closed: bool) -> None:
    """`boundary_captured` is awaited once per fork, before the other callbacks.

    If this fails, look at: one boundary per scan of the source; a callback for each batch; a callback at the end.
    """
    source = await store.rich_session()
    if closed:
        await source.close()
    for number in (1, 2):
        fork = await store.repo.fork(source.metadata, options)
        expect_equal(store.probe.count("boundary_captured"), number, of=f"the boundaries told by {number} forks")
        await fork.close()
        await store.repo.delete(fork.metadata)
    forks = [point for point, _ in store.probe.calls if point != "batch_copied"]
    expect_equal(forks, ["boundary_captured", "before_publish"] * 2, of="the other callbacks of two forks")


@case("S-FORK-ORD-10")
@rows("options", FORKS)
async def the_boundary_is_fixed_when_it_is_told(store: SessionMaker, options: ForkOptions) -> None:
    """When `boundary_captured` is awaited the boundary is fixed and the source's commit queue is free: commits made in
    the callback complete, and are not in the fork.

    If this fails, look at: a callback before the boundary; a callback inside the job in the commit queue.
    """
    source = await store.linear_session()
    model = source.model.fork(options, source.id)
    model.look_at([(NOTE.namespace, NOTE.key)])

    async def commit() -> None:
        await source.commit(ValueSet(NOTE, "behind the boundary"))
        await source.append("main", "behind the boundary")

    store.probe.run("boundary_captured", commit)
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    expect_equal(store.probe.count("boundary_captured"), 1, of="how often the boundary was told")
    await fork.check()
    await store.check_each(fork, source)


@case("S-FORK-ORD-11")
@in_any_state
async def counts_of_a_tree_fork_add_up(subject: Subject) -> None:
    """`batch_copied(count)` is awaited with counts of at least 1 that add up to the entries, scalars and list elements
    of the destination, in any state of the source.

    If this fails, look at: counts of source rows in place of destination writes; entries alone; an empty batch told.
    """
    await _expect_counts(subject, TreeFork())


SOURCES: dict[str, Any] = {
    "linear": lambda store: store.linear_session(),
    "bushy": lambda store: store.bushy_session(),
    "labelled": lambda store: store.labelled_session(),
    "rich": lambda store: store.rich_session(),
    "large": lambda store: store.large_session(1_100),
}


@case("S-FORK-ORD-11")
@rows("source", SOURCES)
@rows("position", at="at", before="before")
async def counts_of_a_branch_fork_add_up(store: SessionMaker, source: Any, position: Any) -> None:
    """The counts of a branch fork add up to the rows of its destination, also when it holds no entries.

    If this fails, look at: counts of the whole source; the rewritten tip and the idle state left out; labels of entries
    that are not copied counted.
    """
    await _expect_counts(await source(store), BranchFork("main", position=position))


@case("S-FORK-ORD-11")
async def a_null_tip_counts(store: SessionMaker) -> None:
    """The tip of a fork is one of its writes, also when it is null.

    If this fails, look at: rows counted by their values.
    """
    await _expect_counts(await store.bushy_session(), BranchFork("main", entry_id="root", position="before"))


@case("S-FORK-ORD-11")
async def an_empty_destination_tells_no_batch(store: SessionMaker) -> None:
    """A fork that copies nothing awaits no `batch_copied`.

    If this fails, look at: a last batch told although nothing is left for it.
    """
    await _expect_counts(await store.empty_session(), TreeFork())
    expect_equal(store.probe.count("batch_copied"), 0, of="the batches of an empty fork")


async def _expect_counts(source: Subject, options: ForkOptions) -> None:
    before = len(source.store.probe.calls)
    fork = await source.fork(options)
    counts = [count for point, count in source.store.probe.calls[before:] if point == "batch_copied"]
    odd = [count for count in counts if type(count) is not int or count < 1]
    expect_equal(odd, [], of="the counts that are no integers of at least 1")
    expect_equal(sum(count or 0 for count in counts), _rows_of(fork.model), of="the sum of the counts")
    await fork.check()


@case("S-FORK-ORD-12")
@rows("options", FORKS)
async def nobody_sees_a_fork_before_it_is_published(store: SessionMaker, options: ForkOptions) -> None:
    """`before_publish` is awaited once, after all copying, and the destination is not listed by anyone until it has
    returned.

    If this fails, look at: a destination registered, or written under its name, before it is complete; a callback
    after publication; batches copied after the callback.
    """
    source = await store.rich_session()
    listings: list[list[str]] = []

    async def look() -> None:
        listings.append(await store.listed_ids())
        if store.durable:
            other = await store.open_second_repo()
            listings.append(sorted(metadata.id for metadata in await other.list()))

    for point in POINTS:
        store.probe.run(point, look)
    fork = await source.fork(options)
    expect_equal([ids for ids in listings if ids != [source.id]], [], of="listings during the fork that show more")
    expect_equal(store.probe.count("before_publish"), 1, of="how often before_publish was awaited")
    expect_equal(store.probe.calls[-1], ("before_publish", None), of="the last callback")
    expect_equal(store.probe.copied, _rows_of(fork.model), of="what was copied by then")
    await store.assert_only_known_sessions(source, fork)
    await fork.check()


@case("S-FORK-ORD-12")
@rows("options", FORKS)
async def a_fork_has_released_its_source_before_it_publishes(store: SessionMaker, options: ForkOptions) -> None:
    """When `before_publish` is awaited the source is released: it can be written, closed and opened again, and the fork
    ends with the state at its boundary.

    If this fails, look at: a source that is read again at the end; a snapshot held until publication.
    """
    source = await store.rich_session()
    model = source.model.fork(options, source.id)

    async def use() -> None:
        await source.append("main", "written before the fork was published")
        await source.reopen()
        await source.check("the source, used before the fork was published")

    store.probe.run("before_publish", use)
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    await store.check_each(fork, source)


@case("S-FORK-ORD-13")
@rows("options", FORKS)
@rows("point", {point.replace("_", "-"): point for point in POINTS})
async def everybody_can_commit_while_a_callback_is_awaited(
    store: SessionMaker, options: ForkOptions, point: str
) -> None:
    """While a callback is awaited the fork holds no commit queue, no lock on the source and no write transaction: a
    commit to the source completes, and so do commits to another session, a create, a delete and another fork.

    If this fails, look at: a callback inside the queue's job; a write transaction left open between batches; a lock of
    the whole container.
    """
    source, other = await store.rich_session(), await store.linear_session()
    model = source.model.fork(options, source.id)
    model.look_at([(NOTE.namespace, NOTE.key)])
    seen: list[str] = []

    async def work() -> None:
        endings = await raced(
            source.raw_commit(ValueSet(NOTE, "meanwhile")),
            other.raw_commit(ValueSet(NOTE, "meanwhile")),
            store.repo.create(id="meanwhile", **store.create_options),
            store.repo.fork(other.metadata, TreeFork(id="meanwhile-forked")),
        )
        seen.extend(words(endings))
        for ending in endings[2:]:
            if ending.error is None:
                await ending.value.close()
                await store.repo.delete(ending.value.metadata)

    store.probe.run(point, work)
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    expect_equal(seen, ["returned"] * 4, of=f"two commits, a create and a fork inside {point}")
    await store.check_each(fork, source, other)
