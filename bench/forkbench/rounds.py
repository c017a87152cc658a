"""Turns of a work and its references in one run: machines are noisy, and ratios of neighbours are less so.

Nothing is concluded from two separate runs: what is set against each other has its turns round by round.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from statistics import median
from time import perf_counter_ns
from types import TracebackType
from typing import Self


class Turn:
    """One turn of one side; its `with` block is timed. Garbage is collected before the block, and not within it."""

    def __init__(self, side: str, spent: list[float]) -> None:
        self.side = side
        self._spent = spent
        self._repeats = 1
        self._begun = 0
        self._ended: int | None = None

    def each(self, repeats: int) -> Self:
        """The block does its work so many times, and its time is that of one of them. Blocks of one round should be
        about as long as each other: a busy machine interrupts long ones more often.
        """
        self._repeats = repeats
        return self

    def stop(self) -> None:
        """The time ends here, though the block goes on. Only the first call counts; without one it ends with the
        block.
        """
        if self._ended is None:
            self._ended = perf_counter_ns()

    def __enter__(self) -> Self:
        gc.collect()
        gc.disable()
        self._begun = perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended = perf_counter_ns() if self._ended is None else self._ended
        gc.enable()
        self._spent.append((ended - self._begun) / self._repeats)


class Rounds:
    """Rounds in which every side has one turn, in an order that is reversed from one round to the next.

    >>> rounds = Rounds(2, "loop", "work")
    >>> [turn.side for turn in rounds]
    ['loop', 'work', 'work', 'loop']
    """

    def __init__(self, count: int, *sides: str) -> None:
        self._count = count
        self._spent: dict[str, list[float]] = {side: [] for side in sides}

    def __iter__(self) -> Iterator[Turn]:
        for number in range(self._count):
            for side in reversed(self._spent) if number % 2 else self._spent:
                yield Turn(side, self._spent[side])

    def ratio(self, work: str, *references: str) -> float:
        """The time of a work to that of its references together: the median over the rounds."""
        together = map(sum, zip(*(self._spent[reference] for reference in references), strict=True))
        return median(spent / others for spent, others in zip(self._spent[work], together, strict=True))

    def median_ns(self, side: str) -> float:
        """The median of a side's turns, in nanoseconds."""
        return median(self._spent[side])

    def median_ms(self, side: str) -> float:
        """The median of a side's turns, in milliseconds."""
        return self.median_ns(side) / 1e6

    def median_us(self, side: str) -> float:
        """The median of a side's turns, in microseconds."""
        return self.median_ns(side) / 1e3
