"""The two halves of a commit: what is refused in its first step, and what is refused when its turn has come."""

from __future__ import annotations

from typing import Any

import pytest

from forkstore.contract import writes
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownParent
from forkstore.contract.records import zero_usage
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    place,
    prepare,
)

SCALAR, LIST = value_address("app", "k"), list_address("app", "k")


def entry(entry_id: str, parent: str | None = None, entry_type: str = "message") -> EntryInsert:
    return EntryInsert({"id": entry_id, "parentId": parent, "type": entry_type})


def usage(row_id: str, **numbers: int) -> UsageInsert:
    return UsageInsert({"id": row_id, "usage": {**zero_usage(), **numbers}, "adjustment": False})


def placed(given: list[Any], next_seq: int = 1, entries: str = "", usage_rows: str = "") -> writes.Placement:
    """Places a commit over a state that knows these one-letter ids."""
    return place(prepare(given), next_seq, 0, zero_usage(), set(entries).__contains__, set(usage_rows).__contains__)


NOT_WRITES: list[tuple[Any, str]] = [
    (None, "writes"),
    ("text", "writes"),
    (iter([]), "writes"),
    ({}, "writes"),
    ([None], "writes[0]"),
    ([ValueSet(SCALAR, 1), SCALAR], "writes[1]"),
    ([{"entry": {}}], "writes[0]"),
    ([ValueSet(LIST, 1)], "writes[0].address"),
    ([ValueDelete(LIST)], "writes[0].address"),
    ([ListAppend(SCALAR, 1)], "writes[0].address"),
    ([ListDelete(SCALAR)], "writes[0].address"),
    ([ListDelete(("app", "k", "list"))], "writes[0].address"),  # type: ignore[arg-type]
    ([ValueSet(SCALAR, {"a": [1, object()]})], "writes[0].value.a[1]"),
    ([ValueSet(SCALAR, 1), ListAppend(LIST, 2**63)], "writes[1].value"),
    ([EntryInsert({"id": "e"})], "writes[0].entry.type"),
    ([UsageInsert({"id": "u"})], "writes[0].row.adjustment"),
]


@pytest.mark.parametrize(("given", "where"), NOT_WRITES)
def test_the_first_step_refuses_by_place(given: Any, where: str) -> None:
    """S-TXN-01, S-VAL-10."""
    with pytest.raises(InvalidValue) as refusal:
        prepare(given)
    assert refusal.value.where == where


def test_what_is_prepared_no_longer_depends_on_the_caller() -> None:
    """S-VAL-11."""
    value: list[Any] = [1]
    given = [ValueSet(SCALAR, value)]
    prepared = prepare(given)
    value.append(2)
    given.clear()
    assert prepared == [writes.AddressWrite(SCALAR, b"[1]")]


def test_sequences_are_consecutive_and_deletes_take_one() -> None:
    """S-TXN-05, S-TXN-06, S-TXN-13."""
    assert placed([ValueDelete(SCALAR), ListDelete(LIST), ValueSet(SCALAR, None)], next_seq=7).seqs == range(7, 10)
    assert placed([], next_seq=7).seqs == range(7, 7)


def test_the_last_sequence_is_used_and_no_higher_one() -> None:
    """S-TXN-19."""
    last = writes.LAST_SEQUENCE
    assert placed([ValueDelete(SCALAR)], next_seq=last).seqs[-1] == last == 2**53 - 1
    assert placed([], next_seq=last + 1).seqs == range(last + 1, last + 1)
    with pytest.raises(InvalidValue):
        placed([ValueDelete(SCALAR), ValueDelete(SCALAR)], next_seq=last)


@pytest.mark.parametrize(
    "given",
    [
        [entry("a", None)],
        [entry("a", "e")],
        [entry("a", None), entry("b", "a")],
        [entry("a", "e"), usage("b"), entry("c", "a")],
    ],
)
def test_known_parents(given: list[Any]) -> None:
    """S-TXN-09."""
    assert placed(given, entries="e").seqs == range(1, len(given) + 1)


@pytest.mark.parametrize(
    ("given", "entry_id", "parent_id"),
    [
        ([entry("a", "x")], "a", "x"),
        ([entry("a", "a")], "a", "a"),
        ([entry("a", "b"), entry("b", None)], "a", "b"),
        ([entry("a", "u")], "a", "u"),
        ([usage("v"), entry("a", "v")], "a", "v"),
    ],
)
def test_unknown_parents(given: list[Any], entry_id: str, parent_id: str) -> None:
    """S-TXN-10: unknown, placed later, or a usage row."""
    with pytest.raises(UnknownParent) as refusal:
        placed(given, entries="e", usage_rows="u")
    assert (refusal.value.entry_id, refusal.value.parent_id) == (entry_id, parent_id)


@pytest.mark.parametrize(
    "given",
    [
        [entry("e")],
        [entry("u")],
        [usage("e")],
        [usage("u")],
        [entry("e", "unknown")],
        [entry("a"), usage("e")],
        [entry("u", "unknown")],
    ],
)
def test_an_id_names_one_thing(given: list[Any]) -> None:
    """S-TXN-11: also when the parent is unknown."""
    with pytest.raises(DuplicateId):
        placed(given, entries="e", usage_rows="u")


@pytest.mark.parametrize("pair", [[entry("a"), entry("a")], [entry("a"), usage("a")], [usage("a"), entry("a")]])
def test_an_id_is_used_once_in_a_commit(pair: list[Any]) -> None:
    with pytest.raises(DuplicateId) as refusal:
        placed(pair)
    assert refusal.value.id == "a"


def test_statistics_follow_messages_and_usage_only() -> None:
    """S-ENT-09, S-ENT-10."""
    kinds = [entry("m"), entry("n", "m"), entry("k", None, "compaction"), entry("s", None, "branch_summary")]
    custom = EntryInsert({"id": "c", "parentId": None, "type": "custom", "customType": "w"})
    placement = placed([*kinds, custom, usage("u", input=3), usage("v", input=4)])
    assert placement.message_count == 2
    assert placement.usage == {**zero_usage(), "input": 7}
    assert [type(write).__name__ for write in prepare([*kinds, ListDelete(LIST)])][-1] == "AddressWrite"
