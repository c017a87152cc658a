"""Which ids are taken (spec sections 12 and 22.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkproof.instruments.fault_kinds import Fail
from forkstore import TreeFork
from forkstore.contract.errors import SessionExists, StoreIOError
from forkstore.contract.files import CHUNK, FileError
from tests.forkstore.jsonl.planted import GARDEN, GOOD, LEGACY, header_line, plant
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
NAMED = "2025-10-09T08-53-20-123Z_walk-1.jsonl"


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


async def is_taken(store: Store, id: str = "walk-1", cwd: str = GARDEN) -> bool:
    try:
        session = await store.repo.create(id=id, cwd=cwd)
    except SessionExists:
        return True
    await session.close()
    await store.repo.delete(session.metadata)
    return False


@pytest.mark.parametrize(
    ("name", "data", "taken"),
    [
        (NAMED, GOOD, True),
        (NAMED, LEGACY, True),
        (NAMED, header_line(id="another"), True),
        (NAMED, header_line(cwd="/srv-garden"), False),
        (NAMED, header_line(cwd=GARDEN + "/"), False),
        (NAMED, b"", True),
        (NAMED, header_line(v=5), True),
        (NAMED, header_line(other="x" * CHUNK), True),
        (NAMED, header_line()[:-1], True),
        ("2025-10-09T08-53-20-123Z_x_walk-1.jsonl", GOOD, False),
        ("1970-01-01T00-00-00-000Z_walk-1.jsonl", GOOD, True),
        ("+010000-01-01T00-00-00-000Z_walk-1.jsonl", GOOD, True),
        (NAMED + ".0123456789abcdef.tmp", GOOD, False),
        ("walk-1.jsonl", GOOD, False),
    ],
)
async def test_an_id_is_taken_by_a_file_of_its_name(name: str, data: bytes, taken: bool, store: Store) -> None:
    """22.4, S-OWN-14."""
    plant(store.root, data, name)
    before = tree(store.root)
    assert await is_taken(store) is taken
    assert tree(store.root) == before


async def test_an_id_is_taken_in_its_working_directory_alone(store: Store) -> None:
    """S-OWN-11."""
    plant(store.root, GOOD, NAMED)
    assert not await is_taken(store, cwd="/srv-garden")
    assert not await is_taken(store, cwd="/srv/garden/deeper")
    assert await is_taken(store, cwd="/srv/./garden/")


@pytest.mark.parametrize(("code", "taken"), [("permission_denied", True), ("invalid", True), ("not_found", False)])
async def test_a_file_that_cannot_be_read_may_be_the_session(code: Any, taken: bool, store: Store) -> None:
    plant(store.root, GOOD, NAMED)
    store.faults.arm(Fail(code), names={"read_bytes"})
    assert await is_taken(store) is taken
    assert store.faults.hit is not None


@pytest.mark.parametrize("call", ["read_bytes", "list_dir"])
async def test_not_knowing_whether_an_id_is_taken_is_a_failure(call: str, store: Store) -> None:
    plant(store.root, GOOD, NAMED)
    store.faults.arm(Fail("unknown"), names={call})
    with pytest.raises(StoreIOError) as failure:
        await store.repo.create(id="walk-1", cwd=GARDEN)
    assert isinstance(failure.value.__cause__, FileError)
    assert failure.value.operation == call


async def test_a_closed_session_of_any_file_name_keeps_its_id_from_its_own_forks(store: Store) -> None:
    """S-OWN-12."""
    planted = plant(store.root)
    for metadata in (planted, replace(planted, cwd=GARDEN)):
        with pytest.raises(SessionExists):
            await store.repo.fork(metadata, TreeFork("walk-1"))
    assert await store.ids() == ["walk-1"]
