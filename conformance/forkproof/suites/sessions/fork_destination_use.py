"""A fork in use: its sequences, its first commits, its independence, and forks of it (section 17)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Literal

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import custom_entry, message_entry, usage_row
from forkproof.makers.states import ANY_STATE
from forkproof.suites.sessions.fork_destination import STATES
from forkproof.suites.sessions.forking import (
    CLOSED,
    expect_sound,
    forked,
    forks_of,
    from_open_and_closed,
    in_both_scopes,
)
from forkstore.contract.addresses import branch_tip, entry_label, lane_config, list_address, session_name, value_address
from forkstore.contract.errors import SessionExists, SessionInUse
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

LISTS = ("kept", "again", "busy", "")
"""The keys of the lists in namespace `garden.log` that the lists session and the rich session hold."""


async def _sequences(subject: Subject) -> list[int]:
    """The sequences of all entries, scalars and elements of a session that shows what its model holds."""
    found = [entry["seq"] for entry in await subject.session.scan_entries()]
    for namespace in sorted({namespace for namespace, _ in subject.model.scalars}):
        found += [row.seq for row in await subject.session.scan_values(value_address(namespace))]
    for place in sorted(subject.model.lists):
        found += [element.seq for element in await subject.session.read_list(list_address(*place), limit=10_000)]
    return found


async def _in_pages(subject: Subject, key: str, limit: int, order: Literal["asc", "desc"]) -> list[Any]:
    values: list[Any] = []
    cursor: int | None = None
    address = list_address("garden.log", key)
    while page := await subject.session.read_list(address, limit=limit, cursor=cursor, order=order):
        values += [element.value for element in page]
        cursor = page[-1].seq
        if len(values) > 1_000:
            break
    return values


@case("S-FORK-DST-08")
@from_open_and_closed
@rows("state", STATES)
async def sequences_of_a_fork_rise(store: SessionMaker, state: str, source_is: str) -> None:
    """Every row of a fork has a sequence of its own, of at least 1; entries keep the order they have in the source,
    and so do the elements of each list. Nothing is asked about the numbers of the source.

    If this fails, look at: rows numbered by kind or by batch; entries ordered by id or by branch; one number for the
    rewritten tip and another row.
    """
    source = await ANY_STATE[state](store)
    order = {entry["id"]: index for index, entry in enumerate(await source.session.scan_entries())}
    if source_is == CLOSED:
        await source.close()
    for options in forks_of(source):
        fork = await source.fork(options)
        await fork.check(f"a fork by {options!r}")
        copied = [order[entry["id"]] for entry in await fork.session.scan_entries()]
        expect_equal(copied, sorted(copied), of=f"the order of entries in a fork by {options!r}, as in the source")
        sequences = await _sequences(fork)
        low = [seq for seq in sequences if type(seq) is not int or seq < 1]
        expect_equal(low, [], of=f"sequences below 1 in a fork by {options!r}")
        twice = [seq for seq, count in Counter(sequences).items() if count > 1]
        expect_equal(twice, [], of=f"sequences used twice in a fork by {options!r}")
        await fork.close()


@case("S-FORK-DST-09")
@from_open_and_closed
@rows("options", branch=BranchFork("main"), before=BranchFork("main", position="before"), tree=TreeFork())
@rows("reopened", live=False, reopened=True)
async def the_first_commit_of_a_fork_comes_after_everything(
    store: SessionMaker, options: ForkOptions, reopened: bool, source_is: str
) -> None:
    """The first commit of a fork, live or reopened, gets consecutive sequences above every row that was copied, and is
    read back.

    If this fails, look at: the next sequence not set in the copy; set from the entries alone; lost when the fork is
    closed.
    """
    source = await store.rich_session()
    fork = await forked(source, options, source_is)
    if reopened:
        await fork.reopen()
    highest = max(await _sequences(fork))
    log = list_address("garden.log", "kept")
    result = await fork.commit(
        EntryInsert(message_entry("new", None)), ListAppend(log, "new"), ValueSet(session_name(), "new name")
    )
    expect(
        result.first_seq > highest,
        f"expected: a first sequence above {highest}, the highest\nseen:     {result.first_seq}",
    )
    expect_equal(result.seqs, [result.first_seq + step for step in range(3)], of="the sequences of the first commit")
    await fork.append("main", "one more")
    await expect_sound(fork, source)


@case("S-FORK-DST-09")
@from_open_and_closed
@rows("order", ascending="asc", descending="desc")
@rows("limit", one=1, two=2, seven=7)
async def lists_of_a_fork_can_be_paged(
    store: SessionMaker, limit: int, order: Literal["asc", "desc"], source_is: str
) -> None:
    """Pages through the lists of a fork give every element once, in order, before and after more is appended.

    If this fails, look at: elements that share a sequence; appended elements numbered below copied ones; cursors that
    only fit the source.
    """
    source = await store.lists_session()
    fork = await forked(source, TreeFork(), source_is)
    for appended in (0, 1, 5):
        writes = [ListAppend(list_address("garden.log", key), number) for number in range(appended) for key in LISTS]
        await fork.commit(*writes)
        for key in LISTS:
            values = fork.model.elements(list_address("garden.log", key))
            wanted = values if order == "asc" else values[::-1]
            expect_equal(await _in_pages(fork, key, limit, order), wanted, of=f"the pages of the list {key!r}")
    await expect_sound(fork, source)


@case("S-FORK-DST-11", "S-OWN-03")
@from_open_and_closed
@in_both_scopes
async def a_fork_is_open_and_reserved_until_it_is_closed(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A fork is returned open and listed, and its id is reserved: it can be neither opened, deleted, created nor
    forked onto; after it is closed it can be opened and deleted.

    If this fails, look at: a fork that is published without a reservation; a reservation that ends with the call.
    """
    source = await store.bushy_session()
    asked = replace(options, id="fork")
    fork = await forked(source, asked, source_is)
    await store.assert_only_known_sessions(source, fork)
    with refused(SessionInUse, session_id="fork"):
        await store.repo.open(fork.metadata)
    with refused(SessionInUse, session_id="fork"):
        await store.repo.delete(fork.metadata)
    with refused(SessionExists, session_id="fork"):
        await store.create("fork")
    with refused(SessionExists, session_id="fork"):
        await store.repo.fork(source.metadata, asked)
    await fork.append("main", "the fork is still usable")
    await fork.check("the fork after the refusals")
    await fork.close()
    with refused(SessionExists, session_id="fork"):
        await store.repo.fork(source.metadata, asked)
    await fork.open()
    await fork.check("the fork, opened again")
    await fork.close()
    await store.repo.delete(fork.metadata)
    await store.assert_only_known_sessions(source)


