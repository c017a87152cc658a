"""Transactions that succeed: sequences, timestamps, the order of writes, parents (section 5)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, product

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker
from forkproof.makers import records as made
from forkproof.makers.states import ANY_STATE
from forkproof.suites.sessions.committing import LIST, SMALL_STATES, VALUE, all_six, expect_numbered
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    ValueDelete,
    ValueSet,
    Write,
)


@case("S-TXN-05", needs=())
async def a_created_session_counts_from_one(store: SessionMaker) -> None:
    """The first write of a created session has sequence 1, and every further one the next number: within a commit,
    from one commit to the next, and on from where the closed session stood.

    If this fails, look at: counting from 0; one sequence for each commit; a number for each kind of row; a counter
    read from the highest stored row.
    """
    subject = await store.create()
    expect_numbered(await subject.commit(*all_six("first")), 1, 8)
    expect_numbered(await subject.commit(ValueSet(VALUE, 2)), 9, 1)
    await subject.reopen()
    expect_numbered(await subject.commit(*all_six("second", "first-entry")), 10, 8)
    await subject.check_everywhere()


@case("S-TXN-05")
@rows("state", SMALL_STATES)
async def sequences_follow_each_other_in_any_state(store: SessionMaker, state: str) -> None:
    """Sequences of a commit are consecutive in the order of its writes and start where the last commit ended,
    whatever the session holds, through scopes and through the storage alike.

    If this fails, look at: inserts numbered before other writes; a fork that starts its numbers too low; one counter
    for scopes and one for the storage.
    """
    subject = await ANY_STATE[state](store)
    first = await subject.commit(*all_six("first"))
    expect_numbered(first, first.first_seq, 8)
    expect_numbered(await subject.raw_commit(*all_six("second", "first-custom")), first.first_seq + 8, 8)
    expect_numbered(await subject.commit(*all_six("third", "second-entry")), first.first_seq + 16, 8)
    await subject.check_everywhere()


DELETES: dict[str, Write] = {"scalar": ValueDelete(VALUE), "list": ListDelete(LIST)}


@case("S-TXN-06", needs=())
@rows("delete", DELETES)
@rows("present", present=True, absent=False)
async def a_delete_takes_one_sequence(store: SessionMaker, delete: Write, present: bool) -> None:
    """A delete takes one sequence like every other write, whether something was there or not, alone and in the
    middle of a commit.

    If this fails, look at: deletes of nothing left out; a list delete that counts its elements.
    """
    subject = await store.bushy_session()
    if present:
        await subject.commit(ValueSet(VALUE, 1), *(ListAppend(LIST, number) for number in range(3)))
    next_seq = (await subject.commit(ValueSet(value_address("garden.mark"), 1))).seqs[-1] + 1
    expect_numbered(await subject.commit(delete), next_seq, 1)
    expect_numbered(await subject.commit(delete, delete, ListAppend(LIST, "after")), next_seq + 1, 3)
    await subject.check_everywhere()


@case("S-TXN-06", needs=())
@rows("delete", DELETES)
@rows("present", present=True, absent=False)
async def a_delete_keeps_its_sequence_after_reopening(store: SessionMaker, delete: Write, present: bool) -> None:
    """The sequence of a delete stays used when the session is opened again, although no row is left that carries it.

    If this fails, look at: a next sequence that is read from the highest surviving row.
    """
    subject = await store.bushy_session()
    if present:
        await subject.commit(ValueSet(VALUE, 1), ListAppend(LIST, 1))
    last = await subject.commit(delete)
    await subject.reopen()
    expect_numbered(await subject.commit(ListAppend(LIST, "after")), last.first_seq + 1, 1)
    await subject.check_everywhere()


@case("S-TXN-07", needs=())
async def one_commit_carries_one_timestamp(store: SessionMaker) -> None:
    """All entries of a commit, and its result, carry one timestamp, live and after reopening.

    If this fails, look at: the clock read for each entry; the time of the caller's message taken; seconds stored.
    """
    subject = await store.create()
    chain_of = [made.message_entry(f"e{n}", f"e{n - 1}" if n else None) for n in range(400)]
    result = await subject.insert(*chain_of)
    expect(type(result.timestamp) is int, f"expected: an int timestamp\nseen:     {result.timestamp!r}")
    for moment in ("live", "reopened"):
        times = {entry["timestamp"] for entry in await subject.session.scan_entries()}
        expect_equal(times, {result.timestamp}, of=f"the timestamps of the commit's entries, {moment}")
        await subject.reopen()


@case("S-TXN-07", needs=("clock",))
@rows("move", forward=1_000, still=0, backward=-86_400_000)
async def a_timestamp_is_the_clocks_reading(store: SessionMaker, move: int) -> None:
    """Each commit carries the clock's reading at that commit, also when the clock stands still or goes back.

    If this fails, look at: a timestamp forced to rise; the time of creation used on; a clock of the backend's own.
    """
    subject = await store.create()
    for number in range(3):
        store.clock.advance(move)
        result = await subject.commit(*all_six(f"c{number}"))
        expect_equal(result.timestamp, store.clock.at, of=f"the timestamp of commit {number}")
    await subject.check_everywhere()


def _scripts(*steps: Callable[[str], Write]) -> list[tuple[Callable[[str], Write], ...]]:
    """Every sequence of one to four steps."""
    return list(chain.from_iterable(product(steps, repeat=length) for length in (1, 2, 3, 4)))


SCRIPTS = {
    "scalar": _scripts(
        lambda key: ValueSet(value_address("garden.plan", key), "first"),
        lambda key: ValueSet(value_address("garden.plan", key), None),
        lambda key: ValueDelete(value_address("garden.plan", key)),
    ),
    "list": _scripts(
        lambda key: ListAppend(list_address("garden.log", key), "z"),
        lambda key: ListAppend(list_address("garden.log", key), "a"),
        lambda key: ListDelete(list_address("garden.log", key)),
    ),
}


@case("S-TXN-08", needs=())
@rows("kind", scalar="scalar", list="list")
async def writes_of_one_commit_take_effect_in_order(store: SessionMaker, kind: str) -> None:
    """Every sequence of up to four sets and deletes, or appends and list deletes, at one address leaves in one commit
    what it would leave in commits of its own; first on nothing, then on what the first round left.

    If this fails, look at: deletes applied before or after all other writes; the first of several sets kept; a list
    delete that takes later appends with it.
    """
    subject = await store.create()
    for _ in range(2):
        for number, script in enumerate(SCRIPTS[kind]):
            await subject.commit(*(step(str(number)) for step in script))
        await subject.check("the session after one commit a script")
    await subject.check_everywhere()


@case("S-TXN-08", needs=())
async def interleaved_writes_take_effect_in_order(store: SessionMaker) -> None:
    """Writes to many addresses that alternate within one large commit take effect in order at each address.

    If this fails, look at: writes grouped by kind or address before they are applied; an order by key.
    """
    subject = await store.create()
    scripts = [script for kind in SCRIPTS.values() for script in kind]
    for _ in range(2):
        turns = [(turn, number) for turn in range(4) for number, script in enumerate(scripts) if turn < len(script)]
        await subject.commit(*(scripts[number][turn](f"{number % 7}") for turn, number in turns))
    await subject.check_everywhere()


@case("S-TXN-09", needs=())
async def a_parent_may_be_null_stored_or_earlier_in_the_commit(store: SessionMaker) -> None:
    """The parent of a new entry is null, any stored entry (reachable or not, tip or root), or an entry placed earlier
    in the same commit, to any length of chain.

    If this fails, look at: a parent that has to be the tip; a second root refused; parents looked up in the stored
    rows only.
    """
    subject = await store.bushy_session()
    stored = list(subject.model.entries)
    await subject.insert(*(made.message_entry(f"below-{parent}", parent) for parent in stored))
    await subject.insert(made.message_entry("third-root", None), made.message_entry("fourth-root", None))
    links = [made.custom_entry(f"link-{n}", f"link-{n - 1}" if n else "below-lost-leaf") for n in range(1_200)]
    await subject.commit(*map(EntryInsert, links), ValueSet(branch_tip("deep"), "link-1199"))
    await subject.check_everywhere()


@case("S-TXN-09", needs=())
@rows("id", empty="", blank=" ", null_text="null", number="0")
async def an_odd_id_is_a_parent_like_any_other(store: SessionMaker, id: str) -> None:
    """An entry with an odd id, the empty one too, is a parent: stored or earlier in the commit.

    If this fails, look at: an empty id taken for null; ids converted on their way.
    """
    subject = await store.create()
    await subject.insert(made.message_entry(id, None), made.message_entry("child", id))
    await subject.commit(EntryInsert(made.message_entry("second", id)), ValueSet(branch_tip("main"), "second"))
    path = [entry["id"] for entry in await subject.session.scan_branch("second")]
    expect_equal(path, ["second", id], of="the path of the child")
    await subject.check_everywhere()


@case("S-TXN-12", needs=())
async def a_commit_has_any_number_of_writes(store: SessionMaker) -> None:
    """10,001 list appends in one commit succeed, and every element is there in order.

    If this fails, look at: a limit of the database on parameters of one statement; a batch that is cut.
    """
    subject = await store.create()
    result = await subject.commit(*(ListAppend(LIST, number) for number in range(10_001)))
    expect_equal(len(result.seqs), 10_001, of="the number of sequences in the result")
    await subject.check_everywhere()


@case("S-TXN-12", needs=())
async def a_commit_has_any_number_of_writes_of_every_kind(store: SessionMaker) -> None:
    """Thousands of writes of all six kinds in one commit succeed.

    If this fails, look at: a limit that is met for one kind only; entries looked up in one statement.
    """
    subject = await store.create()
    await subject.commit(*chain.from_iterable(all_six(f"c{number}") for number in range(500)))
    await subject.check()
