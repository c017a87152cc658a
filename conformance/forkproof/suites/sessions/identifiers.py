"""Generated ids (section 3.5)."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from itertools import pairwise
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import user_message
from forkstore.contract.errors import InvalidArgument
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

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
    for one, next_one in pairwise(ids):
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
