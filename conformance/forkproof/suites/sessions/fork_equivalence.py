"""One logical state everywhere: the same calls give the same answers on every store, live and reopened (section 21)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from forkgen import recipe
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import busy_lane_state, custom_entry, idle_lane_state, message_entry
from forkproof.makers.scenario import Scenario
from forkproof.oracle.ledger import zero_usage
from forkproof.suites.sessions.forking import expect_sound, forked, from_open_and_closed
from forkstore.contract.addresses import (
    LANE_CONFIG,
    LANE_STATE,
    branch_tip,
    entry_label,
    lane_state,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.errors import InvalidQuery
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet, Write

Step = Callable[[Subject], Awaitable[object]]

LOG = list_address("garden.log", "beds")
SIZE_OF_EVERYTHING = 150
LANES_FORKED = 3
"""About how many lanes of the generated source are forked one by one."""


@case("S-FORK-EQ-01", needs=("clock",))
@rows("seed", {f"seed-{seed}": seed for seed in (1, 2)})
async def the_same_calls_give_the_same_answers(store: SessionMaker, seed: int) -> None:
    """A long, fixed row of commits, branches, labels, lists, forks of forks, closings and deletes gives the answers of
    the model at every step: results, refusals, and the state of every session that the step had to do with.

    If this fails, look at: the last operations, which lead to the first difference; state that depends on what was
    open, closed or deleted elsewhere.
    """
    scenario = Scenario(store, seed, store.clock)
    for number in range(150):
        for subject in await scenario.step():
            await subject.check(f"session {subject.id!r} after step {number}")
    await store.assert_only_known_sessions(*scenario.opened, *scenario.closed)
    for subject in scenario.opened:
        await subject.close()
    for subject in [*scenario.opened, *scenario.closed]:
        await subject.open()
        await subject.check_everywhere()
        await subject.close()


@case("S-FORK-EQ-01", needs=("clock",))
@rows("limit", zero=0, one=1, all=3, more=4, far_more=2**40, none=None)
async def limits_mean_the_same_everywhere(store: SessionMaker, limit: int | None) -> None:
    """The limit of scans and finds: None is all, 0 is nothing, more than there is gives what there is; newest or oldest
    first as asked. A list takes no 0 and no None.

    If this fails, look at: 0 or None handed to a database; the newest asked for and the oldest given.
    """
    subject = await store.linear_session(3)
    ids = ["e1", "e2", "e3"][:limit]
    newest = ["e3", "e2", "e1"][:limit]
    session = subject.session
    branch = await session.branch("main")
    expect_equal(_ids(await session.scan_entries(limit=limit)), ids, of="scan_entries")
    expect_equal(_ids(await session.find_entries(limit=limit)), newest, of="find_entries")
    expect_equal(_ids(await session.scan_branch("e3", limit=limit)), newest, of="scan_branch")
    found = await branch.find_entries(order="oldest_first", limit=limit) if branch else []
    expect_equal(_ids(found), ids, of="branch.find_entries, oldest first")
    await subject.commit(*(ListAppend(LOG, number) for number in (1, 2, 3)))
    if not limit:
        with refused(InvalidQuery, field="limit"):
            await session.read_list(LOG, limit=limit)  # type: ignore[arg-type]
        return
    elements = await session.read_list(LOG, order="desc", limit=limit)
    expect_equal([element.value for element in elements], [3, 2, 1][:limit], of="read_list, newest first")


@case("S-FORK-EQ-01", needs=("clock",))
@rows("limit", negative=-1, true=True, false=False, fraction=2.0, text="2")
async def limits_that_mean_nothing_are_refused_everywhere(store: SessionMaker, limit: Any) -> None:
    """A limit that is negative, boolean, fractional or text raises `InvalidQuery` from every query.

    If this fails, look at: -1 read as "all"; True taken for 1; 2.0 taken for 2.
    """
    subject = await store.linear_session(3)
    session = subject.session
    branch = await session.branch("main")
    queries: list[Callable[..., Awaitable[object]]] = [session.scan_entries, session.find_entries, session.scan_usage]
    for query in queries + ([branch.find_entries] if branch else []):
        with refused(InvalidQuery, field="limit"):
            await query(limit=limit)
    with refused(InvalidQuery, field="limit"):
        await session.scan_branch("e3", limit=limit)
    with refused(InvalidQuery, field="limit"):
        await session.read_list(LOG, limit=limit)


def _ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


BUSHY = ["root", "trunk", "fork-point", "left", "tip", "right", "lost", "left-leaf", "second-root", "second-leaf"]
ENTRIES = [*BUSHY, "child-of-tip", "lost-leaf", "compaction", "summary", "weather", "bare", "answer", "result"]
PATH = ["root", "trunk", "fork-point", "tip", "compaction", "summary", "weather", "bare", "answer", "result"]
"""The path of the lane `main` of the rich session."""
LABELS = {"root": "start", "trunk": "second", "tip": "here"}
BESIDE = {"left-leaf": "left — links", "lost": "unreachable", "child-of-tip": "newer than the tip"}
TIPS = {"main": "result", "left": "left-leaf", "right": "right", "second": "second-leaf", "null": None}


@case("S-FORK-EQ-02", needs=("clock",))
@from_open_and_closed
@rows(
    "fork",
    tree=(TreeFork(), [*ENTRIES, "unreachable"], {**LABELS, **BESIDE}, TIPS, 15),
    tip=(BranchFork("main"), PATH, LABELS, {"main": "result"}, 6),
    before=(BranchFork("main", position="before"), PATH[:-1], LABELS, {"main": "answer"}, 5),
    older=(
        BranchFork("main", entry_id="fork-point"),
        PATH[:3],
        dict(list(LABELS.items())[:2]),
        {"main": "fork-point"},
        3,
    ),
    other=(BranchFork("second"), ["second-root", "second-leaf"], {}, {"second": "second-leaf"}, 2),
)
async def one_rich_source_forks_to_one_state(
    store: SessionMaker,
    fork: tuple[ForkOptions, list[str], dict[str, str], dict[str, str | None], int],
    source_is: str,
) -> None:
    """A source with everything forks to the state that is written here and in the model, in both scopes: entries,
    labels, tips, idle lanes, the name, application rows, statistics, no work and no spending.

    If this fails, look at: what the difference names; this is the case that compares stores with one another.
    """
    options, entries, labels, tips, messages = fork
    source = await store.rich_session(id="source")
    made = await forked(source, options, source_is)
    state = await made.state()
    expect_equal([entry["id"] for entry in state.entries], entries, of="the entries of the fork")
    expect_equal(_at(state.scalars, "pi.entry.label"), labels, of="the labels of the fork")
    expect_equal(_at(state.scalars, "pi.branch.tip"), tips, of="the tips of the fork")
    idle = {name: idle_lane_state() for name in ("main", "left", "second") if name in tips}
    expect_equal(_at(state.scalars, "pi.lane.state"), idle, of="the lane states of the fork")
    expect_equal(_at(state.scalars, "pi.session.name"), {"": "Garten, 3. Beet 🌿"}, of="the name of the fork")
    survivors = {"": 8, "again": 3, "busy": 2, "kept": 5} if isinstance(options, TreeFork) else {}
    expect_equal({key: len(values) for (_, key), values in state.lists.items()}, survivors, of="the lists of the fork")
    expect_equal((state.message_count, state.usage, state.ledger), (messages, zero_usage(), []), of="the statistics")
    expect_equal(state.parent_session_id, "source", of="the parent of the fork")
    await expect_sound(made, source)


@case("S-FORK-EQ-02", needs=())
@from_open_and_closed
async def a_generated_source_of_every_shape_forks_to_one_state(store: SessionMaker, source_is: str) -> None:
    """A generated session of every shape at once forks to what the model says, in tree scope and by every lane.

    If this fails, look at: what the difference names; `forkgen make everything` makes the same session in a file.
    """
    source = await store.create("source")
    for writes in recipe("everything")(1, SIZE_OF_EVERYTHING):
        await source.commit(*writes)
    await source.check("the generated source")
    made = await forked(source, TreeFork(), source_is)
    await made.check("the fork of the whole tree")
    await made.close()
    lanes = [name for name in source.model.branches() if _is_lane(source, name)]
    for name in lanes[:: max(1, len(lanes) // LANES_FORKED)]:
        fork = await source.fork(BranchFork(name))
        await fork.check(f"the fork of the lane {name!r}")
        await fork.close()


def _is_lane(source: Subject, name: str) -> bool:
    return {(LANE_CONFIG, name), (LANE_STATE, name)} <= source.model.scalars.keys()


def _at(scalars: dict[tuple[str, str], Any], namespace: str) -> dict[str, Any]:
    return {key: value for (at, key), value in scalars.items() if at == namespace}


STORY: dict[str, Step] = {
    "a lane is made": lambda s: s.configure("main"),
    "a null tip": lambda s: s.set_tip("main", None),
    "a first entry": lambda s: s.append("main", id="a1"),
    "a second entry": lambda s: s.append("main", id="a2"),
    "a third entry": lambda s: s.append("main", id="a3"),
    "the tip goes back": lambda s: s.set_tip("main", "a1"),
    "another continuation": lambda s: s.append("main", id="b2"),
    "a branch at the abandoned entry": lambda s: s.create_branch("old", "a3"),
    "an unreachable entry": lambda s: s.insert(custom_entry("lost", "a2", data=None)),
    "a label and a name": lambda s: s.commit(ValueSet(entry_label("a1"), "here"), ValueSet(session_name(), "garden")),
    "a busy lane": lambda s: s.commit(ValueSet(lane_state("main"), busy_lane_state())),
    "a list in one commit": lambda s: s.commit(*(ListAppend(LOG, name) for name in "zam")),
    "the list begins anew": lambda s: s.commit(
        ListAppend(LOG, "x"), ListDelete(LOG), *(ListAppend(LOG, n) for n in "ba")
    ),
    "a scalar three times": lambda s: s.commit(*(ValueSet(value_address("garden.plan"), n) for n in (1, None, 2.0))),
    "a scalar deleted and set": lambda s: s.commit(
        ValueDelete(value_address("garden.plan")), ValueSet(value_address("garden.plan"), None)
    ),
    "spending": lambda s: s.spend("usage-1", "a1"),
    "spending with an optional number": lambda s: s.spend("usage-2", adjustment=True, details={"why": None}),
    "the name is deleted": lambda s: s.commit(ValueDelete(session_name())),
    "an empty commit": lambda s: s.commit(),
    "deletes of nothing": lambda s: s.commit(ValueDelete(value_address("garden.none")), ListDelete(list_address("n"))),
    "the list is deleted": lambda s: s.commit(ListDelete(LOG)),
}


@case("S-FORK-EQ-03")
@rows("begin", created="created", tree_fork="tree", branch_fork="branch")
async def live_and_reopened_sessions_agree_after_every_step(store: SessionMaker, begin: str) -> None:
    """After every step of a story the open session, the reopened one, and where the store is durable one opened by
    another repository object show the same state: for a created session and for forks.

    If this fails, look at: a view that is kept beside the stored rows; order inside one commit; rows of an abandoned
    branch that come back on loading.
    """
    subject = await store.create()
    if begin != "created":
        await subject.configure("main")
        await subject.append("main", id="first")
        source, subject = subject, await subject.fork(TreeFork() if begin == "tree" else BranchFork("main"))
        await source.close()
    for name, step in STORY.items():
        await step(subject)
        live = await subject.state()
        await subject.reopen()
        expect_equal(await subject.state(), live, of=f"the reopened session against the live one after {name!r}")
        expect_equal(live, subject.model.state(), of=f"the live session after {name!r}")
    await subject.check_everywhere()
    await expect_sound(await subject.fork(TreeFork()), subject)


@case("S-FORK-EQ-03")
async def forks_agree_live_and_reopened_along_a_scenario(store: SessionMaker) -> None:
    """Along a fixed row of steps with forks of forks and deletes, each session that a step had to do with shows the
    same live and reopened.

    If this fails, look at: the last operations; a fork whose rows live in a cache only.
    """
    scenario = Scenario(store, seed=3)
    for number in range(60):
        for subject in await scenario.step():
            await subject.check(f"session {subject.id!r} after step {number}, live")
            await subject.reopen()
            await subject.check(f"session {subject.id!r} after step {number}, reopened")


@case("S-FORK-EQ-03", needs=("clock",))
async def siblings_read_cold_hold_their_own(store: SessionMaker) -> None:
    """Two forks made at one point while the clock stands still, each with a large value under the same key and an entry
    of the same id, hold their own after they were opened again.

    If this fails, look at: rows keyed by time, version or parent without the session; equal ids taken for duplicates.
    """
    source = await store.bushy_session()
    forks = [await source.fork(BranchFork("main")) for _ in range(2)]
    for number, fork in enumerate(forks):
        large = f"{number}" * 20_000
        await fork.commit(
            EntryInsert(message_entry("same-id", "tip", large)),
            ValueSet(branch_tip("main"), "same-id"),
            ValueSet(value_address("garden.plan", "same-key"), large),
            ListAppend(LOG, large),
        )
    for fork in forks:
        await fork.close()
    for fork in forks:
        await fork.open()
        await fork.check("a sibling, opened again")
        await fork.close()


@case("S-FORK-EQ-03")
async def the_order_inside_one_commit_is_the_order_after_reopening(store: SessionMaker) -> None:
    """Twenty commits of list elements in a shuffled order, with a delete in the middle of some, read the same live,
    reopened and in a fork.

    If this fails, look at: rows ordered by a hash, an id or a timestamp; a delete applied before or after its commit.
    """
    subject = await store.create()
    chance = Random(4)
    for number in range(20):
        names = chance.sample(["z", "a", "m", "Z", "é", "", "10", "9"], 6)
        log = list_address("garden.log", f"batch-{number}")
        writes: list[Write] = [ListAppend(log, name) for name in names]
        writes[chance.randrange(6)] = ListDelete(log)
        await subject.commit(*writes)
    fork = await subject.fork(TreeFork())
    await expect_sound(fork, subject)
