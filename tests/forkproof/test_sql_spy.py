"""The SQL spy: the store's connection stays what it is, everything on it is told, and nothing is kept alive."""

import gc
import threading
import weakref
from pathlib import Path

import apsw
import pytest

from forkproof.instruments import sql_spy, watched_connections

from .sql_place import SqlPlace, plain_connect


@pytest.fixture
def place(tmp_path):
    return SqlPlace(tmp_path)


def texts(executions):
    return [one.statement.text for one in executions]


def test_the_store_gets_the_connection_that_its_own_function_made(place):
    made = []

    def connect(path, mode):
        made.append(plain_connect(path, mode))
        return made[0]

    assert place.spy.wrap(connect)(place.path, "read-write") is made[0]
    made[0].close()


def test_a_connect_that_fails_fails_as_it_is(place):
    error = apsw.CantOpenError("no")

    def connect(path, mode):
        raise error

    with pytest.raises(apsw.CantOpenError) as raised:
        place.spy.wrap(connect)("/nowhere", "read-only")
    assert raised.value is error
    assert (place.spy.seen, place.spy.connections()) == (1, [])


def test_connections_are_told_with_path_mode_thread_and_the_order_of_opening_and_closing(place, tmp_path):
    (tmp_path / "link").symlink_to(place.path)
    first = place.open("read-only", str(tmp_path / "link"))
    second = place.open("read-write")
    first.close()
    third = place.open("create", str(tmp_path / "other.sqlite"))
    told = place.spy.connections()
    assert [(one.path, one.mode) for one in told] == [
        (place.path, "read-only"),
        (place.path, "read-write"),
        (str(tmp_path / "other.sqlite"), "create"),
    ]
    assert told[0].given == str(tmp_path / "link")
    assert {one.thread for one in told} == {threading.get_ident()}
    assert told[0].opened < told[1].opened < told[0].closed < told[2].opened
    assert place.spy.open_connections() == told[1:]
    assert place.spy.open_connections(told[1].opened) == told[:2]
    assert place.spy.connections(tmp_path / "garden.sqlite", "read-only") == told[:1]
    for connection in (second, third, second):
        connection.close()
    assert place.spy.open_connections() == []


def test_statements_are_told_with_their_kind_rows_changes_and_counters(place):
    connection = place.open()
    connection.execute("SELECT id FROM entries WHERE session = ? AND seq > ?", ("s", 1)).fetchall()
    connection.execute("UPDATE entries SET payload = 'y' WHERE session = 's' AND id IN ('e1', 'e2')")
    connection.execute("SELECT 1 FROM entries ORDER BY payload").fetchall()
    select, update, sorting = place.spy.executions()
    assert [(one.statement.kind, one.rows, one.changes) for one in (select, update, sorting)] == [
        ("select", 3, 0),
        ("update", 0, 2),
        ("select", 5, 0),
    ]
    assert select.begun < select.ended < update.begun
    assert (select.sorts, select.scanned, sorting.sorts, sorting.scanned) == (0, 0, 1, 4)
    assert sorting.steps > 0
    assert str(select) == (f"SELECT id FROM entries WHERE session = ? AND seq > ?  [{place.path} read-write, 3 rows]")
    connection.close()


def test_every_way_to_run_a_statement_is_seen(place):
    connection = place.open()
    connection.execute("SELECT 1; SELECT 2").fetchall()
    connection.cursor().execute("SELECT 3").fetchall()
    apsw.Cursor(connection).execute("SELECT 4").fetchall()
    connection.executemany("INSERT INTO notes(text) VALUES(?)", [("a",), ("b",)])
    assert connection.pragma("user_version") == 0
    *seen, pragma = place.spy.executions()
    assert texts(seen) == ["SELECT 1;", "SELECT 2", "SELECT 3", "SELECT 4"] + ["INSERT INTO notes(text) VALUES(?)"] * 2
    assert (pragma.statement.kind, pragma.plan) == ("pragma", None)
    connection.close()


