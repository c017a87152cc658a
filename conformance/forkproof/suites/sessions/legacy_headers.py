"""First lines of legacy v3 files: what is read as a header, what it says of the session, and which versions are
refused (section 26.1).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from forkgen.legacy import LegacyFile, Verdict
from forkgen.legacy.records import header, text_of
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker
from forkproof.makers.file_states import LegacySession
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.legacy_judging import (
    LONG_AGO,
    about,
    expect_opens,
    expect_refused,
    listed,
    opened,
    opening,
    planted,
    refused_for,
)
from forkproof.suites.sessions.legacy_own_files import lone
from forkstore.contract.addresses import branch_tip
from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.contract.store import SessionMetadata

TORN = refused_for("S-JSONL-TAIL-05")
BROKEN = {name: file for name, file in refused_for("S-V3-01").items() if name not in TORN}
READ = {
    name: file
    for clause in ("S-V3-01", "S-JSONL-FMT-03", "S-JSONL-FMT-08", "S-JSONL-FMT-13")
    for name, file in opening(clause).items()
}
DATED = {
    **opening("S-V3-03"),
    "time-zero": lone("time-zero", header(timestamp="1970-01-01T00:00:00Z"), created_at=0),
    "time-far-ahead": lone("time-far-ahead", header(timestamp="9998-12-31T23:59:59.999Z"), created_at=253370764799999),
    "odd-id": lone("odd-id", header(id="früh/../7 %41\u2028"), id="früh/../7 %41\u2028"),
    "other-cwd": lone("other-cwd", header(cwd="/srv/Obst & Gemüse"), cwd="/srv/Obst & Gemüse"),
}
NEW_HEADER: dict[str, Any] = {"kind": "header", "id": "shed-7", "storageVersion": 1, "createdAt": 1_760_000_000_000}
OTHER_VERSIONS = {
    f"format-4-version-{version}": LegacyFile(
        f"format-4-version-{version}",
        Verdict.UNSUPPORTED,
        text_of({"v": version, **NEW_HEADER, "cwd": "/srv/garden"}),
        ("S-V3-04",),
        version=str(version),
    )
    for version in (0, 1, 2, 3, 5, 99)
}


@case("S-V3-01")
@rows("file", BROKEN)
async def a_broken_v3_header_is_corruption_in_line_1(store: SessionMaker, file: LegacyFile) -> None:
    """A v3 header with a missing or ill-typed field, a null `parentSession` or a bad date, and a first line that is no
    header at all, is corruption in line 1 for `open` and `fork`; `list` leaves the file out.

    If this fails, look at: fields read with a default; booleans that pass as numbers; a date parser that takes more
    than a date and time with a zone; null taken for absent.
    """
    await expect_refused(store, file, CorruptSession, line=file.line)
    expect_equal(await store.listed_ids(), [], of=f"the sessions that are listed, with {file.name} alone in the store")


@case("S-V3-01", "S-JSONL-TAIL-05")
async def a_v3_header_cut_at_any_byte_is_corruption_in_line_1(store: SessionMaker) -> None:
    """A file that ends inside its v3 header is corruption in line 1, for every byte at which it can end.

    If this fails, look at: a torn header taken for an empty session; a first line that needs no LF.
    """
    expect_equal(len(TORN), 103, of="the number of cuts")
    for file in TORN.values():
        await expect_refused(store, file, CorruptSession, line=1)


@case("S-V3-01")
@rows("file", READ)
async def a_v3_header_is_read_however_it_is_written(store: SessionMaker, file: LegacyFile) -> None:
    """Unknown further fields of a v3 header are ignored, and neither the order of its fields, nor a CR before the LF,
    nor one byte-order mark keeps the file from being opened.

    If this fails, look at: a header that is compared field by field; text split at CR; a mark that is part of the first
    field.
    """
    await expect_opens(store, file)


@case("S-V3-01")
async def a_first_line_is_read_as_format_4_first(store: SessionMaker) -> None:
    """A first line that is a header of format 4 is one, whatever further fields it has; one that is none is read as v3,
    whatever else stands in it.

    If this fails, look at: the format told by `type` or `version` before `kind` and `v`, or by `v` alone.
    """
    of_v3 = {"type": "session", "version": 3, "timestamp": "2025-10-09T08:53:20.000Z"}
    new = {"v": 4, **NEW_HEADER, "cwd": "/srv/garden", **of_v3}
    for fields in (new, dict(reversed(new.items()))):
        path = await store.plant(text_of(fields), id="shed-7", cwd="/srv/garden")
        subject = store.subject(await store.repo.open(await store.planted_metadata(path)), SessionModel())
        seen = [await subject.session.get_value(branch_tip("main")), (await subject.commit()).first_seq]
        expect_equal(seen, [None, 1], of="the tip of `main` and the next sequence of an empty file of format 4")
        await subject.close()
    await expect_opens(store, lone("fields-of-format-4", header(v=4, kind="note", storageVersion=1, nextSeq=9)))


@case("S-V3-03")
@rows("file", DATED)
async def metadata_comes_from_the_v3_header(store: SessionMaker, file: LegacyFile) -> None:
    """The metadata of a v3 file, as `list` and as the open session give it, has the header's id, cwd and time as
    `created_at`, storage version 1, and the path and the modification time of the file; after the upgrade too.

    If this fails, look at: an offset that is dropped or added twice; milliseconds cut off; the time of the file or of
    its name; a cwd that is made absolute; version 3 as the storage version.
    """
    with about(file):
        session = planted(store, file)
        _expect_metadata(session, await listed(session), "the listed metadata")
        subject = await opened(replace(session, metadata=await listed(session)))
        _expect_metadata(session, subject.session.metadata, "the metadata of the open session")
        _expect_metadata(session, await listed(session), "the metadata that is listed while it is open")
        await subject.session.set_name("upgraded")
        await subject.close()
        _expect_metadata(session, await listed(session), "the metadata after the upgrade", upgraded=True)


def _expect_metadata(session: LegacySession, seen: SessionMetadata, of: str, *, upgraded: bool = False) -> None:
    file = session.case
    changed_at = session.path.stat().st_mtime_ns // 1_000_000 if upgraded else LONG_AGO * 1000
    expected = SessionMetadata(
        id=file.id,
        created_at=file.created_at,
        storage_version=1,
        cwd=file.cwd,
        path=session.metadata.path,
        modified_at=changed_at,
    )
    expect_equal(seen, expected, of=of)


@case("S-V3-04")
@rows("file", {**refused_for("S-V3-04"), **OTHER_VERSIONS})
async def other_versions_are_refused_by_their_number(store: SessionMaker, file: LegacyFile) -> None:
    """A file of version 1 (a header without `version`), of version 2, or of any other version of either format is
    refused by `open`, `delete` and `fork` with UnsupportedVersion whose text names the version, and keeps its bytes,
    a torn tail too.

    If this fails, look at: a missing `version` taken for 3; versions above and below that are read as the nearest one;
    `delete` that looks at the name of the file only; a torn tail cut off before the version is known.
    """
    session = await expect_refused(store, file, UnsupportedVersion, version=lambda seen: str(seen) == file.version)
    with about(file), ByteGuard(session.path, root=store.root):
        with refused(UnsupportedVersion, path=session.metadata.path) as deleting:
            await store.repo.delete(session.metadata)
        with refused(UnsupportedVersion) as opening_it:
            await store.repo.open(session.metadata)
        for refusal in (deleting, opening_it):
            _expect_named(session, str(refusal.error))
        expect_equal(await store.listed_ids(), [], of="the files that are listed")


def _expect_named(session: LegacySession, text: str) -> None:
    """Breaks the clause unless the text names the version, elsewhere than in the path of the file."""
    for place in (session.metadata.path or "", str(session.path), session.path.name):
        text = text.replace(place, "…")
    version = session.case.version
    expect(version in re.findall(r"\d+", text), f"expected: a text that names version {version}\nseen:     {text}")