def _all_kinds_of_writes(mark: str) -> list[Write]:
    """Writes that touch everything that the rich session holds."""
    log, plan = "garden.log", "garden.plan"
    return [
        EntryInsert(message_entry(f"{mark}-entry", "tip", mark)),
        EntryInsert(custom_entry(f"{mark}-root", None, data={"by": mark})),
        ValueSet(branch_tip("main"), f"{mark}-entry"),
        ValueSet(branch_tip(mark), f"{mark}-root"),
        ValueSet(lane_config("main"), {"by": mark}),
        ValueSet(session_name(), mark),
        ValueSet(entry_label("tip"), mark),
        ValueDelete(entry_label("root")),
        ValueSet(value_address(plan), mark),
        ValueDelete(value_address(plan, "row:10")),
        ValueSet(value_address(plan, mark), 1),
        ListAppend(list_address(log, "kept"), mark),
        ListDelete(list_address(log, "again")),
        ListAppend(list_address(log, "again"), mark),
        ListDelete(list_address(log, "busy")),
        ListAppend(list_address(log, mark), mark),
        UsageInsert(usage_row(f"{mark}-usage", "tip")),
    ]


@case("S-FORK-DST-13")
@from_open_and_closed
@in_both_scopes
@rows("first", source_writes_first="source", fork_writes_first="fork")
async def source_and_fork_go_separate_ways(
    store: SessionMaker, options: ForkOptions, first: str, source_is: str
) -> None:
    """Later writes of every kind to the source never show in the fork, and those to the fork never in the source:
    live after each commit, and after both were opened again. The same ids may be used on both sides.

    If this fails, look at: containers shared and not copied; lists appended to in place; statistics shared; rows of
    both sessions found by one key; the writer left on the source's file.
    """
    source = await store.rich_session()
    fork = await forked(source, options, source_is)
    if source_is == CLOSED:
        await source.open()
    turns = [source, fork] if first == "source" else [fork, source]
    for mark in ("one", "two"):
        for writer in turns:
            await writer.commit(*_all_kinds_of_writes(mark))
            await source.check(
                f"the source after writes {mark!r} of {'the source' if writer is source else 'the fork'}"
            )
            await fork.check(f"the fork after writes {mark!r} of {'the source' if writer is source else 'the fork'}")
    await expect_sound(fork, source)


