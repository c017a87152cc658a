"""What happens to a source while it is forked: commits, foreign bytes, and another file in its place (S-FORK-ORD-04,
S-FORK-ORD-08, S-JSONL-FORK-07).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forkgen import ExpectationBroken, check_session
from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker
from forkproof.makers.file_states import HugeSession
from forkproof.makers.raw_files import RawFiles
from forkproof.makers.small_file import small_file
from forkproof.suites.sessions.fork_ordering import turn
from forkproof.suites.sessions.forking import CLOSED, OPEN, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.jsonl_sources import planted
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session

TWO_BATCHES, SEVERAL_BATCHES = 1_100, 2_300
"""Entries that take more than one batch, and more than two."""


@case("S-FORK-ORD-04")
@rows("point", boundary="boundary_captured", batch="batch_copied")
@in_both_scopes
async def a_commit_completes_while_the_fork_copies(store: SessionMaker, point: str, options: ForkOptions) -> None:
    """A commit to the source that is started after the boundary completes while the fork is still copying, is absent
    from it wholly, and is in the next fork.

    If this fails, look at: a lock that is held until the copy is done; a copy that reads on behind the boundary; a
    commit that the fork takes for somebody else's.
    """
    source = await store.large_session(SEVERAL_BATCHES)
    model = source.model.fork(options, source.id)
    model.look_at([("garden.plan", ""), ("garden.log", ""), ("pi.session.name", "")])
    gate = store.probe.park(point)
    forking = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(forking)
    copied = store.probe.copied
    await source.raw_commit(*turn(1, source.model.tip("main")))
    await source.check("the source, with a commit that was made while the fork was copying")
    expect(not forking.done(), "expected: the fork waits for the probe\nseen:     it has ended")
    gate.release()
    fork = store.subject(await forking, model)
    expect(store.probe.copied > copied, "expected: further batches behind the commit\nseen:     none")
    await fork.check("the fork, without the commit behind its boundary")
    later = await source.fork(options)
    await later.check("a fork that was started after the commit")
    await source.check("the source")


LINE = b'{"kind":"entry","id":"late","parentId":null,"type":"custom","customType":"x","seq":%d,"timestamp":1}'
UNDECLARED = b'{"kind":"value","op":"set","seq":9001,"namespace":"pi.unknown","key":"","value":1}'
BEHIND = {
    "complete": LINE % 9001 + b"\n",
    "transaction": b"[" + LINE % 9001 + b"," + UNDECLARED.replace(b"9001", b"9002") + b"]\n",
    "undeclared": UNDECLARED + b"\n",
    "lower-sequence": LINE % 1 + b"\n",
    "id-again": LINE.replace(b"late", b"e1") % 9001 + b"\n",
    "torn": (LINE % 9001)[:40],
    "torn-without-line-feed": LINE % 9001,
    "broken": b'{"kind":"entry",\n',
    "prose": b"the beans were watered\n",
    "blank-line": b"\n",
    "nul-bytes": bytes(4_096),
    "malformed-utf8": b"\xff\xfe\n",
    "header": small_file().partition(b"\n")[0] + b"\n",
    "long-line": b'{"kind":"entry","id":"' + b"x" * 200_000,
}
"""Bytes that somebody appends while a fork runs."""


@case("S-JSONL-FORK-07")
@rows("behind", BEHIND)
@in_both_scopes
@from_open_and_closed
async def what_is_appended_behind_the_boundary_does_not_count(
    store: SessionMaker, behind: bytes, options: ForkOptions, source_is: str
) -> None:
    """Whatever is appended to the file of the source once the boundary is fixed, complete, torn or broken, is absent
    from the fork and does not make it fail.

    If this fails, look at: a scan to the end of the file; a boundary of the sequences alone, with all lines judged; a
    size that is compared at the end.
    """
    source = await planted(store, small_file(cwd=store.raw.cwd))
    if source_is == OPEN:
        await store.repo.open(source.metadata)

    async def append() -> None:
        store.raw.append(source.path, behind)

    store.probe.run("boundary_captured", append)
    await source.fork(options)


@case("S-JSONL-FORK-07")
@in_both_scopes
async def the_rest_of_a_torn_line_comes_too_late(store: SessionMaker, options: ForkOptions) -> None:
    """The rest of a torn line that is appended once the boundary of a closed source is fixed does not bring its
    transaction into the fork.

    If this fails, look at: a second scan that ends at the end of the file.
    """
    *lines, last = small_file(cwd=store.raw.cwd).splitlines(keepends=True)
    source = await planted(store, b"".join(lines), left_out=last[:50])

    async def append() -> None:
        store.raw.append(source.path, last[50:])

    store.probe.run("boundary_captured", append)
    await source.fork(options)


@case("S-JSONL-FORK-07")
@rows("behind", {name: BEHIND[name] for name in ("complete", "torn", "broken")})
@in_both_scopes
@from_open_and_closed
async def what_is_appended_between_batches_does_not_count(
    store: SessionMaker, behind: bytes, options: ForkOptions, source_is: str
) -> None:
    """Bytes that are appended to the source between two batches are absent from the fork and do not make it fail.

    If this fails, look at: a second scan that goes further than the first; a file whose size is compared in between.
    """
    source = store.huge_session(TWO_BATCHES)
    if source_is == OPEN:
        await store.repo.open(source.metadata)

    async def append() -> None:
        store.raw.append(source.path, behind)

    store.probe.run("batch_copied", append)
    await _expect_forked(source, await store.repo.fork(source.metadata, options), options)


async def _expect_forked(source: HugeSession, fork: Session, options: ForkOptions) -> None:
    try:
        await check_session(fork, source.generated.expectation.fork(options))
    except ExpectationBroken as error:
        raise ClauseBroken(f"the fork\nexpected: the state at its boundary\nseen:     {error}") from error


@case("S-OWN-15", needs=("probe", "raw-files", "raw-commit"), kinds=("jsonl",))
@in_both_scopes
async def a_torn_source_is_opened_while_it_is_forked(store: SessionMaker, options: ForkOptions) -> None:
    """A closed source with a torn tail is opened, repaired by that, written and closed while it is forked: the fork
    holds its state at the boundary, or says that the source has changed; the source goes on.

    If this fails, look at: a repair that a fork in progress takes for an empty or a foreign file; a source that is
    reserved for the fork.
    """
    source = await store.torn_tail_session(id="source")
    model = source.model.fork(options, source.id)
    gate = store.probe.park("boundary_captured")
    forking = asyncio.create_task(ended(store.repo.fork(source.metadata, options)))
    await gate.reached_by(forking)
    await source.open()
    await source.raw_commit(*turn(1, source.model.tip("main")))
    await source.close()
    gate.release()
    ending = await forking
    expect(ending.word in ("returned", "SessionFileChanged"), f"expected: the fork\nseen:     {ending.error!r}")
    if ending.error is None:
        await store.subject(ending.value, model).check("the fork of the source as it was torn")
    await source.open()
    await source.check_everywhere()


def _other(path: Path) -> bytes:
    """The same session with another payload in every entry, in as many bytes."""
    return path.read_bytes().replace(b"xxx", b"yyy")


def _take_place(raw: RawFiles, path: Path, data: bytes) -> None:
    """Another file in the place of the first, by a rename."""
    new = path.with_name("new.jsonl.tmp")
    new.write_bytes(data)
    os.replace(new, path)  # noqa: PTH105
    raw.append(path, b"")


def _write_anew(raw: RawFiles, path: Path) -> None:
    data = _other(path)
    raw.remove(path)
    raw.replace(path, data)


def _regrow(raw: RawFiles, path: Path) -> None:
    data, half = _other(path), path.stat().st_size // 2
    raw.cut(path, half)
    raw.append(path, data[half:])


@dataclass(frozen=True)
class Change:
    """Something that happens to the file of a source. One `in_place` leaves no trace for who reads only later."""

    make: Callable[[RawFiles, Path], None]
    in_place: bool = False


CHANGES: Mapping[str, Change] = {
    "deleted": Change(lambda raw, path: raw.remove(path)),
    "replaced": Change(lambda raw, path: _take_place(raw, path, _other(path))),
    "replaced-by-less": Change(
        lambda raw, path: _take_place(raw, path, _other(path)[:-20_000].rpartition(b"\n")[0] + b"\n")
    ),
    "replaced-by-more": Change(lambda raw, path: _take_place(raw, path, _other(path) + LINE % 9001 + b"\n")),
    "replaced-by-a-header": Change(
        lambda raw, path: _take_place(raw, path, path.read_bytes().partition(b"\n")[0] + b"\n")
    ),
    "deleted-and-written-anew": Change(_write_anew),
    "emptied": Change(lambda raw, path: raw.cut(path, 0)),
    "cut-in-a-line": Change(lambda raw, path: raw.cut(path, path.stat().st_size // 2)),
    "cut-behind-a-line": Change(lambda raw, path: raw.cut(path, path.read_bytes()[:-9_000].rindex(b"\n") + 1)),
    "rewritten": Change(lambda raw, path: raw.replace(path, _other(path)), in_place=True),
    "cut-and-grown-again": Change(_regrow, in_place=True),
}

MOMENTS: Mapping[str, tuple[str, str]] = {
    "open-boundary": (OPEN, "boundary_captured"),
    "open-batch": (OPEN, "batch_copied"),
    "closed-boundary": (CLOSED, "boundary_captured"),
    "closed-batch": (CLOSED, "batch_copied"),
    "closed-publish": (CLOSED, "before_publish"),
}
EVENTS = {
    f"{what}-{when}": (what, when)
    for what, change in CHANGES.items()
    for when in MOMENTS
    # Nothing of an open source was read at its boundary: what changes in place then cannot be told from the source.
    if not (change.in_place and when == "open-boundary")
}
SCOPES: tuple[ForkOptions, ...] = (BranchFork("main", id="fork"), TreeFork(id="fork"))


@case("S-FORK-ORD-08", kinds=("jsonl",))
@rows("event", {name: (*event, SCOPES[place % 2]) for place, (name, event) in enumerate(EVENTS.items())})
async def a_source_that_goes_away_is_never_mixed(store: SessionMaker, event: tuple[str, str, ForkOptions]) -> None:
    """When the source is deleted, replaced, cut or rewritten while it is forked, the fork either holds the state at its
    boundary or fails with `SessionFileChanged` or `SessionNotFound`, and then leaves nothing.

    If this fails, look at: scans of two files; a second scan that trusts the size; entries of one content beside the
    tips of another; a failure that is told as corruption.
    """
    what, when, options = event
    change, (source_is, point) = CHANGES[what], MOMENTS[when]
    source = store.huge_session(TWO_BATCHES)
    if source_is == OPEN:
        await store.repo.open(source.metadata)

    async def act() -> None:
        change.make(store.raw, source.path)

    store.probe.run(point, act)
    ending = await ended(store.repo.fork(source.metadata, options))
    expect_equal(store.probe.count(point) > 0, True, of=f"whether the fork came to {point}")
    if ending.error is None:
        await _expect_forked(source, ending.value, options)
        return
    refusals = ("SessionFileChanged", "SessionNotFound")
    expect(ending.word in refusals, f"expected: {' or '.join(refusals)}, or the fork\nseen:     {ending.error!r}")
    left = [path.name for path in store.root.rglob("*") if path.is_file() and path != source.path]
    expect_equal(left, [], of="files that the failed fork has left")
    await (await store.create("fork")).check("a session with the id of the failed fork")
