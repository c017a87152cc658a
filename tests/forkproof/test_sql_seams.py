"""The seams of stores on a database: who wraps whom, when a case gets which instrument, and what a harness that ignores
them is told.
"""

from pathlib import Path

import apsw
import pytest

from forkproof.case import case
from forkproof.harness import SessionHarness
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.sql_faults import SqlFaults
from forkproof.instruments.sql_spy import SqlSpy
from forkproof.makers.case_instruments import Wrapping
from forkproof.runner import run_case
from forkproof.verdict import Outcome, Target, TargetError
from forkstore import MemorySessionRepo

from .plain_files import PlainFiles

BOTH = ("spy-sql", "fault-injection")


class Counting(MemorySessionRepo):
    """Opens a database at each session that it makes: as much of a store on one as the plumbing needs."""

    def __init__(self, path, connect):
        super().__init__()
        self.path, self.connect = path, connect

    async def create(self, **options):
        connection = self.connect(str(self.path), "create")
        connection.execute("CREATE TABLE IF NOT EXISTS made (id)")
        connection.close()
        return await super().create(**options)


def plain(path, mode):
    return apsw.Connection(path)


class Harness(SessionHarness):
    """Offers the seams of a store on a database, and wraps as the contract says."""

    name = "counting"
    kinds = frozenset({"sqlite"})
    seams = frozenset({"spy-sql", "fault-injection", "raw-files", "staging-dir"})
    durable = True

    def __init__(self, directory):
        super().__init__(directory)
        self.database_path = directory / "store.sqlite"
        self.seen = []

    async def open_repo(self, seams):
        self.seen.append(seams)
        return Counting(self.database_path, seams.connect(plain) if seams.connect else plain)


class Deaf(Harness):
    """Offers the seams and does not wrap."""

    async def open_repo(self, seams):
        return Counting(self.database_path, plain)


class Unused(Harness):
    """Wraps, and works past it."""

    async def open_repo(self, seams):
        if seams.connect is not None:
            seams.connect(plain)
        return Counting(self.database_path, plain)


def outcome(function, harness, needs):
    (bound,) = case("S-VAL-01", needs=needs)(function).variants()
    return run_case(bound, harness)


async def makes(store):
    """Makes a session."""
    await store.create()


def test_a_case_that_asks_for_no_instrument_gets_none(tmp_path):
    async def looks(store):
        """Looks."""
        await store.create()
        for name in ("sql", "sql_faults", "faults", "staging_directory"):
            with pytest.raises(LookupError, match="did not ask for the seam"):
                getattr(store, name)

    harness = Harness(tmp_path)
    assert outcome(looks, harness, ()).outcome is Outcome.HELD
    asked = harness.seen[0]
    assert (asked.connect, asked.staging_dir, asked.files) == (None, None, None)
    assert (asked.stage_batch_rows, asked.stage_batch_bytes) == (250, 1_048_576)


def test_the_spy_stands_over_the_faults_on_every_connection(tmp_path):
    async def looks(store):
        """Looks."""
        assert isinstance(store.sql, SqlSpy)
        assert isinstance(store.sql_faults, SqlFaults)
        assert store.faults is store.sql_faults
        await store.create()
        await (await (await store.open_second_repo()).create(id="b")).close()
        assert store.sql.seen

    result = outcome(looks, Harness(tmp_path), BOTH)
    assert (result.outcome, result.detail) == (Outcome.HELD, "")


def test_the_first_to_wrap_stands_nearest_to_the_work():
    class Layer:
        def __init__(self, name):
            self.name = name

        def wrap(self, work):
            return f"{self.name}({work})"

    wrapping = Wrapping(Layer("spy"), Layer("faults"))
    assert wrapping.is_ignored
    assert wrapping("connect") == "spy(faults(connect))"
    assert not wrapping.is_ignored
    assert Wrapping(None, None).asked is None
    assert not Wrapping(None, None).is_ignored


@pytest.mark.parametrize("needs", [("spy-sql",), ("fault-injection",), BOTH])
def test_a_harness_that_does_not_wrap_is_told_so(tmp_path, needs):
    result = outcome(makes, Deaf(tmp_path), needs)
    assert result.outcome is Outcome.FAILED
    assert result.detail.startswith("harness: open_repo did not call seams.connect")
    assert "connect=seams.connect(open_connection)" in result.detail


def test_a_spy_that_saw_nothing_agrees_to_nothing(tmp_path):
    result = outcome(makes, Unused(tmp_path), ("spy-sql",))
    assert result.outcome is Outcome.FAILED
    assert "opened no connection through seams.connect" in result.detail


@pytest.mark.parametrize(
    ("kinds", "seams", "faults"),
    [
        ({"sqlite"}, set(), [SqlFaults]),
        (set(), {"spy-sql"}, [SqlFaults]),
        ({"jsonl"}, set(), [FileFaults]),
        (set(), {"spy-files"}, [FileFaults]),
        (set(), set(), [FileFaults]),
        ({"sqlite"}, {"spy-files"}, [FileFaults, SqlFaults]),
    ],
    ids=["sqlite", "spy-sql", "jsonl", "spy-files", "silent", "both"],
)
def test_faults_come_to_what_the_store_works_on(tmp_path, kinds, seams, faults):
    got = []

    class Both(Harness):
        async def open_repo(self, seams):
            got.extend(type(one) for one in (store_faults(seams.files), store_faults(seams.connect)) if one)
            if seams.files:
                seams.files(PlainFiles())
            return Counting(self.database_path, seams.connect(plain) if seams.connect else plain)

    def store_faults(wrapping):
        return wrapping and wrapping.instruments[0]

    Both.kinds, Both.seams = frozenset(kinds), frozenset({"fault-injection", *seams})
    assert outcome(makes, Both(tmp_path), ("fault-injection",)).outcome is Outcome.HELD
    assert got == faults


def test_stages_go_to_a_directory_of_the_case_that_ends_with_it(tmp_path):
    places = []

    async def stages(store):
        """Leaves a stage."""
        await store.create()
        places.append(store.staging_directory)
        (store.staging_directory / ".fork-stage-x.tmp").touch()
        await store.reopen_repo(stage_batch_rows=3, stage_batch_bytes=2_000)
        await store.reopen_repo(staging_dir=None)

    harness = Harness(tmp_path)
    assert outcome(stages, harness, ("staging-dir",)).outcome is Outcome.HELD
    assert [(one.staging_dir, one.stage_batch_rows, one.stage_batch_bytes) for one in harness.seen] == [
        (places[0], 250, 1_048_576),
        (places[0], 3, 2_000),
        (None, 250, 1_048_576),
    ]
    assert not places[0].exists()


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"database_path": "/data"}, "database_path must be a Path or None, is '/data'"),
        ({"database_directory": Path("data")}, "database_directory must be absolute, is 'data'"),
        ({"seams": {"raw-files"}}, "offers the seam raw-files, so Facts.database_directory must name the directory"),
        (
            {"seams": {"raw-files"}, "database_path": Path("/a"), "database_directory": Path("/b")},
            "or Facts.database_path the one database, not both",
        ),
    ],
)
def test_places_that_cannot_be_used_are_named(tmp_path, facts, told):
    class Facts(SessionHarness):
        name = "facts"
        kinds = frozenset({"sqlite"})

    for name, value in facts.items():
        setattr(Facts, name, value)
    with pytest.raises(TargetError) as refused:
        Target.of(Facts(tmp_path))
    assert told in str(refused.value)
