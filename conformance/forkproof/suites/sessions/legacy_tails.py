"""Retained tails of legacy v3 compactions (section 26.2)."""

from __future__ import annotations

from typing import Any

from forkgen.legacy import LegacyFile, Verdict
from forkgen.legacy.outcome import entry, fresh, opens, tip
from forkgen.legacy.records import header, id_of, label, model, record, text_of, time_of, tools, user, user_message
from forkgen.legacy.summaries import compacted, compaction, compaction_summary
from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.legacy_judging import (
    BOTH_SCOPES,
    about,
    expect_opens,
    expect_refused,
    forked,
    gone,
    normalized_of,
    opening,
    planted,
    refused_for,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkstore.contract.errors import CorruptSession

Record = dict[str, Any]

_CUSTOM = {"customType": "hint", "content": "saw", "display": False}
_HINT = {"role": "custom", **_CUSTOM, "timestamp": time_of(2)}
_TOLD = {"role": "branchSummary", "summary": "rows", "timestamp": time_of(2)}

CONTRIBUTIONS: dict[str, tuple[Record, list[Record]]] = {
    "message": (user(2, 1), [user_message(2)]),
    "message-of-odd-role": (record(2, "message", 1, message={"role": "odd", "n": 2.5}), [{"role": "odd", "n": 2.5}]),
    "custom-message": (record(2, "custom_message", 1, **_CUSTOM), [_HINT]),
    "custom-message-with-details": (
        record(2, "custom_message", 1, **_CUSTOM, details=None),
        [{**_HINT, "details": None}],
    ),
    "branch-summary": (
        record(2, "branch_summary", 1, summary="rows", fromId=id_of(1)),
        [{**_TOLD, "fromId": fresh(1)}],
    ),
    "branch-summary-from-the-root": (
        record(2, "branch_summary", 1, summary="rows", fromId="root"),
        [{**_TOLD, "fromId": None}],
    ),
    "branch-summary-of-nothing": (record(2, "branch_summary", 1, summary="", fromId=id_of(1)), []),
    "compaction": (compaction(2, 1, 1), [compaction_summary(2)]),
    "custom": (record(2, "custom", 1, customType="message", data=user_message(2)), []),
    "model-change": (model(2, 1), []),
    "active-tools-change": (tools(2, 1, "saw"), []),
    "session-info": (record(2, "session_info", 1, name=""), []),
    "label": (label(2, 1, 1), []),
}
"""Per kind of record, as record 2 on a walk: the record, and the messages that it contributes."""


def _shared() -> LegacyFile:
    """Compactions on two branches, and one behind another, that need the same messages.

    1 user ── 2 user ─┬─ 3 user ── 5 compaction from 1 ── 7 user ── 9 compaction from 2
                      └─ 4 user ── 6 compaction from 2 ── 8 model ── 10 compaction from 1
    """
    records = [
        user(1, None),
        user(2, 1),
        user(3, 2),
        user(4, 2),
        compaction(5, 3, 1),
        compaction(6, 4, 2),
        user(7, 5),
        model(8, 6),
        compaction(9, 7, 2),
        compaction(10, 8, 1),
    ]
    one, two, three, four, seven = (user_message(number) for number in (1, 2, 3, 4, 7))
    entries = [
        entry(1, 1, None, "message", message=one),
        entry(2, 2, 1, "message", message=two),
        entry(3, 3, 2, "message", message=three),
        entry(4, 4, 2, "message", message=four),
        compacted(5, 5, 3, [one, two, three]),
        compacted(6, 6, 4, [two, four]),
        entry(7, 7, 5, "message", message=seven),
        compacted(8, 9, 7, [two, three, compaction_summary(5), seven]),
        compacted(9, 10, 6, [one, two, four, compaction_summary(6)]),
    ]
    return opens("tails-that-share", records, entries, [tip(10)], "S-V3-11")


def _long() -> LegacyFile:
    """Two branches whose long messages alternate in the file, 400 each, and a compaction of each from its middle."""
    count = 800
    parents: dict[int, int | None] = {number: number - 2 if number > 2 else None for number in range(1, count + 1)}
    records = [user(number, parent, f"{number}:" + "x" * 300) for number, parent in parents.items()]
    entries = [
        entry(number, number, parents[number], "message", message=one["message"])
        for number, one in enumerate(records, 1)
    ]
    for number, parent, kept in ((count + 1, count - 1, 401), (count + 2, count, 400)):
        records.append(compaction(number, parent, kept))
        tail = [records[on - 1]["message"] for on in range(kept, parent + 1, 2)]
        entries.append(compacted(number, number, parent, tail))
    return opens("tails-of-long-branches", records, entries, [tip(count + 2)], "S-V3-11")


def _keeping(kept: Any) -> LegacyFile:
    """A compaction whose `firstKeptEntryId` is no text, and so names nothing on its path."""
    contents = text_of(header(), user(1, None), compaction(2, 1, 1) | {"firstKeptEntryId": kept}, user(3, 2))
    return LegacyFile("first-kept-no-text", Verdict.CORRUPT, contents, ("S-V3-12",), named=id_of(2))


NO_TEXTS: dict[str, Any] = {"null": None, "number": 1, "boolean": True, "array": [id_of(1)], "object": {"id": id_of(1)}}
KEPT_NOWHERE = {
    **refused_for("S-V3-12"),
    **{f"first-kept-{name}": _keeping(kept) for name, kept in NO_TEXTS.items()},
}
TAILS = {**opening("S-V3-11"), "tails-that-share": _shared(), "tails-of-long-branches": _long(), "rich-lane": RICH}


@case("S-V3-11")
@rows("file", TAILS)
async def a_retained_tail_follows_the_path(store: SessionMaker, file: LegacyFile) -> None:
    """A retained tail holds what the records on the physical path contribute, from the first kept one, of whatever
    kind, to the compaction's parent, oldest first; several compactions may need the same records.

    If this fails, look at: a slice of the file instead of a walk; a tail that begins behind the first kept record, or
    ends with the compaction; messages let go with the first compaction that needs them; a tail that was not reversed.
    """
    await expect_opens(store, file)


@case("S-V3-11")
@rows("kind", CONTRIBUTIONS)
@rows("stands", first=2, inside=1, behind=None)
async def each_kind_contributes_its_message(
    store: SessionMaker, kind: tuple[Record, list[Record]], stands: int | None
) -> None:
    """A message contributes itself, a custom message and a summary the message of section 26.2, and every other record
    nothing; as the first kept record, inside the walk, and not at all in front of it.

    If this fails, look at: kinds left out; a summary without text that counts; `fromId` not mapped; `details` dropped;
    discarded records that end the walk.
    """
    own, contributed = kind
    kept = 3 if stands is None else stands
    contents = text_of(header(), user(1, None), own, user(3, 2), compaction(4, 3, kept))
    path = await store.plant(contents, id="shed-7", cwd="/srv/garden")
    session = await store.repo.open(await store.planted_metadata(path))
    first, *_, last = await session.scan_entries()
    tail = [*([user_message(1)] if kept == 1 else []), *(contributed if kept < 3 else []), user_message(3)]
    expected = [{**one, "fromId": first["id"]} if one.get("fromId") == fresh(1) else one for one in tail]
    expect_equal(last.get("retainedTail"), expected, of=f"the tail from record {kept} to record 3, over {own['type']}")


@case("S-V3-11")
@rows("file", TAILS)
async def forks_hold_the_same_tails(store: SessionMaker, file: LegacyFile) -> None:
    """A fork of the closed file holds the same tails, in both scopes, also where messages of records in front of it are
    needed that are long or far away.

    If this fails, look at: tails made in the first scan, or from the members alone; messages let go too early.
    """
    with about(file):
        session = planted(store, file)
        for options in BOTH_SCOPES if normalized_of(file).has_complete_lane else BOTH_SCOPES[:1]:
            fork = await forked(session, options)
            await fork.check(f"the fork by {options!r}")
            await gone(fork)


@case("S-V3-12")
@rows("file", KEPT_NOWHERE)
async def a_first_kept_record_off_the_path_is_corruption(store: SessionMaker, file: LegacyFile) -> None:
    """A compaction whose `firstKeptEntryId` is absent, no text, unknown, the compaction itself, its child, or on
    another branch is corruption whose text names the compaction, for `open` and for `fork` in both scopes.

    If this fails, look at: a tail that then reaches to the root, or is empty; a text that names the line or the record
    that was not found alone; a walk that begins at the compaction itself.
    """
    await expect_refused(store, file, CorruptSession)


@case("S-V3-12")
@rows("file", opening("S-V3-12"))
async def a_first_kept_record_is_any_record_of_the_path(store: SessionMaker, file: LegacyFile) -> None:
    """The first kept record may be of any kind, discarded kinds too, and the parent itself.

    If this fails, look at: a search among retained records; a path that leaves out the parent.
    """
    await expect_opens(store, file)


@case("S-V3-12")
async def an_abandoned_compaction_is_judged_too(store: SessionMaker) -> None:
    """A compaction off every branch, whose `firstKeptEntryId` is not on its path, makes `open` and both forks fail.

    If this fails, look at: tails made for the members of a fork only.
    """
    contents = RICH.contents + text_of(compaction(16, 5, 7), user(17, 15))
    off_path = LegacyFile("abandoned-compaction", Verdict.CORRUPT, contents, ("S-V3-12",), named=id_of(16))
    await expect_refused(store, off_path, CorruptSession)
