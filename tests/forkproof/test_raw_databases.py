"""The databases of a store, past the store: what a case plants and changes is there, is seen, and is gone after it."""

import apsw
import pytest

from forkproof.expect import ClauseBroken
from forkproof.harness import SessionHarness
from forkproof.instruments.byteguard import ByteGuard, tree
from forkproof.instruments.own_connections import (
    can_write_at_once,
    change,
    connected,
    read_rows,
    read_transaction,
    write_lock,
)
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker
from forkproof.makers.raw_databases import RawDatabases, path_of, session_row, side_files
from forkproof.oracle.database_schema import SCHEMA, Schema
from forkstore.contract.store import SessionMetadata

ENTRY = {"session_id": "walk", "id": "e1", "seq": 1, "type": "message", "timestamp": 0, "payload": "{}"}


@pytest.fixture
def databases(tmp_path):
    return RawDatabases(directory=tmp_path / "sessions", path=None)


@pytest.fixture
def container(tmp_path):
    return RawDatabases(directory=None, path=tmp_path / "store" / "all.sqlite")


@pytest.fixture
def path(databases):
    return databases.make(databases.place("walk"), session_row("walk"))


def of(path, id="walk"):
    return SessionMetadata(id=id, created_at=0, path=str(path))


def test_places_are_those_of_the_layout(databases, container, tmp_path):
    assert databases.place("a/b") == tmp_path / "sessions" / "~YQAvAGIA.sqlite"
    assert container.place("a/b") == container.container == tmp_path / "store" / "all.sqlite"
    assert (databases.directory, container.directory) == (tmp_path / "sessions", tmp_path / "store")
    assert databases.databases() == container.databases() == []
    made = [databases.make(databases.place(id)) for id in ("b", "a")]
    databases.plant("note.txt", b"rain")
    assert databases.databases() == made[::-1]
    made = container.make(container.place("a"))
    assert container.databases() == [made]


def test_what_it_makes_has_the_schema_and_the_rows(databases, path):
    assert databases.schema(path) == SCHEMA
    assert read_rows(path, "PRAGMA journal_mode") == [("wal",)]
    row = databases.session_rows(of(path)).session
    assert row["usage_payload"].startswith('{"input":0,"output":0,')
    assert (row["storage_version"], row["next_seq"]) == (1, 1)
    bare = databases.make(path.with_name("bare.sqlite"), schema=False)
    assert databases.schema(bare) == Schema()
    with pytest.raises(FileExistsError):
        databases.make(path)


def test_rows_are_put_changed_and_removed(databases, path):
    databases.insert_rows(path, "entries", ENTRY, {**ENTRY, "id": "e2", "seq": 2})
    assert databases.change_session(of(path), "entries", {"payload": "[]"}, "id = 'e2'") == 1
    assert [row["payload"] for row in databases.session_rows(of(path)).entries] == ["{}", "[]"]
    assert databases.remove_rows(of(path), "entries", "id = 'e1'") == 1
    assert [row["id"] for row in databases.session_rows(of(path)).entries] == ["e2"]
    assert databases.rows(path, "SELECT count(*) FROM entries WHERE seq > ?", 1) == [(1,)]


def test_a_change_that_hits_nothing_is_refused(databases, path):
    with pytest.raises(LookupError, match=r"no row of .* was changed"):
        databases.change_session(of(path), "entries", {"payload": "[]"})
    databases.change(path, "CREATE TABLE writer_lease (owner)")


def test_a_failing_change_changes_nothing(databases, path):
    with pytest.raises(apsw.ConstraintError):
        databases.insert_rows(path, "entries", ENTRY, ENTRY)
    assert databases.session_rows(of(path)).entries == ()


def test_rows_of_other_sessions_are_pictured(container):
    path = container.make(container.place(""), session_row("a"), session_row("b"))
    before = container.picture(path)
    container.insert_rows(path, "sessions", session_row("fork"))
    container.insert_rows(path, "entries", {**ENTRY, "session_id": "fork"})
    assert container.picture(path) != before
    assert container.picture(path, without=["fork"]) == before
    assert [row[0] for row in container.picture(path, without=["a", "fork"])["sessions"]] == ["b"]


