"""Session files that others have written, put where a repository looks for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forkgen.legacy.records import header as legacy_header
from forkgen.legacy.records import text_of, user
from forkstore.contract.store import SessionMetadata
from tests.forkgen.good_files import good_file

GARDEN = "/srv/garden"
CREATED_AT = 1_760_000_000_123
GOOD = good_file("rich")
LEGACY = text_of(legacy_header(id="walk-1"), user(1, None), user(2, 1))
"""A session in legacy form with two messages."""


def header_line(**fields: Any) -> bytes:
    """A header of format 4; fields replace or add, and None leaves one out."""
    own = {"v": 4, "kind": "header", "id": "walk-1", "storageVersion": 1, "createdAt": CREATED_AT, "cwd": GARDEN}
    return line_of({name: value for name, value in (own | fields).items() if value is not None})


def line_of(value: Any) -> bytes:
    """A line of a session file, with its LF."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def plant(root: Path, data: bytes = GOOD, name: str = "planted.jsonl", **named: Any) -> SessionMetadata:
    """Puts a file into the session directory of `/srv/garden`, and gives the metadata that names its session."""
    directory = root / "--srv-garden--"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_bytes(data)
    fields: dict[str, Any] = {"id": "walk-1", "created_at": CREATED_AT, "cwd": GARDEN, "path": str(path)}
    return SessionMetadata(**(fields | named))


def bytes_of(metadata: SessionMetadata) -> bytes:
    """What stands in a session's file."""
    return path_of(metadata).read_bytes()


def path_of(metadata: SessionMetadata) -> Path:
    """A session's file."""
    assert metadata.path is not None
    return Path(metadata.path)


def modified_at(metadata: SessionMetadata) -> int:
    """When a session's file was written last, in Unix milliseconds."""
    return path_of(metadata).stat().st_mtime_ns // 1_000_000
