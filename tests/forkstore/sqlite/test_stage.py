"""The stage file, and the batches that go into it (S-SQL-FORK-06, S-SQL-FORK-07)."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from forkstore import CorruptSession, StoreIOError
from forkstore.sqlite.batches import Batches, BatchLimits
from forkstore.sqlite.connect import Mode, open_connection
from forkstore.sqlite.stage import Stage


def _batches(sizes: list[int], rows: int) -> list[list[int]]:
    batches = Batches(((size,) for size in sizes), BatchLimits(rows, 1000), "source")
    found = []
    while not batches.is_empty:
        found.append([row[0] for row in batches.next()])
    return found


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([0], [[0]]),
        ([400, 400, 400], [[400, 400], [400]]),
        ([500, 500, 1], [[500, 500], [1]]),
        ([5000], [[5000]]),
        ([1, 5000, 1], [[1], [5000], [1]]),
        ([5000, 5000], [[5000], [5000]]),
        ([0] * 7, [[0, 0, 0], [0, 0, 0], [0]]),
    ],
)
def test_a_batch_is_closed_before_it_passes_a_bound(sizes: list[int], expected: list[list[int]]) -> None:
    assert _batches(sizes, rows=3) == expected


def test_one_row_more_than_a_batch_is_taken_at_most() -> None:
    taken: list[int] = []

    def rows() -> object:
        for number in range(10):
            taken.append(number)
            yield (1,)

    batches = Batches(rows(), BatchLimits(rows=3, bytes=1000), "source")  # type: ignore[arg-type]
    assert len(taken) == 1
    for batch in (1, 2):
        assert len(list(batches.next())) == 3
        assert len(taken) == 3 * batch + 1


@pytest.mark.parametrize(("error", "refusal"), [(apsw.IOError, StoreIOError), (apsw.CorruptError, CorruptSession)])
def test_what_fails_while_rows_are_taken_is_the_source(error: type[Exception], refusal: type[Exception]) -> None:
    def rows() -> object:
        yield (1,)
        raise error

    batches = Batches(rows(), BatchLimits(), "source")  # type: ignore[arg-type]
    with pytest.raises(refusal) as raised:
        list(batches.next())
    assert raised.value.path == "source"  # type: ignore[attr-defined]


def test_a_stage_is_removed_with_its_side_files(tmp_path: Path) -> None:
    stage = Stage(str(tmp_path))
    stage.open(open_connection)
    stage.connection.execute("INSERT INTO chain VALUES (1, 0, 'x')")
    (file,) = tmp_path.iterdir()
    assert file.name.startswith(".fork-stage-")
    assert file.suffix == ".tmp"
    Path(f"{file}-journal").touch()
    for _ in range(2):
        stage.remove()
        assert not any(tmp_path.iterdir())
    with pytest.raises(RuntimeError):
        _ = stage.connection


def test_a_stage_has_no_journal_and_is_never_synced(tmp_path: Path) -> None:
    stage = Stage(str(tmp_path))
    stage.open(open_connection)
    settings = [stage.connection.execute(f"PRAGMA {name}").get for name in ("journal_mode", "synchronous")]
    assert settings == ["off", 0]
    stage.remove()


def test_a_stage_that_cannot_be_made_is_removed(tmp_path: Path) -> None:
    """The file stands by then, and its connection is open."""

    def connect(path: str, mode: Mode) -> apsw.Connection:
        connection = open_connection(path, mode)
        connection.exec_trace = lambda cursor, statement, bindings: "CREATE" not in statement
        return connection

    stage = Stage(str(tmp_path))
    with pytest.raises(apsw.ExecTraceAbort):
        stage.open(connect)
    assert any(tmp_path.iterdir())
    stage.remove()
    assert not any(tmp_path.iterdir())


def test_stages_have_names_of_their_own(tmp_path: Path) -> None:
    assert len({Stage(str(tmp_path)).path for _ in range(100)}) == 100
