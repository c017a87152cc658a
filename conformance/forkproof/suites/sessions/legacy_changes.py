"""Legacy v3 sources that change while they are forked: what is added is ignored, anything else ends the fork
(S-V3-27).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from forkgen.legacy import LegacyFile
from forkgen.legacy.records import label, model, record, text_of, thinking, user
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.gates import POINTS
from forkproof.instruments.racing import Ended, ended
from forkproof.makers import SessionMaker
from forkproof.makers.file_states import LegacySession
from forkproof.suites.sessions.legacy_judging import fork_model, gone, planted
from forkproof.suites.sessions.legacy_own_files import RICH, long_chain
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session

COUNT = 1_800
"""So many long records that a fork is far from its end when it tells of its first batch."""
SCOPES: dict[str, ForkOptions] = {"tree": TreeFork(id="fork"), "branch": BranchFork("main", id="fork")}

ADDED = {
    "record": text_of(user(3_001, 15, "too late")),
    "records-of-every-fate": text_of(
        user(3_001, 3),
        model(3_002, 3_001, "o-9"),
        thinking(3_003, 3_002, "max"),
        record(3_004, "session_info", 3_003, name="too late"),
        label(3_005, 3_004, 3, label="too late"),
    ),
    "torn-record": text_of(user(3_001, 15))[:-9],
    "broken-line": b"prune the pear\n",
    "blank-line": b"\n",
    "broken-graph": text_of(user(3_001, 3_002), label(3_003, 3_001, 3_009)),
    "nul-run": bytes(5_000),
    "many-records": text_of(*(user(3_001 + number, 15, "y" * 200) for number in range(1_000))),
}
"""What somebody appends to the source."""

Change = Callable[[LegacySession], None]


@cache
def _large() -> LegacyFile:
    return long_chain(COUNT, "x" * 300)


def _rewritten(change: Callable[[bytes], bytes]) -> Change:
    """Gives the same file other bytes."""

    def rewrite(session: LegacySession) -> None:
        before = session.path.read_bytes()
        after = change(before)
        if after == before:
            raise ValueError("the change changes nothing")
        session.store.raw.replace(session.path, after)

    return rewrite


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Change:
    """Changes the lines of the file; the header is the first, and record n of `RICH` the line of index n."""
    return _rewritten(lambda data: b"".join(change(data.splitlines(keepends=True))))


def _letters(number: int, old: bytes, new: bytes) -> Change:
    """Other letters in one line, as many as before."""
    return _lines(lambda lines: [line.replace(old, new) if at == number else line for at, line in enumerate(lines)])


def _cut(size: int) -> Change:
    """Takes so many bytes off the end."""
    return lambda session: session.store.raw.cut(session.path, session.path.stat().st_size - size)


def _without(start: int, end: int) -> Change:
    return _lines(lambda lines: lines[:start] + lines[end:])


CHANGED: dict[str, Change] = {
    "first-message": _letters(3, b"prune", b"pruNe"),
    "last-record": _letters(15, b"rain", b"snow"),
    "discarded-record": _letters(1, b"o-2", b"o-3"),
    "label": _letters(9, b'"answer"', b'"query?"'),
    "name": _letters(12, b"pruning", b"raking."),
    "off-the-branch": _letters(5, b"apple", b"peach"),
    "time": _letters(13, b"08:53:33", b"08:53:34"),
    "kind": _letters(14, b'"active_tools_change"', b'"active_tools_Change"'),
    "id-of-the-last-record": _letters(15, b"0b10c00f", b"0b10c0ff"),
    "parent": _letters(15, b"0b10c00e", b"0b10c00d"),
    "lf-into-blank": _rewritten(lambda data: data[:-1] + b" "),
    "two-exchanged": _lines(lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]]),
    "two-labels-exchanged": _lines(lambda lines: [*lines[:8], lines[9], lines[8], *lines[10:]]),
    "one-twice": _lines(lambda lines: [*lines[:13], lines[13], *lines[13:]]),
    "one-put-in": _lines(lambda lines: [*lines[:13], text_of(user(99, 12)), *lines[13:]]),
    "one-missing": _without(5, 6),
    "last-missing": _without(15, 16),
    "last-cut": _cut(9),
    "last-lf-cut": _cut(1),
    "half-missing": _without(8, 16),
    "all-missing": _without(1, 16),
    "emptied": _rewritten(lambda data: b""),
    "nul-bytes": _rewritten(lambda data: bytes(len(data))),
}
"""What somebody does to records that a fork of `RICH` has read, in the same file."""


def _removed(session: LegacySession) -> None:
    session.store.raw.remove(session.path)


def _put_in_its_place(contents: bytes) -> Change:
    """Another file under its name."""

    def put(session: LegacySession) -> None:
        draft = session.path.with_name("other.jsonl")
        draft.write_bytes(contents)
        draft.replace(session.path)

    return put


REPLACED: dict[str, Change] = {
    "removed": _removed,
    "by-fewer-records": _put_in_its_place(b"".join(RICH.contents.splitlines(keepends=True)[:8])),
    "by-changed-records": _put_in_its_place(RICH.contents.replace(b"rain", b"snow")),
}
"""What somebody does to the name of the file."""


def _appending(session: LegacySession, point: str, added: bytes) -> None:
    """Has the next fork meet bytes that were appended when it reaches the point."""

    async def append() -> None:
        session.store.raw.append(session.path, added)

    session.store.probe.run(point, append)


async def _expect_fork_of_before(session: LegacySession, options: ForkOptions, live: Session) -> None:
    """Breaks the clause unless the fork holds what the file held at first."""
    fork = session.store.subject(live, fork_model(session, options, await live.scan_entries()))
    await fork.check("the fork")
    await gone(fork)


async def _expect_ended(session: LegacySession, options: ForkOptions, point: str, change: Change, *right: str) -> Ended:
    """Starts a fork that meets the change at the point. Breaks the clause unless it ends in one of these ways, and
    leaves nothing behind when it fails.
    """
    store = session.store
    left: dict[Path, bytes] = {}

    async def act() -> None:
        change(session)
        left.update({session.path: session.path.read_bytes()} if session.path.exists() else {})

    store.probe.run(point, act)
    outcome = await ended(store.repo.fork(session.metadata, options))
    expect_equal(store.probe.count(point) > 0, True, of=f"whether the fork awaited {point}")
    told = f"{outcome.word}: {outcome.error}" if outcome.error else outcome.word
    expect(outcome.word in right, f"how the fork ended\nexpected: {' or '.join(right)}\nseen:     {told}")
    if outcome.error is not None:
        found = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
        expect_equal(found, left, of="the files in the store after the fork that failed")
        await gone(await store.create("fork"))
    return outcome


@case("S-V3-27")
@rows("options", SCOPES)
@rows("added", ADDED)
async def what_is_appended_after_the_first_scan_is_ignored(
    store: SessionMaker, options: ForkOptions, added: bytes
) -> None:
    """What is appended to a closed v3 source after the first scan, whole records, torn ones and broken lines, is absent
    from the fork and does not make it fail, wherever the fork stands by then.

    If this fails, look at: a second scan to the end of the file; sizes or times compared instead of records; a name or
    a lane taken in the second scan.
    """
    for point in POINTS:
        session = planted(store, RICH)
        _appending(session, point, added)
        outcome = await ended(store.repo.fork(session.metadata, options))
        told = f"how the fork ended after an append at {point}: {outcome.error}"
        expect_equal(outcome.word, "returned", of=told)
        await _expect_fork_of_before(session, options, outcome.value)
        expect_equal(session.path.read_bytes(), session.case.contents + added, of="the bytes of the source")


@case("S-V3-27")
@rows("options", SCOPES)
async def a_torn_tail_that_is_completed_is_ignored(store: SessionMaker, options: ForkOptions) -> None:
    """A torn tail of a v3 source that becomes a whole record after the first scan is absent from the fork.

    If this fails, look at: the end of the file taken for the boundary instead of its last LF.
    """
    whole = text_of(user(3_001, 15, "completed"))
    torn = replace(RICH, name="torn-rich-lane", contents=RICH.contents + whole[:40])
    for point in POINTS:
        session = planted(store, torn)
        _appending(session, point, whole[40:])
        await _expect_fork_of_before(session, options, await store.repo.fork(session.metadata, options))


@case("S-V3-27")
@rows("options", SCOPES)
async def appends_to_a_large_source_are_ignored(store: SessionMaker, options: ForkOptions) -> None:
    """The same for a source of many batches, appended to between two of them.

    If this fails, look at: a reader that goes on to the new end; a size that is asked for again.
    """
    for point in POINTS:
        session = planted(store, _large())
        _appending(session, point, ADDED["many-records"])
        await _expect_fork_of_before(session, options, await store.repo.fork(session.metadata, options))


@case("S-V3-27")
@rows("options", SCOPES)
@rows("change", CHANGED)
async def a_changed_record_ends_the_fork(store: SessionMaker, options: ForkOptions, change: Change) -> None:
    """When a record that the first scan has read is changed, missing, moved or another before the second scan reads it,
    the fork raises SessionFileChanged and leaves nothing behind: also a record that is discarded, that lies off the
    branch, or whose change keeps the size of the file.

    If this fails, look at: sizes compared instead of bytes; records compared where they are copied only; a fault of the
    second scan that is told as corruption; a mixture of both states.
    """
    session = planted(store, RICH)
    outcome = await _expect_ended(session, options, "boundary_captured", change, "SessionFileChanged")
    expect_equal(getattr(outcome.error, "path", None), session.metadata.path, of="the path in the refusal")


LATE: dict[str, Change] = {
    "last-record": _letters(COUNT + 2, b"x" * 300, b"y" * 300),
    "last-cut": _cut(9),
    "last-missing": _without(COUNT + 2, COUNT + 3),
    "half-missing": _without(1_500, COUNT + 3),
    "one-missing": _without(1_600, 1_601),
    "emptied": _rewritten(lambda data: b""),
}
"""What somebody does to records of the large source that the second scan has not reached at the first batch."""


@case("S-V3-27")
@rows("options", SCOPES)
@rows("change", LATE)
async def a_record_changed_while_the_fork_copies_ends_it(
    store: SessionMaker, options: ForkOptions, change: Change
) -> None:
    """The same for a large source whose records are changed between two batches, in front of the second scan.

    If this fails, look at: a comparison made once, when the second scan begins.
    """
    await _expect_ended(planted(store, _large()), options, "batch_copied", change, "SessionFileChanged")


@case("S-V3-27", "S-FORK-ORD-08")
@rows("options", SCOPES)
@rows("change", REPLACED)
@rows("point", boundary="boundary_captured", batch="batch_copied")
async def a_source_that_is_removed_or_replaced_gives_no_mixture(
    store: SessionMaker, options: ForkOptions, change: Change, point: str
) -> None:
    """When the file of the source is removed, or another is put in its place, the fork holds what the file held at
    first, or fails with SessionFileChanged or SessionNotFound; it holds nothing of the other file.

    If this fails, look at: the path opened a second time without a look at which file it is.
    """
    session = planted(store, RICH)
    right = ("SessionFileChanged", "SessionNotFound", "returned")
    outcome = await _expect_ended(session, options, point, change, *right)
    if outcome.error is None:
        await _expect_fork_of_before(session, options, outcome.value)
