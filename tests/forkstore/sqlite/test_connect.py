"""Opening a database: the three modes, any path, first openings at once, and the SQLites that are warned of."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import apsw
import pytest

from forkproof.instruments.own_connections import read_transaction, write_lock
from forkstore.sqlite import connect
from forkstore.sqlite.connect import Mode, open_connection, warn_of_faulty_sqlite

MODES: tuple[Mode, ...] = ("create", "read-write", "read-only")


def made(path: Path) -> Path:
    """A database in the mode that SQLite gives a new one."""
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE beds (name TEXT)")
    connection.close()
    return path


@pytest.mark.parametrize("mode", MODES)
def test_only_create_makes_what_is_missing(tmp_path: Path, mode: Mode) -> None:
    path = tmp_path / "new.sqlite"
    if mode == "create":
        open_connection(str(path), mode).close()
        assert path.is_file()
        return
    with pytest.raises(apsw.CantOpenError):
        open_connection(str(path), mode)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_has_its_settings(tmp_path: Path, mode: Mode) -> None:
    path = made(tmp_path / "a.sqlite")
    before = path.read_bytes()
    connection = open_connection(str(path), mode)
    assert connection.execute("PRAGMA busy_timeout").get == 5_000
    if mode == "read-only":
        assert connection.readonly("main")
        assert path.read_bytes() == before
    else:
        assert connection.execute("PRAGMA journal_mode").get == "wal"
        assert connection.execute("PRAGMA synchronous").get == 1
    connection.close()


@pytest.mark.parametrize("name", ["100%", "%41", "a#b", "a?mode=memory", "a b", "wässern-水", "file:a?mode=memory"])
def test_a_path_is_taken_as_it_is_in_every_mode(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    for mode in MODES:
        open_connection(path, mode).close()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", [":memory:", "file:a"])
def test_a_relative_path_is_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    open_connection(name, "create").close()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_what_is_no_database_is_refused_and_left_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(apsw.NotADBError):
        open_connection(str(path), "read-write")
    assert apsw.connections() == []
    assert path.read_bytes() == b"not a database" * 100


@pytest.mark.parametrize("held", [write_lock, read_transaction])
def test_an_opening_waits_until_nobody_uses_the_database_and_then_has_its_wal(
    tmp_path: Path, held: Callable[[Path], AbstractContextManager[object]]
) -> None:
    path = made(tmp_path / "a.sqlite")
    together = threading.Barrier(2)

    def wait_and_open() -> apsw.Connection:
        together.wait(30)
        return open_connection(str(path), "read-write")

    with ThreadPoolExecutor(1) as threads, held(path):
        opening = threads.submit(wait_and_open)
        together.wait(30)
    connection = opening.result()
    assert connection.execute("PRAGMA journal_mode").get == "wal"
    connection.close()


def test_an_opening_gives_up_when_the_writer_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.sqlite")
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 20)
    with write_lock(path), pytest.raises(apsw.BusyError):
        open_connection(str(path), "read-write")
    assert apsw.connections() == []


def test_first_openings_at_once_all_succeed(tmp_path: Path) -> None:
    together = threading.Barrier(6)

    def first(path: str) -> str:
        together.wait(30)
        connection = open_connection(path, "create")
        mode = str(connection.execute("PRAGMA journal_mode").get)
        connection.close()
        return mode

    with ThreadPoolExecutor(6) as threads:
        for number in range(10):
            assert set(threads.map(first, [str(tmp_path / f"{number}.sqlite")] * 6)) == {"wal"}


@pytest.mark.parametrize(
    ("version", "faulty"),
    [
        ("3.6.23", False),
        ("3.6.23.1", False),
        ("3.7.0", True),
        ("3.7.0.1", True),
        ("3.44.5", True),
        ("3.44.6", False),
        ("3.44.7", True),
        ("3.50.6", True),
        ("3.50.7", False),
        ("3.51.0", True),
        ("3.51.2", True),
        ("3.51.3", False),
        ("3.52.0", False),
        ("4.0.0", False),
    ],
)
def test_a_faulty_sqlite_is_warned_of_once(version: str, faulty: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            warn_of_faulty_sqlite(version)
    assert len(caught) == faulty
    assert all(version in str(warning.message) and warning.category is RuntimeWarning for warning in caught)


def test_opening_asks_for_the_sqlite_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.1")
    with pytest.warns(RuntimeWarning, match=r"3\.51\.1"):
        open_connection(str(tmp_path / "a.sqlite"), "create").close()
    open_connection(str(tmp_path / "a.sqlite"), "create").close()
