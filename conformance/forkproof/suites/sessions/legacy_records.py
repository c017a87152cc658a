"""Lines of legacy v3 files: which one is ignored, and which are corruption (section 26.1)."""

from __future__ import annotations

from typing import Any

from forkgen.legacy import LegacyFile, Verdict
from forkgen.legacy.records import header, label, record, text_of, user
from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.legacy_judging import (
    EVERY,
    about,
    expect_opens,
    expect_refused,
    forked,
    gone,
    named,
    opening,
    planted,
    refused_for,
)
from forkstore.contract.errors import CorruptSession
from forkstore.contract.forks import TreeFork

TORN = tuple(file for file in opening("S-V3-05").values() if file.name.startswith("torn-"))
LINES = refused_for("S-V3-05")
GRAPH = refused_for("S-V3-06")
DEEPEST = 200
BEHIND = 1_500
"""Records in front of a broken one that stands far behind: several chunks of 64 KiB."""


def _nested(depth: int) -> Any:
    """Arrays in arrays, so many."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _corrupt(name: str, line: int, *records: dict[str, Any], clause: str = "S-V3-05") -> LegacyFile:
    return LegacyFile(name, Verdict.CORRUPT, text_of(header(), *records), (clause,), line=line)


TOO_DEEP = {
    "data": _corrupt("too-deep-data", 2, record(1, "custom", None, customType="x", data=_nested(DEEPEST))),
    "message": _corrupt("too-deep-message", 3, user(1, None), record(2, "message", 1, message={"a": _nested(199)})),
    "discarded": _corrupt("too-deep-field", 3, user(1, None), label(2, 1, 1) | {"note": _nested(DEEPEST)}),
}


def _far_behind(last: dict[str, Any] | bytes) -> LegacyFile:
    """A long chain whose last record is a broken one."""
    chain = text_of(header(), *(user(number, number - 1 or None, "x" * 100) for number in range(1, BEHIND + 1)))
    broken = last if isinstance(last, bytes) else text_of(last)
    return LegacyFile("far-behind", Verdict.CORRUPT, chain + broken, ("S-V3-05",), line=BEHIND + 2)


FAR_BEHIND = {
    "line": _far_behind(b"prune the pear\n"),
    "parent": _far_behind(user(BEHIND + 1, BEHIND + 2)),
    "id": _far_behind(user(7, 6)),
}


@case("S-V3-05", "S-V3-02")
async def an_unterminated_last_line_is_ignored(store: SessionMaker) -> None:
    """A last line without LF is ignored, whatever byte it ends at, a whole record included; its bytes stay, and a fork
    is without it too.

    If this fails, look at: a last line that counts when it is whole; a torn tail that is corruption; a cut as in format
    4.
    """
    expect_equal(len(TORN) > 100, True, of="whether the last line is cut everywhere")
    for number, file in enumerate(TORN):
        await expect_opens(store, file)
        if number % EVERY == 0:
            with about(file):
                fork = await forked(planted(store, file), TreeFork())
                await fork.check("a fork of the closed file")
                await gone(fork)


@case("S-V3-05")
@rows(
    "files",
    lines=named(LINES, "line-", "last-line-", "record-second"),
    types=named(LINES, "record-type-", "record-without-type"),
    fields=tuple(
        file for file in LINES.values() if not file.name.startswith(("line-", "last-line-", "record-")) and file.line
    ),
)
async def a_broken_line_is_corruption_in_that_line(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A complete line that is blank, malformed, no object, of unknown type, or that lacks a further field of its type
    or has one of a wrong type, is corruption in that line, for `open` and for `fork` in both scopes; the last line of
    the file as well, when it ends with LF.

    If this fails, look at: blank lines skipped; unknown types dropped; a broken last line taken for a torn one; line
    numbers that start at 0 or leave the header out; discarded records that are not looked at.
    """
    for file in files:
        await expect_refused(store, file, CorruptSession, line=file.line)


@case("S-V3-05")
@rows("file", TOO_DEEP)
async def a_line_deeper_than_200_is_corruption(store: SessionMaker, file: LegacyFile) -> None:
    """A line of depth 200, its own object counted, is read; one of depth 201 is corruption, in an opaque field and in a
    discarded record too.

    If this fails, look at: the depth of a field taken for that of the line; a limit of the parser, which is another
    one; a limit for retained records only.
    """
    await expect_opens(store, opening("S-V3-05")["deep"])
    await expect_refused(store, file, CorruptSession, line=file.line)


@case("S-V3-05")
@rows("file", FAR_BEHIND)
async def a_fault_far_behind_is_found(store: SessionMaker, file: LegacyFile) -> None:
    """The last line of a long file is judged like the first, and named by its number.

    If this fails, look at: a check of the first chunk only; numbers that count chunks or records.
    """
    await expect_refused(store, file, CorruptSession, line=file.line)


@case("S-V3-06")
@rows(
    "files",
    ids_and_parents=named(GRAPH, "record-id-", "record-without-id", "record-parent-", "record-without-parent"),
    dates=named(GRAPH, "record-date-", "record-timestamp-", "record-without-timestamp"),
    used_twice=named(GRAPH, "id-", "record-twice"),
    parents=named(GRAPH, "parent-"),
)
async def a_broken_graph_is_corruption_in_its_line(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A record without a proper id, parent or date, an id that is used twice, on discarded records too, and a parent
    that is unknown, later or the record itself, is corruption in that line, for `open` and `fork` in both scopes.

    If this fails, look at: an id map that the second record overwrites; discarded records left out of it; parents
    resolved when all records are known; a date that is only needed for retained records.
    """
    expect_equal(len(files) > 3, True, of="whether there are files")
    for file in files:
        await expect_refused(store, file, CorruptSession, line=file.line)
