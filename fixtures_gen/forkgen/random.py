"""The generator every recipe draws from: SplitMix64, written from its published description, in whole numbers only.

The n-th number of a stream (n from 0) is `mix(seed + (n + 1) · 0x9E3779B97F4A7C15)` modulo 2^64, where `mix(z)` is

    z = (z xor z >> 30) · 0xBF58476D1CE4E5B9 modulo 2^64
    z = (z xor z >> 27) · 0x94D049BB133111EB modulo 2^64
    z xor z >> 31

So any number of a stream is found without the ones before it: recipes describe entry 900,000 as cheaply as entry 0, and
keep nothing for it. Independent streams come from labels: the seed of `split(label)` is the first 8 bytes, big-endian,
of BLAKE2b over `{seed}/{label}` in UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")
WORD: Final = 2**64
_MASK: Final = WORD - 1
_STEP: Final = 0x9E3779B97F4A7C15


def _mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


class Generator:
    """A stream of numbers of 64 bits.

    >>> hex(Generator(0).next())
    '0xe220a8397b1dcdaf'
    >>> Generator(7).at(2) == [Generator(7).at(index) for index in range(3)][-1]
    True
    """

    __slots__ = ("_position", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed & _MASK
        self._position = self.seed

    def next(self) -> int:
        """The next number, 0 … 2^64−1."""
        self._position = self._position + _STEP & _MASK
        return _mix(self._position)

    def at(self, index: int) -> int:
        """The number at an index of the stream, wherever `next` stands."""
        return _mix(self.seed + (index + 1) * _STEP & _MASK)

    def child(self, index: int) -> Generator:
        """A stream of its own for one index, seeded with the number there."""
        return Generator(self.at(index))

    def split(self, label: str) -> Generator:
        """An independent stream, by name. How far this one was read makes no difference."""
        return Generator(int.from_bytes(blake2b(f"{self.seed}/{label}".encode(), digest_size=8).digest(), "big"))

    def below(self, bound: int) -> int:
        """A number 0 … bound−1, each equally often: numbers of the incomplete last round are drawn again.

        Raises ValueError for a bound outside 1 … 2^64.
        """
        if not 1 <= bound <= WORD:
            raise ValueError(f"bound is {bound}, not 1 … 2^64")
        whole_rounds = WORD - WORD % bound
        while True:
            number = self.next()
            if number < whole_rounds:
                return number % bound

    def between(self, first: int, last: int) -> int:
        """A number first … last, both included."""
        return first + self.below(last - first + 1)

    def chance(self, numerator: int, denominator: int) -> bool:
        """True in `numerator` of `denominator` cases."""
        return self.below(denominator) < numerator

    def choice(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def shuffle(self, items: list[T]) -> None:
        """Reorders a list in place (Fisher and Yates, from the end)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
