"""What the SQL spy reads from statements and their plans, and that asking for a plan disturbs nothing."""

import apsw
import pytest

from forkproof.instruments.sql_plans import read_plan
from forkproof.instruments.sql_statements import read_statement

from .sql_place import SqlPlace


@pytest.fixture
def place(tmp_path):
    return SqlPlace(tmp_path)


@pytest.fixture
def connection(place):
    opened = place.open()
    yield opened
    opened.close()


STATEMENTS = {
    "SELECT e.id FROM entries AS e WHERE e.id = ?": ("select", None, ["entries e"], 1),
    'select * from main.entries, "Notes" n join t3 x on x.a = n.b, t4 where a in (select q from t5, t6 z)': (
        "select",
        None,
        ["main.entries entries", "notes n", "t3 x", "t4 t4", "t5 t5", "t6 z"],
        0,
    ),
    "with c(a, b) as (select 1, 2 union all select a, b from c, entries e where e.id = c.a)"
    " insert or replace into main.x(a, b) select a, b from c": ("insert", "main.x x", ["c c", "entries e", "c c"], 0),
    "INSERT INTO entries(a, b) VALUES(?, :x) ON CONFLICT(a) DO UPDATE SET b = excluded.b": (
        "insert",
        "entries entries",
        [],
        2,
    ),
    "UPDATE OR IGNORE entries AS e SET a = 1, b = :b, c = :b FROM other o, p WHERE x = ?5": (
        "update",
        "entries e",
        ["other o", "p p"],
        5,
    ),
    "DELETE FROM main.entries WHERE a = 'from x, y -- ?'": ("delete", "main.entries entries", [], 0),
    "REPLACE INTO t VALUES(1)": ("insert", "t t", [], 0),
    "-- a remark ?\n SELECT count(*) FROM entries e NATURAL JOIN [notes]": (
        "select",
        None,
        ["entries e", "notes notes"],
        0,
    ),
    "SELECT 1 FROM (SELECT a FROM entries) AS q, (branch_meta m), json_each(?) j WHERE a IS NOT DISTINCT FROM b, c": (
        "select",
        None,
        ["entries entries", "branch_meta m"],
        1,
    ),
    "SELECT EXISTS (SELECT 1 FROM notes WHERE a IN (?, ?))": ("select", None, ["notes notes"], 2),
    "INSERT INTO a SELECT x, y FROM stage.b LEFT JOIN c USING (k), d": (
        "insert",
        "a a",
        ["stage.b b", "c c", "d d"],
        0,
    ),
    "VALUES (1), (2)": ("select", None, [], 0),
    "END TRANSACTION": ("commit", None, [], 0),
    "": ("", None, [], 0),
}


def mention(table):
    return f"{table.schema}.{table.name} {table.alias}" if table.schema else f"{table.name} {table.alias}"


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_says_its_kind_its_tables_and_its_parameters(text):
    statement = read_statement(text)
    target = None if statement.target is None else mention(statement.target)
    read = (statement.kind, target, [mention(table) for table in statement.tables], statement.parameters)
    assert read == STATEMENTS[text]


def accesses(execution):
    return [str(access) for access in execution.plan.accesses]


@pytest.mark.parametrize(
    ("text", "expected", "temporary"),
    [
        (
            "SELECT e.payload FROM entries AS e WHERE e.session = ? AND e.id = :id",
            ["search of entries by PRIMARY KEY (session=? AND id=?)"],
            0,
        ),
        (
            "SELECT id FROM entries WHERE session = ? ORDER BY seq",
            ["search of entries by covering ix_seq (session=?)"],
            0,
        ),
        (
            "SELECT payload FROM entries WHERE session = ? AND seq > ? ORDER BY seq DESC",
            ["search of entries by ix_seq (session=? AND seq>?)"],
            0,
        ),
        ("SELECT id FROM entries ORDER BY payload", ["scan of entries"], 1),
        ("SELECT text FROM notes WHERE id = ?1", ["search of notes by INTEGER PRIMARY KEY (rowid=?)"], 0),
        ("SELECT count(*) FROM entries", ["scan of entries by covering ix_seq"], 0),
        (
            "SELECT 1 FROM entries a, notes b WHERE a.payload = b.text GROUP BY a.seq",
            ["scan of notes", "search of entries by covering automatic (payload=?)"],
            1,
        ),
        ("SELECT 1", [], 0),
        ("INSERT INTO notes(text) VALUES(?)", [], 0),
        (
            "INSERT INTO notes(text) SELECT id FROM main.entries WHERE session = ?",
            ["search of entries by covering ix_seq (session=?)"],
            0,
        ),
        ("DELETE FROM notes WHERE text = ?", ["scan of notes"], 0),
    ],
)
def test_plans_are_read_into_accesses(place, connection, text, expected, temporary):
    count = read_statement(text).parameters
    connection.execute(text, (None,) * count).fetchall()
    (execution,) = place.spy.executions()
    if "automatic" not in "".join(expected):
        assert accesses(execution) == expected
    else:  # SQLite chooses which of the two it scans
        assert sum("automatic" in access for access in accesses(execution)) == 1
    assert len(execution.plan.temporary) == temporary


