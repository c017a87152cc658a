"""The layer beneath SQLite: who goes through it, and that nothing of it stays."""

import gc
import threading
import weakref

import apsw
import pytest

from forkproof.instruments.fault_kinds import Fail
from forkproof.instruments.sql_faults import SqlFaults
from forkproof.instruments.sqlite_shim import BASE_VFS
from tests.forkproof.sql_fault_place import SqlPlace, connect


def ours():
    """The layers that SQLite knows."""
    return [name for name in apsw.vfs_names() if name.startswith("forkproof-")]


@pytest.fixture
def place(tmp_path):
    found = SqlPlace(tmp_path)
    yield found
    found.close()


def test_nothing_is_registered_until_a_connection_is_opened(place):
    assert ours() == []
    place.connect(place.path, "read-only").close()
    assert (len(ours()), apsw.vfs_names()[0]) == (1, BASE_VFS)


def test_a_connection_of_somebody_else_stays_out(place):
    place.connect(place.path, "read-only").close()
    place.faults.arm(Fail())
    plain = apsw.Connection(place.path)
    plain.execute("INSERT INTO beds VALUES ('lily')")
    plain.close()
    assert place.faults.count == 0


def test_who_names_the_base_stays_out_while_another_connects(place):
    counts = []

    def connect_beside(path, mode):
        beside = apsw.Connection(path, vfs=BASE_VFS)
        beside.execute("INSERT INTO beds VALUES ('lily')")
        beside.close()
        counts.append(place.faults.count)
        return connect(path, mode)

    place.faults.arm(Fail(), at=10_000, names={"open", "write"})
    place.faults.wrap(connect_beside)(place.path, "read-only").close()
    assert counts == [0]
    assert place.faults.count


def test_threads_that_connect_at_once_share_the_layer_and_give_the_default_back(place):
    both = threading.Barrier(2, timeout=30)

    def connect_together(path, mode):
        both.wait()
        connection = connect(path, mode)
        both.wait()
        return connection

    wrapped, opened = place.faults.wrap(connect_together), []
    place.faults.arm(Fail(), at=10_000, names={"open"}, paths="*.sqlite")
    threads = [threading.Thread(target=lambda: opened.append(wrapped(place.path, "read-only"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(opened), place.faults.count, apsw.vfs_names()[0]) == (2, 2, BASE_VFS)
    for connection in opened:
        connection.close()


def test_the_default_comes_back_when_connect_raises(place):
    def refuse(path, mode):
        raise LookupError(path)

    with pytest.raises(LookupError):
        place.faults.wrap(refuse)(place.path, "read-only")
    assert apsw.vfs_names()[0] == BASE_VFS


def test_release_takes_the_layer_away_and_leaves_open_connections_alone(place):
    connection = place.connect(place.path, "read-write")
    place.faults.release()
    assert ours() == []
    connection.execute("INSERT INTO beds VALUES ('lily')")
    connection.close()
    place.faults.release()
    assert place.stored()[3:] == ["lily"]


def test_released_faults_are_gone(tmp_path):
    faults = SqlFaults()
    wrapped = faults.wrap(connect)
    wrapped(str(tmp_path / "a"), "create").close()
    faults.release()
    gone = weakref.ref(faults)
    del faults, wrapped
    gc.collect()
    assert (gone(), ours()) == (None, [])


def test_two_cases_do_not_see_each_other(place, tmp_path):
    other = SqlFaults()
    theirs = other.wrap(connect)(str(tmp_path / "other"), "create")
    mine = place.connect(place.path, "read-write")
    place.faults.arm(Fail(), names={"write"})
    theirs.execute("CREATE TABLE t (x)")
    assert place.faults.count == 0
    other.arm(Fail(), at=10_000)
    place.faults.disarm()
    mine.execute("INSERT INTO beds VALUES ('lily')")
    assert other.count == 0
    mine.close()
    theirs.close()
    other.release()
