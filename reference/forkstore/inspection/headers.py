"""Line 1 of a file: what its header says, as far as it says anything, and whether to go on behind it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from forkstore.contract.codec import UndecodableText, decode
from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.contract.files import FileError
from forkstore.contract.store import STORAGE_VERSION
from forkstore.jsonl.catalog import metadata_of
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.headers import FORMAT, LEGACY_FORMAT, MARK, Header, LegacyHeader, read_header

from .facts import HeaderFacts
from .findings import Findings

_WHITE_SPACE: Final = b" \t\r"
_NOT_JUDGED: Final = "the lines behind it were not judged"


@dataclass(frozen=True, slots=True)
class FirstLine:
    """What line 1 says. `header` is None when it is broken; `is_understood` tells whether the lines behind it can be
    read all the same.
    """

    format: int | None
    storage_version: int | None
    header: Header | LegacyHeader | None
    is_understood: bool


NO_FIRST_LINE: Final = FirstLine(None, None, None, is_understood=False)


def begins_like_a_session(start: bytes) -> bool:
    """Whether the first bytes of a file can be those of a header: a file of any other kind is not read on."""
    return start.removeprefix(MARK).lstrip(_WHITE_SPACE)[:1] in (b"", b"{")


def read_first_line(line: bytes, path: str, findings: Findings) -> FirstLine:
    """Reads line 1, without its LF."""
    stated, storage_version = _versions(line)
    try:
        header = read_header(line, path)
    except UnsupportedVersion as error:
        reason = _refused_version(stated, storage_version, error.version)
        findings.error("unsupported-version", 1, f"{reason}; {_NOT_JUDGED}")
        return FirstLine(stated, storage_version, None, is_understood=False)
    except CorruptSession as error:
        is_understood = stated in (FORMAT, LEGACY_FORMAT)
        findings.error("header", 1, error.reason if is_understood else f"{error.reason}; {_NOT_JUDGED}")
        return FirstLine(stated, storage_version, None, is_understood)
    return FirstLine(stated, storage_version, header, is_understood=True)


def facts_of(header: Header | LegacyHeader, path: str) -> HeaderFacts:
    """The facts of a good header. Follows the parent of a legacy file, as opening does (S-V3-17, S-V3-18)."""
    parent_id: str | None
    parent_path: str | None
    if isinstance(header, Header):
        parent_id, parent_path = header.parent_session_id, header.legacy_parent_session_path
    elif header.parent_session is None:
        parent_id, parent_path = None, None
    else:
        parent_id, parent_path = asyncio.run(_legacy_parent(header, path))
    return HeaderFacts(header.id, header.cwd, header.created_at, parent_id, parent_path)


async def _legacy_parent(header: LegacyHeader, path: str) -> tuple[str | None, str | None]:
    files = LocalFiles()
    real_path = files.real_path(path)
    try:
        metadata = await metadata_of(files, header, await files.file_info(real_path))
    except FileError:
        return None, header.parent_session  # the inspected file has vanished meanwhile
    return metadata.parent_session_id, metadata.legacy_parent_session_path


def _versions(line: bytes) -> tuple[int | None, int | None]:
    """Format and storage version that a first line claims, however broken its other fields are."""
    try:
        header = decode(line.removeprefix(MARK))
    except UndecodableText:
        return None, None
    if type(header) is not dict:
        return None, None
    if header.get("kind") == "header":
        return _integer(header.get("v")), _integer(header.get("storageVersion"))
    if header.get("type") == "session":
        stated = _integer(header.get("version", 1))
        return stated, STORAGE_VERSION if stated == LEGACY_FORMAT else None
    return None, None


def _integer(value: object) -> int | None:
    return value if type(value) is int else None


def _refused_version(stated: int | None, storage_version: int | None, refused: object) -> str:
    if stated == FORMAT and storage_version == refused:
        return f"storage version {refused} is not read by this store, which reads {STORAGE_VERSION}"
    return (
        f"version {refused} is not read by this store, which reads format {FORMAT} and legacy version {LEGACY_FORMAT}"
    )
