"""Faults beneath a database: what each does, what it leaves, what the connection tells, and what is counted."""

import asyncio

import apsw
import pytest

from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Kill, NoSpace, Short
from forkproof.instruments.fault_scenes import Gone, Meanwhile, Slow
from forkproof.instruments.sql_faults import Busy
from forkproof.instruments.sql_operations import JOURNAL, OPERATIONS, STAGE, WAL
from forkproof.instruments.stepping import stepped
from forkproof.instruments.sweep import swept
from tests.forkproof.sql_fault_place import SqlPlace

BEDS = ["tulip", "rose", "daisy"]


@pytest.fixture
def place(tmp_path):
    found = SqlPlace(tmp_path)
    yield found
    found.close()


@pytest.fixture
def connection(place):
    opened = place.connect(place.path, "create")
    opened.execute("SELECT * FROM beds").fetchall()
    yield opened
    place.faults.disarm()
    opened.close()


def test_without_a_fault_a_database_is_as_it_was(place):
    place.add("lily")
    assert (place.stored(), place.names()) == ([*BEDS, "lily"], ["garden.sqlite"])
    assert (place.faults.count, place.faults.hits) == (0, [])


def test_the_log_and_its_shared_memory_work_between_connections(place, connection):
    connection.execute("INSERT INTO beds VALUES ('lily')")
    assert place.names() == ["garden.sqlite", "garden.sqlite-shm", "garden.sqlite-wal"]
    assert place.stored() == [*BEDS, "lily"]
    reader = place.connect(place.path, "read-only")
    assert len(reader.execute("SELECT * FROM beds").fetchall()) == 4
    reader.close()


FAILURES = {"IOError": Fail(), "FullError": Fail("no_space"), "PermissionsError": Fail("permission_denied")}


@pytest.mark.parametrize("name", sorted(FAILURES))
def test_a_failure_is_told_by_the_very_error_that_was_made(place, connection, name):
    place.faults.arm(FAILURES[name], names={"write"}, paths=WAL)
    with pytest.raises(getattr(apsw, name)) as told:
        connection.execute("INSERT INTO beds VALUES ('lily')")
    assert told.value is place.faults.hit.error
    assert told.value.extendedresult in (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_FULL, apsw.SQLITE_PERM)
    assert str(place.faults.hit) == f"database operation 1, write {place.path}-wal"
    assert (connection.in_transaction, place.stored()) == (False, BEDS)


@pytest.mark.parametrize("fault", [Short(0.3), FailAfter(), Short(1.0)], ids=repr)
def test_half_a_write_is_no_commit(place, connection, fault):
    place.faults.arm(fault, at=2, names={"write"}, paths=WAL)
    with pytest.raises(apsw.IOError):
        connection.execute("INSERT INTO beds VALUES ('lily')")
    assert place.stored() == BEDS
    place.faults.disarm()
    connection.execute("INSERT INTO beds VALUES ('peony')")
    connection.close()
    assert place.stored() == [*BEDS, "peony"]


