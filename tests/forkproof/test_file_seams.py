"""The seams of file stores: who wraps whom, when a case gets which instrument, and what a harness that ignores them is
told.
"""

import pytest

from forkproof.case import case
from forkproof.harness import SessionHarness
from forkproof.instruments.fault_kinds import Fail
from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker
from forkproof.runner import run_case
from forkproof.verdict import Outcome, Target, TargetError
from forkstore import MemorySessionRepo
from forkstore.contract.errors import StoreIOError
from forkstore.contract.files import FileError

from .plain_files import PlainFiles

BOTH = ("spy-files", "fault-injection")


class Noting(MemorySessionRepo):
    """Leaves a note beside its sessions for each one it makes and takes it away with it: as much of a file store as the
    plumbing needs.
    """

    def __init__(self, directory, files):
        super().__init__()
        self.directory, self.files = directory, files

    async def create(self, **options):
        session = await super().create(**options)
        path = str(self.directory / session.metadata.id)
        try:
            await self.files.write_file(path, b"made")
        except FileError as error:
            await session.close()
            await super().delete(session.metadata)
            raise StoreIOError(operation="write", path=path, code=error.code) from error
        return session

    async def delete(self, metadata):
        await super().delete(metadata)
        await self.files.remove_file(str(self.directory / metadata.id))


class Harness(SessionHarness):
    """Offers the file seams, and wraps as the contract says."""

    name = "noting"
    seams = frozenset({"spy-files", "fault-injection", "raw-files"})

    def __init__(self, directory):
        super().__init__(directory)
        self.sessions_root = directory / "sessions"
        self.seen = []

    async def open_repo(self, seams):
        self.seen.append(seams.files)
        files = PlainFiles()
        return Noting(self.directory, seams.files(files) if seams.files else files)


class Deaf(Harness):
    """Offers the seams and does not wrap."""

    async def open_repo(self, seams):
        return Noting(self.directory, PlainFiles())


class Unused(Harness):
    """Wraps, and works past it."""

    async def open_repo(self, seams):
        if seams.files is not None:
            seams.files(PlainFiles())
        return Noting(self.directory, PlainFiles())


def outcome(function, harness, needs):
    (bound,) = case("S-VAL-01", needs=needs)(function).variants()
    return run_case(bound, harness)


@pytest.fixture
def harness(tmp_path):
    return Harness(tmp_path)


@pytest.mark.parametrize("needs", [(), ("raw-files",)])
def test_a_case_that_asks_for_no_instrument_gets_none(harness, needs):
    async def looks(store):
        """Looks."""
        await store.create()
        for name in ("files", "faults"):
            with pytest.raises(LookupError, match="did not ask for the seam"):
                getattr(store, name)

    assert outcome(looks, harness, needs).outcome is Outcome.HELD
    assert harness.seen == [None]


def test_the_spy_sees_the_calls_of_every_repository_of_the_case(harness):
    async def looks(store):
        """Looks."""
        assert isinstance(store.files, FileSpy)
        with pytest.raises(LookupError):
            _ = store.faults
        await store.create("a")
        second = await store.open_second_repo()
        await (await second.create(id="b")).close()
        assert store.files.count("write_file") == 2
        store.files.forget()

    harness.durable = True
    result = outcome(looks, harness, ("spy-files",))
    assert (result.outcome, result.detail) == (Outcome.HELD, "")


def test_the_faults_strike_beneath_the_spy_and_end_with_the_case(harness):
    async def strikes(store):
        """Strikes."""
        assert isinstance(store.faults, FileFaults)
        await store.create("kept")
        store.faults.arm(Fail("permission_denied"), names={"write_file", "remove_file"})
        with pytest.raises(StoreIOError):
            await store.create("struck")
        assert [str(call) for call in store.files.calls_on(harness.directory / "struck")] == [
            f"write_file({harness.directory / 'struck'}, 4) → permission_denied"
        ]
        # The clean-up deletes "kept": an armed fault would strike there.
        store.faults.arm(Fail("permission_denied"), names={"remove_file"})

    result = outcome(strikes, harness, BOTH)
    assert (result.outcome, result.detail) == (Outcome.HELD, "")
    assert not (harness.directory / "kept").exists()


