"""The first line of a session file: a header of format 4 or of legacy version 3 (spec sections 22.1 and 26.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from forkstore.contract.codec import UndecodableText, decode, encode
from forkstore.contract.errors import CorruptSession, ForeignSession, UnsupportedVersion
from forkstore.contract.records import ABSENT, Json, Record
from forkstore.contract.store import STORAGE_VERSION, SessionMetadata
from forkstore.contract.text import text_fault
from forkstore.contract.writes import LAST_SEQUENCE

FORMAT: Final = 4
LEGACY_FORMAT: Final = 3
MARK: Final = b"\xef\xbb\xbf"
"""A byte-order mark: accepted once, at the start of a file, and never written (S-JSONL-FMT-13)."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header of format 4. `next_seq` is a lower bound of the next sequence; times are Unix milliseconds."""

    id: str
    created_at: int
    cwd: str
    parent_session_id: str | None = None
    legacy_parent_session_path: str | None = None
    next_seq: int | None = None

    def line(self) -> bytes:
        """The header as it is written, with its LF (S-JSONL-FMT-04)."""
        fields: Record = {
            "v": FORMAT,
            "kind": "header",
            "id": self.id,
            "storageVersion": STORAGE_VERSION,
            "createdAt": self.created_at,
            "cwd": self.cwd,
            "parentSessionId": self.parent_session_id,
            "legacyParentSessionPath": self.legacy_parent_session_path,
            "nextSeq": self.next_seq,
        }
        return encode({name: value for name, value in fields.items() if value is not None}, "header") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyHeader:
    """A header of legacy version 3; `parent_session` is the path of the parent's file as it stands there."""

    id: str
    created_at: int
    cwd: str
    parent_session: str | None = None


def read_header(line: bytes, path: str) -> Header | LegacyHeader:
    """The header in a file's first line, which may begin with a byte-order mark; `line` is without its LF.

    Raises CorruptSession in line 1 (S-JSONL-FMT-05, S-V3-01), and UnsupportedVersion for versions of either format and
    of the storage that nobody reads (S-REPO-08, S-V3-04).
    """
    try:
        header = decode(line.removeprefix(MARK))
    except UndecodableText as error:
        raise CorruptSession(path, 1, "the header is not a line of JSON") from error
    if type(header) is not dict:
        raise CorruptSession(path, 1, "the header is not an object")
    if header.get("kind") == "header":
        return _format_4(header, path)
    if header.get("type") == "session":
        return _legacy(header, path)
    raise CorruptSession(path, 1, "the first line is no header of a session")


def expect_identity(header: Header | LegacyHeader, session_id: str, cwd: str, path: str) -> None:
    """Raises ForeignSession unless the header is that of the session that the metadata names (S-REPO-10)."""
    for field, stored, named in (("id", header.id, session_id), ("cwd", header.cwd, cwd)):
        if stored != named:
            raise ForeignSession(session_id, path, field)


def header_of(metadata: SessionMetadata, next_seq: int) -> Header:
    """The header in format 4 of a session whose metadata is known."""
    return Header(
        id=metadata.id,
        created_at=metadata.created_at,
        cwd=metadata.cwd or "",
        parent_session_id=metadata.parent_session_id,
        legacy_parent_session_path=metadata.legacy_parent_session_path,
        next_seq=next_seq,
    )


def is_integer(value: Json, lowest: int) -> bool:
    """Whether this is an integer of the format: no boolean, no fraction, at most 2^53−1 (spec section 22.1)."""
    return type(value) is int and lowest <= value <= LAST_SEQUENCE


def read_date(value: Json) -> int | None:
    """The time of an ISO 8601 date and time with `Z` or an offset, in Unix milliseconds; None if it is none.

    A time before 1970 is none either, because no entry can carry it.
    """
    if type(value) is not str or not _DATE.fullmatch(value):
        return None
    try:
        time_ms = round(datetime.fromisoformat(value).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return time_ms if time_ms >= 0 else None


def _format_4(header: Record, path: str) -> Header:
    version = header.get("v")
    if type(version) is not int:
        raise CorruptSession(path, 1, "the header has no integer `v`")
    if version != FORMAT:
        raise UnsupportedVersion(path, version)
    storage_version = header.get("storageVersion")
    if not is_integer(storage_version, 1):
        raise CorruptSession(path, 1, "the header has no integer `storageVersion` of at least 1")
    if storage_version != STORAGE_VERSION:
        raise UnsupportedVersion(path, storage_version)
    if not is_integer(header.get("createdAt"), 0):
        raise CorruptSession(path, 1, "the header has no integer `createdAt` of at least 0")
    next_seq = header.get("nextSeq", ABSENT)
    if next_seq is not ABSENT and not is_integer(next_seq, 1):
        raise CorruptSession(path, 1, "the header's `nextSeq` is not an integer of at least 1")
    return Header(
        id=_text(header, "id", path),
        created_at=header["createdAt"],
        cwd=_text(header, "cwd", path),
        parent_session_id=_optional_text(header, "parentSessionId", path),
        legacy_parent_session_path=_optional_text(header, "legacyParentSessionPath", path),
        next_seq=None if next_seq is ABSENT else next_seq,
    )


def _legacy(header: Record, path: str) -> LegacyHeader:
    version = header.get("version", 1)
    if type(version) is not int:
        raise CorruptSession(path, 1, "the header's `version` is not an integer")
    if version != LEGACY_FORMAT:
        raise UnsupportedVersion(path, version)
    created_at = read_date(header.get("timestamp"))
    if created_at is None:
        raise CorruptSession(path, 1, "the header's `timestamp` is not a date")
    return LegacyHeader(
        id=_text(header, "id", path),
        created_at=created_at,
        cwd=_text(header, "cwd", path),
        parent_session=_optional_text(header, "parentSession", path),
    )


def _text(header: Record, name: str, path: str) -> str:
    value = header.get(name)
    fault = text_fault(value, allow_nul=True)
    if fault is not None or type(value) is not str:
        raise CorruptSession(path, 1, f"the header's `{name}` is missing or {fault}")
    return value


def _optional_text(header: Record, name: str, path: str) -> str | None:
    return _text(header, name, path) if name in header else None
