"""What the two passes over a legacy file hold in memory, and what size does to them (spec sections 18 and 25)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from forkgen.legacy.records import date, text_of, time_of
from forkstore.contract.ids import Uuid7Generator
from forkstore.contract.records import Record
from forkstore.jsonl.legacy import LegacyIndex
from tests.forkstore.jsonl.legacy_reading import PATH, decoded

KIB = 1024


class Memory:
    """The traced Python heap above what it was at the start."""

    def __init__(self) -> None:
        self.start = tracemalloc.get_traced_memory()[0]

    def held(self) -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - self.start

    def peak(self) -> int:
        return tracemalloc.get_traced_memory()[1] - self.start


@contextmanager
def traced() -> Iterator[Memory]:
    gc.collect()
    tracemalloc.start()
    try:
        yield Memory()
    finally:
        tracemalloc.stop()


def name_of(number: int) -> str:
    return f"{number:08x}"


def line_of(number: int, kind: str = "message", parent: int | None = None, **fields: object) -> bytes:
    """Record `number`, under the one before it if no parent is given."""
    parent = number - 1 if parent is None else parent
    own: Record = {"type": kind, "id": name_of(number), "parentId": name_of(parent) if parent else None}
    return text_of(own | {"timestamp": date(time_of(number))} | fields)[:-1]


def message(number: int, size: int = 0) -> bytes:
    text = f"{number} " + "x" * size
    return line_of(number, message={"role": "user", "content": text, "timestamp": time_of(number)})


def compaction(number: int, kept: int, parent: int | None = None) -> bytes:
    return line_of(number, "compaction", parent, summary="s", firstKeptEntryId=name_of(kept), tokensBefore=1)


def label(number: int, size: int = 0) -> bytes:
    return line_of(number, "label", targetId=name_of(number), label="x" * (size + 1))


def tools(number: int, size: int = 0) -> bytes:
    return line_of(number, "active_tools_change", activeToolNames=["x" * size])


def file_of(make: Callable[[int, int], bytes], count: int, size: int = 0) -> Iterator[bytes]:
    """A message, and records under it."""
    yield message(1)
    for number in range(2, count + 1):
        yield make(number, size)


def index_of(lines: Iterator[bytes]) -> LegacyIndex:
    index = LegacyIndex(PATH, Uuid7Generator())
    for number, line in enumerate(lines, 2):
        index.take(line, number)
    index.finish()
    return index


@pytest.mark.parametrize("make", [message, label, tools])
def test_the_index_grows_with_records_and_stays_far_below_a_kibibyte_each(make) -> None:
    peaks, held = [], []
    for count in (2_000, 8_000):
        with traced() as memory:
            index = index_of(file_of(make, count))
            peaks.append(memory.peak())
            held.append(memory.held())
            assert index.next_seq > 1
    assert (peaks[1] - peaks[0]) / 6_000 < 640
    assert (held[1] - held[0]) / 6_000 < 320


@pytest.mark.parametrize("make", [message, label, tools])
def test_the_index_holds_no_payload(make) -> None:
    peaks = []
    for size in (16, 16 * KIB):
        with traced() as memory:
            index = index_of(file_of(make, 1_000, size))
            peaks.append(memory.peak())
            assert index.next_seq > 1
    assert peaks[1] - peaks[0] < 256 * KIB


@pytest.mark.one_python
def test_messages_are_held_from_their_line_to_the_last_compaction_that_needs_them() -> None:
    """Messages 1 to 100; 101 keeps three of them; 102, its child, keeps 101; 103, a child of 100, keeps nine."""
    size = 64 * KIB
    lines = [message(number, size) for number in range(1, 101)]
    lines += [compaction(101, 98), compaction(102, 101), compaction(103, 92, parent=100)]
    texts = index_of(iter(lines)).texts()
    with traced() as memory:
        held = []
        for number, line in enumerate(lines, 2):
            texts.take(line, number)
            held.append(memory.held() // size)
    assert held == [*[0] * 91, *range(1, 10), 9, 9, 0]


def test_a_long_session_with_many_compactions_holds_what_the_next_one_needs() -> None:
    def lines() -> Iterator[bytes]:
        for number in range(1, 2_001):
            yield message(number, 4 * KIB) if number % 20 else compaction(number, number - 3)

    texts = index_of(lines()).texts()
    with traced() as memory:
        for number, line in enumerate(lines(), 2):
            texts.take(line, number)
        assert memory.peak() < 128 * KIB
        assert memory.held() < 16 * KIB


@pytest.mark.parametrize("make", [label, tools])
def test_values_that_nothing_is_derived_from_are_not_held(make) -> None:
    """The labels name a record that maps to null, and the tools are not those of the last record's path."""
    lines = [make(number, 16 * KIB) for number in range(1, 501)] + [line_of(501, "session_info", 0, name="x")]
    texts = index_of(iter(lines)).texts()
    with traced() as memory:
        for number, line in enumerate(lines, 2):
            texts.take(line, number)
        assert memory.held() < 64 * KIB
    assert len(texts.derived()) == 2


def test_a_chain_of_100_000_records_is_read() -> None:
    """At its end a compaction that keeps from the first record, and a branch that starts there."""
    last = 100_000

    def lines() -> Iterator[bytes]:
        yield line_of(1, "model_change", provider="orchard", modelId="o-2")
        yield line_of(2, "thinking_level_change", thinkingLevel="off")
        for number in range(3, last):
            yield line_of(number, "custom" if number % 2 else "label", customType="weather", targetId=name_of(last))
        yield compaction(last, 1)

    index = index_of(lines())
    assert (len(index.entries), index.has_lane, index.tip) == (last // 2, True, index.entries[-1].id)
    assert (index.next_seq, index.message_count) == (last // 2 + last // 2 - 2 + 3 + 1, 0)
    texts = index.texts()
    taken = [entry for number, line in enumerate(lines(), 2) if (entry := texts.take(line, number)) is not None]
    assert [entry.parent_id for entry in taken] == [None, *(entry.id for entry in taken[:-1])]
    assert decoded(taken[-1].text)["retainedTail"] == []
    assert len(texts.derived()) == index.next_seq - 1 - len(taken)