@case("S-FORK-DST-13")
@in_both_scopes
async def what_was_read_from_a_fork_is_nobodys(store: SessionMaker, options: ForkOptions) -> None:
    """Changing what was read from the source or from the fork changes neither.

    If this fails, look at: stored objects handed out; payloads shared between source and fork as live objects.
    """
    source = await store.rich_session()
    fork = await source.fork(options)
    for subject in (source, fork):
        for entry in await subject.session.scan_entries():
            entry["id"] = "changed"
            entry.setdefault("message", {}).clear()
        stats = await subject.session.get_stats()
        stats.usage.clear()
        for namespace in ("pi.lane.config", "garden.plan"):
            for row in await subject.session.scan_values(value_address(namespace)):
                if isinstance(row.value, dict):
                    row.value.clear()
    await fork.check("the fork after what was read has been changed")
    await expect_sound(fork, source)


@case("S-FORK-DST-13", "S-REPO-18")
@in_both_scopes
async def a_fork_outlives_its_source(store: SessionMaker, options: ForkOptions) -> None:
    """After the source has been deleted, and another session was made with its id, the fork is complete, can be
    written to and forked, and still names its source.

    If this fails, look at: entries that stay with the source; a delete that follows parents; the parent id looked up.
    """
    source = await store.rich_session(id="source")
    fork = await source.fork(options)
    await source.close()
    await store.repo.delete(source.metadata)
    await fork.check("the fork after its source was deleted")
    again = await store.linear_session(2, id="source")
    await fork.append("main", "written after the delete")
    second = await fork.fork(TreeFork())
    await again.close()
    await second.check("a fork of the fork")
    await second.close()
    await fork.check_everywhere()


@case("S-FORK-DST-14")
@from_open_and_closed
@rows("state", STATES)
async def a_fork_forks_like_its_source(store: SessionMaker, state: str, source_is: str) -> None:
    """A tree fork, forked in turn under every option, gives what its source gives where both hold the same, but for
    the parent; and what the model says.

    If this fails, look at: rows that only a created session has; state kept beside the data; a fork that reads
    through to its own source.
    """
    source = await ANY_STATE[state](store)
    first = await source.fork(TreeFork())
    if source_is == CLOSED:
        await first.close()
        await source.close()
    for options in forks_of(first):
        direct, through = await source.fork(options), await first.fork(options)
        seen = replace(await through.state(), parent_session_id=source.id)
        expect_equal(seen, await direct.state(), of=f"the fork of the fork by {options!r} against that of the source")
        await direct.close()
        await through.check(f"the fork of the fork by {options!r}")
        await through.close()


@case("S-FORK-DST-14")
@from_open_and_closed
async def forks_of_forks_keep_apart(store: SessionMaker, source_is: str) -> None:
    """A chain of forks, each written to before it is forked, holds at every link what was there at its fork and what
    was written since, whichever source is closed, and after all are opened again.

    If this fails, look at: sequences that collide some links down; a link that shows a later write of the one before.
    """
    chain = [await store.linear_session(3)]
    for number in range(5):
        link = await forked(chain[-1], BranchFork("main") if number % 2 else TreeFork(), source_is)
        await link.append("main", f"written in link {number}", id=f"link-{number}")
        await link.commit(ListAppend(list_address("garden.log"), number))
        if source_is != CLOSED:
            await chain[-1].append("main", f"late in link {number}", id=f"late-{number}")
        chain.append(link)
    for link in chain:
        await link.close()
    for link in chain:
        await link.open()
        await link.check_everywhere()
        await link.close()
