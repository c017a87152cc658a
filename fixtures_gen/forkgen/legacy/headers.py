"""First lines of legacy files that are refused: other versions, fields that are missing, ill-typed or no date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkgen.verdict import Verdict
from forkstore.contract.records import Record

from .outcome import LegacyFile
from .records import header, text_of, user
from .refused import BAD_DATES
from .version_one import VERSION_ONE, version_three, version_two

_BEHIND = text_of(user(1, None))
_NO_STRING: dict[str, Any] = {"number": 7, "null": None, "boolean": True, "array": ["x"]}


def headers() -> Iterator[LegacyFile]:
    """Every case of this room."""
    yield from _versions()
    yield from _broken()


def _versions() -> Iterator[LegacyFile]:
    yield _unsupported("version-1", "1", text_of(*VERSION_ONE))
    yield _unsupported("version-2", "2", text_of(*version_two()))
    yield _unsupported("version-2-torn-tail", "2", text_of(*version_two())[:-9])
    yield _unsupported("version-1-header-only", "1", text_of(VERSION_ONE[0]))
    same = list(version_three(VERSION_ONE))[1:]
    for version in (0, 1, 4, 99):
        contents = text_of(header(version=version), *same)
        yield _unsupported(f"version-{version}-stated", str(version), contents)


def _unsupported(name: str, version: str, contents: bytes) -> LegacyFile:
    return LegacyFile(name, Verdict.UNSUPPORTED, contents, ("S-V3-04",), version=version)


def _broken() -> Iterator[LegacyFile]:
    for name in ("type", "id", "timestamp", "cwd"):
        missing = {field: value for field, value in header().items() if field != name}
        yield _corrupt(f"header-without-{name}", missing)
    types: dict[str, Any] = {"session-in-capitals": "Session", "message": "message", "null": None}
    for name, value in types.items():
        yield _corrupt(f"header-type-{name}", header(type=value))
    versions = {"text": "3", "boolean": True, "fraction": 3.5, "whole-fraction": 3.0, "null": None}
    for name, value in versions.items():
        yield _corrupt(f"header-version-{name}", header(version=value))
    for field in ("id", "cwd", "parentSession"):
        for name, value in _NO_STRING.items():
            dashed = "parent-session" if field == "parentSession" else field
            yield _corrupt(f"header-{dashed}-{name}", header(**{field: value}))
    for name, stamp in BAD_DATES.items():
        yield _corrupt(f"header-date-{name}", header(timestamp=stamp))
    whole = text_of(header())
    for name, first_line in {
        "header-flipped-byte": b"z" + whole[1:],
        "header-cut": whole[:-2] + b"\n",
        "header-in-array": b"[" + whole[:-1] + b"]\n",
        "header-behind-blank-line": b"\n" + whole,
        "header-behind-two-marks": b"\xef\xbb\xbf\xef\xbb\xbf" + whole,
        "header-nul-run": bytes(len(whole) - 1) + b"\n",
    }.items():
        yield _corrupt_bytes(name, first_line + _BEHIND)
    yield _corrupt_bytes("header-lost", _BEHIND)
    for cut in range(1, len(whole)):
        yield _corrupt_bytes(f"header-torn-at-byte-{cut}", whole[:cut], "S-JSONL-TAIL-05")
    yield _corrupt_bytes("header-in-utf-16", (whole + _BEHIND).decode().encode("utf-16"))


def _corrupt(name: str, first: Record) -> LegacyFile:
    return _corrupt_bytes(name, text_of(first) + _BEHIND)


def _corrupt_bytes(name: str, contents: bytes, clause: str = "S-V3-01") -> LegacyFile:
    return LegacyFile(name, Verdict.CORRUPT, contents, (clause, "S-JSONL-FMT-06"), line=1)
