"""The options of the repository on databases (spec section 2.5, S-SQL-LAY-11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkstore import InvalidArgument, SqliteSessionRepo
from forkstore.sqlite.settings import is_in_memory


class _BytesPath:
    def __fspath__(self) -> bytes:
        return b"sessions"


IN_MEMORY = ("", ":memory:", "file::memory:", "file:", "file:beds?mode=memory", "file:/beds?cache=shared&mode=memory")


@pytest.mark.parametrize(
    "options",
    [
        *({"directory": path} for path in (5, b"sessions", _BytesPath(), "a\0b", "\ud800", ["s"], *IN_MEMORY)),
        *({"database_path": path} for path in (5, b"sessions", _BytesPath(), "a\0b", "\ud800", Path(":memory:"))),
        *({"database_path": path} for path in (*IN_MEMORY, "file:/beds?vfs=memdb", "file:%3Amemory:")),
        *({"staging_dir": path} for path in (5, b"stages", "a\0b", *IN_MEMORY)),
        *({"connect": connect} for connect in (5, "connect", object())),
        *({"stage_batch_rows": rows} for rows in (0, -1, True, 2.0, "250", None)),
        *({"stage_batch_bytes": size} for size in (0, -1, True, 1e6, "1", None)),
        *({"now": now} for now in (5, "now", 1_760_000_000_123)),
        *({"id_generator": generator} for generator in (5, object(), lambda: "id")),
    ],
)
def test_an_option_of_the_wrong_type_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        SqliteSessionRepo(**({"directory": tmp_path} | options))
    assert {refusal.value.field} == {*options}


def test_a_repository_needs_a_place() -> None:
    with pytest.raises(InvalidArgument) as refusal:
        SqliteSessionRepo()
    assert refusal.value.field == "directory"


def test_building_a_repository_touches_nothing(tmp_path: Path) -> None:
    SqliteSessionRepo(tmp_path / "sessions")
    SqliteSessionRepo(str(tmp_path / "sessions"), connect=None, staging_dir=None, now=None, id_generator=None)
    SqliteSessionRepo(database_path=tmp_path / "sessions" / "all.sqlite", staging_dir=tmp_path / "stages")
    SqliteSessionRepo(tmp_path / "sessions", database_path=tmp_path / "all.sqlite", fork_probe=None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["beds", ":Memory:", "./:memory:", "file:beds", "file:beds?mode=rwc", "FILE::memory:"])
def test_a_name_of_a_file_is_not_in_memory(name: str) -> None:
    assert not is_in_memory(name)
