"""The figures of session files: shapes, checked answers, exit codes. How fast this machine is, no test asks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forkbench import file_commits, file_costs
from forkbench.figures import Figure, WrongAnswer
from forkbench.file_commits import commit_costs
from forkbench.file_costs import main, measure
from forkbench.file_forks import fork_cost, open_cost
from forkbench.file_memory import payload_cost, peak_cost
from forkbench.session_files import FileStore, check_and_remove
from forkproof.verdict import TargetError
from forkstore import JsonlSessionRepo, MemorySessionRepo
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.jsonl.storage import JsonlStorage
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from forkstore.testing import JsonlHarness, MemoryHarness

ENTRIES = 260  # a line of 250 entries, and one of 10
TREE, BRANCH = TreeFork(), BranchFork("main")
SCOPES = pytest.mark.parametrize("options", [TREE, BRANCH], ids=["tree", "branch"])


class Variant(JsonlHarness):
    """The harness of a variant of the backend; it offers no more than is needed."""

    seams = frozenset({"raw-files", "probe"})
    repo_class = JsonlSessionRepo

    async def open_repo(self, seams: Any) -> JsonlSessionRepo:
        return self.repo_class(self.sessions_root, fork_probe=seams.probe)


class LosesTheTip(Variant):
    class repo_class(JsonlSessionRepo):  # noqa: N801 - takes the place of an attribute
        """A fork ends before the tip."""

        async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
            return await super().fork(metadata, BranchFork("main", position="before"))


class NamesAnotherParent(Variant):
    class repo_class(JsonlSessionRepo):  # noqa: N801
        """A fork does not say whose it is."""

        async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
            fork = await super().fork(metadata, options)
            fork.metadata = replace(fork.metadata, parent_session_id="another")
            return fork


class OpensLess(Variant):
    class repo_class(JsonlSessionRepo):  # noqa: N801
        """Opening gives a session without its tip."""

        async def open(self, metadata: SessionMetadata) -> Session:
            return await self.fork(metadata, BranchFork("main", position="before"))


class TellsNobody(Variant):
    """A fork has no probe."""

    async def open_repo(self, seams: Any) -> JsonlSessionRepo:
        return await super().open_repo(replace(seams, probe=None))


class LosesMessages(Variant):
    class repo_class(JsonlSessionRepo):  # noqa: N801
        class storage_class(JsonlStorage):  # noqa: N801
            """Acknowledges a message that it does not count."""

            async def get_stats(self) -> Any:
                stats = await super().get_stats()
                return replace(stats, message_count=stats.message_count - 1)


class LosesMessagesBeside(MemorySessionRepo):
    class storage_class(MemoryStorage):  # noqa: N801
        """Acknowledges a message that it does not count."""

        async def get_stats(self) -> Any:
            stats = await super().get_stats()
            return replace(stats, message_count=stats.message_count - 1)


async def forked(store: FileStore, options: ForkOptions) -> Figure:
    source, generated = await store.plant_benchmark(ENTRIES)
    return await fork_cost(store, source, options, generated.expectation.fork(options), bound=2.0, pairs=2)


async def opened(store: FileStore) -> Figure:
    source, _ = await store.plant_benchmark(ENTRIES)
    return await open_cost(store, source, bound=2.5, pairs=2)


async def peak(store: FileStore) -> Figure:
    source, _ = await store.plant_benchmark(ENTRIES)
    return await peak_cost(store, source, TREE, bound=64)


async def committed(store: FileStore, beside: MemorySessionRepo) -> list[Figure]:
    return await commit_costs(store, beside, {}, loop_bound=8, beside_bound=2, pairs=2, block=10)


@SCOPES
def test_a_fork_is_measured_until_its_file_is_complete(tmp_path: Path, options: ForkOptions) -> None:
    figure = asyncio.run(forked(FileStore(JsonlHarness(tmp_path)), options))
    assert figure.value > 0
    assert figure.bound == 2
    assert list(figure.details) == [
        "fork ms",
        "json.loads ms",
        "publishing ms",
        "opening ms",
        "sync of a plain file ms",
    ]
    assert all(value > 0 for value in figure.details.values())


def test_what_follows_the_copying_is_left_out_where_files_cannot_be_watched(tmp_path: Path) -> None:
    figure = asyncio.run(forked(FileStore(Variant(tmp_path)), TREE))
    assert set(figure.details) == {"fork ms", "json.loads ms"}


def test_opening_is_measured(tmp_path: Path) -> None:
    figure = asyncio.run(opened(FileStore(JsonlHarness(tmp_path))))
    assert figure.value > 0
    assert 480 < figure.details["megabytes"] * 1e6 / ENTRIES < 500


def test_commits_are_measured_against_a_loop_and_a_store_beside_it(tmp_path: Path) -> None:
    loop, beside = asyncio.run(committed(FileStore(JsonlHarness(tmp_path)), MemorySessionRepo()))
    assert (loop.bound, beside.bound) == (8, 2)
    assert loop.value > 0
    assert beside.value > 0
    assert 450 < loop.details["bytes a line"] < 490
    assert set(beside.details) == {"append µs", "loop µs", "beside µs"}


def test_the_peak_of_a_fork_is_measured(tmp_path: Path) -> None:
    figure = asyncio.run(peak(FileStore(JsonlHarness(tmp_path))))
    assert figure.bound == 64
    assert figure.value * 2**20 == pytest.approx(figure.details["bytes per entry"] * ENTRIES)
    assert figure.value > 0


@SCOPES
def test_the_peaks_of_two_payload_sizes_are_compared(tmp_path: Path, options: ForkOptions) -> None:
    figure = asyncio.run(payload_cost(FileStore(JsonlHarness(tmp_path)), options, bound=2, entries=23))
    large, small = figure.details.values()
    assert figure.value == pytest.approx(abs(large - small))
    assert min(large, small) > 0


def test_nothing_is_left_of_what_was_measured(tmp_path: Path) -> None:
    async def everything() -> None:
        store = FileStore(JsonlHarness(tmp_path))
        await forked(store, TREE)
        await opened(store)

    asyncio.run(everything())
    assert [path.name.partition("_")[2] for path in tmp_path.rglob("*.*") if path.is_file()] == ["source.jsonl"]


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        (LosesTheTip, "tree fork: entry 259"),
        (NamesAnotherParent, "names another as its parent"),
        (TellsNobody, "did not tell its probe"),
    ],
)
def test_a_wrong_fork_gives_no_figure(tmp_path: Path, harness: type[Variant], said: str) -> None:
    with pytest.raises(WrongAnswer, match=said):
        asyncio.run(forked(FileStore(harness(tmp_path)), TREE))


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        (LosesTheTip, "holds 259 messages, not 260"),
        (NamesAnotherParent, "names another as its parent"),
        (TellsNobody, "did not tell its probe"),
    ],
)
def test_a_wrong_fork_gives_no_peak(tmp_path: Path, harness: type[Variant], said: str) -> None:
    with pytest.raises(WrongAnswer, match=said):
        asyncio.run(peak(FileStore(harness(tmp_path))))


def test_a_fork_of_other_entries_is_wrong(tmp_path: Path) -> None:
    async def checked() -> None:
        store = FileStore(JsonlHarness(tmp_path))
        source, _ = await store.plant_benchmark(ENTRIES)
        ids = [source.ids[1], source.ids[0], *source.ids[2:]]
        async with store.opened() as repo:
            await check_and_remove(repo, await repo.fork(source.metadata, TREE), replace(source, ids=ids))

    with pytest.raises(WrongAnswer, match="does not hold the chain"):
        asyncio.run(checked())


def test_a_session_that_opens_with_less_gives_no_figure(tmp_path: Path) -> None:
    with pytest.raises(WrongAnswer, match="holds 259 messages, not 260"):
        asyncio.run(opened(FileStore(OpensLess(tmp_path))))


@pytest.mark.parametrize(
    ("harness", "beside"), [(LosesMessages, MemorySessionRepo), (JsonlHarness, LosesMessagesBeside)]
)
def test_a_lost_message_gives_no_figure(
    tmp_path: Path, harness: type[JsonlHarness], beside: type[MemorySessionRepo]
) -> None:
    with pytest.raises(WrongAnswer, match=r"22 messages were appended to .*, 21 are there"):
        asyncio.run(committed(FileStore(harness(tmp_path)), beside()))


def test_a_loop_that_writes_less_gives_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = iter([b"the first line is measured"])
    monkeypatch.setattr(file_commits, "encode", lambda *_: next(texts, b"shorter"))
    with pytest.raises(WrongAnswer, match="the loop has written 1280 bytes, not 4320"):
        asyncio.run(committed(FileStore(JsonlHarness(tmp_path)), MemorySessionRepo()))


class NoFiles(JsonlHarness):
    seams = frozenset({"clock"})
    cwd = ""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        del self.sessions_root


@pytest.mark.parametrize(
    ("harness", "said"),
    [
        (MemoryHarness, "target memory: is not of kind 'jsonl'"),
        (NoFiles, "target jsonl: does not offer 'raw-files' and 'probe' and a sessions_root"),
    ],
)
def test_a_store_without_files_to_measure_is_refused(tmp_path: Path, harness: type[Any], said: str) -> None:
    with pytest.raises(TargetError, match=said):
        FileStore(harness(tmp_path))


@pytest.mark.one_python
def test_every_figure_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_costs, "commit_costs", partial(commit_costs, pairs=1, block=10))
    figures = asyncio.run(measure(JsonlHarness, MemoryHarness, tmp_path, entries=ENTRIES))
    assert [(figure.name, figure.bound) for figure in figures] == [
        ("tree fork of 260 entries until before_publish / json.loads of the lines", 2.0),
        ("branch fork of 260 entries until before_publish / json.loads of the lines", 2.3),
        ("open of 260 entries / json.loads of the lines", 2.5),
        ("append_message / plain loop", 8.0),
        ("append_message / the same beside and plain loop", 2.0),
        ("peak MiB of a tree fork of 260 entries", 64.0),
        ("MiB between the peaks of tree forks of 1,000 entries of 8,192 and of 256 characters", 2.0),
        ("MiB between the peaks of branch forks of 1,000 entries of 8,192 and of 256 characters", 2.0),
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
    async def measured(make: object, make_beside: object, directory: Path) -> list[Figure]:
        assert (make, make_beside) == (JsonlHarness, MemoryHarness)
        return [Figure("work / least work", value, 2.0, {"work ms": 3.0})]

    monkeypatch.setattr(file_costs, "measure", measured)
    target, written = "forkstore.testing:JsonlHarness", tmp_path / "new" / "costs.json"
    assert main([target, "--beside", "memory", "-o", str(written)]) == code
    assert capsys.readouterr().out == f"{target}: work / least work: {value:.3f} (bound 2: {word}; work ms 3.00)\n"
    found = json.loads(written.read_text())
    assert (found["target"], found["beside"]) == (target, "memory")
    assert found["figures"] == [
        {"name": "work / least work", "value": value, "bound": 2.0, "details": {"work ms": 3.0}}
    ]


@pytest.mark.parametrize(("target", "beside"), [("memroy", "memory"), ("memory", "memroy"), ("memory", "memory")])
def test_a_target_that_cannot_be_measured_is_one_line(
    capsys: pytest.CaptureFixture[str], target: str, beside: str
) -> None:
    assert main([target, "--beside", beside]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_store_beside_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["memory"])
    assert exited.value.code == 2
    assert "--beside" in capsys.readouterr().err
