"""Where session files may lie, what they must say, and which ids are taken (S-REPO-05, S-REPO-08 to -10, S-OWN-14)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from forkgen.legacy import legacy_files
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.audit import AuditSpy
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.clocks import START
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.small_file import CWD, small_file
from forkproof.oracle.file_names import file_name, session_path
from forkstore.contract.errors import ForeignSession, SessionExists, UnsupportedVersion
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata

Call = Callable[[SessionMaker, SessionMetadata], Awaitable[object]]

OPEN_AND_DELETE: dict[str, Call] = {
    "open": lambda store, metadata: store.repo.open(metadata),
    "delete": lambda store, metadata: store.repo.delete(metadata),
}
CALLS: dict[str, Call] = {
    **OPEN_AND_DELETE,
    "tree-fork": lambda store, metadata: store.repo.fork(metadata, TreeFork(id="fork")),
    "branch-fork": lambda store, metadata: store.repo.fork(metadata, BranchFork("main", id="fork")),
}

PLACES = {"elsewhere": "elsewhere", "behind-a-link": "behind-a-link", "another-directory": "another-directory"}

IDS = {
    "blank": " ",
    "empty": "",
    "dot": ".",
    "two-dots": "..",
    "up": "../escape",
    "up-twice": "../../escape",
    "up-and-sideways": "../sideways/escape",
    "down": "sub/escape",
    "backslashes": "..\\..\\escape",
    "absolute": "{elsewhere}/escape",
    "absolute-file": "{elsewhere}/escape.jsonl",
    "encoded": "%2e%2e%2fescape",
    "nul": "escape\x00.txt",
    "newline": "a\nb",
    "drive": "C:escape",
    "device": "CON",
    "stream": "escape:stream",
    "tilde": "~/escape",
    "variable": "$HOME/escape",
    "option": "-rf",
    "pattern": "*?[a]",
    "composed": "é",
    "decomposed": "e\u0301",
    "longest": "ü" * 33,
}


@case("S-REPO-05", kinds=("jsonl",))
@rows("id", IDS)
async def no_id_leads_out_of_the_store(store: SessionMaker, id: str) -> None:
    """A session of any id is created, written, forked, forked onto, opened and deleted in one file, in the place and
    under the name that section 22.4 gives it; no other file is made, changed or removed.

    If this fails, look at: an id that is joined to a path; percent-encoding of some characters only; a path built from
    a decoded name.
    """
    elsewhere = store.raw.elsewhere()
    id = id.replace("{elsewhere}", str(elsewhere))
    canary = elsewhere / "escape.jsonl"
    canary.write_bytes(small_file(id=id, cwd=store.raw.cwd))
    with (
        ByteGuard(canary, root=elsewhere, of="what lies outside of the store"),
        AuditSpy(elsewhere, of="what lies outside of the store"),
    ):
        source = await store.linear_session(id="source")
        created = await store.create(id)
        await created.append("main", "written")
        _expect_in_place(store, source, created)
        fork = await created.fork(TreeFork(id="fork"))
        await created.check_everywhere()
        await store.repo.delete(await _closed(created))
        _expect_in_place(store, source, fork)
        onto = await source.fork(TreeFork(id=id))
        await onto.check("a fork of that id")
        _expect_in_place(store, source, fork, onto)
        await store.repo.delete(await _closed(onto))
        _expect_in_place(store, source, fork)


async def _closed(subject: Subject) -> SessionMetadata:
    await subject.close()
    return subject.metadata


def _expect_in_place(store: SessionMaker, *subjects: Subject) -> None:
    """Breaks the clause unless these sessions' files are all that stands in and beside the root."""
    place = Path(getattr(store.harness, "directory", store.root))
    around = place if place in store.root.parents else store.root
    seen = sorted(str(path.relative_to(around)) for path in around.rglob("*") if not path.is_dir())
    paths = [session_path(store.root, store.raw.cwd, one.metadata.created_at, one.id) for one in subjects]
    expect_equal(seen, sorted(str(path.relative_to(around)) for path in paths), of="the files in and beside the root")


