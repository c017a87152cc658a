"""The SQL spy on transactions: how each began, what it changed, how and when it ended."""

import apsw
import pytest

from forkproof.instruments.sql_spy import SqlSpy

from .sql_place import SqlPlace, plain_connect

INSERT = "INSERT INTO notes(text) VALUES('rain')"


@pytest.fixture
def place(tmp_path):
    return SqlPlace(tmp_path)


@pytest.fixture
def connection(place):
    opened = place.open()
    yield opened
    opened.close()


def told(place):
    return [(one.kind, sorted(one.changed), one.ending) for one in place.spy.transactions()]


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        ("BEGIN", "deferred"),
        ("begin transaction", "deferred"),
        ("BEGIN DEFERRED", "deferred"),
        ("BEGIN IMMEDIATE", "immediate"),
        ("begin /* a word */ immediate transaction", "immediate"),
        ("BEGIN EXCLUSIVE", "exclusive"),
        ("SAVEPOINT one", "deferred"),
    ],
)
@pytest.mark.parametrize(("end", "ending"), [("COMMIT", "commit"), ("END", "commit"), ("ROLLBACK", "rollback")])
def test_a_transaction_is_told_as_it_began_and_ended(place, connection, begin, kind, end, ending):
    connection.execute(begin)
    connection.execute(INSERT)
    connection.execute(end)
    assert told(place) == [(kind, ["notes"], ending)]
    (transaction,) = place.spy.transactions()
    runs = place.spy.executions()
    assert [one.transaction for one in runs] == [transaction] * 3
    assert (transaction.begun, transaction.ended) == (runs[0].begun, runs[2].ended)


def test_a_transaction_that_only_read_wrote_nothing(place, connection):
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("SELECT id FROM entries").fetchall()
    connection.execute("COMMIT")
    assert told(place) == [("immediate", [], "commit")]
    assert place.spy.transactions(wrote=True) == []
    assert str(place.spy.transactions(wrote=False)[0]) == (
        f"immediate transaction on {place.path} read-write (only read; commit)"
    )


def test_reads_outside_of_transactions_are_in_none(place, connection):
    connection.execute("SELECT id FROM entries").fetchall()
    connection.execute("PRAGMA user_version").fetchall()
    assert (told(place), [one.transaction for one in place.spy.executions()]) == ([], [None, None])


def test_a_change_outside_of_a_transaction_is_an_implicit_one(place, connection):
    connection.execute(INSERT)
    connection.execute("CREATE TABLE beds(id)")
    connection.execute("CREATE TABLE IF NOT EXISTS beds(id)")
    assert told(place) == [("implicit", ["notes"], "commit"), ("implicit", ["create"], "commit")]
    assert [one.transaction is None for one in place.spy.executions()] == [False, False, True]


def test_a_refused_change_outside_of_a_transaction_is_none(place, connection):
    with pytest.raises(apsw.ConstraintError):
        connection.execute("INSERT INTO entries SELECT session, id, seq, payload FROM entries")
    assert told(place) == []


def test_a_savepoint_inside_a_transaction_is_no_transaction(place, connection):
    connection.execute("BEGIN IMMEDIATE; SAVEPOINT one")
    connection.execute(INSERT)
    connection.execute("ROLLBACK TO one; RELEASE one; COMMIT")
    assert told(place) == [("immediate", ["notes"], "commit")]
    connection.execute("SAVEPOINT two; RELEASE two")
    assert told(place)[1:] == [("deferred", [], "commit")]


def test_context_managers_are_transactions(place, connection):
    with connection:
        connection.execute(INSERT)
    with pytest.raises(apsw.ConstraintError), connection:
        connection.execute(f"{INSERT}; INSERT INTO entries SELECT * FROM entries")
    assert told(place) == [("deferred", ["notes"], "commit"), ("deferred", ["entries", "notes"], "rollback")]


def test_a_begin_that_does_not_get_its_lock_begins_nothing(place, connection):
    other = plain_connect(place.path, "read-write")
    other.execute("BEGIN IMMEDIATE")
    connection.set_busy_timeout(0)
    with pytest.raises(apsw.BusyError):
        connection.execute("BEGIN IMMEDIATE")
    assert told(place) == []
    other.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE; COMMIT")
    assert told(place) == [("immediate", [], "commit")]
    other.close()


def test_a_commit_that_fails_leaves_the_transaction_running(tmp_path):
    path, spy = str(tmp_path / "rollback.sqlite"), SqlSpy()
    writer, reader = (spy.wrap(plain_connect)(path, "create") for _ in range(2))
    writer.execute("CREATE TABLE notes(text)")
    spy.forget()
    reader.execute("BEGIN; SELECT text FROM notes").fetchall()
    writer.execute("BEGIN IMMEDIATE")
    writer.execute(INSERT)
    writer.set_busy_timeout(0)
    with pytest.raises(apsw.BusyError):
        writer.execute("COMMIT")
    assert [(one.kind, one.ending) for one in spy.transactions()] == [("deferred", None), ("immediate", None)]
    assert spy.open_transactions() == spy.transactions()
    reader.execute("ROLLBACK")
    writer.execute("COMMIT")
    assert [one.ending for one in spy.transactions()] == ["rollback", "commit"]
    writer.close()
    reader.close()


def test_a_transaction_that_sqlite_rolls_back_has_ended(place, connection):
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(apsw.ConstraintError):
        connection.execute("INSERT OR ROLLBACK INTO entries VALUES('s', 'e1', 1, '')")
    assert told(place) == [("immediate", ["entries"], "rollback")]


def test_a_closed_connection_ends_its_transaction(place):
    connection = place.open()
    connection.execute("BEGIN IMMEDIATE")
    connection.close()
    assert [(one.ending, one.ended) for one in place.spy.transactions()] == [
        ("closed", place.spy.connections()[0].closed)
    ]


def test_transactions_of_several_connections_stand_in_one_order(place, tmp_path):
    reader, stage = place.open("read-only"), place.open("create", str(tmp_path / "stage.sqlite"))
    reader.execute("BEGIN")
    reader.execute("SELECT 1 FROM entries").fetchall()
    stage.execute("BEGIN IMMEDIATE; CREATE TABLE staged(id); COMMIT")
    during = place.spy.moment()
    reader.execute("ROLLBACK")
    stage.execute("BEGIN IMMEDIATE; INSERT INTO staged VALUES(1); COMMIT")
    read, made, written = place.spy.transactions()
    assert read.begun < made.begun < made.ended < read.ended < written.begun
    assert place.spy.open_transactions(during) == [read]
    assert place.spy.transactions(tmp_path / "stage.sqlite") == [made, written]
    assert place.spy.transactions(on=read.connection) == [read]
    reader.close()
    stage.close()


def test_a_change_of_an_attached_database_is_told_by_its_table(place, tmp_path):
    connection = place.open("create")
    connection.execute("ATTACH ? AS stage", (str(tmp_path / "stage.sqlite"),))
    connection.execute("BEGIN IMMEDIATE; CREATE TABLE stage.staged(id)")
    connection.execute("WITH all_of AS (SELECT id FROM main.entries) INSERT INTO stage.staged SELECT id FROM all_of")
    connection.execute("COMMIT")
    assert told(place) == [("immediate", ["create", "staged"], "commit")]
    assert place.spy.executions(kind="insert")[0].changes == 5
    connection.close()
