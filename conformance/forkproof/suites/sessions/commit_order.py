"""Commits beside each other: their order, failures among them, reads meanwhile, cancellation (section 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal, refused, strictly_equal
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.suites.sessions.committing import LIST, VALUE, expect_numbered
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, SessionStoreError, UnknownParent
from forkstore.contract.store import CallbackScope, Session
from forkstore.contract.writes import CommitResult, EntryInsert, ListAppend, ListDelete, UsageInsert, ValueSet, Write

Commit = Callable[[int], Coroutine[Any, Any, CommitResult]]

SIZES = (700, 1, 60, 1, 1, 300, 2, 1)
"""Writes of the commits that race: the first ones take longest, so whoever overtakes shows."""


def _marked(number: int, size: int = 1) -> list[Write]:
    """A commit that shows its place: in a list, and in a scalar that the last one wins."""
    return [*(ListAppend(LIST, [number, part]) for part in range(size)), ValueSet(VALUE, number)]


@case("S-TXN-03")
async def commits_are_applied_in_the_order_of_their_first_steps(store: SessionMaker) -> None:
    """Commits that do not wait for each other are applied in the order of the first steps of their coroutines, large
    and small ones alike, and not in the order in which the coroutines were made.

    If this fails, look at: a thread for each commit; a queue ordered by anything but arrival; a place in the queue
    that is taken after a suspension.
    """
    subject = await store.create()
    writes = [_marked(number, size) for number, size in enumerate(SIZES)]
    coroutines = [subject.session.storage.commit(one) for one in reversed(writes)]
    tasks = [asyncio.create_task(one) for one in reversed(coroutines)]
    results = await asyncio.gather(*tasks)
    next_seq = 1
    for result, one in zip(results, writes, strict=True):
        expect_numbered(result, next_seq, len(one))
        next_seq += len(one)
        subject.follow(result, *one)
    await subject.check_everywhere()


@case("S-TXN-03")
async def scopes_and_the_storage_share_one_order(store: SessionMaker) -> None:
    """A scope's commit takes its place among those of the storage by its first step.

    If this fails, look at: a queue of its own for mutation scopes; scopes that overtake.
    """
    subject = await store.create()
    scope = await subject.session.begin_mutation()
    writes = [_marked(0, 400), _marked(1, 30), _marked(2)]
    storage = subject.session.storage
    calls = [storage.commit(writes[0]), scope.commit(writes[1]), storage.commit(writes[2])]
    results = await asyncio.gather(*[asyncio.create_task(call) for call in calls])
    await scope.end()
    for result, one in zip(results, writes, strict=True):
        subject.follow(result, *one)
    expect_equal([result.first_seq for result in results], [1, 402, 433], of="the first sequences, in first-step order")
    await subject.check_everywhere()


BAD: dict[str, tuple[type[SessionStoreError], Write]] = {
    "duplicate": (DuplicateId, EntryInsert(made.message_entry("e0", None))),
    "unknown-parent": (UnknownParent, EntryInsert(made.message_entry("orphan", "no-such-entry"))),
    "unstorable": (InvalidValue, ValueSet(VALUE, float("inf"))),
}


@case("S-TXN-04")
@rows("bad", BAD)
async def a_failed_commit_leaves_those_behind_it_alone(
    store: SessionMaker, bad: tuple[type[SessionStoreError], Write]
) -> None:
    """Commits before and behind failing ones, all started together, are applied in order and wholly; only the failing
    callers see an error.

    If this fails, look at: a queue that stops at an error; an error handed to the next caller; sequences lost to a
    failed commit; a transaction that stays open.
    """
    subject = await store.create()
    error, refused_write = bad
    good = {0: _marked(0, 200), 2: _marked(2), 4: _marked(4, 20), 5: _marked(5)}
    good[0].append(EntryInsert(made.message_entry("e0", None)))
    good[2].append(EntryInsert(made.message_entry("e2", "e0")))
    writes = [good.get(number) or [*_marked(number, 50), refused_write] for number in range(6)]
    tasks = [asyncio.create_task(subject.session.storage.commit(one)) for one in writes]
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    next_seq = 1
    for number, outcome in enumerate(outcomes):
        if number not in good:
            expect(isinstance(outcome, error), f"expected: commit {number}: {error.__name__}\nseen:     {outcome!r}")
        elif isinstance(outcome, CommitResult):
            expect_numbered(subject.follow(outcome, *good[number]), next_seq, len(good[number]))
            next_seq += len(good[number])
        else:
            raise ClauseBroken(f"expected: commit {number} succeeds\nseen:     {outcome!r}")
    await subject.check_everywhere()


@case("S-TXN-04")
async def a_commit_behind_a_failed_one_sees_nothing_of_it(store: SessionMaker) -> None:
    """A commit that builds on a failed one, and was started before that failed, is refused; the next one may use the
    ids of the failed one.

    If this fails, look at: a batch of waiting commits checked together; ids that a failed commit left behind.
    """
    subject = await store.create()
    failing: list[Write] = [EntryInsert(made.message_entry("a", None)), EntryInsert(made.message_entry("b", "none"))]
    building: list[Write] = [EntryInsert(made.message_entry("c", "a"))]
    again: list[Write] = [EntryInsert(made.message_entry("a", None)), EntryInsert(made.message_entry("c", "a"))]
    tasks = [asyncio.create_task(subject.session.storage.commit(one)) for one in (failing, building, again)]
    await asyncio.wait(tasks)
    with refused(UnknownParent, entry_id="b", parent_id="none"):
        await tasks[0]
    with refused(UnknownParent, entry_id="c", parent_id="a"):
        await tasks[1]
    subject.follow(await tasks[2], *again)
    expect_numbered(tasks[2].result(), 1, 2)
    await subject.check_everywhere()


def _generation(number: int) -> list[Write]:
    """A commit that replaces every value and list element and adds entries and spending."""
    parts = range(40)
    return [
        ListDelete(LIST),
        *(ListAppend(LIST, [number, part]) for part in parts),
        *(ValueSet(value_address("garden.plan", str(part)), number) for part in parts),
        *(EntryInsert(made.message_entry(f"g{number}-{part}", None)) for part in parts),
        *(UsageInsert(made.usage_row(f"u{number}-{part}")) for part in parts),
    ]


IDS = [f"g{number}-{part}" for part in (39, 0, 20) for number in range(3)]
READS: dict[str, Callable[[Session], Awaitable[Any]]] = {
    "scan-entries": lambda session: session.scan_entries(),
    "get-entries": lambda session: session.get_entries(IDS),
    "find-entries": lambda session: session.find_entries(limit=90),
    "scan-values": lambda session: session.scan_values(value_address("garden.plan")),
    "read-list": lambda session: session.read_list(LIST),
    "scan-usage": lambda session: session.scan_usage(),
    "get-stats": lambda session: session.get_stats(),
}


@case("S-TXN-16", needs=())
@rows("read", READS)
async def a_read_sees_a_commit_wholly_or_not_at_all(
    store: SessionMaker, read: Callable[[Session], Awaitable[Any]]
) -> None:
    """Every read made while a large commit runs gives exactly what it gave before or what it gives afterwards.

    If this fails, look at: rows written one by one into what reads see; statistics moved apart from the rows; a read
    of several steps without a snapshot.
    """
    subject = await store.create()
    await subject.commit(*_generation(0))
    for number in (1, 2):
        before = await read(subject.session)
        commit = asyncio.create_task(subject.commit(*_generation(number)))
        between = []
        while not commit.done():
            between.append(await read(subject.session))
            await asyncio.sleep(0)
        await commit
        after = await read(subject.session)
        expect(not strictly_equal(before, after), f"expected: commit {number} shows\nseen:     no difference")
        for seen in between:
            expect_equal(seen, before if strictly_equal(seen, before) else after, of="a read while the commit runs")
    await subject.check_everywhere()


def _parts(number: int) -> list[Write]:
    name = f"part-{number}"
    return [
        EntryInsert(made.message_entry(f"{name}-a", None)),
        ValueSet(value_address("garden.plan", name), number),
        ListAppend(list_address("garden.log", name), number),
        UsageInsert(made.usage_row(f"{name}-usage")),
        EntryInsert(made.message_entry(f"{name}-b", f"{name}-a")),
    ]


async def _is_present(session: Session, number: int) -> bool:
    """Whether the commit of `_parts(number)` is there. Breaks the clause when some of it is."""
    name = f"part-{number}"
    seen = {
        "first entry": await session.get_entry(f"{name}-a") is not None,
        "scalar": await session.get_value(value_address("garden.plan", name)) is not None,
        "list element": bool(await session.read_list(list_address("garden.log", name))),
        "usage row": any(row["id"] == f"{name}-usage" for row in await session.scan_usage()),
        "last entry": await session.get_entry(f"{name}-b") is not None,
    }
    whole = seen["first entry"]
    expect_equal(seen, dict.fromkeys(seen, whole), of=f"what is there of the cancelled commit {number}")
    return whole


async def _cancel_at_every_suspension(subject: Subject, call: Commit, again_after: int | None) -> None:
    """Cancels the commits of `_parts(1)`, `_parts(2)`, … that `call(number)` makes, each a suspension later."""
    numbers = count(1)
    present: dict[int, bool] = {}

    async def stays_as_it_is(k: int, _: Stepped) -> None:
        present[k] = await _is_present(subject.session, k)
        await settle()
        await subject.session.set_value(VALUE, k)
        expect_equal(await _is_present(subject.session, k), present[k], of=f"commit {k}, looked at again")

    await cancelled_at_every_suspension(lambda: call(next(numbers)), stays_as_it_is, again_after=again_after)
    present[next(numbers) - 1] = True
    for moment in ("live", "reopened"):
        seen = {number: await _is_present(subject.session, number) for number in present}
        expect_equal(seen, present, of=f"which commits are there at last, {moment}")
        await subject.reopen()


@case("S-TXN-17", needs=())
@rows("again_after", once=None, twice=1)
async def a_cancelled_commit_of_a_scope_is_whole_or_absent(store: SessionMaker, again_after: int | None) -> None:
    """A commit cancelled at any of its suspensions, once or twice, is wholly there or wholly absent for good, and the
    next commit succeeds.

    If this fails, look at: a cancellation that stops between two writes; a commit that goes on after its caller was
    told; a lock that a cancelled caller keeps.
    """
    subject = await store.create()

    async def call(number: int) -> CommitResult:
        async def commit(scope: CallbackScope) -> CommitResult:
            return await scope.commit(_parts(number))

        return await subject.session.mutate(commit)

    await _cancel_at_every_suspension(subject, call, again_after)


@case("S-TXN-17", needs=("raw-commit",))
@rows("again_after", once=None, twice=1)
async def a_cancelled_commit_of_the_storage_is_whole_or_absent(store: SessionMaker, again_after: int | None) -> None:
    """The same holds for a commit of the storage.

    If this fails, look at: a shield that only the scope has.
    """
    subject = await store.create()

    async def call(number: int) -> CommitResult:
        return await subject.session.storage.commit(_parts(number))

    await _cancel_at_every_suspension(subject, call, again_after)


@case("S-TXN-17", needs=("raw-commit",))
async def a_commit_cancelled_in_the_queue_is_whole_or_absent(store: SessionMaker) -> None:
    """Commits cancelled while others run before and behind them are whole or absent; the others are applied.

    If this fails, look at: a cancelled place in the queue that blocks it; a cancellation that reaches a neighbour.
    """
    subject = await store.create()
    for rounds in range(5):
        numbers = range(rounds * 10 + 1, rounds * 10 + 6)
        tasks = [asyncio.create_task(subject.session.storage.commit(_parts(number))) for number in numbers]
        for _ in range(rounds):
            await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[3].cancel()
        await asyncio.wait(tasks)
        present = {number: await _is_present(subject.session, number) for number in numbers}
        for index in (0, 2, 4):
            expect(present[numbers[index]], f"expected: commit {index} behind a cancelled one\nseen:     not there")
        await subject.session.set_value(VALUE, rounds)
        await subject.reopen()
        seen = {number: await _is_present(subject.session, number) for number in numbers}
        expect_equal(seen, present, of="which commits are there after reopening")
