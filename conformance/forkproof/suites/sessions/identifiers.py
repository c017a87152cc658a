"""Generated ids, and readings of the clock (section 3.5)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import message_entry, user_message
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidArgument
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import EntryInsert, ValueSet, Write

VERSION_7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
MANY = 500
LAST_TIME = 2**48 - 1
SCOPES = {"branch": BranchFork("main"), "tree": TreeFork()}


def _prefix(id: str) -> int:
    """The milliseconds in a generated id."""
    return int(id.replace("-", "")[:12], 16)


def _expect_version_7(id: object, of: str) -> None:
    valid = isinstance(id, str) and VERSION_7.fullmatch(id) is not None
    expect(valid, f"{of}\nexpected: a UUID of version 7 in lower case\nseen:     {id!r}")


def _expect_rising(ids: list[str], of: str) -> None:
    for one, next_one in zip(ids, ids[1:], strict=False):
        expect(one < next_one, f"{of}\nexpected: an id above {one!r}\nseen:     {next_one!r}")


def _expect_distinct(ids: list[str], of: str) -> None:
    repeated = {id for id in ids if ids.count(id) > 1} if len(set(ids)) < len(ids) else set()
    expect(not repeated, f"{of}\nexpected: distinct ids\nseen:     repeated {sorted(repeated)[:3]}")


async def _appended(subject: Subject, count: int) -> list[str]:
    branch = await subject.session.branch("main") or await subject.session.create_branch("main", None)
    return [await branch.append_message(user_message(f"message {number}")) for number in range(count)]


@case("S-ENT-12")
async def a_generated_id_is_a_uuid_of_version_7(store: SessionMaker) -> None:
    """The ids of sessions, forks and appended entries that nobody named, and those of the generator, are UUIDs of
    version 7.

    If this fails, look at: version 4 ids; a layout with other bits behind the time; upper case; braces.
    """
    subject = await store.create()
    _expect_version_7(subject.id, "the id of a created session")
    for id in await _appended(subject, 20):
        _expect_version_7(id, "the id of an appended message")
    branch = await subject.session.create_branch("left", None)
    _expect_version_7(await branch.append_custom_entry("weather"), "the id of an appended custom entry")
    fork = await store.repo.fork(subject.metadata, TreeFork())
    _expect_version_7(fork.metadata.id, "the id of a fork")
    for _ in range(MANY):
        _expect_version_7(fork.id_generator.next(), "an id of the generator")


@case("S-ENT-12")
@rows("at", zero=0, one=1, usual=1_760_000_000_000, last=LAST_TIME)
async def an_id_for_a_given_time_is_a_uuid_of_version_7(store: SessionMaker, at: int) -> None:
    """An id for a given time has the same layout, at the ends of the range too.

    If this fails, look at: hexadecimal without leading zeros; a time that runs into the version.
    """
    subject = await store.create()
    for _ in range(MANY):
        _expect_version_7(subject.session.id_generator.next(at), f"an id for the time {at}")


@case("S-ENT-13", needs=())
async def ids_without_a_time_rise(store: SessionMaker) -> None:
    """Ids without a given time are distinct and rise, also while ids for other times are made in between.

    If this fails, look at: random bits behind one millisecond; a counter that starts anew with each time.
    """
    generator = (await store.create()).session.id_generator
    ids, between = [], []
    for number in range(MANY):
        ids.append(generator.next())
        between.append(generator.next((0, LAST_TIME, 1_760_000_000_000)[number % 3]))
    _expect_rising(ids, "ids without a given time")
    _expect_distinct(ids + between, "ids with and without a given time")


@case("S-ENT-13", needs=())
@rows("at", zero=0, usual=1_760_000_000_000, last=LAST_TIME)
async def ids_for_one_time_rise(store: SessionMaker, at: int) -> None:
    """Ids for one given time are distinct and rise, also while ids for other times are made in between.

    If this fails, look at: random bits behind the time; a counter that another time resets.
    """
    generator = (await store.create()).session.id_generator
    ids, between = [], []
    for number in range(MANY):
        ids.append(generator.next(at))
        between += [generator.next(at ^ 1), generator.next()] if number % 2 else []
    _expect_rising(ids, f"ids for the time {at}")
    _expect_distinct(ids + between, "ids for several times")


@case("S-ENT-13", needs=())
async def ids_of_all_sessions_and_threads_are_distinct(store: SessionMaker) -> None:
    """Ids are distinct in the whole process: over the generators of several sessions, and over threads.

    If this fails, look at: a counter per generator object; a counter without a lock.
    """
    generators = [(await store.create()).session.id_generator for _ in range(4)]

    def make(generator: Any) -> list[str]:
        return [generator.next(1_760_000_000_000) for _ in range(MANY)]

    made = await asyncio.gather(*(asyncio.to_thread(make, generator) for generator in generators))
    for ids in made:
        _expect_rising(ids, "the ids of one thread, for one time")
    _expect_distinct([id for ids in made for id in ids], "the ids of four generators in four threads")


@case("S-ENT-13")
@rows("step", still=0, back=-3_600_000)
async def ids_rise_while_the_clock_does_not(store: SessionMaker, step: int) -> None:
    """The ids of appended entries rise, and those of sessions are distinct, while the clock stands still or goes back.

    If this fails, look at: the prefix taken from the clock alone; ids that repeat when a time comes again.
    """
    subject = await store.create()
    entries, sessions = [], [subject.id]
    for _ in range(20):
        entries += await _appended(subject, 3)
        sessions.append((await store.create()).id)
        sessions.append((await store.repo.fork(subject.metadata, TreeFork())).metadata.id)
        store.clock.advance(step)
    _expect_rising(entries, "the ids of appended messages")
    _expect_distinct(entries + sessions, "the ids of entries and sessions")
    if step == 0:
        _expect_rising(sessions, "the ids of sessions made at one time")


@case("S-ENT-14")
@rows("at", zero=0, one=1, usual=1_760_000_000_000, carry=2**32 - 1, last=LAST_TIME)
async def a_given_time_stands_in_the_prefix(store: SessionMaker, at: int) -> None:
    """The given time is the prefix of the id, unchanged, also when a later one was used before.

    If this fails, look at: a time raised to the last one seen; a prefix in seconds.
    """
    generator = (await store.create()).session.id_generator
    for _ in range(MANY):
        expect_equal(_prefix(generator.next(at)), at, of="the prefix of an id for a given time")
        generator.next(LAST_TIME)
        generator.next()


@case("S-ENT-14")
@rows(
    "at",
    below_zero=-1,
    above_the_last=LAST_TIME + 1,
    far_above=2**80,
    fraction=1.0,
    boolean=True,
    text="1",
    decimal=Decimal(1),
    infinite=float("inf"),
)
async def any_other_time_is_refused(store: SessionMaker, at: Any) -> None:
    """A time that is no integer in 0 … 2^48−1 is refused with `InvalidArgument`, and the generator goes on.

    If this fails, look at: a time cut to 48 bits; booleans and fractions taken for integers.
    """
    generator = (await store.create()).session.id_generator
    with refused(InvalidArgument, field="timestamp_ms"):
        generator.next(at)
    _expect_version_7(generator.next(5), "the id after a refusal")


APP = value_address("garden.plan")
LOG = list_address("garden.log")


async def _by_scope(subject: Subject, *writes: Write) -> object:
    async def commit(scope: CallbackScope) -> object:
        return await scope.commit(list(writes))

    return await subject.session.mutate(commit)


async def _append_message(subject: Subject) -> object:
    branch = await subject.session.branch("main")
    return None if branch is None else await branch.append_message(user_message("once"))


async def _append_custom_entry(subject: Subject) -> object:
    branch = await subject.session.branch("main")
    return None if branch is None else await branch.append_custom_entry("weather")


COMMITS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "one-write": lambda subject: _by_scope(subject, ValueSet(APP, 1)),
    "many-entries": lambda subject: _by_scope(
        subject, *(EntryInsert(message_entry(f"m{number}", None)) for number in range(50))
    ),
    "nothing": lambda subject: _by_scope(subject),
    "set-value": lambda subject: subject.session.set_value(APP, 1),
    "delete-value": lambda subject: subject.session.delete_value(APP),
    "append-list": lambda subject: subject.session.append_list(LOG, 1),
    "delete-list": lambda subject: subject.session.delete_list(LOG),
    "set-name": lambda subject: subject.session.set_name("beans"),
    "set-label": lambda subject: subject.session.set_label("e1", "start"),
    "create-branch": lambda subject: subject.session.create_branch("left", "e1"),
    "append-message": _append_message,
    "append-custom-entry": _append_custom_entry,
}


@case("S-ENT-15")
@rows("commit", COMMITS)
async def a_commit_reads_the_clock_once(
    store: SessionMaker, commit: Callable[[Subject], Awaitable[object]]
) -> None:
    """A commit reads the clock exactly once, whichever call makes it, and its entries carry that reading.

    If this fails, look at: a reading per entry; the id generator or the metadata reading the same clock.
    """
    subject = await store.linear_session()
    store.clock.advance(1_000)
    before = store.clock.readings
    await commit(subject)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one commit")
    for entry in (await subject.session.scan_entries())[4:]:
        expect_equal(entry["timestamp"], store.clock.at, of="the timestamp of the new entry")


@case("S-ENT-15")
@rows("id", given="garden", generated=None)
async def a_create_reads_the_clock_once(store: SessionMaker, id: str | None) -> None:
    """A create reads the clock exactly once, with a given and with a generated id.

    If this fails, look at: one reading for the id and another for `created_at`; a first commit made on creation.
    """
    before = store.clock.readings
    subject = await store.create(id)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one create")
    expect_equal(subject.metadata.created_at, store.clock.at, of="created_at")


@case("S-ENT-15")
@rows("options", SCOPES)
@rows("id", given="copy", generated=None)
@rows("closes", open_source=False, closed_source=True)
async def a_fork_reads_the_clock_once(
    store: SessionMaker, options: ForkOptions, id: str | None, closes: bool
) -> None:
    """A fork reads the clock exactly once, however much it copies, from an open and from a closed source.

    If this fails, look at: the destination written by commits of its own; a second reading when it is opened.
    """
    source = await store.rich_session()
    if closes:
        await source.close()
    store.clock.advance(1_000)
    before = store.clock.readings
    chosen = BranchFork("main", id=id) if isinstance(options, BranchFork) else TreeFork(id=id)
    fork = await store.repo.fork(source.metadata, chosen)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one fork")
    expect_equal(fork.metadata.created_at, store.clock.at, of="created_at of the fork")


@case("S-ENT-16")
@rows("at", early=1, usual=1_760_000_000_000, later=1_999_999_999_999, last=LAST_TIME)
async def a_generated_session_id_starts_with_its_creation(store: SessionMaker, at: int) -> None:
    """A session that is created without an id gets one whose prefix is its `created_at`.

    If this fails, look at: ids from the system clock; two readings of the clock.
    """
    store.clock.set(at)
    subject = await store.create()
    _expect_version_7(subject.id, "the id of the created session")
    expect_equal(subject.metadata.created_at, at, of="created_at")
    expect_equal(_prefix(subject.id), at, of="the prefix of the session id")


@case("S-ENT-16")
@rows("options", SCOPES)
@rows("step", later=86_400_000, earlier=-86_400_000, same=0)
async def a_generated_fork_id_starts_with_its_creation(store: SessionMaker, options: ForkOptions, step: int) -> None:
    """A fork without an id gets one whose prefix is its own `created_at`, not that of its source.

    If this fails, look at: the source's metadata copied; a clock that may not go back.
    """
    source = await store.bushy_session()
    store.clock.advance(step)
    fork = await store.repo.fork(source.metadata, options)
    _expect_version_7(fork.metadata.id, "the id of the fork")
    expect_equal(fork.metadata.created_at, store.clock.at, of="created_at of the fork")
    expect_equal(_prefix(fork.metadata.id), store.clock.at, of="the prefix of the fork's id")
