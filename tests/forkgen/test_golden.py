"""Equal requests give equal writes: committed digests, hash seeds, locales, and every interpreter that runs this."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkgen import RECIPES, digest, golden, recipe
from forkgen.plan import Transaction
from forkstore.contract.records import Json
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)

NAMES = pytest.mark.parametrize("name", RECIPES)


@NAMES
def test_a_recipe_gives_the_committed_digests(name: str) -> None:
    assert golden.computed(name) == golden.committed()[name]


def test_every_recipe_is_committed_for_three_seeds_and_three_sizes() -> None:
    assert {name: len(digests) for name, digests in golden.committed().items()} == dict.fromkeys(RECIPES, 9)


@pytest.mark.parametrize(("hash_seed", "locale"), [("0", "C"), ("1", "C.UTF-8")])
def test_neither_hash_seed_nor_locale_changes_a_digest(hash_seed: str, locale: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": locale, "LANG": locale}
    made = subprocess.run([sys.executable, "-m", "forkgen.golden"], env=environment, capture_output=True, check=True)
    assert made.stdout == Path(golden.__file__).with_name("digests.json").read_bytes()


def changed(write: Write) -> Write:
    """The write, with the least change."""
    match write:
        case EntryInsert(entry):
            return EntryInsert({**entry, "more": None})
        case UsageInsert(row):
            return UsageInsert({**row, "adjustment": not row["adjustment"]})
        case ValueSet(address, value):
            return ValueSet(address, [value])
        case ListAppend(address, value):
            return ListAppend(address, [value])
        case ValueDelete(address):
            return ValueSet(address, None)
        case ListDelete(address):
            return ListAppend(address, None)


@NAMES
def test_changing_any_write_changes_the_digest(name: str) -> None:
    transactions = list(recipe(name)(1, 2))
    digests = {digest(transactions)}
    places = [(at, index) for at, transaction in enumerate(transactions) for index in range(len(transaction))]
    chosen = places[:: 1 + len(places) // 25] if name != "giant" else places[:3]
    for at, index in chosen:
        mutated = [[*transaction] for transaction in transactions]
        mutated[at][index] = changed(mutated[at][index])
        digests.add(digest(mutated))
    assert len(digests) == 1 + len(chosen)


@NAMES
def test_a_recipe_with_one_write_changed_fails_against_the_committed_digests(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = RECIPES[name].plan
    written = plan.transactions

    def mutated(self: Any) -> Iterator[Transaction]:
        first, *others = next(transactions := written(self))
        yield [changed(first), *others]
        yield from transactions

    monkeypatch.setattr(golden, "SIZES", (1,))
    assert golden.computed(name).items() <= golden.committed()[name].items()
    monkeypatch.setattr(plan, "transactions", mutated)
    assert not golden.computed(name).items() & golden.committed()[name].items()


def test_the_digest_tells_how_writes_are_put_together() -> None:
    address = recipe("linear")(0, 1).expectation
    writes = [ValueSet(place, value) for place, value in address.scalars()]
    together, apart = digest([writes]), digest([[write] for write in writes])
    assert len({together, apart, digest([writes[::-1]]), digest([writes, []]), digest([writes[:-1]])}) == 5


def test_the_digest_tells_numbers_apart() -> None:
    (address, _), *_ = recipe("linear")(0, 1).expectation.scalars()
    values: list[Json] = [0, 0.0, -0.0, False, None, "", "0", [], {}]
    assert len({digest([[ValueSet(address, value)]]) for value in values}) == len(values)