def test_lines_that_name_no_table_are_no_access():
    lines = [
        "CO-ROUTINE c",
        "SETUP",
        "SCAN CONSTANT ROW",
        "SCAN 2 CONSTANT ROWS",
        "SCAN 2-ROW VALUES CLAUSE",
        "MULTI-INDEX OR",
        "INDEX 1",
        "SEARCH e USING INDEX ix_seq (session=? AND seq=?)",
        "BLOOM FILTER ON e (id=?)",
        "SEARCH other.notes USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
        "USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
    ]
    plan = read_plan(read_statement("SELECT 1 FROM entries e LEFT JOIN other.notes"), lines)
    assert [(one.table, one.schema, one.index, one.covering) for one in plan.accesses] == [
        ("entries", None, "ix_seq", False),
        ("notes", "other", "INTEGER PRIMARY KEY", False),
    ]
    assert plan.temporary == ("USE TEMP B-TREE FOR LAST TERM OF ORDER BY",)
    assert plan.of("notes") == [plan.accesses[1]]
    assert str(plan).startswith("CO-ROUTINE c; SETUP; ")


def test_plans_know_attached_and_temporary_schemas_and_what_a_transaction_made(place, tmp_path):
    connection = place.open("create")
    connection.execute("ATTACH ? AS stage", (str(tmp_path / "stage.sqlite"),))
    connection.execute("BEGIN; CREATE TABLE stage.entries(a INTEGER PRIMARY KEY, b); CREATE TEMP TABLE path(id TEXT)")
    connection.execute("SELECT b FROM stage.entries WHERE a = 1").fetchall()
    connection.execute("SELECT 1 FROM temp.path p, main.entries e WHERE e.session = 's' AND e.id = p.id").fetchall()
    connection.execute("ROLLBACK")
    staged, joined = place.spy.executions(kind="select")
    assert [(one.table, one.schema, one.index) for one in staged.plan.accesses] == [
        ("entries", "stage", "INTEGER PRIMARY KEY")
    ]
    assert [(one.table, one.schema, one.way) for one in joined.plan.accesses] == [
        ("path", "temp", "scan"),
        ("entries", "main", "search"),
    ]
    connection.close()


def test_a_plan_is_asked_for_once_per_statement_of_a_connection(place, connection):
    for _ in range(3):
        connection.execute("SELECT id FROM entries").fetchall()
    plans = [one.plan for one in place.spy.executions()]
    assert plans[0] is plans[1] is plans[2] is not None


def test_asking_for_a_plan_starts_no_transaction_and_takes_no_snapshot(place, connection):
    seen = []
    connection.trace_v2(
        apsw.SQLITE_TRACE_STMT, lambda event: seen.append(event["connection"].txn_state("main")), id="mine"
    )
    connection.execute("BEGIN")
    connection.execute("SELECT id FROM entries").fetchall()
    assert set(seen) == {apsw.SQLITE_TXN_NONE}  # before the first step of the SELECT, with its plan asked for
    connection.execute("ROLLBACK")
    assert connection.in_transaction is False


def test_asking_for_a_plan_leaves_results_changes_and_errors_as_they_are(place, connection):
    connection.execute("INSERT INTO notes(text) VALUES('a'), ('b')")
    rows = connection.execute("SELECT changes(), last_insert_rowid(), total_changes()").fetchall()
    assert rows == [(2, 2, 2)]
    assert connection.execute("UPDATE notes SET text = 'c' RETURNING changes()").fetchall() == [(2,), (2,)]
    assert place.spy.executions()[-1].plan is None
    connection.execute("DELETE FROM notes WHERE text = 'd'")
    assert (connection.changes(), connection.execute("SELECT changes()").fetchall()) == (0, [(0,)])
    with pytest.raises(apsw.ConstraintError, match="UNIQUE constraint failed: notes"):
        connection.execute("INSERT INTO notes VALUES(1, 'a')")
    with pytest.raises(apsw.SQLError, match="no such table: beds"):
        connection.execute("SELECT 1 FROM beds")


def test_statements_in_the_cache_of_the_connection_stay_there(place):
    connection = place.open()
    connection.execute("SELECT 1 FROM entries").fetchall()
    before = connection.cache_stats()
    for number in range(20):
        connection.execute("SELECT id FROM entries", can_cache=number > 0).fetchall()
    after = connection.cache_stats()
    assert after["evictions"] == before["evictions"]
    assert after["no_cache"] - before["no_cache"] == 2  # the first run, and its plan
    connection.close()
