"""Listing sessions in databases (S-REPO-11 to S-REPO-15, S-SQL-LAY-03, S-SQL-LAY-06)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from forkstore import SessionMetadata, StoreIOError
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store
from tests.forkstore.sqlite.watched_connections import plain

pytestmark = pytest.mark.asyncio


def _times() -> Iterator[int]:
    yield from (3, 1, 3, 2)


@BOTH_LAYOUTS
async def test_sessions_are_listed_latest_first_then_by_id(shared: bool, tmp_path: Path) -> None:
    times = _times()
    store = Store(tmp_path, shared=shared, now=lambda: next(times))
    opened = [await store.repo.create(id=id) for id in ("b", "c", "a/é", "d")]
    listed = await store.repo.list()
    assert [metadata.id for metadata in listed] == ["a/é", "b", "d", "c"]
    assert {metadata.id: metadata for metadata in listed} == {
        session.metadata.id: session.metadata for session in opened
    }
    await store.repo.close()


@BOTH_LAYOUTS
async def test_a_missing_place_lists_nothing_and_is_not_made(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    assert await store.repo.list() == []
    assert store.standing() == set()


@BOTH_LAYOUTS
async def test_listing_reads_without_a_trace_and_holds_nothing(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    for number in range(3):
        await store.closed(f"walk-{number}")
    before = {path: path.read_bytes() for path in store.directory.glob("*.sqlite")}
    store.connections.opened.clear()
    open_at_once: list[int] = []
    store.connections.before = lambda _: open_at_once.append(store.connections.still_open)
    assert await store.ids() == ["walk-0", "walk-1", "walk-2"]
    assert {mode for _, mode in store.connections.opened} == {"read-only"}
    assert len(store.connections.opened) == (1 if shared else 3)
    assert {*open_at_once} == {1}
    assert store.connections.still_open == 0
    assert {path: path.read_bytes() for path in store.directory.glob("*.sqlite")} == before


async def test_what_is_no_database_of_sessions_is_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    await store.closed("walk")
    (store.directory / "empty.sqlite").touch()
    (store.directory / "text.sqlite").write_text("no database " * 500)
    (store.directory / "folder.sqlite").mkdir()
    with plain(store.directory / "other.sqlite") as other:
        other.execute("CREATE TABLE beds (id)")
    with plain(store.directory / "columns.sqlite") as other:
        other.execute("CREATE TABLE sessions (id)")
    (store.directory / "torn.sqlite").write_bytes((store.directory / "walk.sqlite").read_bytes()[:3000])
    assert await store.ids() == ["walk"]


@BOTH_LAYOUTS
async def test_rows_of_another_version_or_of_no_session_are_left_out(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    with plain(Path(walk.path or "")) as own:
        for number, (id, created_at, parent, version) in enumerate(
            [
                ("'new'", "1", "NULL", "2"),
                ("x'6162'", "1", "NULL", "1"),
                ("CAST(x'ff' AS TEXT)", "1", "NULL", "1"),
                ("'parent'", "1", "CAST(x'ff' AS TEXT)", "1"),
                ("'time'", "'noon'", "NULL", "1"),
                ("'later'", "7", "'walk'", "1"),
            ]
        ):
            own.execute(f"INSERT INTO sessions VALUES ({id}, {created_at}, {parent}, {version}, NULL, {number}, '', 1)")
    later = SessionMetadata(id="later", created_at=7, parent_session_id="walk", path=walk.path)
    assert await store.repo.list() == [walk, later]


@pytest.mark.parametrize("gone", [False, True])
async def test_a_database_that_cannot_be_opened_fails_the_listing_unless_it_is_gone(gone: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    path = Path((await store.closed("walk")).path or "")

    def refuse(_: str) -> None:
        if gone:
            path.unlink()
        raise apsw.CantOpenError("no more file descriptors")

    store.connections.before = refuse
    if gone:
        assert await store.repo.list() == []
    else:
        with pytest.raises(StoreIOError) as failure:
            await store.repo.list()
        assert (failure.value.operation, failure.value.path) == ("list", str(path))


async def test_a_database_that_fails_for_a_while_fails_the_listing(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    await store.closed("walk")
    store.connections.fail_at(1)
    with pytest.raises(StoreIOError) as failure:
        await store.repo.list()
    assert (failure.value.operation, failure.value.code) == ("list", "no_space")
    assert isinstance(failure.value.__cause__, apsw.FullError)
    assert await store.ids() == ["walk"]
    assert store.connections.still_open == 0