def test_a_short_write_leaves_its_share_in_the_file(place, connection):
    place.faults.arm(Short(0.25), at=2, names={"write"}, paths=WAL)
    with pytest.raises(apsw.IOError):
        connection.execute("INSERT INTO beds VALUES ('lily')")
    frame, page = 24, connection.pragma("page_size")
    header = 32 + frame if place.faults.count == 3 else frame
    assert (place.directory / "garden.sqlite-wal").stat().st_size in {header, header + page // 4, 32 + frame // 4}


def test_a_full_disk_takes_nothing_until_there_is_room(place, connection):
    place.faults.arm(NoSpace())
    for _ in range(3):
        with pytest.raises(apsw.FullError):
            connection.execute("INSERT INTO beds VALUES ('lily')")
    assert connection.execute("SELECT count(*) FROM beds").get == 3
    assert [hit.first for hit in place.faults.hits] == [True, False, False]
    place.faults.room()
    connection.execute("INSERT INTO beds VALUES ('lily')")
    assert place.stored() == [*BEDS, "lily"]


def test_another_connection_may_be_in_the_way(place, connection):
    place.faults.arm(Busy(), names={"connect"})
    with pytest.raises(apsw.BusyError) as told:
        place.connect(place.path, "read-only")
    assert told.value is place.faults.hit.error
    assert told.value.result == apsw.SQLITE_BUSY
    connection.execute("ATTACH ? AS stage", (str(place.directory / ".fork-stage-1.tmp"),))
    connection.set_busy_timeout(0)
    place.faults.arm(Busy(), names={"lock"})
    with pytest.raises(apsw.BusyError):
        connection.execute("CREATE TABLE stage.rows (x)")
    connection.set_busy_timeout(1_000)
    place.faults.arm(Busy(), names={"lock"}, at=2)
    connection.execute("CREATE TABLE stage.rows (x)")
    assert len(place.faults.hits) == 1


@pytest.mark.parametrize("fault", [Fail(), FailAfter()], ids=repr)
def test_a_connection_that_is_not_given_is_not_open(place, fault):
    place.faults.arm(fault, names={"connect"}, at=2)
    first = place.connect(place.path, "read-only")
    with pytest.raises(apsw.CantOpenError) as told:
        place.connect(place.path, "read-write")
    assert told.value is place.faults.hit.error
    assert place.faults.hit.path == place.path
    first.close()
    assert apsw.connections() == []


@pytest.mark.parametrize("names", [{"read"}, {"close"}, {"lock"}, {"open"}, {"size"}], ids=repr)
def test_a_connection_that_fails_while_it_is_opened_leaves_nothing_open(place, names):
    for at in range(1, 100):
        place.faults.arm(Gone(Fail()), at=at, names=names)
        try:
            place.connect(place.path, "create").close()
        except apsw.Error as error:
            told = error
            assert told is place.faults.hits[-1].error or told in [hit.error for hit in place.faults.hits]
        if place.faults.hit is None:
            break
        place.faults.disarm()
        assert (place.stored(), apsw.connections()) == (BEDS, [])
    assert at > 1


def test_what_fails_in_the_wake_of_a_failure_belongs_to_it(place, connection):
    """SQLite tells of the first failure in a call, apsw of the last; a further call is another matter."""
    stage = str(place.directory / ".fork-stage-1.tmp")
    connection.execute("ATTACH ? AS stage", (stage,))
    connection.execute("CREATE TABLE stage.rows (x)")
    place.faults.arm(Gone(Fail("permission_denied")), names={"write", "size", "delete"}, paths=STAGE + "?")
    with pytest.raises(apsw.Error) as told:
        connection.execute("INSERT INTO stage.rows VALUES (1)")
    assert place.faults.hit.is_told_by(told.value)
    with pytest.raises(apsw.IOError) as other:
        connection.execute("INSERT INTO stage.rows VALUES (2)")
    assert not place.faults.hit.is_told_by(other.value)


def test_a_failing_close_is_told_and_closes(place, connection):
    place.faults.arm(Fail(), names={"close"})
    with pytest.raises(apsw.IOError) as told:
        connection.close()
    assert told.value is place.faults.hit.error
    assert place.faults.hit.path == place.path
    connection.close()
    assert (apsw.connections(), place.names()) == ([], ["garden.sqlite"])


def test_what_sqlite_takes_no_notice_of_is_not_struck(place, connection):
    """A checkpoint behind a commit, and the putting away of the log: a failure of theirs is no failure of the call."""
    place.faults.arm(Gone(Fail()), paths="*.sqlite", names={"write"})
    connection.execute("INSERT INTO beds VALUES (?)", ("x" * 5_000_000,))
    place.faults.arm(Gone(Fail()), names=OPERATIONS - {"close"})
    connection.close()
    assert (place.faults.hits, place.names()) == ([], ["garden.sqlite"])
    place.faults.disarm()
    assert len(place.stored()) == 4


def test_a_checkpoint_that_was_asked_for_can_fail(place, connection):
    connection.execute("INSERT INTO beds VALUES ('lily')")
    place.faults.arm(Fail(), paths="*.sqlite", names={"write"})
    with pytest.raises(apsw.IOError):
        connection.wal_checkpoint()


def test_a_connection_that_only_reads_is_closed_like_any(place):
    reader = place.connect(place.path, "read-only")
    assert len(reader.execute("SELECT * FROM beds").fetchall()) == 3
    place.faults.arm(Gone(Fail()), names=OPERATIONS - {"close"})
    reader.close()
    assert (apsw.connections(), place.faults.hits) == ([], [])


def test_what_is_attached_and_what_lies_beside_it_is_counted_by_its_place(place, connection):
    stage = str(place.directory / ".fork-stage-1.tmp")
    place.faults.arm(Fail(), at=10_000, paths=STAGE)
    connection.execute("ATTACH ? AS stage", (stage,))
    connection.execute("CREATE TABLE stage.rows (x)")
    staged = place.faults.count
    place.faults.arm(Fail(), names={"delete"}, paths=JOURNAL)
    with pytest.raises(apsw.IOError):
        connection.execute("INSERT INTO stage.rows VALUES (1)")
    assert staged > 10
    assert place.faults.hit.path == f"{stage}-journal"


def test_of_operations_that_are_alike_a_sparse_plan_counts_the_first_and_powers_of_two(place, connection):
    def count(**asked):
        place.faults.arm(Fail(), at=10_000, paths=WAL, **asked)
        connection.execute("INSERT INTO beds VALUES (?)", ("x" * 50_000,))
        return place.faults.count

    count()
    whole, sparse = count(), count(sparse=True)
    assert 16 <= whole < 32
    assert sparse == len([1, 2, 3, 4, 8, 16])
    place.faults.arm(Fail(), at=3, paths=WAL, sparse=True)
    with pytest.raises(apsw.IOError):
        connection.execute("INSERT INTO beds VALUES (?)", ("x" * 50_000,))
    assert [hit.number for hit in place.faults.hits] == [3]
    place.faults.arm(NoSpace(0.0), at=3, paths=WAL, sparse=True)
    for _ in range(2):
        with pytest.raises(apsw.FullError):
            connection.execute("INSERT INTO beds VALUES (?)", ("x" * 50_000,))
    assert [hit.first for hit in place.faults.hits] == [True, False]


class TestSweep:
    """Every operation of a call is struck once, in whatever thread, and then the call passes."""

    def sweep(self, place, fault, check, **asked):
        return asyncio.run(swept(lambda: place.added("lily"), place.faults, fault, check, **asked))

    def test_every_operation_is_struck_once(self, place):
        seen = []

        async def is_told(n, hit, outcome):
            seen.append((n, hit.number, outcome.kind, hit.is_told_by(outcome.error)))
            assert place.stored() in (BEDS, [*BEDS, "lily"])
            plain = apsw.Connection(place.path)
            plain.execute("DELETE FROM beds WHERE name = 'lily'")
            plain.close()

        struck = self.sweep(place, Fail(), is_told, sparse=False)
        assert [one[:2] for one in seen] == [(n, n) for n in range(1, struck + 1)]
        assert {one[2:] for one in seen} == {("raised", True)}
        assert (struck > 15, place.stored()) == (True, [*BEDS, "lily"])

    @pytest.mark.parametrize("fault", [Cancel("before"), Cancel("after")], ids=repr)
    def test_the_caller_is_cancelled_and_the_work_goes_on(self, place, fault):
        async def is_cancelled(n, hit, outcome):
            assert (outcome.kind, place.stored()[3:]) == ("cancelled", ["lily"] * n)

        struck = self.sweep(place, fault, is_cancelled, names={"connect", "write", "close"})
        assert struck >= 4

    def test_a_second_fault_comes_later(self, place):
        async def both(n, hit, outcome):
            assert [one.number for one in place.faults.hits][:1] == [n]

        assert self.sweep(place, Fail(), both, names={"open", "close"}, again_after=1)

    def test_a_share_leaves_the_others_to_other_sweeps(self, place):
        whole, shares = [], []

        def noted(struck):
            async def check(n, hit, outcome):
                struck.append(n)

            return check

        counted = self.sweep(place, Fail(), noted(whole), names={"read"})
        parts = [self.sweep(place, Fail(), noted(shares), names={"read"}, first=first, stride=2) for first in (1, 2)]
        assert sorted(shares) == whole
        assert sum(parts) == counted > 2

    def test_a_call_that_does_nothing_asked_for_ends_at_once(self, place):
        async def never(n, hit, outcome):
            raise AssertionError

        assert self.sweep(place, Fail(), never, paths=STAGE) == 0


def test_a_thread_of_the_loop_is_cancelled_where_it_next_waits(place):
    async def call():
        place.faults.arm(Cancel(), names={"write"}, caller=asyncio.current_task())
        place.add("lily")
        await asyncio.sleep(0)

    assert asyncio.run(stepped(call)).kind == "cancelled"
    assert place.stored() == [*BEDS, "lily"]


def test_whom_to_cancel_must_be_said(place):
    place.faults.arm(Cancel(), names={"connect"})
    with pytest.raises(RuntimeError, match="whom a fault in a database cancels"):
        place.add("lily")


def test_slow_operations_are_as_they_are(place):
    place.faults.arm(Slow())
    place.add("lily")
    assert place.stored() == [*BEDS, "lily"]


def test_the_case_acts_while_the_thread_stands_still(place):
    seen = []

    async def comes(hit):
        await asyncio.sleep(0)
        seen.append((hit.name, place.stored()))

    async def call():
        place.faults.arm(Meanwhile(comes, Fail()), names={"write"})
        await place.added("lily")

    assert asyncio.run(stepped(call)).kind == "raised"
    assert seen == [("write", BEDS)]


def test_nobody_can_act_where_no_loop_runs_beside(place):
    async def comes(hit):
        raise AssertionError

    async def in_the_thread_of_the_loop():
        place.faults.arm(Meanwhile(comes), names={"connect"})
        place.add("lily")

    place.faults.arm(Meanwhile(comes), names={"connect"})
    for call in (lambda: place.add("lily"), lambda: asyncio.run(in_the_thread_of_the_loop())):
        with pytest.raises(RuntimeError, match="waits for an event loop"):
            call()


def test_a_death_is_announced_before_it_comes(place, monkeypatch):
    """What follows the last words is proven in a child process (test_sql_kill)."""

    def exit_(code):
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", exit_)
    words = []
    place.faults.arm(Kill(words.append, "middle"), names={"connect"})
    with pytest.raises(SystemExit):
        place.add("lily")
    assert [hit.name for hit in words] == ["connect"]


@pytest.mark.parametrize("asked", [{"at": 0}, {"again_after": 0}, {"names": {"append_file"}}, {"names": ()}], ids=repr)
def test_a_fault_that_could_strike_nothing_is_refused(place, asked):
    with pytest.raises(ValueError, match=r"database operation is called|counted from 1"):
        place.faults.arm(Fail(), **asked)
    assert "append_file" not in OPERATIONS