def test_questions_choose_by_path_connection_kind_table_and_moment(place, tmp_path):
    one, other = place.open(), place.open("create", str(tmp_path / "other.sqlite"))
    one.execute("SELECT count(*) FROM entries").fetchall()
    other.execute("CREATE TABLE beds(id)")
    moment = place.spy.moment()
    one.execute("INSERT INTO notes SELECT seq, id FROM entries WHERE session = 's'")
    spy, connections = place.spy, place.spy.connections()
    assert texts(spy.executions(tmp_path / "other.sqlite")) == ["CREATE TABLE beds(id)"]
    assert texts(spy.executions(on=connections[1])) == ["CREATE TABLE beds(id)"]
    assert [one.statement.kind for one in spy.executions(table="entries")] == ["select", "insert"]
    assert [one.statement.kind for one in spy.executions(table="notes")] == ["insert"]
    assert [one.statement.kind for one in spy.executions(kind="create")] == ["create"]
    assert [one.statement.kind for one in spy.executions(since=moment)] == ["insert"]
    one.close()
    other.close()


def test_a_cursor_that_was_not_run_to_its_end_is_open_until_it_is_given_up(place):
    connection = place.open("read-only")
    cursor = connection.execute("SELECT id FROM entries")
    next(cursor)
    (running,) = place.spy.open_statements()
    assert (running.rows, running.ended) == (1, None)
    during = place.spy.moment()
    cursor.close()
    assert place.spy.open_statements() == []
    assert place.spy.open_statements(during) == [running]
    cursor = connection.execute("SELECT id FROM entries")
    connection.close()
    assert place.spy.open_statements() == []


def test_a_dropped_connection_is_closed_as_without_the_spy(place):
    connection = place.open()
    connection.execute("BEGIN")
    gone = weakref.ref(connection)
    del connection
    gc.collect()
    assert gone() is None
    assert place.spy.open_connections() == []
    assert [one.ending for one in place.spy.transactions()] == ["closed"]


def test_a_connection_that_the_collector_takes_together_with_its_spy_is_closed_in_silence(place):
    class Knot:
        pass

    knot = Knot()
    knot.itself, knot.connection, knot.spy = knot, place.open(), place.spy
    knot.connection.execute("BEGIN")
    del knot, place.spy
    gc.collect()  # an error in a callback would be a warning, which is an error here


def test_what_a_store_registers_itself_is_left_alone(place):
    connection = place.open()
    traced, told = [], []
    connection.exec_trace = lambda cursor, sql, bindings: traced.append(sql) or True
    connection.row_trace = lambda cursor, row: ("traced", *row)
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: told.append(event["explain"]), id="mine")
    connection.set_commit_hook(lambda: bool(told.append("commit")))
    assert connection.execute("SELECT id FROM entries WHERE session = 's' AND id = 'e1'").fetchall() == [
        ("traced", "e1")
    ]
    connection.execute("INSERT INTO notes(text) VALUES('a')")
    assert traced == ["SELECT id FROM entries WHERE session = 's' AND id = 'e1'", "INSERT INTO notes(text) VALUES('a')"]
    assert [one for one in told if one in (0, "commit")] == [0, 0, "commit"]
    assert len(place.spy.executions()) == 2

    class Counting(apsw.Cursor):
        made = 0

        def __init__(self, connection):
            super().__init__(connection)
            Counting.made += 1

    connection.cursor_factory = Counting
    connection.execute("SELECT 5").fetchall()
    assert Counting.made == 1
    connection.close()


def test_blobs_backups_attached_databases_and_context_managers_work(place, tmp_path):
    connection = place.open()
    with connection:
        connection.execute("INSERT INTO notes VALUES(1, ?)", (b"rain",))
        with connection:
            connection.execute("INSERT INTO notes VALUES(2, 'sun')")
    with connection.blob_open("main", "notes", "text", 1, False) as blob:
        assert blob.read() == b"rain"
    other = place.open("create", str(tmp_path / "copy.sqlite"))
    with other.backup("main", connection, "main") as backup:
        backup.step()
    assert other.execute("SELECT count(*) FROM notes").fetchall() == [(2,)]
    connection.execute("ATTACH ? AS copied", (str(tmp_path / "copy.sqlite"),))
    assert connection.execute("SELECT count(*) FROM copied.notes").fetchall() == [(2,)]
    assert isinstance(connection, apsw.Connection)
    connection.close()
    other.close()