def test_a_wrong_index_breaks_the_clause(databases, path):
    databases.insert_rows(path, "entries", ENTRY)
    with pytest.raises(ClauseBroken, match="the branch index of the session 'walk'"):
        databases.check_index(of(path))
    segment = {"session_id": "walk", "branch_id": "e1"}
    databases.insert_rows(path, "branch_meta", {**segment, "tip_entry_id": "e1", "tip_seq": 1})
    databases.insert_rows(
        path, "branch_entries", {**segment, "entry_id": "e1", "entry_seq": 1, "entry_type": "message"}
    )
    databases.check_index(of(path))


def test_all_of_it_is_taken_away(databases, container, tmp_path):
    before = tree(tmp_path)
    path = databases.make(databases.place("walk"), session_row("walk"))
    databases.plant("note.txt", b"rain")
    for side in side_files(path):
        side.touch()
    container.make(container.place(""))
    databases.take_away()
    container.take_away()
    before.check()


def test_what_the_store_owns_stays(databases, path):
    databases.forget(path)
    databases.take_away()
    assert path.exists()
    databases.remove(path)
    assert not path.exists()


@pytest.mark.parametrize("facts", [{}, {"seams": {"raw-files"}}, {"database_path": "x"}])
def test_databases_need_the_seam_and_the_place(tmp_path, facts):
    harness = SessionHarness(tmp_path)
    for name, value in facts.items():
        setattr(harness, name, value)
    with pytest.raises(LookupError, match="does not offer 'raw-files'"):
        _ = SessionMaker(harness, Trace()).databases


def test_metadata_without_a_path_breaks_the_clause():
    with pytest.raises(ClauseBroken, match="the real path of its database"):
        path_of(SessionMetadata(id="walk", created_at=0))


def test_looking_leaves_every_byte_and_no_side_file(databases, path):
    with ByteGuard(path):
        databases.session_rows(of(path))
        databases.picture(path)
        databases.schema(path)
    assert not any(side.exists() for side in side_files(path))


def test_looking_leaves_a_log_that_stands_there(path):
    writer = apsw.Connection(str(path))
    writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    writer.execute("UPDATE sessions SET next_seq = 7")
    writer.close()
    log, _ = side_files(path)
    before = log.read_bytes()
    with ByteGuard(path):
        assert read_rows(path, "SELECT next_seq FROM sessions") == [(7,)]
    assert log.read_bytes() == before


def test_a_query_cannot_change(path):
    with pytest.raises(apsw.ReadOnlyError):
        read_rows(path, "DELETE FROM sessions")


def test_nothing_is_made_where_nothing_is(tmp_path):
    with pytest.raises(apsw.CantOpenError):
        read_rows(tmp_path / "none.sqlite", "SELECT 1")
    assert list(tmp_path.iterdir()) == []


def test_the_write_lock_is_held_and_what_was_written_taken_back(path):
    assert can_write_at_once(path)
    with write_lock(path) as connection:
        connection.execute("DELETE FROM sessions")
        assert not can_write_at_once(path)
    assert can_write_at_once(path)
    assert read_rows(path, "SELECT count(*) FROM sessions") == [(1,)]


def test_a_read_transaction_keeps_its_state(path):
    with read_transaction(path) as connection:
        change(path, "DELETE FROM sessions")
        assert list(connection.execute("SELECT count(*) FROM sessions")) == [(1,)]
    assert read_rows(path, "SELECT count(*) FROM sessions") == [(0,)]


def test_side_files_are_no_neighbours_while_their_database_stands(databases, path):
    before = tree(path.parent)
    with ByteGuard(path, root=path.parent.parent) as guard, connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert all(side.exists() for side in side_files(path))
        before.check()
        assert guard.difference is None
        connection.execute("ROLLBACK")
    side_files(path)[0].touch()
    assert before.difference() is None
    path.unlink()
    gone = before.difference()
    assert "gone: walk.sqlite" in gone
    assert "new: walk.sqlite-wal" in gone


def test_a_side_file_of_no_database_is_a_neighbour(tmp_path):
    before = tree(tmp_path)
    (tmp_path / "walk.jsonl").write_bytes(b"{}\n")
    (tmp_path / "walk.jsonl-wal").touch()
    assert "new: walk.jsonl-wal (0 bytes)" in before.difference()
