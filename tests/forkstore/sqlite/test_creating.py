"""New sessions in databases (S-REPO-01 to S-REPO-05, S-SQL-SCH-01, S-SQL-SCH-02, S-SQL-LAY-03, -05, -12, -13)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forkstore import CorruptSession, InvalidArgument, RepoClosed, SessionExists, StoreIOError, TreeFork
from forkstore.sqlite.session_rows import ZERO_USAGE_TEXT
from tests.forkstore.sqlite.repositories import BOTH_LAYOUTS, Store
from tests.forkstore.sqlite.watched_connections import plain

pytestmark = pytest.mark.asyncio

TABLES = (
    "sessions",
    "entries",
    "scalar_values",
    "list_values",
    "usage_ledger",
    "branch_entries",
    "branch_meta",
)


@BOTH_LAYOUTS
async def test_a_new_session_is_one_row(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared, now=lambda: 7)
    session = await store.repo.create(id="walk/1", parent_session_id="parent")
    assert session.metadata.created_at == 7
    path = Path(session.metadata.path or "")
    await session.close()
    with plain(path) as own:
        rows = {table: own.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
        names = {name for (name,) in own.execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")}
    assert rows.pop("sessions") == [("walk/1", 7, "parent", 1, None, 0, ZERO_USAGE_TEXT, 1)]
    assert not any(rows.values())
    assert len(names) == 7 + 7 + 2
    assert store.standing() == {"store", f"store/{path.name}"}
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_missing_directories_are_made(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b" / "c", shared=shared)
    await (await store.repo.create(id="walk")).close()
    assert await store.ids() == ["walk"]


def _file(path: Path) -> None:
    path.write_bytes(b"mine")


TAKERS: dict[str, Callable[[Path], Any]] = {
    "file": _file,
    "empty": Path.touch,
    "directory": Path.mkdir,
    "link": lambda path: path.symlink_to("other"),
    "dangling": lambda path: path.symlink_to("/nowhere/at/all"),
    "pipe": os.mkfifo,
}


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS.keys())
async def test_whatever_has_the_name_keeps_the_id_taken_and_stays(take: Callable[[Path], Any], tmp_path: Path) -> None:
    store = Store(tmp_path, shared=False)
    source = await store.closed("source")
    path = store.directory / "walk.sqlite"
    take(path)
    before = path.lstat()
    with pytest.raises(SessionExists):
        await store.repo.create(id="walk")
    with pytest.raises(SessionExists):
        await store.repo.fork(source, TreeFork(id="walk"))
    assert path.lstat() == before
    assert store.standing() == {"store", "store/source.sqlite", "store/walk.sqlite"}


@BOTH_LAYOUTS
async def test_an_id_of_a_closed_session_is_taken(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    walk = await store.closed("walk")
    with pytest.raises(SessionExists):
        await store.repo.create(id="walk")
    session = await store.repo.open(walk)
    assert [entry["id"] for entry in await session.find_entries()] == ["e2", "e1"]
    await session.close()


@BOTH_LAYOUTS
async def test_ids_that_differ_in_case_are_two_sessions(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    await store.closed("walk", entries=1)
    await store.closed("Walk", entries=3)
    assert await store.ids() == ["Walk", "walk"]


async def test_a_container_that_is_there_is_used_and_its_other_tables_stay(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=True)
    store.directory.mkdir()
    with plain(store.directory / "all.sqlite") as own:
        own.execute("CREATE TABLE writer_lease (owner); INSERT INTO writer_lease VALUES ('me')")
    await store.closed("walk")
    with plain(store.directory / "all.sqlite") as own:
        assert own.execute("SELECT owner FROM writer_lease").fetchall() == [("me",)]
    assert await store.ids() == ["walk"]


async def test_a_container_that_is_no_database_is_refused_and_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, shared=True)
    store.directory.mkdir()
    (store.directory / "all.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(CorruptSession):
        await store.repo.create(id="walk")
    (store.directory / "all.sqlite").unlink()
    (store.directory / "all.sqlite").mkdir()
    with pytest.raises(StoreIOError):
        await store.repo.create(id="walk")
    assert store.standing() == {"store", "store/all.sqlite"}


@BOTH_LAYOUTS
async def test_a_working_directory_is_not_for_this_store(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    with pytest.raises(InvalidArgument):
        await store.repo.create(cwd="/srv")
    with pytest.raises(InvalidArgument):
        await store.repo.list(cwd="/srv")
    assert store.standing() == set()


@BOTH_LAYOUTS
async def test_directories_that_somebody_uses_stay(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path / "a", shared=shared)

    def use(_: str) -> None:
        (store.directory / "notes.txt").touch()

    store.connections.before = use
    store.connections.fail_at(3)
    with pytest.raises(StoreIOError):
        await store.repo.create(id="walk")
    assert store.standing() == {"store", "store/notes.txt"}


@BOTH_LAYOUTS
async def test_creates_that_end_with_the_repository_leave_nothing(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    store.directory = tmp_path / "a" / "b"
    store.repo = store.another()
    creating = [asyncio.create_task(store.repo.create(id=f"walk-{number}")) for number in range(4)]
    await asyncio.sleep(0)
    await store.repo.close()
    outcomes = await asyncio.gather(*creating, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [RepoClosed] * 4
    assert store.is_untouched()
    assert store.connections.still_open == 0


@BOTH_LAYOUTS
async def test_of_creates_at_once_a_failing_one_takes_nothing_from_the_others(shared: bool, tmp_path: Path) -> None:
    store = Store(tmp_path, shared=shared)
    store.connections.fail_at(25)
    outcomes = await asyncio.gather(
        *(store.repo.create(id=f"walk-{number}") for number in range(6)), return_exceptions=True
    )
    made = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert sorted(type(outcome).__name__ for outcome in outcomes).count("StoreIOError") == 1
    for session in made:
        await session.close()
    assert await store.ids() == sorted(session.metadata.id for session in made)
    assert len(made) == 5