@case("S-REPO-08", kinds=("jsonl",))
@rows("version", two=2, ninety_nine=99, greatest=2**53 - 1)
@rows("cut", whole=0, torn=20)
@rows("call", CALLS)
async def another_storage_version_is_refused(store: SessionMaker, version: int, cut: int, call: Call) -> None:
    """`open`, `delete` and `fork` of a file whose storage version is not 1 raise `UnsupportedVersion` and leave every
    byte, also of a torn tail.

    If this fails, look at: the version checked after the tail is cut, or not by `delete`; a fork that reads on.
    """
    data = small_file(cwd=store.raw.cwd).replace(b'"storageVersion":1', b'"storageVersion":%d' % version, 1)
    path = await store.plant(data[: len(data) - cut], id="small")
    metadata = store.raw.metadata(path)
    with ByteGuard(path, root=store.root, of="the file of another storage version"):
        for _ in range(2):
            with refused(UnsupportedVersion, path=metadata.path, version=lambda seen: str(seen) == str(version)):
                await call(store, metadata)
    expect_equal(await store.listed_ids(), [], of="the sessions that are listed")


@case("S-REPO-09", kinds=("jsonl",))
@rows("call", OPEN_AND_DELETE)
@rows("place", PLACES)
async def a_file_in_another_place_is_foreign(store: SessionMaker, call: Call, place: str) -> None:
    """`open` and `delete` of metadata whose path, with links followed, is not where the repository keeps that session
    raise `ForeignSession`; what lies there stays, and the session itself is opened as before.

    If this fails, look at: a path that is trusted; a link that is compared by its own name; any session directory taken
    for the right one.
    """
    subject = await store.linear_session()
    await subject.close()
    original = store.path_of(subject)
    neighbour = await store.create("neighbour", cwd="/srv/orchard")
    with tempfile.TemporaryDirectory(prefix="forkproof-place-") as elsewhere:
        directory = store.path_of(neighbour).parent if place == "another-directory" else Path(elsewhere)
        copy = Path(shutil.copy(original, directory))
        path = original.with_name(f"link-{original.name}") if place == "behind-a-link" else copy
        try:
            if path != copy:
                path.symlink_to(copy)
            guard = ByteGuard(copy, original, of="the copy and the original")
            with guard, refused(ForeignSession, field="path", session_id=subject.id):
                await call(store, replace(subject.metadata, path=str(path)))
        finally:
            for made in {path, copy}:
                made.unlink()
    await subject.open()
    await subject.check_everywhere()


def _linked(place: str, target: Path) -> str:
    """A link to a file, in that directory."""
    link = Path(place, "link.jsonl")
    link.symlink_to(target)
    return str(link)


@case("S-REPO-09", kinds=("jsonl",))
async def a_link_to_the_right_place_is_no_foreign_path(store: SessionMaker) -> None:
    """A session is opened and deleted by metadata whose path is a link to its file: it is the real path that counts,
    and the metadata of the opened session gives it.

    If this fails, look at: paths compared as they are written.
    """
    subject = await store.linear_session()
    await subject.close()
    with tempfile.TemporaryDirectory(prefix="forkproof-place-") as elsewhere:
        by_link = replace(subject.metadata, path=_linked(elsewhere, store.path_of(subject)))
        session = await store.repo.open(by_link)
        expect_equal(session.metadata.path, subject.metadata.path, of="the path of a session opened by a link")
        await store.subject(session, subject.model).check("the session that was opened by a link")
        await session.close()
        await store.repo.delete(by_link)
        expect(
            not store.path_of(subject).exists(), "expected: the file is gone after its deletion\nseen:     it stands"
        )
        expect_equal(await store.listed_ids(), [], of="the sessions that are listed")


FORMS = {
    "format-4": ("small", small_file()),
    "legacy": ("shed-7", next(one.contents for one in legacy_files() if one.name == "lane-complete")),
}
"""Session files of both forms, and their ids; the cwd of both is `/srv/garden`."""


