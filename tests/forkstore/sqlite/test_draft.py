"""A database that appears complete or not at all (S-FORK-FAIL-09, S-SQL-LAY-05)."""

from __future__ import annotations

import errno
from pathlib import Path

import apsw
import pytest

from forkstore.sqlite.connect import open_connection
from forkstore.sqlite.draft import Draft


def _write(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE; CREATE TABLE beds (name); INSERT INTO beds VALUES ('north'); COMMIT")


def _names(path: Path) -> list[str]:
    connection = open_connection(str(path), "read-only")
    try:
        return [name for (name,) in connection.execute("SELECT name FROM beds")]
    finally:
        connection.close()


def _standing(directory: Path) -> set[str]:
    """The names in the directory."""
    return {path.name for path in directory.iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "walk.sqlite"


def test_nothing_is_seen_until_it_is_placed(path: Path) -> None:
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    (name,) = _standing(path.parent)
    assert name.startswith("walk.sqlite.")
    assert name.endswith(".tmp")
    assert draft.place().path == str(path)
    assert _standing(path.parent) == {"walk.sqlite"}
    assert path.read_bytes()[18:20] == b"\x02\x02"  # WAL mode
    assert _names(path) == ["north"]


def test_what_stands_there_is_never_replaced(path: Path) -> None:
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    path.symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        draft.place()
    draft.take_back()
    assert _standing(path.parent) == {"walk.sqlite"}
    assert path.is_symlink()


def test_what_comes_at_the_last_moment_is_never_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    path.write_bytes(b"theirs")
    Path(f"{path}-wal").write_bytes(b"theirs")
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    with pytest.raises(FileExistsError):
        draft.place()
    monkeypatch.undo()
    draft.take_back()
    assert path.read_bytes() == Path(f"{path}-wal").read_bytes() == b"theirs"


def test_side_files_without_a_database_are_not_taken_over(path: Path) -> None:
    for side in ("-wal", "-shm", "-journal"):
        Path(f"{path}{side}").write_bytes(b"left over")
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    draft.place()
    assert _standing(path.parent) == {"walk.sqlite"}


def test_taking_back_removes_the_draft(path: Path) -> None:
    draft = Draft(str(path))
    draft.take_back()
    draft.write(open_connection, _write)
    draft.take_back()
    assert _standing(path.parent) == set()


def test_taking_back_removes_what_was_placed(path: Path) -> None:
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    draft.place()
    for side in ("-wal", "-shm"):
        Path(f"{path}{side}").touch()
    draft.take_back()
    assert _standing(path.parent) == set()


def test_taking_back_leaves_another_file_in_its_place(path: Path) -> None:
    draft = Draft(str(path))
    draft.write(open_connection, _write)
    draft.place()
    kept = path.rename(path.with_name("kept"))
    path.write_bytes(b"theirs")
    draft.take_back()
    assert _standing(path.parent) == {"walk.sqlite", "kept"}
    assert kept.stat().st_size > 0


@pytest.mark.parametrize("taken", [False, True])
def test_a_file_system_without_hard_links_takes_a_name(
    taken: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str, **_: bool) -> None:
        if taken:
            path.write_bytes(b"theirs")
        raise OSError(errno.EPERM, "Operation not permitted")

    draft = Draft(str(path))
    draft.write(open_connection, _write)
    monkeypatch.setattr("os.link", refuse)
    if taken:
        with pytest.raises(FileExistsError):
            draft.place()
        draft.take_back()
        assert path.read_bytes() == b"theirs"
    else:
        draft.place()
    assert _standing(path.parent) == {"walk.sqlite"}


def test_a_draft_that_somebody_else_has_opened_is_not_placed(path: Path) -> None:
    others: list[apsw.Connection] = []

    def peep(connection: apsw.Connection) -> None:
        _write(connection)
        connection.set_busy_timeout(0)
        others.append(open_connection(connection.db_filename("main"), "read-only"))
        others[0].execute("BEGIN; SELECT * FROM beds").fetchall()

    draft = Draft(str(path))
    with pytest.raises((OSError, apsw.BusyError)):
        draft.write(open_connection, peep)
    others[0].close()
    draft.take_back()
    assert _standing(path.parent) == set()
