"""A place on the disk is as it was, or what is not is told: databases by their rows."""

import apsw
import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.store_picture import store_picture


def make(path, *rows):
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.execute("CREATE TABLE beds (name, number)")
    connection.executemany("INSERT INTO beds VALUES (?, ?)", rows)
    return connection


@pytest.fixture
def place(tmp_path):
    make(tmp_path / "garden.sqlite", ("tulip", 1), ("rose", None)).close()
    (tmp_path / "notes.txt").write_text("water")
    return tmp_path


def test_a_place_that_nobody_touched_is_as_it_was(place):
    before = store_picture(place)
    assert before.difference() is None
    before.check("the place")
    assert store_picture(place / "nothing").difference() is None


def test_what_a_transaction_took_back_is_no_difference(place):
    before = store_picture(place)
    bytes_before = (place / "garden.sqlite").read_bytes()
    connection = apsw.Connection(str(place / "garden.sqlite"))
    connection.execute("INSERT INTO beds VALUES ('lily', 3)")
    connection.execute("DELETE FROM beds WHERE name = 'lily'")
    assert before.difference() is None
    connection.close()
    assert (place / "garden.sqlite").read_bytes() != bytes_before
    assert before.difference() is None


CHANGES = {
    "row": ("INSERT INTO beds VALUES ('lily', 3)", "garden.sqlite: new in beds: ('lily', 3)"),
    "twice": ("INSERT INTO beds VALUES ('tulip', 1)", "garden.sqlite: new in beds: ('tulip', 1)"),
    "gone": ("DELETE FROM beds WHERE name = 'rose'", "garden.sqlite: gone from beds: ('rose', None)"),
    "type": ("UPDATE beds SET number = '1' WHERE number = 1", "garden.sqlite: new in beds: ('tulip', '1')"),
    "table": ("CREATE TABLE trees AS SELECT 'oak' AS name", "garden.sqlite: new in trees: ('oak',)"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_row_is_told(place, name):
    statement, told = CHANGES[name]
    before = store_picture(place)
    connection = apsw.Connection(str(place / "garden.sqlite"))
    connection.execute(statement)
    connection.close()
    assert told in before.difference()
    with pytest.raises(ClauseBroken, match="expected: as it was"):
        before.check("the place")


def test_new_and_lost_files_are_told(place):
    before = store_picture(place)
    make(place / "other.sqlite").close()
    (place / ".fork-stage-1.tmp").write_bytes(b"")
    (place / "lost.sqlite-wal").write_bytes(b"x")
    (place / "notes.txt").unlink()
    assert before.difference().splitlines() == [
        "new: .fork-stage-1.tmp (0 bytes)",
        "new: lost.sqlite-wal (1 bytes)",
        "gone: notes.txt (5 bytes)",
        "new: other.sqlite (a database)",
    ]
    (place / "garden.sqlite").unlink()
    assert "gone: garden.sqlite (a database)" in before.difference()


def test_many_rows_are_told_in_a_few_lines(place):
    before = store_picture(place)
    connection = apsw.Connection(str(place / "garden.sqlite"))
    connection.executemany("INSERT INTO beds VALUES (?, ?)", [("x" * 1_000, number) for number in range(100)])
    connection.close()
    lines = before.difference().splitlines()
    assert (len(lines), lines[-1]) == (7, "garden.sqlite: and 94 rows more in beds")
    assert max(map(len, lines)) < 300
