"""Names and places of databases (spec section 29.1, S-SQL-LAY-01, S-SQL-LAY-02, S-SQL-LAY-06)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forkstore import StoreIOError
from forkstore.sqlite.layout import PerFileLayout, SharedLayout


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("walk-1", "walk-1.sqlite"),
        ("Walk_1", "Walk_1.sqlite"),
        ("a/b", "~YQAvAGIA.sqlite"),
        ("été", "~6QB0AOkA.sqlite"),
        ("", "~.sqlite"),
        ("..", "~LgAuAA.sqlite"),
    ],
)
def test_a_database_is_named_after_its_session(session_id: str, name: str, tmp_path: Path) -> None:
    assert PerFileLayout(str(tmp_path)).place_of(session_id) == str(tmp_path.resolve() / name)


def test_a_place_is_a_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "all.sqlite").symlink_to("real/beds.sqlite")
    real = tmp_path.resolve() / "real"
    assert PerFileLayout(str(tmp_path / "link")).place_of("walk") == str(real / "walk.sqlite")
    assert SharedLayout(str(tmp_path / "all.sqlite")).place_of("walk") == str(real / "beds.sqlite")


def test_a_link_with_a_databases_name_does_not_move_its_place(tmp_path: Path) -> None:
    (tmp_path / "walk.sqlite").symlink_to("/elsewhere")
    assert PerFileLayout(str(tmp_path)).place_of("walk") == str(tmp_path.resolve() / "walk.sqlite")


def test_files_with_the_ending_may_be_databases(tmp_path: Path) -> None:
    for name in ("b.sqlite", "a.sqlite", "a.sqlite-wal", "a.sqlite.0123.tmp", "c.SQLITE", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "d.sqlite").mkdir()
    (tmp_path / "e.sqlite").symlink_to("a.sqlite")
    (tmp_path / "f.sqlite").symlink_to("nowhere")
    os.mkfifo(tmp_path / "g.sqlite")
    assert PerFileLayout(str(tmp_path)).databases() == [
        str(tmp_path.resolve() / name) for name in ("a.sqlite", "b.sqlite")
    ]


def test_a_missing_place_holds_no_databases(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "missing", tmp_path / "file", tmp_path / "file" / "below"):
        assert PerFileLayout(str(place)).databases() == []
    for place in (tmp_path / "missing", tmp_path, tmp_path / "file" / "below"):
        assert SharedLayout(str(place)).databases() == []


def test_a_directory_that_cannot_be_read_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(StoreIOError) as failure:
        PerFileLayout(str(tmp_path)).databases()
    assert (failure.value.operation, failure.value.code) == ("list_dir", "permission_denied")
