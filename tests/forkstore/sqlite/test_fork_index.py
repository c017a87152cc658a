"""The branch index of a fork, whatever the tree of its source: exactly what the insert rules give (S-SQL-IDX-01)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from forkproof.makers.raw_databases import RawDatabases
from forkproof.makers.records import compaction_entry, message_entry
from forkstore import BranchFork, TreeFork, branch_tip, lane_config, lane_state
from forkstore.contract.writes import EntryInsert, ValueSet, Write
from forkstore.session import Session
from tests.forkstore.sqlite.repositories import Store

pytestmark = [pytest.mark.asyncio, pytest.mark.one_python]


def _tree(seed: int, entries: int) -> list[Write]:
    """Entries that mostly follow each other, and at times go back, root anew or are compactions."""
    choice = random.Random(seed)
    ids: list[str] = []
    writes: list[Write] = []
    for number in choice.sample(range(1000), entries):
        parent = None
        if ids and choice.random() > 0.05:
            parent = ids[-1] if choice.random() < 0.6 else choice.choice(ids)
        make = compaction_entry if choice.random() < 0.2 else message_entry
        ids.append(f"e{number}")
        writes.append(EntryInsert(make(ids[-1], parent)))
    return writes


async def _source(store: Store, writes: list[Write]) -> Session:
    session = await store.repo.create(id="source")
    await session.storage.commit(writes)
    return session


@pytest.mark.parametrize("seed", range(10))
async def test_a_tree_fork_has_the_index_of_its_entries(tmp_path: Path, seed: int) -> None:
    store = Store(tmp_path, shared=bool(seed % 2), stage_batch_rows=1 + seed)
    source = await _source(store, _tree(seed, 60))
    fork = await store.repo.fork(source.metadata, TreeFork())
    _databases(store).check_index(fork.metadata)
    assert await _structure(fork) == await _structure(source)
    again = await store.repo.fork(fork.metadata, TreeFork())
    _databases(store).check_index(again.metadata)
    await store.repo.close()
    assert store.connections.still_open == 0


@pytest.mark.parametrize("seed", range(4))
async def test_a_branch_fork_at_any_entry_holds_its_path(tmp_path: Path, seed: int) -> None:
    store = Store(tmp_path, shared=bool(seed % 2), stage_batch_rows=3)
    source = await _source(store, _tree(seed, 24))
    structure = await _structure(source)
    for tip, _ in random.Random(seed).sample(structure, 3):
        lane = [branch_tip("garden"), lane_config("garden"), lane_state("garden")]
        await source.storage.commit([ValueSet(address, tip) for address in lane])
        path = [entry["id"] for entry in await source.scan_branch(tip)]
        for entry_id in path:
            expected = path[path.index(entry_id) :]
            for position in ("at", "before"):
                fork = await store.repo.fork(source.metadata, BranchFork("garden", entry_id, position))
                held = expected if position == "at" else expected[1:]
                assert [id for id, _ in await _structure(fork)] == held[::-1]
                row = await fork.get_value(branch_tip("garden"))
                assert row is not None
                assert row.value == (held[0] if held else None)
                _databases(store).check_index(fork.metadata)
                await fork.close()
                await store.repo.delete(fork.metadata)
    await store.repo.close()


async def test_parents_need_not_be_near(tmp_path: Path) -> None:
    """Every entry of a fan has the same parent, which lies in another batch, and each is a segment of its own."""
    store = Store(tmp_path, shared=False, stage_batch_rows=4)
    writes: list[Write] = [EntryInsert(message_entry("root", None)), EntryInsert(compaction_entry("k", "root"))]
    writes += [EntryInsert(message_entry(f"e{number}", "k" if number % 2 else "root")) for number in range(40)]
    source = await _source(store, writes)
    fork = await store.repo.fork(source.metadata, TreeFork())
    _databases(store).check_index(fork.metadata)
    await store.repo.close()


def _databases(store: Store) -> RawDatabases:
    return RawDatabases(directory=store.directory, path=None)


async def _structure(session: Session) -> list[tuple[str, str | None]]:
    return [(entry["id"], entry["parentId"]) for entry in await session.scan_entries()]
