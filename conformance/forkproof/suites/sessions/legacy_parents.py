"""What becomes of `parentSession` of a legacy v3 file (S-V3-17)."""

from __future__ import annotations

from typing import Any

from forkgen.legacy import LegacyFile
from forkgen.legacy.outcome import DIRECTORY
from forkgen.legacy.records import CREATED_AT, header, text_of, user
from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_names import session_path
from forkproof.suites.sessions.legacy_judging import (
    about,
    expect_shown,
    forked,
    gone,
    listed,
    opened,
    opening,
    parents_of,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import lone
from forkstore.contract.files import CHUNK
from forkstore.contract.forks import TreeFork

Record = dict[str, Any]

PARENT = f"{DIRECTORY}/parent-of-shed.jsonl"
PARENT_HEADER = header(id="shed-6")
NEW_HEADER: Record = {
    "v": 4,
    "kind": "header",
    "id": "shed-6",
    "storageVersion": 1,
    "createdAt": CREATED_AT,
    "cwd": "/srv/garden",
}


def _padded(size: int) -> bytes:
    """A v3 header that takes so many bytes, its LF included."""
    whole = text_of({**PARENT_HEADER, "note": ""})
    return text_of({**PARENT_HEADER, "note": "x" * (size - len(whole))})


def _child(name: str, parent: bytes | None, parent_id: str | None, at: str = PARENT) -> LegacyFile:
    """A file that names a parent, which lies beside it with these contents, or does not exist."""
    return lone(
        name,
        header(parentSession=at),
        parent_session_id=parent_id,
        legacy_parent_session_path=None if parent_id else at,
        companions=() if parent is None else (("parent-of-shed.jsonl", parent),),
    )


READABLE = {
    "mark": b"\xef\xbb\xbf" + text_of(PARENT_HEADER),
    "crlf": text_of(PARENT_HEADER).replace(b"\n", b"\r\n"),
    "header-of-64-kib": _padded(CHUNK),
    "with-a-parent": text_of(header(id="shed-6", parentSession="/no/such/file")),
    "format-4-with-a-parent": text_of({**NEW_HEADER, "parentSessionId": "shed-5", "nextSeq": 9}),
}
UNREADABLE = {
    "header-above-64-kib": _padded(CHUNK + 1),
    "header-without-lf": text_of(PARENT_HEADER)[:-1],
    "null-parent": text_of(header(id="shed-6", parentSession=None)),
    "bad-date": text_of(header(id="shed-6", timestamp="2025-10-09")),
    "format-4-null-field": text_of({**NEW_HEADER, "nextSeq": None}),
    "format-4-without-cwd": text_of({name: value for name, value in NEW_HEADER.items() if name != "cwd"}),
    "other-json": b"[1]\n",
    "nul-bytes": bytes(CHUNK),
}
NO_PATHS = {
    "relative": "no/such/parent.jsonl",
    "empty": "",
    "nul": "/srv/garden/a\0b.jsonl",
    "odd-letters": "/früh\u2028\r\n%00 /\u202e.jsonl",
    "very-long": "/" + "x" * 30_000,
    "directory": DIRECTORY,
    "through-a-file": f"{PARENT}/x",
    "root": "/",
}
PARENTS = {
    **opening("S-V3-17"),
    **{f"parent-{name}": _child(f"parent-{name}", contents, "shed-6") for name, contents in READABLE.items()},
    **{f"parent-{name}": _child(f"parent-{name}", contents, None) for name, contents in UNREADABLE.items()},
    **{f"path-{name}": _child(f"path-{name}", b"", None, path) for name, path in NO_PATHS.items()},
    "no-parent": lone("no-parent", header()),
}


@case("S-V3-17")
@rows("file", PARENTS)
async def the_parent_is_known_by_its_id_or_by_its_path(store: SessionMaker, file: LegacyFile) -> None:
    """`parentSession` gives the id of the parent when the named file starts with a readable header of v3 or format 4,
    of at most 64 KiB, whatever follows it, and otherwise the path as it stands; never both, neither where there is no
    `parentSession`. `list` and `open` agree, and the upgrade writes what they say.

    If this fails, look at: the path taken for the id, or the name of the file; both fields set; a parent of another
    version, or without a LF, taken for one; the whole parent read and judged; a header of the upgrade without them.
    """
    with about(file):
        session = planted(store, file)
        expected = (session.case.parent_session_id, session.case.legacy_parent_session_path)
        expect_equal(parents_of(await listed(session)), expected, of="parent id and legacy path, as listed")
        subject = await opened(session)
        expect_equal(parents_of(subject.session.metadata), expected, of="parent id and legacy path of the open session")
        await expect_shown(session, subject)
        await subject.session.set_name("upgraded")
        await subject.close()
        written = lines_of(session.path).header
        fields = tuple(written.get(name) for name in ("parentSessionId", "legacyParentSessionPath"))
        expect_equal(fields, expected, of="parent id and legacy path in the header after the upgrade")
        expect_equal(parents_of(await listed(session)), expected, of="parent id and legacy path after the upgrade")


@case("S-V3-17")
async def a_fork_names_its_source_alone(store: SessionMaker) -> None:
    """A fork of a v3 file that has a parent names the v3 session as its parent, and has no legacy path.

    If this fails, look at: the parent of the source handed on.
    """
    for file in (PARENTS["parent-mark"], PARENTS["parent-bad-date"]):
        with about(file):
            fork = await forked(planted(store, file), TreeFork())
            expect_equal(parents_of(fork.metadata), ("shed-7", None), of="parent id and legacy path of the fork")
            await gone(fork)


@case("S-V3-17")
async def files_may_name_themselves_and_each_other(store: SessionMaker) -> None:
    """A file that names itself, and two files that name each other, have the ids of the files that they name.

    If this fails, look at: parents of parents that are followed; a file that is not read while it is listed.
    """
    places = {id: session_path(store.root, "/srv/garden", CREATED_AT, id) for id in ("shed-7", "shed-8", "shed-9")}
    names = {"shed-7": "shed-7", "shed-8": "shed-9", "shed-9": "shed-8"}
    for id, parent in names.items():
        contents = text_of(header(id=id, parentSession=str(places[parent])), user(1, None))
        await store.plant(contents, id=id, cwd="/srv/garden", created_at=CREATED_AT)
    shown = {metadata.id: parents_of(metadata) for metadata in await store.list()}
    expect_equal(shown, {id: (parent, None) for id, parent in names.items()}, of="ids and parents, as listed")
