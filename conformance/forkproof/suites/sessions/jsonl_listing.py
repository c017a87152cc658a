"""Listing session files: what is left out, how little is read, and who may work meanwhile (S-REPO-13 to S-REPO-15)."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard, tree
from forkproof.instruments.clocks import START
from forkproof.instruments.file_spy import FileSpy
from forkproof.makers import SessionMaker
from forkproof.makers.small_file import CWD, small_file
from forkstore.contract.files import CHUNK

DATE = "2025-10-09T08:53:20.000Z"
MANY = 10_000
AT_ONCE = 64
"""Files that a listing may read side by side: a number that does not depend on how many there are."""


def header(**changes: object) -> bytes:
    """A header of format 4 with some fields changed, and others left out (None)."""
    fields = {"v": 4, "kind": "header", "id": "odd", "storageVersion": 1, "createdAt": START, "cwd": CWD} | changes
    return _line(fields)


def legacy_header(**changes: object) -> bytes:
    """A header of version 3 with some fields changed, and others left out (None)."""
    return _line({"type": "session", "version": 3, "id": "odd", "timestamp": DATE, "cwd": CWD} | changes)


def _line(fields: dict[str, object]) -> bytes:
    kept = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def _of_length(make: Callable[..., bytes], length: int) -> bytes:
    """A header whose line has `length` bytes without its LF, thanks to a field that nobody knows."""
    missing = length - (len(make(further="")) - 1)
    return make(further="x" * missing)


UNRECOGNISED: dict[str, bytes] = {
    "empty": b"",
    "one-newline": b"\n",
    "nul-bytes": bytes(4_096),
    "nul-bytes-and-newline": bytes(4_096) + b"\n",
    "prose": b"the beans were watered\n",
    "malformed-utf8": header().replace(b"odd", b"\xff\xfe"),
    "utf-16": header().decode().encode("utf-16"),
    "two-marks": b"\xef\xbb\xbf" * 2 + header(),
    "null": b"null\n",
    "array": b"[" + header()[:-1] + b"]\n",
    "empty-object": b"{}\n",
    "a-record-first": b'{"kind":"value","op":"delete","seq":1,"namespace":"garden.plan","key":""}\n' + header(),
    "blank-line-first": b"\n" + header(),
    "cut-in-the-header": header()[:30],
    "cut-and-ended": header()[:30] + b"\n",
    "header-without-line-feed": header()[:-1],
    **{f"no-{name}": header(**{name: None}) for name in ("v", "kind", "id", "storageVersion", "createdAt", "cwd")},
    "storage-version-2": header(storageVersion=2),
    "version-5": header(v=5),
    "time-in-text": header(createdAt=DATE),
    "null-parent": header()[:-2] + b',"parentSessionId":null}\n',
    **{f"legacy-no-{name}": legacy_header(**{name: None}) for name in ("type", "id", "timestamp", "cwd")},
    "legacy-version-1": legacy_header(version=None),
    "legacy-version-2": legacy_header(version=2),
    "legacy-bad-date": legacy_header(timestamp="yesterday"),
}
"""Files that are no session, or none that this store reads."""


@case("S-REPO-13", kinds=("jsonl",))
@rows("contents", UNRECOGNISED)
async def files_that_are_no_session_are_left_out(store: SessionMaker, contents: bytes) -> None:
    """`list` leaves out, without an error, a file that it cannot recognise, and reports the sessions beside it.

    If this fails, look at: an error of one file that ends the listing; a session made up from the file's name; a header
    that is checked in part.
    """
    await store.plant(small_file(id="before", cwd=CWD), id="before", cwd=CWD, created_at=START - 1)
    await store.plant(legacy_header(id="legacy"), id="legacy", cwd=CWD, created_at=START)
    odd = await store.plant(contents, id="odd", cwd=CWD, created_at=START)
    with ByteGuard(odd, root=store.root, of="the file that is left out"):
        listed = [metadata.id for metadata in await store.repo.list()]
        expect_equal(sorted(listed), ["before", "legacy"], of="the sessions that are listed")
        of_directory = [metadata.id for metadata in await store.repo.list(cwd=CWD)]
        expect_equal(sorted(of_directory), ["before", "legacy"], of="the sessions of the working directory")


@case("S-REPO-13", kinds=("jsonl",))
async def what_is_no_file_is_left_out(store: SessionMaker) -> None:
    """A directory, a link that leads nowhere, a link in a circle and a link to a directory, each named like a session
    file, are left out without an error.

    If this fails, look at: a name that is taken for a file without a look; a link that is followed and not found.
    """
    await store.plant(small_file(id="good", cwd=CWD), id="good", cwd=CWD)
    place = store.raw.directory(CWD)
    names = [f"2025-10-09T08-53-20-12{number}Z_odd.jsonl" for number in range(4)]
    directory, nowhere, circle, to_directory = (place / name for name in names)
    directory.mkdir()
    links = {nowhere: place / "nothing-here", circle: circle, to_directory: directory}
    try:
        for link, target in links.items():
            link.symlink_to(target)
        expect_equal(await store.listed_ids(), ["good"], of="the sessions that are listed")
    finally:
        for link in links:
            link.unlink(missing_ok=True)
        directory.rmdir()


@case("S-REPO-13", kinds=("jsonl",))
async def listing_changes_and_makes_nothing(store: SessionMaker) -> None:
    """`list`, of everything, of a working directory and of one that nobody used, opens nothing for writing, changes no
    byte, no time and no name, and makes nothing; torn tails, legacy files and files that it leaves out included.

    If this fails, look at: a torn tail that is repaired; a directory that is made to be looked into; a cache beside the
    files; a legacy file that is upgraded.
    """
    paths = [await store.plant(small_file(id="whole", cwd=CWD), id="whole", cwd=CWD)]
    paths.append(await store.plant(small_file(id="torn", cwd=CWD)[:-9], id="torn", cwd=CWD))
    paths.append(await store.plant(legacy_header(id="legacy"), id="legacy", cwd=CWD))
    paths.append(await store.plant(header()[:30], id="odd", cwd=CWD))
    with ByteGuard(*paths, root=store.root, of="the files that are listed"), AuditSpy(store.root, of="the root"):
        everything = await store.listed_ids()
        of_directory = [metadata.id for metadata in await store.repo.list(cwd=CWD)]
        of_nobody = await store.repo.list(cwd="/srv/nobody-was-here")
    expect_equal(everything, ["legacy", "torn", "whole"], of="the sessions that are listed")
    expect_equal(sorted(of_directory), everything, of="the sessions of the working directory")
    expect_equal(of_nobody, [], of="the sessions of a working directory that has none")


@case("S-REPO-13", kinds=("jsonl",))
async def a_missing_root_is_an_empty_list(store: SessionMaker) -> None:
    """A root that is missing, or a session directory that is, gives an empty list, and stays missing.

    If this fails, look at: an error of the system that is passed on; a root made by the constructor or by `list`.
    """
    if store.root.exists():
        for directory in store.root.iterdir():
            directory.rmdir()
        store.root.rmdir()
    before = tree(store.root.parent)
    expect_equal(await store.repo.list(), [], of="the list without a root")
    expect_equal(await store.repo.list(cwd=CWD), [], of="the list of a working directory without a root")
    before.check("what stands beside the root that is missing")
    await store.create("somewhere-else")
    before = tree(store.root)
    expect_equal(await store.repo.list(cwd="/srv/nobody-was-here"), [], of="the list of a missing directory")
    before.check("the root, without the missing directory")


@case("S-REPO-14", needs=("spy-files", "raw-files"))
async def listing_reads_the_beginning_of_a_file(store: SessionMaker) -> None:
    """`list` reads at most 64 KiB of each session file, however long the file or its first line is.

    If this fails, look at: a file that is read whole for its header; a line reader that goes on until it finds a LF;
    messages that are counted for the list.
    """
    record = (
        b'{"kind":"value","op":"set","seq":%d,"namespace":"garden.plan","key":"","value":"' + b"x" * 5_000 + b'"}\n'
    )
    body = b"".join(record % number for number in range(1, 61))
    files = {
        "long": header(id="long") + body,
        "legacy-long": legacy_header(id="legacy-long") + b'{"type":"custom","customType":"' + b"x" * 300_000 + b'"}\n',
        "long-header": _of_length(header, 1_000_000) + body,
        "no-line-feed": b"x" * 300_000,
        "nul-bytes": bytes(300_000),
    }
    paths = [await store.plant(contents, id=id, cwd=CWD) for id, contents in files.items()]
    store.files.forget()
    expect_equal(await store.listed_ids(), ["legacy-long", "long"], of="the sessions that are listed")
    for path in paths:
        expect_equal(store.files.whole_file_reads(path), [], of=f"calls that read all of {path.name}")
        given = store.files.bytes_given(path)
        expect(given <= CHUNK, f"{path.name}\nexpected: at most {CHUNK:,} bytes read\nseen:     {given:,}")


@case("S-REPO-14", needs=("spy-files", "raw-files"))
@rows("form", format_4=header, legacy=legacy_header)
@rows("length", {"longest": CHUNK - 1, "too-long": CHUNK + 1, "far-too-long": 1_000_000})
async def a_file_with_a_longer_first_line_is_left_out(
    store: SessionMaker, form: Callable[..., bytes], length: int
) -> None:
    """A session whose first line takes up to 64 KiB with its LF is listed; one whose first line is longer is not.

    If this fails, look at: a bound that is smaller; a cut line that is taken for the whole; a second read.
    """
    await store.plant(_of_length(form, length), id="odd", cwd=CWD)
    await store.plant(header(id="beside"), id="beside", cwd=CWD)
    expected = ["beside", "odd"] if length < CHUNK else ["beside"]
    expect_equal(await store.listed_ids(), expected, of=f"the sessions listed, one with a first line of {length:,}")


@case("S-REPO-14", needs=("spy-files", "raw-files"))
async def ten_thousand_files_are_listed(store: SessionMaker) -> None:
    """10,000 session files are listed, each once and the newest first, with at most 64 KiB read of each and no reader
    left open.

    If this fails, look at: a limit on open files; files that are read twice; a page that is not continued.
    """
    for number in range(MANY):
        id = f"walk-{number:05}"
        await store.plant(header(id=id, createdAt=START + number), id=id, cwd=CWD, created_at=START + number)
    store.files.forget()
    listed = [metadata.id for metadata in await store.repo.list()]
    expect_equal(listed, [f"walk-{number:05}" for number in reversed(range(MANY))], of="the ids that are listed")
    most = max(_bytes_by_path(store.files).values())
    expect(most <= CHUNK, f"expected: at most {CHUNK:,} bytes read of each file\nseen:     {most:,} of one")
    expect_equal(len(store.files.open_readers), 0, of="line readers left open")


def _bytes_by_path(spy: FileSpy) -> Counter[str]:
    """What was read of each path: in one pass, where `bytes_given` would take one for each."""
    given: Counter[str] = Counter()
    for call in spy.calls:
        given[call.path] += call.given
    for reader in spy.readers():
        given[reader.path] += reader.given
    return given


@case("S-REPO-15", needs=("spy-files", "raw-files"), kinds=("jsonl",))
async def listing_lets_go_of_a_file_before_the_next(store: SessionMaker) -> None:
    """While `list` goes through 300 files it holds a small number of line readers at any time, and none at its end.

    If this fails, look at: readers that are closed after the loop, or by the garbage collector.
    """
    for number in range(300):
        await store.plant(header(id=f"walk-{number}"), id=f"walk-{number}", cwd=CWD)
    listing = asyncio.ensure_future(store.repo.list())
    most = 0
    while not listing.done():
        await asyncio.sleep(0)
        most = max(most, len(store.files.open_readers))
    expect_equal(len(await listing), 300, of="the number of sessions")
    expect(most <= AT_ONCE, f"expected: at most {AT_ONCE} line readers at any time\nseen:     {most}")
    expect_equal(len(store.files.open_readers), 0, of="line readers left open")
