"""Legacy files that name a parent file: what becomes of `parentSession` (S-V3-17, S-V3-18)."""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.jsonl import lines

from .outcome import DIRECTORY, LegacyFile, entry, opens, tip
from .records import CREATED_AT, header, text_of, user, user_message
from .version_one import VERSION_ONE, version_two

_PARENT = f"{DIRECTORY}/parent-of-shed.jsonl"


def lineage() -> Iterator[LegacyFile]:
    """Every case of this room; the parent lies beside the child, under an absolute path."""
    v3 = text_of(header(id="shed-6"))
    format_4 = b"".join(lines([], id="shed-6", cwd="/srv/garden", created_at=CREATED_AT))
    for name, contents in {
        "v3": v3,
        "format-4": format_4,
        "v3-of-another-cwd": text_of(header(id="shed-6", cwd="/srv/orchard")),
        "v3-broken-behind-header": v3 + b"not JSON\n",
        "format-4-torn": format_4 + b'{"kind":',
        "v3-very-large": v3 + b"x" * 200_000 + b"\n",
    }.items():
        yield _child(f"lineage-{name}", contents, "shed-6")
    for name, contents in {
        "empty": b"",
        "broken": b"not JSON\n",
        "version-1": text_of(*VERSION_ONE),
        "version-2": text_of(*version_two()),
        "v3-header-incomplete": text_of({"type": "session", "version": 3, "id": "shed-6"}),
        "header-longer-than-64-kib": text_of(header(id="shed-6", note="x" * 70_000)),
    }.items():
        yield _child(f"lineage-{name}", contents, None)
    yield _child("lineage-missing", None, None)


def _child(name: str, parent: bytes | None, parent_id: str | None) -> LegacyFile:
    return opens(
        name,
        [],
        [entry(1, 1, None, "message", message=user_message(1))],
        [tip(1)],
        "S-V3-17 S-V3-18",
        contents=text_of(header(parentSession=_PARENT), user(1, None)),
        parent_session_id=parent_id,
        legacy_parent_session_path=None if parent_id else _PARENT,
        companions=() if parent is None else (("parent-of-shed.jsonl", parent),),
    )
