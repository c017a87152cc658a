"""Every recipe against its expectation: in the memory store, by the oracle, and in what its picture promises."""

from __future__ import annotations

import asyncio
from itertools import islice, pairwise
from typing import get_args

import pytest

from forkgen import RECIPES, BadRequest, check_session, recipe
from forkgen.plan import BUILT_IN_NAMESPACES, place
from forkgen.recipes import deep, giant, lanes, lists
from forkstore.contract.addresses import is_reserved
from forkstore.contract.codec import depth
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet, Write
from tests.forkgen.sessions import expected, kept, logical

SHAPES = [(name, seed, size) for name in RECIPES for seed, size in ((0, 1), (1, 2), (2, 45), (2**64 - 1, 300))]
NAMES = pytest.mark.parametrize("name", RECIPES)


@pytest.mark.parametrize(("name", "seed", "size"), SHAPES)
def test_the_memory_store_holds_what_is_expected(name: str, seed: int, size: int) -> None:
    async def checked() -> None:
        generated = recipe(name)(seed, size)
        async with kept(generated) as source:
            await check_session(source.session, generated.expectation)
            assert expected(generated.expectation) == logical(source.model.state())
            looked_at = {(address.namespace, address.key) for address in generated.expectation.touched_lists()}
            unseen = source.model.touched - looked_at
            assert {namespace for namespace, _ in unseen} <= set(generated.expectation.namespaces())

    asyncio.run(checked())


@NAMES
def test_every_iteration_gives_equal_transactions_in_fresh_objects(name: str) -> None:
    generated = recipe(name)(3, 30)
    first = list(generated)
    assert first == list(generated) == list(recipe(name)(3, 30))
    assert all(transaction for transaction in first)
    for transaction in first:
        for write in transaction:
            if isinstance(write, ValueSet | ListAppend) and isinstance(write.value, dict):
                write.value["changed by the caller"] = True
    assert list(generated) != first or name == "benchmark"


@NAMES
def test_another_seed_gives_another_session(name: str) -> None:
    same = list(recipe(name)(1, 30)) == list(recipe(name)(2, 30))
    assert same == (name == "benchmark")


@NAMES
def test_writes_come_lazily(name: str) -> None:
    assert sum(1 for _ in islice(recipe(name)(1, 10**7), 3)) == 3


@NAMES
def test_rows_come_in_the_order_of_their_addresses(name: str) -> None:
    expectation = recipe(name)(4, 60).expectation
    places = [place(scalar) for scalar in expectation.scalars()]
    assert all(before < after for before, after in pairwise(places))
    for addresses in ([address for address, _ in expectation.lists()], list(expectation.touched_lists())):
        keys = [(address.namespace, address.key) for address in addresses]
        assert all(before < after for before, after in pairwise(keys))
    assert {namespace for namespace, _ in places} <= set(expectation.namespaces())


@NAMES
def test_a_recipe_says_what_it_is(name: str) -> None:
    described = RECIPES[name]
    assert described.name == name
    assert described.summary.endswith(".")
    assert "\n" not in described.summary
    assert "\n    " in described.picture
    assert described.unit


def test_all_recipes_are_there() -> None:
    assert list(RECIPES) == [
        *("benchmark", "linear", "bushy", "lanes", "labels", "scalars", "lists", "dead_history", "operations"),
        *("usage", "compacted", "unicode", "numbers", "deep", "giant", "wide", "reserved", "reserved_dead"),
        "everything",
    ]


@pytest.mark.parametrize(("seed", "size"), [(-1, 1), (2**64, 1), (0, 0), (0, -5)])
def test_a_seed_or_size_out_of_range_is_refused_in_one_line(seed: int, size: int) -> None:
    with pytest.raises(BadRequest) as refusal:
        recipe("linear")(seed, size)
    assert "\n" not in str(refusal.value)


def test_an_unknown_recipe_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(BadRequest, match=r"no recipe 'lineal'.*linear.*everything"):
        recipe("lineal")