@case("S-REPO-10")
@rows("form", FORMS)
@rows("differs", id=("id", "other"), cwd=("cwd", "/srv/other"), sharing=("cwd", "/srv-garden"))
@rows("call", CALLS)
async def a_header_that_says_otherwise_is_foreign(
    store: SessionMaker, form: tuple[str, bytes], differs: tuple[str, str], call: Call
) -> None:
    """`open`, `delete` and `fork` of a file whose header has another id or another cwd than the metadata raise
    `ForeignSession`, also when both working directories share one session directory, and leave every byte.

    If this fails, look at: an identity taken from the name of the file; a check that `delete` or `fork` leaves out; a
    directory that is compared in place of the cwd.
    """
    (field, said), (id, data) = differs, form
    told = f'"{field}":"{id if field == "id" else CWD}"'.encode()
    path = await store.plant(data.replace(told, f'"{field}":"{said}"'.encode(), 1), id=id, cwd=CWD)
    metadata = store.raw.metadata(path)
    with ByteGuard(path, root=store.root, of="the file with another header"):
        for _ in range(2):
            with refused(ForeignSession, field=field, path=metadata.path):
                await call(store, metadata)
    created = await store.create("fork")
    await created.check("a session with the id of the refused fork")


ENDINGS = {
    "underscore": ("x_b", "b"),
    "nothing-before": ("_b", "b"),
    "longer-is-new": ("b", "x_b"),
    "like-a-file-name": ("2025-10-09T08-53-20-123Z_b", "b"),
    "suffix": ("b.jsonl", "b"),
    "suffix-is-new": ("b", "b.jsonl"),
    "separator": ("x/b", "b"),
    "dash": ("x-b", "b"),
    "begins-with-it": ("bb", "b"),
    "blank": (" b", "b"),
    "encoded-separator": ("%2Fb", "/b"),
    "empty-is-new": ("_", ""),
}
"""An id that exists, and one that is free all the same."""


@case("S-OWN-14")
@rows("ids", ENDINGS)
@rows("closed", existing_open=False, existing_closed=True)
async def an_id_is_not_taken_by_a_longer_one(store: SessionMaker, ids: tuple[str, str], closed: bool) -> None:
    """An id is free while only another id exists that ends, or begins, with it: `create` and `fork` take it, and both
    sessions live side by side.

    If this fails, look at: a file that is found by the end of its name; a pattern; an id read back from a file name.
    """
    existing = await store.linear_session(id=ids[0])
    source = await store.linear_session(2, id="source")
    if closed:
        await existing.close()
    made = await store.create(ids[1])
    await made.append("main", "of its own")
    await made.close()
    with refused(SessionExists, session_id=ids[1]):
        await store.repo.create(id=ids[1], **store.create_options)
    await store.repo.delete(made.metadata)
    fork = await source.fork(TreeFork(id=ids[1]))
    await store.assert_only_known_sessions(existing, source, fork)
    await store.check_each(existing, fork)


@case("S-OWN-14")
async def only_the_file_of_the_id_takes_it(store: SessionMaker) -> None:
    """An id is free while files stand beside it whose names only hold it: without a time, with a further suffix, or of
    another working directory that shares the directory. A file of its own name whose header cannot be read takes it.

    If this fails, look at: a search in the name; a directory that counts as one working directory; an unreadable file
    that is passed over, and perhaps replaced.
    """
    names = ["b.jsonl", f"{file_name(START, 'b')}.tmp", file_name(START, "b").replace("jsonl", "json")]
    for name in names:
        await store.plant(small_file(id="b", cwd="/srv/other"), name=name, id="b")
    elsewhere = file_name(START + 1, "b")
    await store.plant(small_file(id="b", cwd="/srv/other"), name=elsewhere, id="b")
    made = await store.create("b")
    await made.check("a session beside files that only look like its own")
    await made.close()
    await store.repo.delete(made.metadata)
    broken = await store.plant(b"not a header\n", name=file_name(START + 2, "b"), id="b")
    source = await store.create("source")
    with ByteGuard(broken, root=store.root, of="the file without a header"):
        with refused(SessionExists, session_id="b"):
            await store.repo.create(id="b", **store.create_options)
        with refused(SessionExists, session_id="b"):
            await store.repo.fork(source.metadata, TreeFork(id="b"))
