"""Sessions of any size are made and checked in little memory: less than 16 MiB for a million entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from forkgen import RECIPES, Transaction, recipe
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.records import Record
from forkstore.contract.writes import EntryInsert

SIZES = (1_000, 5_000)
PER_ENTRY = 16
"""Bytes: 16 MiB for a million entries."""
SLACK = 48 * 1024
"""Bytes by which transactions, pages and the meter itself may differ."""


def stored(transactions: Iterable[Transaction]) -> Iterator[Record]:
    """The entries as a store gives them back that keeps nothing."""
    seq = 0
    for transaction in transactions:
        for write in transaction:
            seq += 1
            if isinstance(write, EntryInsert):
                yield {**write.entry, "seq": seq, "timestamp": 0}


@pytest.mark.one_python
@pytest.mark.parametrize("name", ["benchmark", "linear", "bushy"])
def test_generating_and_checking_take_at_most_16_mib_a_million(name: str) -> None:
    peaks = []
    for size in (100, *SIZES):
        with MemoryMeter() as meter:
            generated = recipe(name)(1, size)
            expectation = generated.expectation
            fork = expectation.branch_fork("main")
            expectation.check_entries(stored(generated))
            assert fork.message_count > 0
        peaks.append(meter.peak)
    small, large = SIZES
    assert peaks[2] - peaks[1] < PER_ENTRY * (large - small) + SLACK


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in ("giant", "lists", "deep", "everything")])
def test_what_is_kept_does_not_grow_with_the_size(name: str) -> None:
    kept = []
    for size in (100, 10_000):
        with MemoryMeter() as meter:
            generated = recipe(name)(1, size)
            held = generated, generated.expectation, [next(iter(generated.expectation.scalars()))]
        kept.append(meter.held)
        assert held
    assert kept[1] < kept[0] + 4_096
