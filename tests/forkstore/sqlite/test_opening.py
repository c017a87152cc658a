"""Opening sessions in databases (S-REPO-06 to S-REPO-09, S-OWN-05, S-SQL-LAY-03, -04, -10, S-SQL-TXN-05)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forkstore import (
    CorruptSession,
    ForeignSession,
    InvalidArgument,
    RepoClosed,
    SessionFileChanged,
    SessionInUse,
    SessionMetadata,
    SessionNotFound,
    StoreIOError,
    TreeFork,
    UnsupportedVersion,
)
from forkstore.sqlite.creating import write_new_session
from forkstore.sqlite.session_rows import new_session_row
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store
from tests.forkstore.sqlite.watched_connections import plain

pytestmark = pytest.mark.asyncio


def _database(metadata: SessionMetadata) -> Path:
    return Path(metadata.path or "")


@BOTH_LAYOUTS
async def test_a_session_opens_as_it_was_closed(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path / "50% of #1? são" / "a b", shared=shared)
    metadata = await store.closed("früh/1")
    session = await store.repo.open(metadata)
    assert session.metadata == metadata
    assert [entry["id"] for entry in await session.find_entries()] == ["e2", "e1"]
    with pytest.raises(SessionInUse):
        await store.repo.open(metadata)
    with pytest.raises(SessionInUse):
        await store.repo.delete(metadata)
    await session.close()
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_another_version_is_refused_and_no_byte_changes(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    metadata = await store.closed("walk")
    path = _database(metadata)
    with plain(path) as own:
        own.execute("UPDATE sessions SET storage_version = 2; PRAGMA journal_mode = DELETE").fetchall()
    before = path.read_bytes()
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork(id="fork"))):
        with pytest.raises(UnsupportedVersion) as refusal:
            await call(metadata)
        assert (refusal.value.path, refusal.value.version) == (str(path), 2)
    assert path.read_bytes() == before
    assert {mode for _, mode in store.connections.opened[-3:]} == {"read-only"}
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_what_is_missing_is_not_found_and_not_made(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    metadata = SessionMetadata(
        id="walk", created_at=1, path=str(store.directory / ("all" if shared else "walk")) + ".sqlite"
    )
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork(id="fork"))):
        with pytest.raises(SessionNotFound) as refusal:
            await call(metadata)
        assert (refusal.value.session_id, refusal.value.path) == ("walk", metadata.path)
    assert store.standing() == set()


@BOTH_LAYOUTS
async def test_a_database_without_the_session_has_none(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    with plain(_database(walk)) as own:
        own.execute("DELETE FROM sessions")
    for call in (store.repo.open, store.repo.delete):
        with pytest.raises(SessionNotFound):
            await call(walk)
    assert _database(walk).is_file()


async def test_a_file_that_is_no_database_is_corrupt_and_a_directory_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    store.directory.mkdir()
    (store.directory / "text.sqlite").write_bytes(b"no database " * 100)
    (store.directory / "folder.sqlite").mkdir()
    for id, refusal in {"text": CorruptSession, "folder": SessionNotFound}.items():
        metadata = SessionMetadata(id=id, created_at=1, path=str(store.directory / f"{id}.sqlite"))
        for call in (store.repo.open, store.repo.delete):
            with pytest.raises(refusal):
                await call(metadata)
    assert store.standing() == {"store", "store/text.sqlite", "store/folder.sqlite"}


async def test_a_database_in_another_encoding_is_refused_and_not_listed(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=True)
    store.directory.mkdir()
    path = store.directory / "all.sqlite"
    with plain(path) as own:
        own.execute("PRAGMA encoding = 'UTF-16'")
        write_new_session(own, new_session_row("walk", 1, None))
    assert await store.ids() == []
    metadata = SessionMetadata(id="walk", created_at=1, path=str(path))
    for call in (store.repo.open, store.repo.delete, lambda _: store.repo.create(id="other")):
        with pytest.raises(CorruptSession):
            await call(metadata)
    with plain(path) as own:
        assert own.execute("SELECT id FROM sessions").fetchall() == [("walk",)]


@BOTH_LAYOUTS
async def test_what_lies_elsewhere_is_foreign(shared: bool, tmp_path: Path) -> None:
    here, there = Store(tmp_path / "here", shared=shared), Store(tmp_path / "there", shared=shared)
    theirs = await there.closed("walk")
    await here.closed("walk")
    for call in (here.repo.open, here.repo.delete):
        with pytest.raises(ForeignSession) as refusal:
            await call(theirs)
        assert (refusal.value.session_id, refusal.value.path, refusal.value.field) == ("walk", theirs.path, "path")
    assert await there.ids() == ["walk"]


async def test_a_row_in_another_sessions_database_is_listed_and_foreign(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    walk = await store.closed("walk")
    with plain(_database(walk)) as own:
        own.execute("INSERT INTO sessions SELECT 'guest', 1, NULL, 1, NULL, 0, usage_payload, 1 FROM sessions")
    guest = next(metadata for metadata in await store.repo.list() if metadata.id == "guest")
    with pytest.raises(ForeignSession):
        await store.repo.open(guest)
    with pytest.raises(ForeignSession):
        await store.repo.delete(guest)


@BOTH_LAYOUTS
async def test_metadata_reaches_a_session_through_links(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    (tmp_path / "link").symlink_to(store.directory)
    session = await store.repo.open(replace(walk, path=str(tmp_path / "link" / _database(walk).name)))
    assert session.metadata == walk
    await session.close()


@pytest.mark.parametrize("path", [None, 5, "", ":memory:", "file::memory:", "a\0b", "\ud800"])
@BOTH_LAYOUTS
async def test_metadata_without_the_path_of_a_database_is_refused(shared: bool, path: object, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    metadata = SessionMetadata(id="walk", created_at=1, path=path)  # type: ignore[arg-type]
    for call in (store.repo.open, store.repo.delete, lambda metadata: store.repo.fork(metadata, TreeFork())):
        with pytest.raises(InvalidArgument) as refusal:
            await call(metadata)
        assert refusal.value.field == "metadata"


def _replace(path: Path) -> None:
    path.rename(path.with_name("old"))  # which keeps its number from being given to the new file
    path.write_bytes(path.with_name("old").read_bytes())


@pytest.mark.parametrize(
    ("change", "refusal"), [(Path.unlink, (SessionNotFound, StoreIOError)), (_replace, SessionFileChanged)]
)
async def test_a_database_that_changes_while_it_is_opened_is_refused(
    change: Callable[[Path], None], refusal: type[Exception], tmp_path: Path
) -> None:
    store = Store(tmp_path, shared=False)
    walk = await store.closed("walk")
    connect = store.connections.connect

    def changed(path: str, mode: str) -> object:
        if mode == "read-write":
            change(Path(path))
        return connect(path, mode)  # type: ignore[arg-type]

    repo = store.another(connect=changed)
    with pytest.raises(refusal):
        await repo.open(walk)
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_an_open_that_fails_at_any_statement_releases_the_session(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    before = store.standing()
    for statement in range(1, 20):
        store.connections.fail_at(statement)
        try:
            session = await store.repo.open(walk)
        except StoreIOError:
            assert store.standing() == before
            assert store.connections.still_open == 0
        else:
            break
    assert statement == 4
    await session.close()


@BOTH_LAYOUTS
async def test_an_open_that_ends_with_the_repository_leaves_no_connection(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    opening = asyncio.create_task(store.repo.open(walk))
    await asyncio.sleep(0)
    await store.repo.close()
    with pytest.raises(RepoClosed):
        await opening
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_an_id_that_no_session_can_have_names_none(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = replace(await store.closed("walk"), id="\ud800")
    for call in (store.repo.open, store.repo.delete):
        with pytest.raises(ForeignSession):
            await call(walk)
    with pytest.raises(SessionNotFound):
        await store.repo.fork(walk, TreeFork())
