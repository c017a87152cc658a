"""What a new entry and a usage row may be, and the statistics over them."""

from __future__ import annotations

from typing import Any

import pytest

from forkstore.contract.errors import InvalidValue, PendingMessage
from forkstore.contract.records import (
    ABSENT,
    add_usage,
    check_new_entry,
    check_new_usage_row,
    copy_usage,
    entry_structure,
    refuse_pending,
    zero_usage,
)

ENTRY = {"id": "e1", "parentId": None, "type": "message", "message": {"role": "user", "content": "x", "timestamp": 1}}
CUSTOM = {"id": "c1", "parentId": "e1", "type": "custom", "customType": "weather"}
ROW = {"id": "u1", "usage": zero_usage(), "adjustment": False}


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"in": value}
    return value


@pytest.mark.parametrize("entry", [ENTRY, CUSTOM, ENTRY | {"id": ""}, ENTRY | {"id": "\0 é 🌱"}, ENTRY | {"new": [1]}])
def test_a_new_entry_is_read_once(entry: dict[str, Any]) -> None:
    checked = check_new_entry(entry, "entry")
    assert checked[:4] == (entry["id"], entry["parentId"], entry["type"], entry.get("customType"))


WITHOUT = [({k: v for k, v in ENTRY.items() if k != left}, left) for left in ("id", "parentId", "type")]
ILL_ENTRIES: list[tuple[Any, str]] = [
    *WITHOUT,
    (ENTRY | {"id": 1}, "id"),
    (ENTRY | {"id": "\ud800"}, "id"),
    (ENTRY | {"parentId": 1}, "parentId"),
    (ENTRY | {"type": "note"}, "type"),
    (ENTRY | {"type": None}, "type"),
    (ENTRY | {"type": ["message"]}, "type"),
    ({"id": "c", "parentId": None, "type": "custom"}, "customType"),
    (CUSTOM | {"customType": None}, "customType"),
    (ENTRY | {"customType": "weather"}, "customType"),
    (ENTRY | {"customType": None}, "customType"),
    (ENTRY | {"seq": 1}, "seq"),
    (ENTRY | {"timestamp": 1}, "timestamp"),
    (ENTRY | {"message": {"content": ("tuple",)}}, "message.content"),
]


@pytest.mark.parametrize(("entry", "place"), ILL_ENTRIES)
def test_an_ill_formed_entry_is_refused_by_place(entry: Any, place: str) -> None:
    """S-ENT-01, S-ENT-02, S-VAL-10."""
    with pytest.raises(InvalidValue) as refusal:
        check_new_entry(entry, "writes[0].entry")
    assert refusal.value.where == f"writes[0].entry.{place}"


@pytest.mark.parametrize("entry", [None, [], "e1", type("Sub", (dict,), {})(ENTRY)])
def test_an_entry_is_a_plain_object(entry: Any) -> None:
    with pytest.raises(InvalidValue):
        check_new_entry(entry, "entry")


def test_each_field_and_each_kept_message_has_its_own_depth() -> None:
    """Section 6: depth counts per payload field, and per message of a retained tail."""
    compaction = {"id": "k", "parentId": None, "type": "compaction", "summary": "s", "tokensBefore": 1}
    check_new_entry(ENTRY | {"message": nested(200)}, "entry")
    check_new_entry(compaction | {"retainedTail": [nested(200)]}, "entry")
    for entry in (
        ENTRY | {"message": nested(201)},
        ENTRY | {"retainedTail": [nested(200)]},
        compaction | {"retainedTail": [nested(201)]},
        compaction | {"retainedTail": {"no": nested(200)}},
        compaction | {"retainedTail": [], "details": nested(201)},
    ):
        with pytest.raises(InvalidValue, match="nested too deeply"):
            check_new_entry(entry, "entry")


