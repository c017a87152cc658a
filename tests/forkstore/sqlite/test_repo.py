"""The repository on databases as a whole: reservations, forks of any source, closing (spec sections 11, 12 and 32)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkstore import (
    RepoClosed,
    SessionClosed,
    SessionExists,
    SessionInUse,
    StoreIOError,
    TreeFork,
    UndeclaredNamespace,
    ValueSet,
    session_name,
    value_address,
)
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store, grow

pytestmark = pytest.mark.asyncio


@BOTH_LAYOUTS
async def test_of_two_calls_for_one_id_the_first_has_it(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    source = await store.closed("source")
    for number, first in enumerate(("create", "fork")):
        calls = {
            "create": store.repo.create(id=f"walk-{number}"),
            "fork": store.repo.fork(source, TreeFork(id=f"walk-{number}")),
        }
        winner, loser = await asyncio.gather(calls.pop(first), *calls.values(), return_exceptions=True)
        assert isinstance(loser, SessionExists)
        assert not isinstance(winner, BaseException)
        assert winner.metadata.parent_session_id == (None if first == "create" else "source")
        await winner.close()


@BOTH_LAYOUTS
async def test_of_an_open_and_a_delete_the_first_has_the_session(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    session, refusal = await asyncio.gather(store.repo.open(walk), store.repo.delete(walk), return_exceptions=True)
    assert isinstance(refusal, SessionInUse)
    assert not isinstance(session, BaseException | None)
    await session.close()
    gone, late = await asyncio.gather(store.repo.delete(walk), store.repo.open(walk), return_exceptions=True)
    assert (gone, type(late)) == (None, SessionInUse)


@BOTH_LAYOUTS
async def test_a_source_may_lie_anywhere(shared: bool, tmp_path: Path) -> None:
    here = Store(tmp_path / "here", shared=shared)
    there, elsewhere = Store(tmp_path / "there", shared=False), Store(tmp_path / "elsewhere", shared=True)
    mine = await here.repo.create(id="walk")  # an open session of the same id, which is not the source
    for store in (there, elsewhere):
        source = await store.closed("walk")
        fork = await here.repo.fork(source, TreeFork())
        assert fork.metadata.parent_session_id == "walk"
        assert [entry["id"] for entry in await fork.find_entries()] == ["e2", "e1"]
        with pytest.raises(SessionExists):
            await here.repo.fork(source, TreeFork(id="walk"))
    assert await mine.find_entries() == []
    await here.repo.close()


@BOTH_LAYOUTS
async def test_a_fork_fixes_its_boundary_in_its_first_step(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    source = await store.repo.create(id="source")
    await grow(source, 1)
    before = asyncio.create_task(source.storage.commit([ValueSet(session_name(), "before")]))
    forking = asyncio.create_task(store.repo.fork(source.metadata, TreeFork(id="fork")))
    after = asyncio.create_task(source.storage.commit([ValueSet(session_name(), "after")]))
    await asyncio.gather(before, after)
    fork = await forking
    assert (await fork.get_name(), await source.get_name()) == ("before", "after")
    await store.repo.close()


@BOTH_LAYOUTS
async def test_a_source_that_is_closing_cannot_be_forked(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    source = await store.repo.create(id="source")
    closing = asyncio.create_task(source.close())
    await asyncio.sleep(0)
    with pytest.raises(SessionClosed):
        await store.repo.fork(source.metadata, TreeFork(id="fork"))
    await closing
    assert await store.ids() == ["source"]
    await store.repo.close()


class _Stages:
    """A probe that looks for stages while a fork runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen: list[list[str]] = []

    async def before_publish(self) -> None:
        self.seen.append([path.name for path in self.directory.glob(".fork-stage-*.tmp")])


@BOTH_LAYOUTS
async def test_a_stage_lies_beside_the_destination_or_where_it_was_asked_for(shared: bool, tmp_path: Path) -> None:
    for directory in (None, tmp_path / "stages"):
        store = Store(tmp_path / str(directory is None), shared=shared)
        source = await store.closed("source")
        probe = _Stages(directory or store.directory)
        probe.directory.mkdir(exist_ok=True)
        repo = store.another(fork_probe=probe, staging_dir=directory)
        await (await repo.fork(source, TreeFork(id="fork"))).close()
        assert [len(names) for names in probe.seen] == [1]
        assert [*probe.directory.glob(".fork-stage-*")] == []


@BOTH_LAYOUTS
async def test_a_staging_directory_that_is_missing_is_not_made(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared, staging_dir=tmp_path / "stages")
    source = await store.closed("source")
    before = store.standing()
    with pytest.raises(StoreIOError):
        await store.repo.fork(source, TreeFork(id="fork"))
    assert store.standing() == before


@BOTH_LAYOUTS
async def test_a_refused_fork_into_an_empty_place_leaves_it_empty(shared: bool, tmp_path: Path) -> None:
    there, here = Store(tmp_path / "there", shared=shared), Store(tmp_path / "here", shared=shared)
    session = await there.repo.create(id="source")
    await session.storage.commit([ValueSet(value_address("pi.unknown"), 1)])
    with pytest.raises(UndeclaredNamespace):
        await here.repo.fork(session.metadata, TreeFork(id="fork"))
    assert here.standing() == set()
    assert here.connections.still_open == 0
    await session.close()


@BOTH_LAYOUTS
async def test_closing_ends_sessions_and_running_forks(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    source = await store.repo.create(id="source")
    await grow(source, 3)
    forking = asyncio.create_task(store.repo.fork(source.metadata, TreeFork(id="fork")))
    await asyncio.sleep(0)
    await store.repo.close()
    with pytest.raises(RepoClosed):
        await forking
    with pytest.raises(SessionClosed):
        await source.get_stats()
    for call in (store.repo.create(), store.repo.list(), store.repo.open(source.metadata)):
        with pytest.raises(RepoClosed):
            await call
    assert store.connections.still_open == 0
    assert [metadata.id for metadata in await store.another().list()] == ["source"]
