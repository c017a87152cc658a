"""What looks at a fork while it runs looks until `before_publish`, and no longer."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from forkbench import fork_probes, rounds
from forkbench.figures import WrongAnswer
from forkbench.fork_probes import CopyingEnd, PublishingTimes, ReadsPeak, StopsTurn
from forkbench.rounds import Rounds
from forkproof.instruments.memory import MemoryMeter
from tests.forkproof.plain_files import PlainFiles


def test_a_turn_ends_at_before_publish(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = count()
    monkeypatch.setattr(rounds, "perf_counter_ns", lambda: next(readings))
    probe, measured = StopsTurn(), Rounds(1, "fork")
    for turn in measured:
        with probe.next(turn):
            asyncio.run(probe.before_publish())
            for _ in range(5):
                next(readings)
    probe.check()
    assert measured.median_ns("fork") == 1


def test_a_fork_that_does_not_tell_is_noticed() -> None:
    probe = StopsTurn()
    for turn in Rounds(2, "fork"):
        with probe.next(turn):
            pass
        with pytest.raises(WrongAnswer, match="did not tell"):
            probe.check()


def test_a_peak_is_read_at_before_publish() -> None:
    meter = MemoryMeter()
    probe = ReadsPeak(meter)
    assert probe.peak is None
    with meter:
        copied = bytes(1_000_000)
        asyncio.run(probe.before_publish())
        opened = bytes(5_000_000)
    assert len(copied) <= (probe.peak or 0) < 2_000_000
    assert meter.peak > len(opened)


@pytest.mark.parametrize("call", ["publish_file", "rename_file"])
def test_the_moments_of_publishing_are_noted(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    readings = count(1)
    monkeypatch.setattr(fork_probes, "perf_counter_ns", lambda: next(readings))
    watch = PublishingTimes()
    files = watch.wrap(PlainFiles())
    draft, final = str(tmp_path / "draft"), str(tmp_path / "final")

    async def published() -> None:
        await files.write_file(draft, b"line\n")
        await watch.before_publish()
        await getattr(files, call)(draft, final)
        reader = await files.open_line_reader(final)
        assert await reader.read_line() == (b"line", True)
        await reader.close()

    asyncio.run(published())
    assert (watch.copied_ns, watch.named_ns) == (1, 2)


def test_the_time_of_copying_is_that_of_the_last_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    probe, readings = CopyingEnd(), iter([7])
    monkeypatch.setattr(fork_probes, "perf_counter_ns", lambda: next(readings))
    with pytest.raises(WrongAnswer, match="did not tell"):
        probe.since(3)
    asyncio.run(probe.before_publish())
    assert probe.since(3) == 4
    with pytest.raises(WrongAnswer, match="did not tell"):
        probe.since(8)
