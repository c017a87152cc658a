"""What a fork holds while it copies and publishes: a batch and bounded caches, however long its source is."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from forkstore import BranchFork, SqliteSessionRepo, TreeFork
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from tests.forkstore.sqlite.forked import long_source, wide_source

pytestmark = [pytest.mark.asyncio, pytest.mark.one_python]

MEBIBYTE = 2**20
FORKS: dict[str, tuple[Callable[[Path, int], SessionMetadata], ForkOptions]] = {
    "tree": (long_source, TreeFork(id="fork")),
    "branch": (long_source, BranchFork("garden", id="fork")),
    "tree-of-many-segments": (wide_source, TreeFork(id="fork")),
}


async def _peaks(directory: Path, entries: int, fork: str) -> tuple[float, float]:
    """The highest levels of Python's heap and of SQLite's, in MiB above their start, over the whole call."""
    make, options = FORKS[fork]
    source = make(directory / "elsewhere" / "source.sqlite", entries)
    repo = SqliteSessionRepo(directory / "sessions")
    used, _ = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED, True)
    tracemalloc.start()
    try:
        session = await repo.fork(source, options)
        _, traced = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    _, highest = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)
    assert (await session.get_stats()).message_count == entries
    await repo.close()
    return traced / MEBIBYTE, (highest - used) / MEBIBYTE


@pytest.mark.parametrize("fork", FORKS)
async def test_neither_heap_grows_with_the_source(tmp_path: Path, fork: str) -> None:
    short = await _peaks(tmp_path / "short", 5_000, fork)
    long = await _peaks(tmp_path / "long", 15_000, fork)
    assert long[0] < 1
    assert long[0] - short[0] < 0.2
    assert long[1] < 8
    assert long[1] - short[1] < 1