ILL_ROWS: list[tuple[Any, str]] = [
    (ROW | {"id": None}, "id"),
    (ROW | {"entryId": None}, "entryId"),
    (ROW | {"entryId": 1}, "entryId"),
    (ROW | {"adjustment": 0}, "adjustment"),
    ({"id": "u", "usage": zero_usage()}, "adjustment"),
    (ROW | {"seq": 1}, "seq"),
    ({"id": "u", "adjustment": True}, "usage"),
    (ROW | {"usage": []}, "usage"),
    (ROW | {"usage": {**zero_usage(), "cost": None}}, "usage.cost"),
    *[(ROW | {"usage": {**zero_usage(), name: True}}, f"usage.{name}") for name in zero_usage() if name != "cost"],
    *[
        (ROW | {"usage": {**zero_usage(), "cost": {**zero_usage()["cost"], name: "1"}}}, f"usage.cost.{name}")
        for name in zero_usage()["cost"]
    ],
    (ROW | {"usage": {**zero_usage(), "reasoning": None}}, "usage.reasoning"),
    (ROW | {"usage": {**zero_usage(), "cacheWrite1h": False}}, "usage.cacheWrite1h"),
    (ROW | {"usage": {**zero_usage(), "input": float("nan")}}, "usage.input"),
    (ROW | {"details": {1}}, "details"),
]


@pytest.mark.parametrize(("row", "place"), ILL_ROWS)
def test_an_ill_formed_usage_row_is_refused_by_place(row: Any, place: str) -> None:
    """S-ENT-02, S-ENT-08."""
    with pytest.raises(InvalidValue) as refusal:
        check_new_usage_row(row, "row")
    assert refusal.value.where == f"row.{place}"


@pytest.mark.parametrize("name", [name for name in zero_usage() if name != "cost"])
def test_a_usage_object_has_every_required_number(name: str) -> None:
    usage = zero_usage()
    del usage[name]
    with pytest.raises(InvalidValue):
        check_new_usage_row(ROW | {"usage": usage}, "row")


def test_the_zero_object_has_the_contracts_order() -> None:
    """S-ENT-11."""
    assert list(zero_usage()) == ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"]
    assert list(zero_usage()["cost"]) == ["input", "output", "cacheRead", "cacheWrite", "total"]
    zero_usage()["cost"]["input"] = 5
    assert zero_usage()["cost"]["input"] == 0


def test_sums_are_field_by_field_and_fresh() -> None:
    """S-ENT-10: an optional number appears only if a row has it, and counts as 0 elsewhere."""
    first = {**zero_usage(), "input": 3, "cost": {**zero_usage()["cost"], "total": 0.5}, "provider": "ignored"}
    second = {**zero_usage(), "input": 4, "reasoning": 2}
    numbers = check_new_usage_row(ROW | {"usage": first}, "row").usage
    total = add_usage(add_usage(zero_usage(), numbers, "row"), second, "row")
    assert total == {**zero_usage(), "input": 7, "cost": {**zero_usage()["cost"], "total": 0.5}, "reasoning": 2}
    kept = copy_usage(total)
    total["cost"]["total"] = 9
    assert kept["cost"]["total"] == 0.5


@pytest.mark.parametrize("number", [2**63 - 1, 1.7976931348623157e308])
def test_a_sum_that_cannot_be_stored_is_refused(number: float) -> None:
    usage = {**zero_usage(), "input": number}
    with pytest.raises(InvalidValue) as refusal:
        add_usage(usage, usage, "writes[0].row.usage")
    assert refusal.value.where == "writes[0].row.usage.input"


def test_structures_have_a_custom_type_on_custom_entries_only() -> None:
    plain = {"id": "e", "parentId": None, "seq": 1, "timestamp": 2, "type": "message"}
    assert entry_structure("e", None, 1, 2, "message", None) == plain
    assert entry_structure("e", None, 1, 2, "custom", "w") == plain | {"type": "custom", "customType": "w"}


def test_only_a_pending_assistant_message_is_not_settled() -> None:
    """S-SESS-10, S-SESS-11."""
    with pytest.raises(PendingMessage):
        refuse_pending({"type": "message", "message": {"role": "assistant", "stopReason": "pending"}})
    for entry in (
        {"type": "message", "message": {"role": "user", "stopReason": "pending"}},
        {"type": "message", "message": {"role": "assistant", "stopReason": "stop"}},
        {"type": "custom", "message": {"role": "assistant", "stopReason": "pending"}},
        {"type": "message", "message": None},
        None,
    ):
        refuse_pending(entry)


def test_absent_has_one_value_and_its_own_name() -> None:
    assert repr(ABSENT) == "ABSENT"
    assert type(ABSENT)("ABSENT") is ABSENT
