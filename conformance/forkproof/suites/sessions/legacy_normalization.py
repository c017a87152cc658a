"""What the records of a legacy v3 file become: ids, parents, sequences, times, and references (section 26.2)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from forkgen.legacy import LegacyFile, Verdict
from forkgen.legacy.records import date, header, id_of, label, record, text_of, time_of, user
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.file_states import LegacySession
from forkproof.oracle.state import Record
from forkproof.suites.sessions.legacy_judging import (
    BOTH_SCOPES,
    about,
    expect_opens,
    expect_refused,
    forked,
    gone,
    in_every_room,
    normalized_of,
    opened,
    opening,
    planted,
    refused_for,
    shown_by,
)
from forkproof.suites.sessions.legacy_own_files import FALLING, RICH, odd_values, opaque, timed
from forkstore.contract.errors import CorruptSession
from forkstore.contract.forks import BranchFork

VERSION_7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
NORMALIZED = {**opening("S-V3-08"), "opaque-fields": opaque(), "odd-values": odd_values(), "rich-lane": RICH}
SEQUENCED = {
    **opening("S-V3-09"),
    "times-that-fall": FALLING,
    "every-millisecond": timed("every-millisecond", [(date(time), time) for time in range(1_000, 2_000)]),
    "one-time": timed("one-time", [(date(7_123), 7_123)] * 300),
    "offsets": timed(
        "offsets",
        [
            ("1970-01-01T00:00:00.000Z", 0),
            ("9998-12-31T23:59:59.999Z", 253370764799999),
            ("2025-10-09T14:23:21.007+05:30", 1760000001007),
            ("2025-10-08T23:53:21-09:00", 1760000001000),
        ],
    ),
    "rich-lane": RICH,
}
FORWARD = (user(1, None), label(2, 1, 5, label="later"), record(3, "branch_summary", 2, fromId=id_of(5), summary=""))
DANGLING = {
    **refused_for("S-V3-10"),
    **{
        f"one-of-several-{name}": LegacyFile(
            f"one-of-several-{name}", Verdict.CORRUPT, text_of(header(), *FORWARD, wrong, user(5, 4)), ("S-V3-10",)
        )
        for name, wrong in (
            ("from-ids", record(4, "branch_summary", 3, fromId=id_of(9), summary="")),
            ("label-targets", label(4, 3, 9, label="lost")),
        )
    },
}
LABELS = {name: file for name, file in opening("S-V3-13").items() if name.startswith("label-on-")}


def _expect_fresh(subject: Subject, entries: list[Record], of: str) -> list[str]:
    """Breaks the clause unless the id of each entry is a UUID of version 7 with its record's time; gives the ids."""
    times = [row.value["timestamp"] for row in subject.model.entries.values()]
    for entry, time in zip(entries, times, strict=True):
        id = entry["id"]
        valid = isinstance(id, str) and VERSION_7.fullmatch(id) is not None
        expect(valid, f"an id that {of} gave\nexpected: a UUID of version 7 in lower case\nseen:     {id!r}")
        expect_equal(int(id.replace("-", "")[:12], 16), time, of=f"the time in the id {id} that {of} gave")
    return [entry["id"] for entry in entries]


async def _ids_of_readings(session: LegacySession) -> AsyncIterator[tuple[str, list[str]]]:
    """The ids that five readings of one file give: two openings, one of another repository object, and two forks."""
    for of in ("the first opening", "the second opening"):
        subject = await opened(session)
        yield of, _expect_fresh(subject, await subject.session.scan_entries(), of)
        await subject.close()
    elsewhere = await shown_by(session, await (await session.store.open_second_repo()).open(session.metadata))
    yield "another repository", _expect_fresh(elsewhere, await elsewhere.session.scan_entries(), "another repository")
    await elsewhere.close()
    has_lane = normalized_of(session.case).has_complete_lane
    for options in BOTH_SCOPES if has_lane else BOTH_SCOPES[:1]:
        fork = await forked(session, options)
        yield f"a fork by {options!r}", _expect_fresh(fork, await fork.session.scan_entries(), "a fork")
        await gone(fork)


