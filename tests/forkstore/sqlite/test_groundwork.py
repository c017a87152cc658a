"""Directories and the container, which go when no session stands on them (S-FORK-FAIL-02, S-SQL-LAY-12, -13)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from forkstore.sqlite.connect import open_connection
from forkstore.sqlite.creating import write_new_session
from forkstore.sqlite.groundwork import Groundwork
from forkstore.sqlite.session_rows import new_session_row
from tests.forkstore.sqlite.watched_connections import WatchedConnections, plain

pytestmark = pytest.mark.asyncio


@pytest.fixture
def container(tmp_path: Path) -> Path:
    return tmp_path / "a" / "b" / "all.sqlite"


def _standing(directory: Path) -> list[str]:
    """What stands below a directory, by name."""
    return sorted(path.name for path in directory.rglob("*"))


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _groundwork(*calls: int) -> Groundwork:
    groundwork = Groundwork(open_connection)
    for _ in calls:
        groundwork.begin()
    return groundwork


async def test_what_was_made_goes_with_the_last_call(container: Path, tmp_path: Path) -> None:
    groundwork = _groundwork(1, 2)
    groundwork.make_container(str(container))
    await groundwork.take_back()
    assert _standing(tmp_path) == ["a", "all.sqlite", "b"]
    await groundwork.take_back()
    assert _standing(tmp_path) == []


async def test_what_was_made_stays_for_a_session(container: Path, tmp_path: Path) -> None:
    groundwork = _groundwork(1, 2)
    groundwork.make_container(str(container))
    groundwork.keep()
    await groundwork.take_back()
    assert _standing(tmp_path) == ["a", "all.sqlite", "b"]


async def test_directories_that_two_calls_make_at_once_go_deepest_first(
    container: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groundwork, mkdir = _groundwork(1), Path.mkdir

    def overtaken(directory: Path) -> None:
        """Another call goes on in here before this one has noted what it made."""
        monkeypatch.setattr(Path, "mkdir", mkdir)
        mkdir(directory)
        groundwork.make_directory(str(container.parent))

    monkeypatch.setattr(Path, "mkdir", overtaken)
    groundwork.make_directory(str(container.parent))
    assert _standing(tmp_path) == ["a", "b"]
    await groundwork.take_back()
    assert _standing(tmp_path) == []


async def test_what_stood_there_before_stays(container: Path) -> None:
    container.parent.mkdir(parents=True)
    with plain(container) as own:
        own.execute("CREATE TABLE beds (name)")
    groundwork = _groundwork(1)
    groundwork.make_container(str(container))
    await groundwork.take_back()
    assert _standing(container.parent) == ["all.sqlite"]


async def test_directories_in_use_stay(container: Path, tmp_path: Path) -> None:
    groundwork = _groundwork(1)
    groundwork.make_directory(str(container.parent))
    (tmp_path / "a" / "notes.txt").touch()
    await groundwork.take_back()
    assert _standing(tmp_path) == ["a", "notes.txt"]


async def test_a_container_with_a_session_of_another_process_stays(container: Path) -> None:
    groundwork = _groundwork(1)
    groundwork.make_container(str(container))
    with plain(container) as other:
        write_new_session(other, new_session_row("theirs", 1, None))
    await groundwork.take_back()
    with plain(container) as other:
        assert other.execute("SELECT id FROM sessions").fetchall() == [("theirs",)]


async def test_a_container_that_another_process_has_open_stays(container: Path) -> None:
    groundwork = _groundwork(1)
    groundwork.make_container(str(container))
    other = open_connection(str(container), "read-write")
    other.execute("SELECT * FROM sessions").fetchall()
    await groundwork.take_back()
    write_new_session(other, new_session_row("theirs", 1, None))
    other.close()
    with plain(container) as own:
        assert own.execute("SELECT id FROM sessions").fetchall() == [("theirs",)]


async def test_nobody_gets_into_a_container_that_is_being_removed(container: Path, tmp_path: Path) -> None:
    connections = WatchedConnections()
    groundwork = Groundwork(connections.connect)
    groundwork.begin()
    groundwork.make_container(str(container))
    refused: list[str] = []

    def get_in(statement: str) -> None:
        if not statement.startswith("SELECT EXISTS (SELECT 1 FROM sessions)") or not _in_transaction(connections):
            return
        for use in ("SELECT * FROM sessions", "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE"):
            with plain(container) as other, pytest.raises(apsw.BusyError):
                other.execute(use).fetchall()
            refused.append(use)

    connections.before = get_in
    await groundwork.take_back()
    assert len(refused) == 3
    assert _standing(tmp_path) == []


def _in_transaction(connections: WatchedConnections) -> bool:
    return connections.newest.in_transaction


@pytest.mark.parametrize(
    "take", [Path.mkdir, lambda path: path.write_bytes(b"mine"), lambda path: path.symlink_to("x")]
)
async def test_what_has_the_containers_name_is_never_replaced(take: Callable[[Path], object], container: Path) -> None:
    container.parent.mkdir(parents=True)
    take(container)
    before = _identity(container)
    groundwork = _groundwork(1)
    with suppress(FileNotFoundError):  # of a link that leads nowhere
        groundwork.make_container(str(container))
    await groundwork.take_back()
    assert _identity(container) == before
    assert _standing(container.parent) == ["all.sqlite"]


async def test_a_container_that_another_process_makes_meanwhile_is_taken(container: Path, tmp_path: Path) -> None:
    connections = WatchedConnections()
    groundwork = Groundwork(connections.connect)
    groundwork.begin()

    def make(_: str) -> None:
        connections.before = lambda _: None
        Groundwork(open_connection).make_container(str(container))

    connections.before = make
    found = groundwork.make_container(str(container))
    assert found.identity == _identity(container)
    await groundwork.take_back()
    assert _standing(container.parent) == ["all.sqlite"]