def test_bushy_has_several_roots_and_subtrees_that_nothing_reaches() -> None:
    expectation = recipe("bushy")(1, 2_000).expectation
    roots = sum(entry["parentId"] is None for entry in expectation.entries())
    reached = {entry_id for branch, _ in expectation.branches() for entry_id in expectation.path(branch)}
    assert roots > 10
    assert len(reached) < expectation.entry_count / 2


def test_lanes_has_branches_in_every_condition() -> None:
    expectation = recipe("lanes")(1, 250).expectation
    tips = dict(expectation.branches())
    assert len([branch for branch, tip in tips.items() if tip is None]) == 6
    assert not expectation.holds(tips["dangling-0"])
    gone = {"tipless", "removed"}
    assert {branch.rpartition("-")[0] for branch in tips} == {*lanes.CONDITIONS, ""} - gone


def test_the_long_list_passes_every_limit_in_one_commit() -> None:
    generated = recipe("lists")(1, 12_000)
    assert lists.FIRST_COMMIT in {len(transaction) for transaction in generated}
    assert {address.key: sum(1 for _ in elements) for address, elements in generated.expectation.lists()} == {
        "": 1,
        "late": 1,
        "long": 12_000,
        "plain": 3,
        "reborn": 2,
        "twice": 1,
    }
    assert any(
        isinstance(before, ListDelete) and isinstance(after, ListAppend) and before.address == after.address
        for transaction in generated
        for before, after in pairwise(transaction)
    )


def test_nine_writes_in_ten_of_dead_history_are_superseded() -> None:
    generated = recipe("dead_history")(1, 5_000)
    sets = [write for transaction in generated for write in transaction if isinstance(write, ValueSet)]
    live = sum(1 for _ in generated.expectation.scalars())
    assert 0.08 < live / len(sets) < 0.12


def test_compacted_is_a_chain_of_segments() -> None:
    expectation = recipe("compacted")(1, 500).expectation
    kinds = {entry["type"] for entry in expectation.entries()}
    assert kinds == {"message", "custom", "compaction", "branch_summary"}
    path = list(expectation.path("main"))
    left = [before for before, after in pairwise(path) if int(before[-8:]) - int(after[-8:]) > 1]
    assert len(left) == 99


def test_deep_reaches_the_limit() -> None:
    depths = [
        depth(write.value) for transaction in recipe("deep")(1, 3) for write in transaction if hasattr(write, "value")
    ]
    assert max(depths) == deep.LIMIT


def test_the_giant_is_16_mib_of_text() -> None:
    entries = list(recipe("giant")(1, 3).expectation.entries())
    text = entries[1]["message"]["content"][0]["text"]
    assert len(text.encode()) == giant.BYTES
    assert len(text) < giant.BYTES


def test_everything_holds_all_that_a_shared_source_of_forks_must() -> None:
    generated = recipe("everything")(1, 300)
    expectation = generated.expectation
    namespaces = {address.namespace for address, _ in expectation.scalars()}
    assert {*BUILT_IN_NAMESPACES, "garden.scalars", "garden.lists"} <= namespaces
    assert "pi.pending.assistant_frame" in {address.namespace for address, _ in expectation.lists()}
    assert {type(write) for transaction in generated for write in transaction} == set(get_args(Write))
    lanes_there = {address.key for address, _ in expectation.scalars() if address.namespace == "pi.lane.state"}
    branches = dict(expectation.branches())
    assert len(lanes_there & branches.keys()) > 10
    assert branches.keys() - lanes_there
    assert len({entry for branch in branches for entry in expectation.path(branch)}) < expectation.entry_count
    assert any(expectation.holds(entry_id) for entry_id, _ in expectation.labels())
    assert not all(expectation.holds(entry_id) for entry_id, _ in expectation.labels())
    assert expectation.usage["totalTokens"]
    assert {write.address for transaction in generated for write in transaction if isinstance(write, ListDelete)}


def test_reserved_dead_is_reserved_one_commit_later() -> None:
    live, dead = list(recipe("reserved")(9, 20)), list(recipe("reserved_dead")(9, 20))
    *_, last = dead
    assert [len(transaction) for transaction in dead[:-1]] == [len(transaction) for transaction in live]
    assert all(isinstance(write, ValueDelete | ListDelete) and is_reserved(write.address.namespace) for write in last)