@pytest.mark.parametrize("needs", [("spy-files",), ("fault-injection",), BOTH])
def test_a_harness_that_does_not_wrap_is_told_so(tmp_path, needs):
    async def makes(store):
        """Makes."""
        await store.create()

    result = outcome(makes, Deaf(tmp_path), needs)
    assert result.outcome is Outcome.FAILED
    assert result.detail.startswith("harness: open_repo did not call seams.files")
    assert "files=seams.files(LocalFiles())" in result.detail


def test_a_spy_that_saw_nothing_agrees_to_nothing(tmp_path):
    async def agrees(store):
        """Agrees to everything."""
        await store.create()
        assert store.files.whole_file_reads() == []

    result = outcome(agrees, Unused(tmp_path), ("spy-files",))
    assert result.outcome is Outcome.FAILED
    assert "made no file call through seams.files" in result.detail
    (tmp_path / "right").mkdir()
    assert outcome(agrees, Harness(tmp_path / "right"), ("spy-files",)).outcome is Outcome.HELD


def test_what_a_case_planted_is_gone_after_it(harness):
    neighbour = harness.sessions_root / "--srv-garden--" / "not-mine.jsonl"

    async def plants(store):
        """Plants."""
        await store.create()
        path = await store.plant(b"rain", id="planted")
        assert store.root in path.parents
        assert path.read_bytes() == b"rain"
        (path.parent / "--made-by-nobody").mkdir()
        (path.parent / "--made-by-nobody").rmdir()

    assert outcome(plants, harness, ("raw-files",)).outcome is Outcome.HELD
    assert not harness.sessions_root.exists()
    neighbour.parent.mkdir(parents=True)
    neighbour.touch()
    assert outcome(plants, harness, ("raw-files",)).outcome is Outcome.HELD
    assert [path.name for path in neighbour.parent.iterdir()] == ["not-mine.jsonl"]


def test_files_that_cannot_be_taken_away_are_a_failure(harness, monkeypatch):
    async def plants(store):
        """Plants."""
        await store.create()
        path = await store.plant(b"rain")
        path.unlink()
        path.mkdir()

    result = outcome(plants, harness, ("raw-files",))
    assert result.outcome is Outcome.FAILED
    assert "clean-up: removing the case's own files raised" in result.detail


@pytest.mark.parametrize(("seams", "root"), [(("raw-files",), None), ((), "sessions")])
def test_raw_files_need_the_seam_and_the_root(tmp_path, seams, root):
    plain = SessionHarness(tmp_path)
    plain.seams, plain.sessions_root = seams, root and tmp_path / root
    with pytest.raises(LookupError, match="does not offer 'raw-files'"):
        _ = SessionMaker(plain, Trace()).root


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"sessions_root": "/data"}, "sessions_root must be a Path or None, is '/data'"),
        ({"sessions_root": 7}, "sessions_root must be a Path or None, is 7"),
        ({"kinds": {"jsonl"}, "seams": {"raw-files"}}, "offers the seam raw-files, so Facts.sessions_root must name"),
    ],
)
def test_a_root_that_cannot_be_used_is_named(tmp_path, facts, told):
    class Facts(SessionHarness):
        name = "facts"

    for name, value in facts.items():
        setattr(Facts, name, value)
    with pytest.raises(TargetError) as refused:
        Target.of(Facts(tmp_path))
    assert told in str(refused.value)


def test_a_relative_root_is_refused(tmp_path, monkeypatch):
    relative = SessionHarness(tmp_path)
    relative.sessions_root = (tmp_path / "sessions").relative_to("/")
    with pytest.raises(TargetError, match="must be absolute"):
        Target.of(relative)


@pytest.mark.parametrize(
    "facts",
    [{}, {"kinds": {"jsonl"}}, {"kinds": {"memory"}, "seams": {"raw-files"}}, {"kinds": {"jsonl"}, "seams": {"clock"}}],
)
def test_a_root_is_asked_for_only_where_cases_need_it(tmp_path, facts):
    plain = SessionHarness(tmp_path)
    for name, value in facts.items():
        setattr(plain, name, value)
    assert Target.of(plain).seams == frozenset(facts.get("seams", ()))
