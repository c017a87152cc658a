"""The judge's own reading of the database sections: names (29.1), schema (27.1), branch index (30), rows (27.1)."""

import random

import apsw
import pytest

from forkproof.oracle.branch_index import Held, IndexedEntry, Segment, branch_index, chain_of
from forkproof.oracle.database_names import database_name
from forkproof.oracle.database_rows import (
    SessionRows,
    entry_of,
    index_of_rows,
    indexed_entries,
    state_of_rows,
    usage_of,
)
from forkproof.oracle.database_schema import SCHEMA, Index, Table, schema_of, statements

NO_ROWS = dict.fromkeys(SCHEMA.tables, ())


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("walk-1", "walk-1.sqlite"),
        ("a/b", "~YQAvAGIA.sqlite"),
        ("été", "~6QB0AOkA.sqlite"),
        ("", "~.sqlite"),
        ("A_z-09", "A_z-09.sqlite"),
        ("a.b", "~YQAuAGIA.sqlite"),
        ("\u0662", "~YgY.sqlite"),
        ("🌱", "~PNgx3w.sqlite"),
    ],
)
def test_names_are_those_of_the_section(id, name):
    assert database_name(id) == name


@pytest.fixture
def connection():
    connection = apsw.Connection(":memory:")
    for statement in statements():
        connection.execute(statement)
    yield connection
    connection.close()


def test_what_the_statements_make_is_read_back(connection):
    assert schema_of(connection) == SCHEMA


@pytest.mark.parametrize(
    ("statement", "kind", "name", "seen"),
    [
        ("CREATE TABLE beds (id TEXT)", "tables", "beds", Table(("id TEXT null",), (), has_rowid=True)),
        ("DROP INDEX ix_be_seq", "indexes", "ix_be_seq", None),
        ("DROP TABLE usage_ledger", "tables", "usage_ledger", None),
        ("DROP TRIGGER trg_entries_validate", "triggers", "trg_entries_validate", None),
        (
            "DROP INDEX ix_bm_tip; CREATE INDEX ix_bm_tip ON branch_meta (session_id, tip_entry_id)",
            "indexes",
            "ix_bm_tip",
            Index("branch_meta", ("session_id", "tip_entry_id")),
        ),
        (
            (
                "DROP TABLE scalar_values; CREATE TABLE scalar_values (session_id TEXT NOT NULL, namespace TEXT"
                " NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, value TEXT,"
                " PRIMARY KEY (session_id, key, namespace)) WITHOUT ROWID"
            ),
            "tables",
            "scalar_values",
            Table(
                ("session_id TEXT", "namespace TEXT", "key TEXT", "seq INTEGER", "value TEXT null"),
                ("session_id", "key", "namespace"),
            ),
        ),
    ],
)
def test_what_is_otherwise_is_seen(connection, statement, kind, name, seen):
    connection.execute(statement)
    found = schema_of(connection)
    assert found != SCHEMA
    assert getattr(found, kind).get(name) == seen


@pytest.mark.parametrize(
    "wrong",
    [
        "INSERT INTO entries VALUES ('s', 'b', 'x', 3, 'message', NULL, 0, '{}')",
        "INSERT INTO entries VALUES ('t', 'b', 'a', 3, 'message', NULL, 0, '{}')",
        "INSERT INTO entries VALUES ('s', 'cost', NULL, 3, 'message', NULL, 0, '{}')",
        "INSERT INTO usage_ledger VALUES ('s', 'a', 3, NULL, 0, '{}', NULL)",
    ],
)
def test_the_triggers_abort_what_the_section_names(connection, wrong):
    connection.execute("INSERT INTO entries VALUES ('s', 'a', NULL, 1, 'message', NULL, 0, '{}')")
    connection.execute("INSERT INTO usage_ledger VALUES ('s', 'cost', 2, NULL, 0, '{}', NULL)")
    connection.execute("INSERT INTO entries VALUES ('s', 'kid', 'a', 3, 'message', NULL, 0, '{}')")
    connection.execute("INSERT INTO entries VALUES ('t', 'cost', NULL, 1, 'message', NULL, 0, '{}')")
    with pytest.raises(apsw.ConstraintError):
        connection.execute(wrong)


def entries(text):
    """`r a(r) k(r,compaction)`: ids with their parents, in the order of their sequences."""
    for seq, word in enumerate(text.split(), 1):
        id, _, rest = word.rstrip(")").partition("(")
        parent, _, kind = rest.partition(",")
        yield IndexedEntry(id, parent or None, seq, kind or "message")


