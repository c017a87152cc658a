"""The numbers of an inspection against what a recipe says of its own end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from forkgen import RECIPES, Transaction, recipe
from forkgen.expectation import Expectation
from forkgen.jsonl import write_session
from forkstore.contract.addresses import Address, lane_config, lane_state
from forkstore.contract.errors import UndeclaredNamespace
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet
from tests.forkstore.inspected import inspected

SIZES = {"giant": 3}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_numbers_are_those_of_the_recipe(name, seed, tmp_path):
    generated = recipe(name)(seed, SIZES.get(name, 70))
    expected = generated.expectation
    path = tmp_path / "walk.jsonl"
    write_session(path, generated, id="walk-1", cwd="/srv/garden", created_at=1_760_000_000_123)

    document = inspected(path)

    contents, records = document["contents"], sum(map(len, generated))
    assert document["opens"]
    assert document["format"] == 4
    assert document["size"] == path.stat().st_size
    assert contents["nextSeq"] == records + 1
    assert contents["entries"] == entries_of(expected)
    assert contents["branches"] == branches_of(expected)
    assert contents["scalars"] == Counter(address.namespace for address, _ in expected.scalars())
    assert contents["lists"] == lists_of(expected)
    assert contents["usage"] == {"rows": sum(1 for _ in expected.usage_rows()), "sum": expected.usage}
    assert contents["records"] == {"count": records, "discarded": 0, **dead_of(generated)}
    assert document["treeFork"] == tree_fork_of(expected)
    lines = path.read_bytes().split(b"\n")[:-1]
    assert document["lines"] == len(lines)
    largest = max(lines, key=len)
    assert document["largestLine"] == {"line": lines.index(largest) + 1, "bytes": len(largest)}


def entries_of(expected: Expectation) -> dict[str, Any]:
    reached = {entry_id for branch, _ in expected.branches() for entry_id in expected.path(branch)}
    types = Counter(entry["type"] for entry in expected.entries())
    return {
        "count": expected.entry_count,
        "messages": expected.message_count,
        "byType": types,
        "roots": sum(entry["parentId"] is None for entry in expected.entries()),
        "unreachable": expected.entry_count - len(reached),
    }


def branches_of(expected: Expectation) -> list[dict[str, Any]]:
    there = {address for address, _ in expected.scalars()}
    return [
        {
            "name": name,
            "tip": tip,
            "kind": "lane" if {lane_config(name), lane_state(name)} <= there else "data-only",
            "entries": sum(1 for _ in expected.path(name)),
        }
        for name, tip in expected.branches()
    ]


def lists_of(expected: Expectation) -> dict[str, Any]:
    found: dict[str, dict[str, int]] = {}
    for address, elements in expected.lists():
        counts = found.setdefault(address.namespace, {"lists": 0, "elements": 0})
        counts["lists"] += 1
        counts["elements"] += sum(1 for _ in elements)
    return found


def dead_of(transactions: Iterable[Transaction]) -> dict[str, int]:
    """The dead records, by playing the writes."""
    superseded = deleted = deletes = 0
    live: Counter[Address] = Counter()
    for write in (write for transaction in transactions for write in transaction):
        if isinstance(write, ValueSet):
            superseded += live[write.address]
            live[write.address] = 1
        elif isinstance(write, ListAppend):
            live[write.address] += 1
        elif isinstance(write, ValueDelete | ListDelete):
            deletes += 1
            deleted += live.pop(write.address, 0)
    dead = superseded + deleted + deletes
    return {"dead": dead, "supersededSets": superseded, "deletedRows": deleted, "deletes": deletes}


def tree_fork_of(expected: Expectation) -> dict[str, Any]:
    try:
        expected.tree_fork()
        possible = True
    except UndeclaredNamespace:
        possible = False
    named = sorted({*expected.undeclared()})
    undeclared = [{"namespace": namespace, "kind": kind} for namespace, kind in named]
    return {"possible": possible, "undeclared": undeclared}
