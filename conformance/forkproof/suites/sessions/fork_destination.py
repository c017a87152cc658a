"""What a fork holds when it is made: branches, rows, entries, statistics, metadata (section 17)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import idle_lane_state, message_entry, usage_row
from forkproof.makers.states import ANY_STATE
from forkproof.oracle.ledger import zero_usage
from forkproof.oracle.state import without_seq
from forkproof.suites.sessions.forking import (
    CLOSED,
    expect_sound,
    forked,
    forks_of,
    from_open_and_closed,
    in_both_scopes,
)
from forkstore.contract.addresses import lane_config, list_address, session_name, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

STATES = {name: name for name in ANY_STATE if name != "large"}
"""The table of hard states but for the large one, which the streaming suite forks."""

LANE_NAMESPACES = ("pi.branch.tip", "pi.lane.config", "pi.lane.state")


async def _rows(subject: Subject, namespace: str) -> dict[str, Any]:
    return {row.address.key: row.value for row in await subject.session.scan_values(value_address(namespace))}


@case("S-FORK-DST-01")
@from_open_and_closed
@rows("state", STATES)
async def a_branch_fork_holds_exactly_one_branch(store: SessionMaker, state: str, source_is: str) -> None:
    """A branch fork of every lane, from a source in any state, holds one branch: the lane's name, the selected tip,
    its configuration as it was, the idle state. It holds no row of another lane.

    If this fails, look at: every lane copied; the branch renamed; the state copied; rows of lanes without a tip.
    """
    source = await ANY_STATE[state](store)
    if source_is == CLOSED:
        await source.close()
    for options in forks_of(source):
        if isinstance(options, BranchFork):
            fork = await source.fork(options)
            branch = options.branch
            seen = {namespace: await _rows(fork, namespace) for namespace in LANE_NAMESPACES}
            config = source.model.value(lane_config(branch))
            expected = [{branch: fork.model.tip(branch)}, {branch: config}, {branch: idle_lane_state()}]
            wanted = dict(zip(LANE_NAMESPACES, expected, strict=True))
            expect_equal(seen, wanted, of=f"the lane rows of a fork by {options!r}", ordered=True)
            await fork.check(f"a fork by {options!r}")
            await fork.close()
    await source.reopen()
    await source.check("the source after its forks")


@case("S-FORK-DST-02")
@from_open_and_closed
@rows("entry", tip=None, older="e1")
async def a_branch_fork_holds_no_application_row(store: SessionMaker, entry: str | None, source_is: str) -> None:
    """A branch fork holds no application scalar, no application list and no row of another lane, whether they were
    written before or after the fork point.

    If this fails, look at: rows taken up to the fork point; lists forgotten; application rows keyed by the branch.
    """
    source = await store.create()
    await source.commit(*_application_rows("before"))
    source = await _grown(source)
    await source.commit(*_application_rows("after"))
    fork = await forked(source, BranchFork("main", entry_id=entry), source_is)
    for namespace, key in sorted(source.model.touched):
        if not namespace.startswith("pi."):
            row = await fork.session.get_value(value_address(namespace, key))
            elements = await fork.session.read_list(list_address(namespace, key))
            expect_equal([row, elements], [None, []], of=f"scalar and list of the fork at {(namespace, key)!r}")
    await expect_sound(fork, source)


def _application_rows(when: str) -> list[Write]:
    places = [("garden.plan", when), ("garden.plan", "main"), ("garden.log", ""), ("main", "e1"), ("pi2", "main")]
    scalars = [ValueSet(value_address(*place), when) for place in places]
    return [*scalars, *(ListAppend(list_address(*place), when) for place in places)]


async def _grown(source: Subject) -> Subject:
    """A lane `main` over `e1` and `e2`, and a second lane."""
    await source.configure("main")
    await source.append("main", id="e1")
    await source.append("main", id="e2")
    await source.set_tip("other", "e1")
    await source.configure("other", thinking="high")
    return source


@case("S-FORK-DST-03")
@from_open_and_closed
@rows(
    "options",
    at_an_early_entry=BranchFork("main", entry_id="e1"),
    before_the_tip=BranchFork("main", position="before"),
    tip=BranchFork("main"),
    tree=TreeFork(),
)
async def what_is_current_decides_and_not_when_it_was_written(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """Rows written, overwritten and deleted around the fork point are taken as they are now: the current name, label
    and configuration, no old value, no destroyed element, in both scopes.

    If this fails, look at: the state rebuilt as of the fork point; rows newer than the fork point left out; deletes
    after the fork point ignored.
    """
    source = await store.create()
    plan, log, gone = value_address("garden.plan"), list_address("garden.log"), list_address("garden.log", "gone")
    label = value_address("pi.entry.label", "e1")
    before: list[Write] = [
        ValueSet(at, "old") for at in (plan, session_name(), label, value_address("garden.plan", "x"))
    ]
    await source.commit(*before, ListAppend(log, "old"), ListAppend(gone, "old"))
    source = await _grown(source)
    await source.configure("main", thinking="max")
    await source.commit(ValueSet(plan, "new"), ValueSet(session_name(), "new"), ValueSet(label, "new"))
    await source.commit(ValueDelete(value_address("garden.plan", "x")), ListDelete(log), ListDelete(gone))
    await source.commit(ListAppend(log, "new"))
    fork = await forked(source, options, source_is)
    row = await fork.session.get_value(lane_config("main"))
    kept = source.model.value(lane_config("main"))
    expect_equal(row.value if row else None, kept, of="the configuration of the fork, as it is now in the source")
    expect_equal([await fork.session.get_name(), await fork.session.get_label("e1")], ["new"] * 2, of="name and label")
    await expect_sound(fork, source)


@case("S-FORK-DST-04")
@from_open_and_closed
@rows("state", STATES)
async def a_copied_entry_is_the_same_entry(store: SessionMaker, state: str, source_is: str) -> None:
    """Every entry of a fork equals the source's entry in id, parent, type, custom type, timestamp and payload, member
    for member in order, under every option and from a source in any state.

    If this fails, look at: new ids or times; parents cut at the fork; payload fields that are not known dropped;
    absent and null data mixed up.
    """
    source = await ANY_STATE[state](store)
    stored = {entry["id"]: without_seq(entry) for entry in await source.session.scan_entries()}
    if source_is == CLOSED:
        await source.close()
    for options in forks_of(source):
        fork = await source.fork(options)
        for entry in await fork.session.scan_entries():
            seen, expected = without_seq(entry), stored.get(entry["id"])
            expect_equal(seen, expected, of=f"entry {entry['id']!r} in a fork by {options!r}", ordered=True)
        await fork.close()


@case("S-FORK-DST-04", needs=("clock",))
@from_open_and_closed
@in_both_scopes
async def a_copied_entry_keeps_its_time(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """Entries keep the times of their commits, though the clock has moved on, or back, before the fork.

    If this fails, look at: entries inserted anew by a commit of the destination; one time for all copied entries.
    """
    source = await store.create()
    await source.configure("main")
    times = {}
    for number, step in enumerate((1, 60_000, -90_000, 5)):
        store.clock.advance(step)
        times[await source.append("main", id=f"e{number}")] = store.clock.at
    store.clock.advance(3_600_000)
    fork = await forked(source, options, source_is)
    seen = {entry["id"]: entry["timestamp"] for entry in await fork.session.scan_entries()}
    expect_equal(seen, times, of="the timestamps of the fork's entries")
    await expect_sound(fork, source)


@case("S-FORK-DST-06", "S-ENT-11")
@from_open_and_closed
@rows("state", STATES)
async def the_ledger_starts_empty_and_messages_are_counted(store: SessionMaker, state: str, source_is: str) -> None:
    """Under every option the statistics are the number of copied message entries and the zero usage, and the ledger is
    empty; the source keeps its own.

    If this fails, look at: usage rows copied; sums copied without their rows; all entries counted as messages; the
    message count of the source taken over.
    """
    source = await ANY_STATE[state](store)
    if source_is == CLOSED:
        await source.close()
    for options in forks_of(source):
        fork = await source.fork(options)
        messages = [entry for entry in await fork.session.scan_entries() if entry["type"] == "message"]
        stats = await fork.session.get_stats()
        expect_equal(stats.message_count, len(messages), of=f"the message count of a fork by {options!r}")
        expect_equal(stats.usage, zero_usage(), of=f"the usage of a fork by {options!r}", ordered=True)
        expect_equal(await fork.session.scan_usage(), [], of=f"the ledger of a fork by {options!r}")
        await fork.reopen()
        expect_equal(await fork.session.get_stats(), stats, of=f"the statistics of a reopened fork by {options!r}")
        await fork.close()


@case("S-FORK-DST-06")
@from_open_and_closed
@rows("entry_ids", ids_of_entries=True, ids_of_usage_rows=False)
async def ids_that_were_not_copied_are_free(store: SessionMaker, entry_ids: bool, source_is: str) -> None:
    """The fork's ledger counts from zero, and the ids of usage rows and of entries that were not copied can be used in
    it again, for other content.

    If this fails, look at: the table of used ids copied; spending added to a sum of the source; rows shared by id.
    """
    source = await store.bushy_session()
    fork = await forked(source, BranchFork("main"), source_is)
    if entry_ids:
        await fork.commit(
            EntryInsert(message_entry("left", "tip", "another left")), EntryInsert(message_entry("lost", None))
        )
    else:
        await fork.commit(UsageInsert(usage_row("usage-1", "root", details={"by": "the fork"})))
        await fork.commit(EntryInsert(message_entry("second-root", None, "another root")))
    await expect_sound(fork, source)


@case("S-FORK-DST-07")
@from_open_and_closed
@in_both_scopes
async def metadata_names_the_fork_and_its_source(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """The metadata of a fork holds the asked id, the time of the fork, storage version 1, the source as parent, the
    source's cwd and no legacy path: in the session, in the list, and after reopening.

    If this fails, look at: the source's time taken over; the parent missing or set only in the list; the time read
    when the copy ends.
    """
    source = await store.bushy_session(id="source")
    store.clock.advance(86_400_000)
    forked_at = store.clock.at
    asked = BranchFork("main", id="fork") if isinstance(options, BranchFork) else TreeFork(id="fork")
    fork = await forked(source, asked, source_is)
    store.clock.advance(1_000)
    wanted = ["fork", forked_at, 1, "source", source.metadata.cwd, None]
    expect_equal(_facts(fork.metadata), wanted, of="the metadata of the fork")
    (listed,) = [one for one in await store.list() if one.id == "fork"]
    expect_equal(_facts(listed), wanted, of="the metadata of the fork, listed")
    await fork.close()
    reopened = await store.repo.open(listed)
    expect_equal(_facts(reopened.metadata), wanted, of="the metadata of the fork, reopened")


def _facts(metadata: SessionMetadata) -> list[Any]:
    return [
        metadata.id,
        metadata.created_at,
        metadata.storage_version,
        metadata.parent_session_id,
        metadata.cwd,
        metadata.legacy_parent_session_path,
    ]


@case("S-FORK-DST-07")
@in_both_scopes
async def the_parent_is_the_immediate_source(store: SessionMaker, options: ForkOptions) -> None:
    """The parent of a fork of a fork is the fork and not the first session; without an asked id the fork gets a new
    one that carries its time, also while the clock stands still or goes back.

    If this fails, look at: the parent copied with the metadata; ids drawn from the time alone.
    """
    chain = [await store.bushy_session(id="first")]
    for step in (1_000, 0, -5_000, 7):
        store.clock.advance(step)
        fork = await chain[-1].fork(options)
        expect_equal(fork.metadata.parent_session_id, chain[-1].id, of=f"the parent of fork {len(chain)}")
        expect_equal(fork.metadata.created_at, store.clock.at, of=f"the time of fork {len(chain)}")
        expect_equal(UUID(fork.id).int >> 80, store.clock.at, of=f"the time in the id of fork {len(chain)}")
        chain.append(fork)
    await store.assert_only_known_sessions(*chain)
    for fork in chain:
        await fork.close()
    await chain[-1].open()
    await chain[-1].check_everywhere()