def shown(index):
    return {
        name: (" ".join(row.id for row in segment.rows), segment.tip, segment.base, segment.base_seq)
        for name, segment in index.items()
    }


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("r c(r)", {"r": ("r c", "c", None, None)}),
        ("r a(r) b(r)", {"r": ("r a", "a", None, None), "b": ("r b", "b", None, None)}),
        (
            "r k(r,compaction) a(k) x(a) b(a)",
            {"r": ("r k a x", "x", None, None), "b": ("a b", "b", "r", 2)},
        ),
        # The compaction itself is the parent: nothing of the chain is copied.
        ("r k(r,compaction) a(k) b(k)", {"r": ("r k a", "a", None, None), "b": ("b", "b", "r", 2)}),
        # The newest compaction of the chain is in the base's base.
        (
            "r k(r,compaction) a(k) x(a) b(a) y(b) c(b)",
            {"r": ("r k a x", "x", None, None), "b": ("a b y", "y", "r", 2), "c": ("a b c", "c", "r", 2)},
        ),
        ("r s a(r)", {"r": ("r a", "a", None, None), "s": ("s", "s", None, None)}),
    ],
)
def test_the_index_is_that_of_the_section(text, segments):
    assert shown(branch_index(entries(text))) == segments


def test_every_chain_is_the_path_to_the_root():
    chance = random.Random(7)
    made = []
    for seq in range(1, 300):
        parent = chance.choice(made[-12:]).id if made and chance.random() < 0.97 else None
        kind = "compaction" if chance.random() < 0.1 else "message"
        made.append(IndexedEntry(f"e{seq}", parent, seq, kind))
    index = branch_index(made)
    parents = {entry.id: entry.parent_id for entry in made}
    assert len(index) > 30
    for entry in made:
        path, at = [], entry.id
        while at is not None:
            path.append(at)
            at = parents[at]
        assert [row.id for _, rows in chain_of(index, entry.id) for row in reversed(rows)] == path


def test_a_chain_without_a_segment_has_no_answer():
    index = branch_index(entries("r a(r)"))
    index["r"].tip_seq = 1
    with pytest.raises(LookupError, match="no segment holds 'a'"):
        chain_of(index, "a")


def row(table, *values):
    return dict(zip(SCHEMA.tables[table].names, values, strict=True))


def test_rows_are_read_as_a_store_shows_them():
    rows = SessionRows(
        **{
            **NO_ROWS,
            "sessions": (row("sessions", "s", 5, "parent", 1, None, 1, '{"input":1}', 9),),
            "entries": (
                row("entries", "s", "b", "a", 4, "custom", "note", 7, '{"data":null}'),
                row("entries", "s", "a", None, 2, "message", None, 6, '{"message":{"role":"user"}}'),
            ),
            "scalar_values": (row("scalar_values", "s", "garden", "bed", 5, "2.50"),),
            "list_values": (
                row("list_values", "s", "garden", "bed", 8, '"later"'),
                row("list_values", "s", "garden", "bed", 6, '"früh"'),
            ),
            "usage_ledger": (row("usage_ledger", "s", "cost", 3, "a", 1, '{"input":1}', "null"),),
            "branch_entries": (
                row("branch_entries", "s", "a", "b", 4, "custom"),
                row("branch_entries", "s", "a", "a", 2, "message"),
                row("branch_entries", "s", "lost", "a", 2, "message"),
            ),
            "branch_meta": (row("branch_meta", "s", "a", "b", 4, None, None),),
        }
    )
    state = state_of_rows(rows)
    assert (state.parent_session_id, state.message_count, state.usage) == ("parent", 1, {"input": 1})
    assert state.entries == [
        {"id": "a", "parentId": None, "type": "message", "message": {"role": "user"}, "timestamp": 6},
        {"id": "b", "parentId": "a", "type": "custom", "customType": "note", "data": None, "timestamp": 7},
    ]
    assert state.scalars == {("garden", "bed"): 2.5}
    assert state.lists == {("garden", "bed"): ["früh", "later"]}
    assert state.ledger == [{"id": "cost", "usage": {"input": 1}, "entryId": "a", "adjustment": True, "details": None}]
    assert [entry.id for entry in indexed_entries(rows)] == ["a", "b"]
    assert index_of_rows(rows) == {
        "a": Segment("b", 4, rows=[Held("a", 2, "message"), Held("b", 4, "custom")]),
        "lost": Segment("", 0, rows=[Held("a", 2, "message")]),
    }


def test_what_is_null_is_absent():
    assert "customType" not in entry_of(row("entries", "s", "a", None, 2, "message", None, 6, "{}"))
    assert usage_of(row("usage_ledger", "s", "cost", 3, None, 0, "{}", None)) == {
        "id": "cost",
        "usage": {},
        "adjustment": False,
    }


@pytest.mark.parametrize("count", [0, 2])
def test_there_is_one_session_row(count):
    with pytest.raises(LookupError, match=f"{count} rows"):
        _ = SessionRows(**{**NO_ROWS, "sessions": ({},) * count}).session
