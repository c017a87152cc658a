"""The figures of databases: shapes, checked answers, exit codes. How fast this machine is, no test asks."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forkbench import database_costs, database_forks
from forkbench.database_commits import PlainLoop, commit_cost
from forkbench.database_costs import main, measure
from forkbench.database_forks import fork_costs
from forkbench.database_memory import peak_costs
from forkbench.database_pages import page_cost
from forkbench.database_planting import connect
from forkbench.databases import MAIN, DatabaseStore
from forkbench.figures import Figure, WrongAnswer
from forkproof.verdict import TargetError
from forkstore import SqliteSessionRepo
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from forkstore.sqlite.storage import SqliteStorage
from forkstore.testing import MemoryHarness, SqliteHarness, SqliteSharedHarness

pytestmark = pytest.mark.one_python

ENTRIES = 260  # a commit of 250 entries, and one of 10
LAYOUTS = pytest.mark.parametrize("harness", [SqliteHarness, SqliteSharedHarness], ids=["per-file", "shared"])


class Variant(SqliteHarness):
    """The harness of a variant of the backend; it offers no more than is needed."""

    seams = frozenset({"raw-files", "probe"})
    repo_class = SqliteSessionRepo

    async def open_repo(self, seams: Any) -> SqliteSessionRepo:
        return self.repo_class(directory=self.database_directory, fork_probe=seams.probe)


class LosesTheTip(Variant):
    class repo_class(SqliteSessionRepo):  # noqa: N801 - takes the place of an attribute
        """A fork ends before the tip."""

        async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
            return await super().fork(metadata, BranchFork(MAIN, position="before"))


class NamesAnotherParent(Variant):
    class repo_class(SqliteSessionRepo):  # noqa: N801
        """A fork does not say whose it is."""

        async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
            fork = await super().fork(metadata, options)
            fork.metadata = replace(fork.metadata, parent_session_id="another")
            return fork


class Spoils(Variant):
    """A fork is not what was copied."""

    spoil = ""

    async def open_repo(self, seams: Any) -> SqliteSessionRepo:
        repo, spoil = await super().open_repo(seams), self.spoil
        made = repo.fork

        async def fork(metadata: SessionMetadata, options: ForkOptions) -> Session:
            session = await made(metadata, options)
            with closing(connect(session.metadata.path or "")) as connection:
                connection.execute(spoil)
            return session

        repo.fork = fork  # type: ignore[method-assign]
        return repo


class SpoilsAnEntry(Spoils):
    spoil = "UPDATE entries SET payload = '{}' WHERE seq = 1"


class SpoilsTheIndex(Spoils):
    spoil = "DELETE FROM branch_entries WHERE entry_seq = 1"


class TellsNobody(Variant):
    """A fork has no probe."""

    async def open_repo(self, seams: Any) -> SqliteSessionRepo:
        return await super().open_repo(replace(seams, probe=None))


class LosesMessages(Variant):
    class repo_class(SqliteSessionRepo):  # noqa: N801
        class storage_class(SqliteStorage):  # noqa: N801
            """Acknowledges a message that it does not count."""

            async def get_stats(self) -> Any:
                stats = await super().get_stats()
                return replace(stats, message_count=stats.message_count - 1)


class SkipsAnEntry(Variant):
    class repo_class(SqliteSessionRepo):  # noqa: N801
        class storage_class(SqliteStorage):  # noqa: N801
            """A page begins below the tip."""

            async def scan_branch(self, start: str, **query: Any) -> Any:
                return (await super().scan_branch(start, **query | {"limit": query["limit"] + 1}))[1:]


async def forked(harness: Any) -> list[Figure]:
    store = DatabaseStore(harness)
    source, generated = await store.plant_benchmark(ENTRIES)
    expected = generated.expectation.branch_fork(MAIN)
    return await fork_costs(store, source, expected, tree_bound=5, tip_bound=6, newest_bound=0.02, pairs=1)


async def peaks(harness: Any, options: ForkOptions) -> list[Figure]:
    store = DatabaseStore(harness)
    source, _ = await store.plant_benchmark(ENTRIES)
    return await peak_costs(store, source, options, python_bound=2, sqlite_bound=24)


async def paged(harness: Any, elsewhere: Any) -> Figure:
    store = DatabaseStore(harness)
    source, _ = await store.plant_benchmark(ENTRIES)
    return await page_cost(store, source, DatabaseStore(elsewhere), bound=1.5, entries=60, pairs=2, block=2)


async def committed(harness: Any, elsewhere: Any) -> Figure:
    return await commit_cost(DatabaseStore(harness), DatabaseStore(elsewhere), bound=3, pairs=2, block=10)


def test_nothing_is_measured_of_a_store_without_databases(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="target memory: is not of kind 'sqlite', so there are no databases"):
        DatabaseStore(MemoryHarness(tmp_path))


def test_nothing_is_measured_where_a_seam_is_missing(tmp_path: Path) -> None:
    harness = Variant(tmp_path)
    harness.seams = frozenset({"probe"})
    with pytest.raises(TargetError, match="does not offer 'raw-files', which its databases are measured by"):
        DatabaseStore(harness)


@LAYOUTS
def test_forks_are_measured_as_a_whole_and_until_publishing_and_nothing_is_left(tmp_path: Path, harness: Any) -> None:
    made = harness(tmp_path)

    async def measured_and_left() -> tuple[list[Figure], list[str]]:
        figures = await forked(made)
        async with DatabaseStore(made).opened() as repo:
            return figures, [metadata.id for metadata in await repo.list()]

    figures, left = asyncio.run(measured_and_left())
    assert [(figure.name, figure.bound) for figure in figures] == [
        ("tree fork of 360 entries / VACUUM INTO", 5),
        ("branch fork of 260 entries / VACUUM INTO", 6),
        ("branch fork of the newest 100 entries / tree fork", 0.02),
    ]
    for figure in figures:
        assert figure.value > 0
        assert figure.details["until before_publish ms"] > 0
        assert 500 < figure.details["megabytes of the copy"] * 1e6 / 360 < 1_500
    assert figures[2].details["tree fork ms"] == figures[0].details["fork ms"]
    assert left == ["benchmark-session-00000000"]
    assert [path.name for path in tmp_path.rglob("*.copy")] == []


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        (LosesTheTip, "branch fork: entry 259"),
        (NamesAnotherParent, "names another as its parent"),
        (TellsNobody, "did not tell its probe"),
    ],
)
def test_a_wrong_fork_gives_no_figure(tmp_path: Path, harness: type[Variant], said: str) -> None:
    with pytest.raises(WrongAnswer, match=said):
        asyncio.run(forked(harness(tmp_path)))


def test_a_copy_that_is_not_whole_gives_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_forks, "COUNT", "SELECT count(*) - 1 FROM entries WHERE session_id = ?")
    with pytest.raises(WrongAnswer, match="the copy of benchmark-session-00000000 holds 359 entries, not 360"):
        asyncio.run(forked(Variant(tmp_path)))
    assert [path.name for path in tmp_path.rglob("*.copy")] == []


@pytest.mark.parametrize("options", [TreeFork(), BranchFork(MAIN)], ids=["tree", "branch"])
def test_both_peaks_of_a_fork_are_measured(tmp_path: Path, options: ForkOptions) -> None:
    figures = asyncio.run(peaks(SqliteHarness(tmp_path), options))
    assert [figure.bound for figure in figures] == [2, 24]
    assert all(figure.value > 0 for figure in figures)
    count = 360 if options == TreeFork() else 260
    assert [figure.details["bytes per entry"] * count for figure in figures] == pytest.approx(
        [figure.value * 2**20 for figure in figures]
    )


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        (LosesTheTip, "holds 259 messages, not 360"),
        (SpoilsAnEntry, "holds the entry .*'{}'.*, not .*benchmark-entry-00000000"),
        (SpoilsTheIndex, "the branch index of .* holds 359 entries, not 360"),
    ],
)
def test_a_wrong_fork_gives_no_peak(tmp_path: Path, harness: type[Variant], said: str) -> None:
    with pytest.raises(WrongAnswer, match=said):
        asyncio.run(peaks(harness(tmp_path), TreeFork()))


@LAYOUTS
def test_pages_of_two_sessions_are_compared(tmp_path: Path, harness: Any) -> None:
    figure = asyncio.run(paged(harness(tmp_path / "one"), harness(tmp_path / "other")))
    assert (figure.name, figure.bound) == ("branch page of 50 at the tip of 360 entries / of 160", 1.5)
    assert figure.value > 0
    assert set(figure.details) == {"long µs", "short µs"}


def test_a_wrong_page_gives_no_figure(tmp_path: Path) -> None:
    with pytest.raises(WrongAnswer, match="is not that of its newest entries"):
        asyncio.run(paged(SkipsAnEntry(tmp_path / "one"), SqliteHarness(tmp_path / "other")))


@LAYOUTS
def test_commits_are_measured_against_a_loop(tmp_path: Path, harness: Any) -> None:
    figure = asyncio.run(committed(harness(tmp_path / "one"), harness(tmp_path / "other")))
    assert figure.bound == 3
    assert figure.value > 0
    assert set(figure.details) == {"commit µs", "loop µs"}


@pytest.mark.parametrize(
    ("harness", "elsewhere", "said"),
    [
        (LosesMessages, SqliteHarness, "21 entries were committed to commits, 20 are there"),
        (SqliteHarness, LosesMessages, "61 entries were committed to loop, 60 are there"),
    ],
)
def test_a_lost_commit_gives_no_figure(tmp_path: Path, harness: Any, elsewhere: Any, said: str) -> None:
    with pytest.raises(WrongAnswer, match=said):
        asyncio.run(committed(harness(tmp_path / "one"), elsewhere(tmp_path / "other")))


def test_a_loop_that_commits_less_gives_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainLoop, "commit", lambda _: None)
    with pytest.raises(Exception, match="entry-00000060"):
        asyncio.run(committed(SqliteHarness(tmp_path / "one"), SqliteHarness(tmp_path / "other")))


def test_every_figure_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_costs, "fork_costs", partial(fork_costs, pairs=1))
    monkeypatch.setattr(database_costs, "page_cost", partial(page_cost, entries=60, pairs=1, block=2))
    monkeypatch.setattr(database_costs, "commit_cost", partial(commit_cost, pairs=1, block=10))
    figures = asyncio.run(measure(SqliteHarness, tmp_path, entries=ENTRIES))
    assert [(figure.name, figure.bound) for figure in figures] == [
        ("tree fork of 360 entries / VACUUM INTO", 5.0),
        ("branch fork of 260 entries / VACUUM INTO", 6.0),
        ("branch fork of the newest 100 entries / tree fork", 0.02),
        ("branch page of 50 at the tip of 360 entries / of 160", 1.5),
        ("Python's peak MiB of a tree fork of 360 entries", 2.0),
        ("SQLite's peak MiB of a tree fork of 360 entries", 24.0),
        ("Python's peak MiB of a branch fork of 260 entries", 2.0),
        ("SQLite's peak MiB of a branch fork of 260 entries", 24.0),
        ("Python's peak MiB of a tree fork of 1,140 entries", 2.0),
        ("SQLite's peak MiB of a tree fork of 1,140 entries", 24.0),
        ("Python's peak MiB of a branch fork of 1,040 entries", 2.0),
        ("SQLite's peak MiB of a branch fork of 1,040 entries", 24.0),
        ("commit of one entry / plain loop of its four statements", 3.0),
    ]


@pytest.mark.parametrize(("value", "code", "word"), [(1.5, 0, "kept"), (2.5, 1, "BROKEN")])
def test_the_figures_are_printed_and_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    value: float,
    code: int,
    word: str,
) -> None:
    async def measured(make: object, directory: Path) -> list[Figure]:
        assert make == SqliteHarness
        return [Figure("work / least work", value, 2.0, {"work ms": 3.0})]

    monkeypatch.setattr(database_costs, "measure", measured)
    target, written = "forkstore.testing:SqliteHarness", tmp_path / "new" / "costs.json"
    assert main([target, "-o", str(written)]) == code
    assert capsys.readouterr().out == f"{target}: work / least work: {value:.3f} (bound 2: {word}; work ms 3.00)\n"
    assert json.loads(written.read_text())["figures"] == [
        {"name": "work / least work", "value": value, "bound": 2.0, "details": {"work ms": 3.0}}
    ]


@pytest.mark.parametrize("target", ["sqltie", "memory"])
def test_a_target_that_cannot_be_measured_is_one_line(capsys: pytest.CaptureFixture[str], target: str) -> None:
    assert main([target]) == 2
    assert capsys.readouterr().err.count("\n") == 1