def test_rows_are_told_as_they_are_taken_and_written(place):
    connection = place.open()
    rows = connection.execute("SELECT id, payload FROM entries").fetchall()
    connection.executemany("INSERT INTO notes(text) VALUES(?)", [(row[0],) for row in rows])
    assert place.spy.most_rows_held() == {"entries": 5}
    place.spy.forget()
    for row in connection.execute("SELECT id FROM entries"):
        connection.execute("INSERT INTO notes(text) VALUES(?)", row)
    assert place.spy.most_rows_held() == {"entries": 1}
    place.spy.forget()
    connection.execute("INSERT INTO notes(text) SELECT id FROM entries")
    assert place.spy.most_rows_held() == {}
    place.spy.forget()
    list(connection.execute("SELECT e.id FROM entries e, notes n WHERE n.text = e.id AND e.session = 's'"))
    assert place.spy.most_rows_held() == {"entries": 15, "notes": 15}
    connection.close()


def test_rows_that_are_written_elsewhere_count_as_written_on(place, tmp_path):
    source, stage = place.open("read-only"), place.open("create", str(tmp_path / "stage.sqlite"))
    stage.execute("CREATE TABLE staged(id)")
    cursor = source.execute("SELECT id FROM entries")
    for size in (2, 3):
        batch = [next(cursor) for _ in range(size)]
        stage.executemany("INSERT INTO staged VALUES(?)", batch)
    assert place.spy.most_rows_held() == {"entries": 3}
    source.close()
    stage.close()


def test_threads_may_use_connections_at_the_same_time(place):
    def work():
        connection = place.open("read-only")
        for _ in range(50):
            connection.execute("SELECT id FROM entries").fetchall()
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = place.spy.executions()
    assert len(runs) == 200
    assert [one.rows for one in runs] == [5] * 200
    assert [one.begun for one in runs] == sorted({one.begun for one in runs})
    assert len({one.connection for one in runs}) == 4
    assert [one for one in runs if one.thread != one.connection.thread] == []
    assert place.spy.open_connections() == []


def test_what_was_forgotten_is_in_no_answer_and_what_is_open_stays(place):
    connection, gone = place.open(), place.open()
    connection.execute("BEGIN")
    connection.execute("SELECT 1").fetchall()
    gone.close()
    seen = place.spy.seen
    place.spy.forget()
    assert place.spy.executions() == []
    assert [one.kind for one in place.spy.transactions()] == ["deferred"]
    assert len(place.spy.connections()) == 1
    connection.execute("ROLLBACK")
    assert texts(place.spy.executions()) == ["ROLLBACK"]
    assert place.spy.seen == seen + 1
    connection.close()


def test_more_runs_than_are_kept_are_counted_and_never_half_answered(place, monkeypatch):
    monkeypatch.setattr(sql_spy, "RUNS_KEPT", 3)
    connection = place.open()
    for _ in range(3):
        connection.execute("SELECT 1")
    assert len(place.spy.executions()) == 3
    connection.execute("SELECT 1")
    for question in (place.spy.executions, place.spy.transactions, place.spy.open_statements):
        with pytest.raises(LookupError, match="forget"):
            question()
    assert place.spy.seen == 5
    place.spy.forget()
    connection.execute("SELECT 1")
    assert len(place.spy.executions()) == 1
    connection.close()


def test_a_store_that_makes_up_texts_costs_no_memory_for_plans(place, monkeypatch):
    monkeypatch.setattr(watched_connections, "PLANS_KEPT", 2)
    connection = place.open()
    for number in range(4):
        connection.execute(f"SELECT {number} FROM entries").fetchall()
    assert [one.plan is not None for one in place.spy.executions()] == [True, True, False, False]
    connection.close()


def test_the_directory_holds_what_it_would_hold_without_the_spy(place, tmp_path):
    connection = place.open()
    connection.execute("SELECT id FROM entries").fetchall()
    connection.close()
    assert [path.name for path in Path(tmp_path).iterdir()] == ["garden.sqlite"]


def test_a_connection_that_outlives_the_spy_is_let_go_of(place):
    kept = place.open("read-write")
    place.spy.release()
    place.spy.release()
    seen = place.spy.seen
    kept.execute("SELECT 1").fetchall()
    kept.close()
    assert place.spy.seen == seen
    assert [one.closed for one in place.spy.connections()] == [None]


def test_a_connection_in_a_cycle_is_told_as_closed_when_the_collector_takes_it(place):
    cycle = [place.open("read-write")]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert place.spy.open_connections() == []
