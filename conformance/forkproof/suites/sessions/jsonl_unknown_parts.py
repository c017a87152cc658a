"""Records in another order than the store writes, and with fields and types that nobody knows (section 22.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, records
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_in
from forkproof.suites.sessions.damage_verdicts import UnderDamage, each
from forkproof.suites.sessions.spelled_files import (
    ID,
    element,
    expect_forks,
    header,
    line,
    opened_from,
    scalar,
    stored,
)
from forkstore.contract.forks import BranchFork, TreeFork


def _rotated(record: dict[str, Any], by: int) -> dict[str, Any]:
    fields = list(record.items())
    at = by % len(fields)
    return dict(fields[at:] + fields[:at])


@case("S-JSONL-FMT-08")
@rows("order", {f"rotated-by-{by}": by for by in range(1, 9)} | {"sorted": 0, "backwards": -1})
async def the_order_of_fields_says_nothing(store: SessionMaker, order: int) -> None:
    """The fields of the header and of every record may stand in any order; the session, and forks of both scopes, are
    the same.

    If this fails, look at: records told apart by their first bytes; a value taken by its place; a fork that looks for
    texts in the line.
    """

    def ordered(record: dict[str, Any]) -> dict[str, Any]:
        if order > 0:
            return _rotated(record, order)
        return dict(sorted(record.items())) if order == 0 else dict(reversed(record.items()))

    good = lines_in(small_file(id=ID, cwd=store.raw.cwd), Path("the good file"))
    first = line(ordered(good.header))
    subject = await opened_from(store, first + b"".join(line(*map(ordered, one)) for one in good.transactions))
    await subject.check()
    await expect_forks(store, subject)
    await subject.append("main", "behind odd orders")
    await subject.check_everywhere()


@case("S-JSONL-FMT-08")
@rows("good", rich="rich", bare="bare")
async def fields_that_nobody_knows_are_kept(store: SessionMaker, good: str) -> None:
    """Unknown fields of entries, of usage rows and inside of usage objects are shown like any other; records with their
    fields in another order open.

    If this fails, look at: a decoder that forbids or drops what it does not know; an empty member name.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-08"), file.expect_whole_verdict)


UNKNOWN: dict[str, Any] = {"note": {"deep": [None, 1.5, "früh"]}, "": 0, "op": "set", "value": None, "key": "\u2028"}


@case("S-JSONL-FMT-08")
async def unknown_fields_go_through_a_fork(store: SessionMaker) -> None:
    """Unknown fields of every entry type, in front, between and behind, come through forks of both scopes and forks of
    forks, and further commits; unknown fields of scalars and lists keep nothing from being read.

    If this fails, look at: a fork that writes the fields it knows; entries built from a class; `value` or `key` taken
    for those of a scalar.
    """
    entries = [
        {**UNKNOWN, **records.message_entry("e1", None)},
        {"id": "e2", **UNKNOWN, "parentId": "e1", "type": "custom", "customType": "weather"},
        {**records.compaction_entry("e3", "e2"), **UNKNOWN},
        {"type": "branch_summary", **UNKNOWN, **records.branch_summary_entry("e4", "e3")},
    ]
    usage = {"note": [2.5], **records.usage_row("u1", "e1"), "": "x"}
    lane = [scalar(6, "pi.branch.tip", "main", "e4"), scalar(7, "pi.lane.config", "main", {"a": 1})]
    found = [
        *(stored(entry, seq) for seq, entry in enumerate(entries, 1)),
        stored(usage, 5),
        *lane,
        scalar(8, "pi.lane.state", "main", {}) | {"note": 1},
        {"note": [], **element(9, "garden.log", "", 1)},
    ]
    subject = await opened_from(store, header(store.raw.cwd) + b"".join(map(line, found)))
    await subject.check()
    await expect_forks(store, subject)
    fork = await subject.fork(TreeFork(id="first"))
    again = await fork.fork(BranchFork("main", id="second"))
    await again.append("main", "behind the fork of a fork")
    await store.check_each(subject, fork, again)


@case("S-JSONL-FMT-09")
@rows("good", rich="rich", bare="bare")
async def an_entry_of_an_unknown_type_is_kept_whole(store: SessionMaker, good: str) -> None:
    """An entry whose type is none of the four is shown with all of its fields, may be a parent, and is no message.

    If this fails, look at: unknown types skipped, refused, or turned into custom entries; types compared without case.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-09"), file.expect_whole_verdict)


TYPES = {"forecast": "forecast", "empty": "", "capitals": "Message", "odd": "früh\u2028\0", "session": "session"}


@case("S-JSONL-FMT-09")
@rows("type_", TYPES)
async def an_entry_of_an_unknown_type_goes_through_a_fork(store: SessionMaker, type_: str) -> None:
    """An entry of an unknown type on a branch's path, as its tip, and beside it, comes whole through forks of both
    scopes; commits build on it, queries find it.

    If this fails, look at: a fork that knows four types; a path that ends at what it does not know; a filter by type
    that refuses others.
    """
    odd = {"type": type_, "forecast": ["rain", 0.25, {"none": None}], "message": "no message"}
    entries = [
        records.message_entry("e1", None),
        {"id": "e2", "parentId": "e1", **odd},
        records.message_entry("e3", "e2"),
        {"id": "e4", "parentId": "e3", **odd},
        {"id": "aside", "parentId": None, **odd},
    ]
    found = [stored(entry, seq) for seq, entry in enumerate(entries, 1)]
    lane: tuple[tuple[str, Any], ...] = (("pi.branch.tip", "e4"), ("pi.lane.config", {}), ("pi.lane.state", {}))
    found += [scalar(seq, namespace, "main", value) for seq, (namespace, value) in enumerate(lane, 6)]
    subject = await opened_from(store, header(store.raw.cwd) + b"".join(map(line, found)))
    await subject.check()
    await expect_forks(store, subject)
    seen = await subject.session.find_entries(type=type_, order="asc")
    expect_equal([entry["id"] for entry in seen], ["e2", "e4", "aside"], of="the entries of that type")
    await subject.append("main", "behind a forecast")
    await subject.check_everywhere()