@case("S-V3-07")
@in_every_room
async def each_reading_gives_fresh_ids(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """Each reading of a v3 file, by `open` or by `fork`, gives every retained record a UUID of version 7 that no other
    reading gave, with the record's time as its prefix.

    If this fails, look at: ids made from the old ones, or from the time alone; ids kept from one opening to the next;
    the time of the reading, of the file or of the message as the prefix.
    """
    for file in files:
        with about(file):
            given: dict[str, str] = {}
            async for of, ids in _ids_of_readings(planted(store, file)):
                again = [(id, given[id]) for id in ids if id in given]
                expect(not again, f"the ids that {of} gave\nexpected: fresh ones\nseen:     {again[:3]}")
                expect_equal(len(set(ids)), len(ids), of=f"the number of different ids that {of} gave")
                given.update(dict.fromkeys(ids, of))


@case("S-V3-07")
async def ids_are_fresh_within_one_millisecond(store: SessionMaker) -> None:
    """Many records of one time get ids of that time that all differ.

    If this fails, look at: too few random bits behind the time; a counter that starts anew with each record.
    """
    file = SEQUENCED["one-time"]
    with about(file):
        subject = await opened(planted(store, file))
        ids = _expect_fresh(subject, await subject.session.scan_entries(), "the opening")
        expect_equal(len(set(ids)), len(normalized_of(file).entries), of="the number of different ids")
        await subject.close()


@case("S-V3-07")
async def an_id_of_what_stays_behind_is_fresh_too(store: SessionMaker) -> None:
    """In a branch fork, a summary and a retained tail that name an entry that stays behind name it by the id that this
    reading gave it: a UUID of version 7 with that record's time.

    If this fails, look at: ids made for the members only; the old id kept in such a place; null in its stead.
    """
    with about(RICH):
        fork = await forked(planted(store, RICH), BranchFork("main"))
        entries = {entry["type"]: entry for entry in await fork.session.scan_entries()}
        behind = entries["branch_summary"]["fromId"]
        expect(VERSION_7.fullmatch(str(behind)), f"expected: a UUID of version 7\nseen:     {behind!r}")
        expect_equal(int(behind.replace("-", "")[:12], 16), time_of(6), of="the time in that id")
        told = [message["fromId"] for message in entries["compaction"]["retainedTail"] if "fromId" in message]
        expect_equal(told, [behind], of="the same id in the retained tail")
        expect_equal(await fork.session.get_entry(behind), None, of="the entry that stayed behind, in the fork")
        await fork.check_everywhere()


@case("S-V3-08")
@rows("file", NORMALIZED)
async def entries_are_normalized(store: SessionMaker, file: LegacyFile) -> None:
    """Retained records become the entries of section 26.2, field by field: chains through discarded records close up,
    at the root, inside and at the end; what is opaque stays as it is, old ids in it too.

    If this fails, look at: discarded records that become entries; parents that are dropped with them; `data` null and
    absent; ids replaced in text, details or messages; `fromHook` left out; `firstKeptEntryId` kept.
    """
    await expect_opens(store, file)


@case("S-V3-08")
@rows("file", NORMALIZED)
async def old_ids_name_nothing(store: SessionMaker, file: LegacyFile) -> None:
    """The ids of the file name no entry of the open session.

    If this fails, look at: entries that are found by either id.
    """
    with about(file):
        subject = await opened(planted(store, file))
        old = [id_of(number) for number in range(1, 20)]
        expect_equal(await subject.session.get_entries(old), {}, of="the entries that the old ids name")
        await subject.close()


@case("S-V3-09")
@rows("file", SEQUENCED)
async def entries_are_numbered_in_file_order(store: SessionMaker, file: LegacyFile) -> None:
    """Entries take the sequences 1, 2, 3 … in file order, whatever their times are, and keep the record's time as their
    timestamp; the derived values take the next ones, and the next sequence is one above the last of them.

    If this fails, look at: discarded records that use up a sequence; entries sorted by time or by path; a superseded or
    a clearing label that takes no sequence; an offset that is dropped.
    """
    await expect_opens(store, file)


@case("S-V3-09")
@in_every_room
async def the_next_sequence_is_behind_the_derived_values(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """In every file the next sequence is one above the last derived value, and the current values have the sequences
    that they took.

    If this fails, look at: a next sequence behind the entries; values numbered by address instead of in their order.
    """
    for file in files:
        await expect_opens(store, file)


@case("S-V3-10")
@rows("file", DANGLING)
async def a_reference_to_no_record_is_corruption(store: SessionMaker, file: LegacyFile) -> None:
    """A `fromId` or a label target that names no record of the file is corruption, for `open` and for `fork` in both
    scopes; `root` is a name for `fromId` alone, and with that spelling alone.

    If this fails, look at: unknown references that become null; labels dropped with their target; a clearing label that
    is not looked at; a check of the first reference alone.
    """
    await expect_refused(store, file, CorruptSession)


@case("S-V3-10")
@rows("file", opening("S-V3-10") | LABELS)
async def a_reference_may_name_any_record(store: SessionMaker, file: LegacyFile) -> None:
    """A `fromId` and a label target may name a later record, a discarded one and the record itself.

    If this fails, look at: references looked up while the file is read; a map of retained records only.
    """
    await expect_opens(store, file)


@case("S-V3-10")
async def forks_refuse_a_reference_to_no_record_that_stays_behind(store: SessionMaker) -> None:
    """A label or a summary off the branch that names no record makes a branch fork of that branch fail too: the file is
    corrupt, wherever the fault lies.

    If this fails, look at: checks of the members only.
    """
    dangling = record(16, "branch_summary", 5, fromId=id_of(99), summary="")
    contents = RICH.contents + text_of(dangling, user(17, 15))
    off_path = LegacyFile("dangling-off-the-branch", Verdict.CORRUPT, contents, ("S-V3-10",))
    await expect_refused(store, off_path, CorruptSession)
