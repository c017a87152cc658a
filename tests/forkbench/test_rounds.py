"""Turns and rounds: their order, what is timed, and how ratios are made. How long anything takes, no test asks."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from forkbench import rounds
from forkbench.rounds import Rounds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that stands still until it is moved, by nanoseconds."""

    class Clock:
        now = 0

        def advance(self, nanoseconds: int) -> None:
            self.now += nanoseconds

    clock = Clock()
    monkeypatch.setattr(rounds, "perf_counter_ns", lambda: clock.now)
    return clock


def test_the_order_of_the_sides_is_reversed_from_round_to_round() -> None:
    sides = []
    for turn in Rounds(3, "a", "b", "c"):
        sides.append(turn.side)
        with turn:
            pass
    assert sides == ["a", "b", "c", "c", "b", "a", "a", "b", "c"]


def test_a_ratio_is_the_median_over_the_rounds_and_not_of_the_medians(clock: Any) -> None:
    measured, spent = Rounds(3, "loop", "work"), iter([10, 30, 8, 1, 100, 150])
    for turn in measured:
        with turn:
            clock.advance(next(spent))
    assert measured.ratio("work", "loop") == 3.0  # of 30/10, 8/1 and 150/100
    assert measured.median_ns("loop") == 10
    assert measured.median_ns("work") == 30


def test_references_count_together(clock: Any) -> None:
    measured, spent = Rounds(1, "loop", "beside", "work"), iter([1, 3, 10])
    for turn in measured:
        with turn:
            clock.advance(next(spent))
    assert measured.ratio("work", "loop", "beside") == 2.5


def test_units(clock: Any) -> None:
    measured = Rounds(1, "work")
    for turn in measured:
        with turn:
            clock.advance(6_000_000)
    assert measured.median_ms("work") == 6
    assert measured.median_us("work") == 6_000


def test_a_turn_of_repeats_counts_for_one_of_them(clock: Any) -> None:
    measured = Rounds(1, "loop", "work")
    for turn in measured:
        with turn.each(4) if turn.side == "loop" else turn:
            clock.advance(20)
    assert measured.ratio("work", "loop") == 4


def test_a_turn_that_is_stopped_ends_there(clock: Any) -> None:
    measured = Rounds(1, "work")
    for turn in measured:
        with turn:
            clock.advance(5)
            turn.stop()
            clock.advance(7)
            turn.stop()
        clock.advance(11)
    assert measured.median_ns("work") == 5


def test_a_turn_that_is_not_taken_gives_no_ratio() -> None:
    measured = Rounds(2, "loop", "work")
    for turn in measured:
        if turn.side == "loop":
            with turn:
                pass
    with pytest.raises(ValueError, match="zip"):
        measured.ratio("work", "loop")


def test_garbage_is_left_alone_within_a_turn_and_only_there() -> None:
    within = []

    def fail() -> None:
        within.append(gc.isenabled())
        raise ZeroDivisionError

    for turn in Rounds(1, "work"):
        with pytest.raises(ZeroDivisionError), turn:
            fail()
        assert gc.isenabled()
    assert within == [False]
