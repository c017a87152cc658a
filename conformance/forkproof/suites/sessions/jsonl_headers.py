"""Headers that break their table, and files whose header is not understood (section 22.1)."""

from __future__ import annotations

from collections.abc import Callable

from forkgen.damage import Damaged, Verdict
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.damage_verdicts import ID, UnderDamage, each, good_files
from forkstore.contract.errors import (
    CorruptSession,
    ForeignSession,
    SessionExists,
    UnsupportedVersion,
)
from forkstore.contract.forks import BranchFork, TreeFork


@case("S-JSONL-FMT-05")
@rows("good", rich="rich", bare="bare")
async def a_header_that_breaks_its_table_is_corruption_in_line_1(store: SessionMaker, good: str) -> None:
    """A header that lacks a required field, or has any field, required or optional, of another type, null, negative,
    a fraction, a boolean or beyond 2^53−1, makes `open` raise `CorruptSession` in line 1.

    If this fails, look at: defaults for missing fields; null taken for absent; 1.0 or true taken for 1; optional fields
    that are not looked at.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-05", verdicts=[Verdict.CORRUPT]), file.expect_refused)


@case("S-JSONL-FMT-05")
@rows("good", rich="rich", bare="bare")
async def what_the_header_may_have_besides_is_accepted(store: SessionMaker, good: str) -> None:
    """A header with unknown further fields, null ones among them, or with both parents, opens like any other, and stays
    as it stands.

    If this fails, look at: a decoder that forbids unknown fields; a header that is written anew.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-05", verdicts=[Verdict.OPENS]), file.expect_whole_verdict)


@case("S-JSONL-FMT-05")
async def the_fields_of_the_header_become_metadata(store: SessionMaker) -> None:
    """What a header says, in whatever field order and beside unknown fields, is what metadata says: in `list`, and on
    the opened session.

    If this fails, look at: fields taken by position; times taken from the name of the file.
    """
    text = (
        '{"note":null,"legacyParentSessionPath":"/old/walk.jsonl","cwd":%s,"createdAt":1234567890123,"nextSeq":7,'
        '"storageVersion":1,"parentSessionId":"süd","id":"good","kind":"header","v":4}\n'
    )
    cwd = store.raw.cwd
    path = await store.plant((text % f'"{cwd}"').encode(), id=ID, created_at=1_234_567_890_123)
    listed = await store.list()
    session = await store.repo.open(await store.planted_metadata(path))
    found = path.stat().st_mtime_ns // 1_000_000
    expected = ("good", 1_234_567_890_123, 1, "süd", cwd, "/old/walk.jsonl", str(path.resolve()), found)
    for metadata in (session.metadata, *listed):
        seen = (
            metadata.id,
            metadata.created_at,
            metadata.storage_version,
            metadata.parent_session_id,
            metadata.cwd,
            metadata.legacy_parent_session_path,
            metadata.path,
            metadata.modified_at,
        )
        expect_equal(seen, expected, of="the metadata of the session")
    expect_equal(len(listed), 1, of="the number of sessions that are listed")


@case("S-JSONL-FMT-06")
@rows("good", rich="rich", bare="bare")
async def a_file_whose_header_is_not_understood_is_left_alone(store: SessionMaker, good: str) -> None:
    """A file whose header is not understood (damaged, empty, one newline, NUL bytes, another encoding, no header at
    all) is refused as corrupt in line 1, and keeps its bytes, its time and its neighbours.

    If this fails, look at: an empty or unreadable file taken for a new session; a header written over the first line; a
    torn tail cut before the header is read.
    """
    file = UnderDamage.of(store, good)
    await each(file.variants("S-JSONL-FMT-06"), file.expect_refused)
    await each(file.variants(verdicts=[Verdict.UNSUPPORTED]), file.expect_refused)


@case("S-JSONL-FMT-06")
async def no_call_writes_a_file_whose_header_is_not_understood(store: SessionMaker) -> None:
    """Neither `list`, nor a fork in either scope, nor a `create` of the id that its name holds, writes a file whose
    header is not understood; the id counts as taken.

    If this fails, look at: a create that takes over a file it cannot read; a fork that repairs its source; a listing
    that tidies up.
    """
    file = UnderDamage.of(store, "rich")

    async def judge(variant: Damaged) -> None:
        path = file.place(variant)
        metadata = store.raw.metadata(path)
        with ByteGuard(path, of="a file whose header is not understood"):
            await store.list()
            for options in (TreeFork(id="fork"), BranchFork("main", id="fork")):
                with refused(CorruptSession, line=1):
                    await store.repo.fork(metadata, options)
            with refused(SessionExists, session_id=ID):
                await store.create(ID)

    await each(file.variants("S-JSONL-FMT-06"), judge)


BREAKING: dict[str, Callable[[int], int]] = {"high-bit": lambda byte: byte | 0x80, "nul": lambda byte: 0}
"""Changes of one byte that no JSON text survives, wherever they fall."""


@case("S-JSONL-FMT-06")
@rows("change", BREAKING)
async def a_header_with_one_broken_byte_is_left_alone(store: SessionMaker, change: Callable[[int], int]) -> None:
    """A header in which one byte, whichever, became NUL or lost its place in UTF-8 is corruption in line 1, and the
    file stays as it is.

    If this fails, look at: decoders that replace or skip what they cannot read; headers found by a search in the text.
    """
    good = good_files(store.raw.cwd)["rich"]
    for at in range(good.index(b"\n")):
        path = await store.plant(_changed(good, at, change(good[at])), id=ID)
        with ByteGuard(path, of=f"the file whose byte {at} was changed"), refused(CorruptSession, line=1):
            await store.repo.open(store.raw.metadata(path))


@case("S-JSONL-FMT-06")
async def a_header_with_one_other_byte_is_left_alone(store: SessionMaker) -> None:
    """A header in which one byte became another: the session opens, belongs to another id or cwd, has another version,
    or is corrupt in line 1; in no case does a byte of the file change.

    If this fails, look at: a header that is put right on opening.
    """
    good = good_files(store.raw.cwd)["rich"]
    words = set()
    for at in range(good.index(b"\n")):
        path = await store.plant(_changed(good, at, good[at] ^ 1), id=ID)
        with ByteGuard(path, of=f"the file whose byte {at} was changed"):
            opened = await ended(store.repo.open(store.raw.metadata(path)))
            if opened.error is None:
                await opened.value.close()
        words.add(opened.word)
    known = {"returned", *(error.__name__ for error in (CorruptSession, ForeignSession, UnsupportedVersion))}
    expect_equal(sorted(words - known), [], of="answers that no changed header may have")


def _changed(data: bytes, at: int, byte: int) -> bytes:
    return data[:at] + bytes([byte]) + data[at + 1 :]
