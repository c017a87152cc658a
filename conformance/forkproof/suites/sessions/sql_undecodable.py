"""Rows whose JSON text cannot be decoded: named when they are read, left where they are, no harm to others."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject, records
from forkproof.suites.sessions.planted_texts import SOUND_ROWS, SPOTS, USAGE, Spot, place_of, planted, sound_rows
from forkstore.contract.errors import CorruptSession
from forkstore.contract.forks import BranchFork, TreeFork

TEXTS: dict[str, bytes] = {
    "nothing": b"",
    "cut": b'{"message":{"role":',
    "no-json": b"water the beans",
    "two-values": b"1 2",
    "not-a-number": b"NaN",
    "single-quotes": b"{'a':1}",
    "no-utf-8": b'{"message":"\xff"}',
    "half-a-letter": b'"\xf0\x9f\x8c"',
    "surrogate-in-utf-8": b'{"message":"\xed\xa0\x80"}',
    "nul": b'{"message":0}\x00',
    "bare-control": b'{"message":"\n"}',
}
"""Texts that no row may hold, wherever they stand."""
OBJECTS: dict[str, bytes] = {"array": b"[]", "null": b"null", "text": b'"{}"', "number": b"7"}
"""Texts that are JSON, and no object."""


async def _expect_named(subject: Subject, spot: Spot, read: Awaitable[object], of: str) -> None:
    """The read is refused, and the reason names the table and the key of the row."""
    try:
        with refused(CorruptSession, path=str(place_of(subject)), line=None) as refusal:
            await read
    except ClauseBroken as broken:
        raise ClauseBroken(f"{of}\n{broken}") from broken
    reason: str = refusal.error.reason
    missing = [name for name in (spot.table, *spot.keys) if name not in reason]
    expect(not missing, f"{of}: the reason\nexpected: names {', '.join(missing)}\nseen:     {reason!r}")


async def _expect_corrupt_row(subject: Subject, spot: Spot, text: bytes) -> None:
    """Every read that meets the row names it; the row stays as it is, and other rows are read."""
    spot.plant(subject.store, subject.metadata, text)
    for number, read in enumerate((spot.read, *spot.reads)):
        of = f"read {number} of a {spot.column} of {spot.table} that holds {text!r}"
        await _expect_named(subject, spot, read(subject.session), of)
    expect_equal(spot.stored(subject.store, subject.metadata), text, of="the text of the row after it was read")
    expect_equal(await sound_rows(subject.session), SOUND_ROWS, of="other rows")


@case("S-QRY-20")
@rows("spot", {**SPOTS, "usage": USAGE})
async def a_text_that_is_no_json_is_named(store: SessionMaker, spot: Spot) -> None:
    """Every read that meets a row whose text cannot be decoded raises `CorruptSession` whose reason names the table and
    the key of the row, live and reopened; the row stays, and other rows are read.

    If this fails, look at: an error of the decoder or of the database that comes through; a reason without the key;
    text that the database decodes before anybody can ask; a NUL at which the text ends.
    """
    subject = await planted(store)
    for text in TEXTS.values():
        await _expect_corrupt_row(subject, spot, text)
    await subject.reopen()
    await _expect_corrupt_row(subject, spot, TEXTS["no-utf-8"])


@case("S-QRY-20")
@rows("spot", message=SPOTS["message"], data=SPOTS["data"], usage=USAGE)
async def a_payload_that_is_no_object_is_named(store: SessionMaker, spot: Spot) -> None:
    """A payload and a usage that are JSON, but no object, are corruption like any other.

    If this fails, look at: a payload that is merged into the entry without a look.
    """
    subject = await planted(store)
    for text in OBJECTS.values():
        await _expect_corrupt_row(subject, spot, text)


@case("S-QRY-20")
async def reads_that_do_not_meet_the_row_go_on(store: SessionMaker) -> None:
    """Statistics, structures, branches, names and pages that end before the row are read beside undecodable rows; so is
    the list of sessions, and opening.

    If this fails, look at: structures that decode what they do not show; a session that is read in full to open it.
    """
    subject = await planted(store)
    before = await subject.session.get_stats()
    structures = await subject.session.scan_branch_structure("last")
    for spot in SPOTS.values():
        spot.plant(store, subject.metadata, TEXTS["no-utf-8"])
    await subject.reopen()
    session = subject.session
    expect_equal(await session.get_stats(), before, of="the statistics")
    expect_equal(await session.scan_branch_structure("last"), structures, of="the structures")
    expect_equal([entry["id"] for entry in await session.scan_entries(limit=1)], ["e1"], of="the first entry")
    newest = await session.scan_branch("last", limit=1)
    expect_equal([entry["id"] for entry in newest], ["last"], of="the newest entry of the branch")
    branch = await session.branch("main")
    expect_equal(branch and await branch.get_tip_id(), "last", of="the tip")
    expect_equal(await store.listed_ids(), [subject.id], of="the sessions that are listed")


@case("S-QRY-20")
@rows("text", no_json=TEXTS["no-json"], no_utf_8=TEXTS["no-utf-8"])
async def commits_go_on_behind_a_damaged_row(store: SessionMaker, text: bytes) -> None:
    """Behind the newest entry that cannot be decoded commits go on; the damaged row is named as before, and stays.

    If this fails, look at: a commit that reads the parent's payload; an append that repairs or removes.
    """
    subject = await planted(store)
    spot = SPOTS["data"]
    await subject.set_tip("main", "noted")
    spot.plant(store, subject.metadata, text)
    await subject.append("main", entry=records.message_entry("behind", None))
    await subject.append("main", entry=records.message_entry("beside-it", None))
    seen = await subject.session.scan_branch("beside-it", limit=2)
    expect_equal([entry["id"] for entry in seen], ["beside-it", "behind"], of="the entries behind it")
    await _expect_named(subject, spot, spot.read(subject.session), "the damaged row after commits")
    expect_equal(spot.stored(store, subject.metadata), text, of="the text of the row after commits")


SELECTED: dict[str, str] = {
    "tip": "pi.branch.tip",
    "configuration": "pi.lane.config",
    "state": "pi.lane.state",
    "label": "pi.entry.label",
}


@case("S-QRY-20", "S-FORK-FAIL-02", needs=("raw-files",))
@rows("namespace", SELECTED)
async def a_fork_names_what_it_cannot_decode(store: SessionMaker, namespace: str) -> None:
    """A fork that has to read a scalar whose text cannot be decoded either raises `CorruptSession` that names the row,
    and leaves nothing, or copies the text as it stands: it raises nothing else, and never makes up a value.

    If this fails, look at: an error of the decoder that comes through; a lane made of what could not be read.
    """
    source = await planted(store)
    await source.session.set_label("e1", "start")
    key = "e1" if namespace == "pi.entry.label" else "main"
    where = f"namespace = '{namespace}' AND key = '{key}'"
    spot = Spot("scalar_values", "value", where, (namespace, key), SPOTS["scalar"].read, ())
    for text in (TEXTS["cut"], TEXTS["no-utf-8"]):
        spot.plant(store, source.metadata, text)
        for options in (TreeFork(id="fork"), BranchFork("main", id="fork")):
            await _expect_named_or_copied(source, spot, options, text)


async def _expect_named_or_copied(source: Subject, spot: Spot, options: Any, text: bytes) -> None:
    store = source.store
    try:
        fork = await store.repo.fork(source.metadata, options)
    except CorruptSession as error:
        missing = [name for name in (spot.table, *spot.keys) if name not in error.reason]
        expect(not missing, f"the reason\nexpected: names {', '.join(missing)}\nseen:     {error.reason!r}")
        await store.assert_only_known_sessions(source)
        return
    if spot.keys[0] != "pi.lane.state":
        # The state of a lane begins anew in a fork, whatever it was.
        expect_equal(spot.stored(store, fork.metadata), text, of=f"the text in the fork by {options!r}")
    await fork.close()
    await store.repo.delete(fork.metadata)
