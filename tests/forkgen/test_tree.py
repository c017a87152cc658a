"""Entries by index: ids and back, parents across several trees, the members of a path."""

from __future__ import annotations

import pytest

from forkgen.tree import Forest, Members, Tree, ancestry, chain

LINE = Tree("line-", 5, chain, lambda index: {"type": "custom", "customType": str(index)})
FORK = Tree("fork-", 4, lambda index: 0 if index else None, lambda _: {"type": "message"}, lambda index: "é" * index)


def test_an_entry_has_its_id_its_parent_and_its_fields() -> None:
    assert LINE.new_entry(0) == {"id": "line-00000000", "parentId": None, "type": "custom", "customType": "0"}
    assert FORK.new_entry(2) == {"id": "fork-00000002éé", "parentId": "fork-00000000", "type": "message"}


@pytest.mark.parametrize("tree", [LINE, FORK, Forest([LINE, FORK])])
def test_an_id_leads_back_to_its_index(tree: Tree | Forest) -> None:
    assert [tree.index_of(tree.id(index)) for index in range(tree.count)] == list(range(tree.count))


@pytest.mark.parametrize(
    "text",
    [
        *("", "line-", "line-1", "line-00000005", "line-000000001", "line-00000001 ", "line-0000000\u0661"),
        *("Line-00000001", "fork-00000001", "fork-00000002é", "x" + "line-00000001", "line-" + "1" * 5_000),
    ],
)
def test_what_is_no_id_leads_nowhere(text: str) -> None:
    assert Forest([LINE, FORK]).index_of(text) is None


def test_a_forest_keeps_its_trees_apart() -> None:
    forest = Forest([LINE, FORK, LINE])
    assert forest.count == 14
    assert [forest.parent(index) for index in range(5, 9)] == [None, 5, 5, 5]
    assert forest.new_entry(6) == FORK.new_entry(1)
    assert list(ancestry(forest, 13)) == [13, 12, 11, 10, 9]


def test_members_are_a_path_in_commit_order() -> None:
    members = Members(Forest([LINE, FORK]), 7)
    assert list(members) == [5, 7]
    assert len(members) == 2
    assert [index in members for index in (4, 5, 6, 7, 8, -1)] == [False, True, False, True, False, False]
    assert "7" not in members


def test_a_path_from_nothing_has_no_members() -> None:
    assert list(Members(LINE, None)) == []
    assert len(Members(LINE, None)) == 0
