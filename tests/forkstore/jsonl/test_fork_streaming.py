"""How forks of session files stream: batches, what is read and how often, and how much memory it takes (section 18)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from forkgen import recipe
from forkproof.instruments.file_spy import FileSpy
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.addresses import lane_state, list_address, value_address
from forkstore.contract.forks import ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write
from tests.forkstore.jsonl.forking import FILES, FORKS, Place, Watch, chain, destination, lane, session

pytestmark = pytest.mark.asyncio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ── batches and probe ──

LINES: dict[str, list[Sequence[Write]]] = {
    "one-long-line": [chain(2_500)],
    "long-lines": [chain(2_500)[start : start + 400] for start in range(0, 2_500, 400)],
    "short-lines": [[entry] for entry in chain(2_500)],
    "heavy-lines": [chain(60, 40_000)[start : start + 5] for start in range(0, 60, 5)],
    "one-heavy-line": [chain(60, 40_000)],
    "heavy-entries": [[entry] for entry in chain(4, 300_000)],
    "gaps": [[entry, ListAppend(list_address("garden.log"), "x" * 900)] for entry in chain(2_500)],
}


@pytest.mark.parametrize("name", LINES)
async def test_batches_are_bounded_and_each_is_one_append(name: str, place: Place) -> None:
    ids = [write.entry["id"] for line in LINES[name] for write in line if isinstance(write, EntryInsert)]
    place.write(session([*LINES[name], lane(ids[-1])]))
    for options in FORKS.values():
        spy, watch = FileSpy(), Watch()
        content = await place.fork(options, files=spy.wrap(FILES), watch=watch)
        assert [entry["id"] for entry in destination(content).state.entries] == ids
        sizes = [call.size or 0 for call in spy.calls if call.name == "append_file"]
        assert len(sizes) == len(watch.counts)
        assert all(0 < count <= 1000 for count in watch.counts)
        assert all(size <= 256 * 1024 or count == 1 for size, count in zip(sizes, watch.counts, strict=True))
        assert sum(watch.counts) == content.count(b"\n") - 1


async def test_a_batch_counts_what_is_written_anew_at_its_new_size(place: Place) -> None:
    """Rows of 260 bytes, a thousand of which fill a batch, grow to 320."""
    rows: list[list[Write]] = [[ValueSet(lane_state(f"{number:180}"), 1)] for number in range(1_500)]
    place.write(session(rows))
    spy = FileSpy()
    destination(await place.fork(TreeFork(), files=spy.wrap(FILES)))
    sizes = [call.size or 0 for call in spy.calls if call.name == "append_file"]
    assert max(sizes) <= 256 * 1024
    assert sum(sizes) > 1_500 * 300


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
async def test_the_probe_is_told_in_order(options: ForkOptions, place: Place) -> None:
    place.write(session(recipe("everything")(1, 30)))
    watch = Watch()
    await place.fork(options, watch=watch)
    points = [point for point, _ in watch.told]
    assert points == ["boundary_captured", *["batch_copied"] * len(watch.counts), "before_publish"]
    assert watch.counts


# ── reading ──


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("torn", [b"", b"torn"], ids=["whole", "torn"])
async def test_a_source_is_read_line_by_line_twice_and_never_written(
    options: ForkOptions, torn: bytes, place: Place
) -> None:
    place.write(session([*LINES["heavy-lines"], lane("e59")]) + torn)
    before = place.path.stat().st_mtime_ns
    spy = FileSpy()
    await place.fork(options, files=spy.wrap(FILES))
    path = place.path
    assert spy.whole_file_reads() == []
    assert set(spy.lines_read(path)) == {2} or (torn and spy.lines_read(path)[-1] == 1)
    assert spy.only_read(path)
    assert spy.open_readers == []
    assert spy.bytes_given(path) <= 2 * place.path.stat().st_size
    assert place.path.stat().st_mtime_ns == before


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
async def test_the_source_is_let_go_before_the_probe_is_told_of_publishing(options: ForkOptions, place: Place) -> None:
    place.write(session(recipe("everything")(1, 30)))
    spy = FileSpy()
    open_then: list[int] = []
    watch = Watch({"before_publish": lambda: open_then.append(len(spy.open_readers))})
    await place.fork(options, files=spy.wrap(FILES), watch=watch)
    assert open_then == [0]


# ── memory ──

MEBIBYTE = 2**20


async def peak_of(place: Place, transactions: Sequence[Sequence[Write]], options: ForkOptions) -> int:
    """The peak memory of a fork up to `before_publish`, in bytes."""
    place.write(session(transactions))
    with MemoryMeter() as meter:
        seen: list[int] = []
        await place.fork(options, watch=Watch({"before_publish": lambda: seen.append(meter.read_peak())}))
    return seen[0]


def five_at_a_time(count: int, size: int) -> list[Sequence[Write]]:
    entries = chain(count, size)
    return [*(entries[start : start + 5] for start in range(0, count, 5)), lane(f"e{count - 1}")]


@pytest.mark.parametrize("options", FORKS.values(), ids=FORKS)
async def test_memory_does_not_grow_with_payloads(options: ForkOptions, place: Place) -> None:
    small, large = [await peak_of(place, five_at_a_time(1_000, size), options) for size in (256, 8_192)]
    assert large - small <= 2 * MEBIBYTE


MANY = 4_000
ROWS: dict[str, list[Sequence[Write]]] = {
    "entries": [[entry] for entry in chain(MANY)],
    "long-lines": [chain(MANY)[start : start + 250] for start in range(0, MANY, 250)],
    "scalars": [[ValueSet(value_address("garden.plan", str(number)), 1)] for number in range(MANY)],
    "lanes": [[ValueSet(lane_state(str(number)), 1)] for number in range(MANY)],
    "lists": [[ListAppend(list_address("garden.log", str(number)), 1)] for number in range(MANY)],
    "elements": [[ListAppend(list_address("garden.log"), 1)] for _ in range(MANY)],
}


@pytest.mark.parametrize("name", ROWS)
async def test_memory_grows_by_at_most_half_a_kibibyte_for_an_entry_an_address_or_an_element(
    name: str, place: Place
) -> None:
    few, many = (
        await peak_of(place, ROWS[name][: len(ROWS[name]) // 4], TreeFork()),
        await peak_of(place, ROWS[name], TreeFork()),
    )
    assert many - few <= MANY * 3 // 4 * 512


async def test_what_is_dead_or_not_selected_takes_no_memory(place: Place) -> None:
    """A row that is copied does not keep the line alive in which it stands."""
    heavy = "x" * 100_000
    lines: list[Sequence[Write]] = [
        [ValueSet(value_address("garden.plan", str(number)), 1), ValueSet(value_address("garden.dead"), heavy)]
        for number in range(300)
    ]
    assert await peak_of(place, lines, TreeFork()) <= 2 * MEBIBYTE
