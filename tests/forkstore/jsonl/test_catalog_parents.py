"""The parents of legacy files: an id when the file that is named says so, and else its path (S-V3-17, S-V3-18)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from forkgen.legacy.records import header as legacy_header
from forkgen.legacy.records import text_of
from forkproof.instruments.fault_kinds import Fail
from forkstore.contract.files import CHUNK
from tests.forkstore.jsonl.planted import GOOD, LEGACY, header_line, path_of, plant
from tests.forkstore.jsonl.stores import Store, closing

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


def legacy_child(parent: str) -> bytes:
    return text_of(legacy_header(id="child", parentSession=parent))


@pytest.mark.parametrize(
    ("parent", "data", "expected"),
    [
        ("parent.jsonl", GOOD, ("walk-1", None)),
        ("parent.jsonl", b"\xef\xbb\xbf" + GOOD, ("walk-1", None)),
        ("parent.jsonl", LEGACY, ("walk-1", None)),
        ("./../--srv-garden--/parent.jsonl", GOOD, ("walk-1", None)),
        ("link.jsonl", GOOD, ("walk-1", None)),
        ("parent.jsonl", b"", (None, "parent.jsonl")),
        ("parent.jsonl", header_line(v=5), (None, "parent.jsonl")),
        ("parent.jsonl", header_line(other="x" * CHUNK), (None, "parent.jsonl")),
        ("nowhere.jsonl", GOOD, (None, "nowhere.jsonl")),
        ("parent.jsonl/deeper", GOOD, (None, "parent.jsonl/deeper")),
        ("..", GOOD, (None, "..")),
        ("", GOOD, (None, "")),
        ("pipe", GOOD, (None, "pipe")),
        ("loop", GOOD, (None, "loop")),
        ("a\0b", GOOD, (None, "a\0b")),
        ("x" * 300, GOOD, (None, "x" * 300)),
        ("/x" * 3000, GOOD, (None, "/x" * 3000)),
    ],
)
async def test_a_parent_is_an_id_when_its_file_says_so_and_else_a_path(
    parent: str, data: bytes, expected: tuple[str | None, str | None], store: Store
) -> None:
    """S-V3-17, S-V3-18: never both, and never a failure."""
    place = path_of(plant(store.root, legacy_child(parent), "child.jsonl")).parent
    (place / "parent.jsonl").write_bytes(data)
    (place / "link.jsonl").symlink_to("parent.jsonl")
    (place / "loop").symlink_to("loop")
    os.mkfifo(place / "pipe")
    (found,) = [metadata for metadata in await store.repo.list() if metadata.id == "child"]
    assert (found.parent_session_id, found.legacy_parent_session_path) == expected
    session = await store.repo.open(found)
    assert session.metadata == found


async def test_a_parent_that_cannot_be_read_is_a_path(store: Store) -> None:
    place = path_of(plant(store.root, legacy_child("parent.txt"), "child.jsonl")).parent
    (place / "parent.txt").write_bytes(GOOD)
    for call in ("file_info", "read_bytes"):
        store.faults.arm(Fail("unknown"), names={call}, paths="*parent.txt")
        (found,) = await store.repo.list()
        assert store.faults.hit is not None
        assert found.legacy_parent_session_path == "parent.txt"
