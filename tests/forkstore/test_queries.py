"""The parameters of reads: what is refused, and what is selected, over a small path of rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidQuery
from forkstore.contract.queries import (
    BranchQuery,
    EntryQuery,
    FindQuery,
    ListQuery,
    UsageQuery,
    check_address,
    check_entry_id,
    check_entry_ids,
    first_only,
)


@dataclass(frozen=True)
class Row:
    id: str
    seq: int
    type: str
    custom_type: str | None = None


# a ← b ← c ← d ← e, as a walk from e gives them
PATH = [
    Row("e", 9, "message"),
    Row("d", 7, "custom", "weather"),
    Row("c", 5, "compaction"),
    Row("b", 3, "custom", "soil"),
    Row("a", 1, "message"),
]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({}, "edcba"),
        ({"order": "oldest_first"}, "abcde"),
        ({"stop_at_id": "c"}, "edc"),
        ({"stop_at_id": "c", "order": "oldest_first"}, "abc"),
        ({"stop_at_id": "unknown"}, "edcba"),
        ({"stop_at_type": "custom"}, "ed"),
        ({"stop_at_type": "custom", "order": "oldest_first"}, "ab"),
        ({"stop_at_id": "b", "stop_at_type": "compaction"}, "edc"),
        ({"stop_at_type": "compaction", "type": "message"}, "e"),
        ({"type": "custom"}, "db"),
        ({"custom_type": "soil"}, "b"),
        ({"type": "message", "custom_type": "soil"}, ""),
        ({"cursor": 7}, "cba"),
        ({"cursor": 6}, "cba"),
        ({"cursor": 5, "order": "oldest_first"}, "de"),
        ({"cursor": -1}, ""),
        ({"limit": 0}, ""),
        ({"limit": 2}, "ed"),
        ({"limit": 99}, "edcba"),
        ({"type": "custom", "cursor": 7, "limit": 1}, "b"),
        ({"stop_at_id": "c", "limit": 2, "order": "oldest_first", "type": "message"}, "a"),
    ],
)
def test_a_walk_stops_then_filters_then_cuts(query: dict[str, Any], ids: str) -> None:
    """S-QRY-06 to S-QRY-09."""
    assert "".join(row.id for row in BranchQuery("e", **query).select(PATH)) == ids


@pytest.mark.parametrize("limit", [sys.maxsize, sys.maxsize + 1, 10**30])
def test_a_limit_has_no_upper_bound(limit: int) -> None:
    """S-QRY-12."""
    assert list(BranchQuery("e", limit=limit).select(PATH)) == PATH
    assert list(EntryQuery(limit=limit).select(PATH)) == PATH


@pytest.mark.parametrize(
    ("query", "ids"),
    [({}, "edcba"), ({"type": "custom", "limit": 1}, "d"), ({"custom_type": "soil"}, "b"), ({"limit": 0}, "")],
)
def test_entries_are_filtered_before_the_limit(query: dict[str, Any], ids: str) -> None:
    assert "".join(row.id for row in EntryQuery(**query).select(PATH)) == ids


NO_TEXT: tuple[Any, ...] = (5, b"x", ["x"], True, 1.5)
NO_INTEGER: tuple[Any, ...] = (True, False, 1.5, 1.0, "1", [1])
NO_ORDER: tuple[Any, ...] = (None, "", "newest", "ASC", 1, ["asc"])
BRANCH_FAULTS = [
    *[("order", bad) for bad in (*NO_ORDER, "asc")],
    *[(field, bad) for field in ("stop_at_id", "stop_at_type", "type", "custom_type") for bad in NO_TEXT],
    *[("cursor", bad) for bad in NO_INTEGER],
    *[("limit", bad) for bad in (*NO_INTEGER, -1)],
]
SCAN_FAULTS = [
    *[("order", bad) for bad in (*NO_ORDER, "newest_first")],
    *[(field, bad) for field in ("from_seq", "to_seq") for bad in NO_INTEGER],
    *[("limit", bad) for bad in (*NO_INTEGER, -1)],
]


@pytest.mark.parametrize(("field", "bad"), BRANCH_FAULTS)
def test_a_walk_refuses_by_field(field: str, bad: Any) -> None:
    """S-QRY-12, S-QRY-13."""
    with pytest.raises(InvalidQuery) as refusal:
        BranchQuery("e", **{field: bad})
    assert refusal.value.field == field


@pytest.mark.parametrize("start", [None, 5, b"e"])
def test_a_walk_starts_at_an_id(start: Any) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        BranchQuery(start)
    assert refusal.value.field == "start"


@pytest.mark.parametrize("query", [EntryQuery, UsageQuery])
@pytest.mark.parametrize(("field", "bad"), SCAN_FAULTS)
def test_a_scan_refuses_by_field(query: Any, field: str, bad: Any) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        query(**{field: bad})
    assert refusal.value.field == field


@pytest.mark.parametrize(("field", "bad"), [(field, bad) for field in ("type", "custom_type") for bad in NO_TEXT])
def test_a_scan_filters_by_text(field: str, bad: Any) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        EntryQuery(**{field: bad})
    assert refusal.value.field == field


LIST_FAULTS = [
    *[("limit", bad) for bad in (None, 0, -1, *NO_INTEGER)],
    *[("cursor", bad) for bad in (-1, *NO_INTEGER)],
    *[("order", bad) for bad in (*NO_ORDER, "oldest_first")],
]


@pytest.mark.parametrize(("field", "bad"), LIST_FAULTS)
def test_a_page_refuses_by_field(field: str, bad: Any) -> None:
    """S-LIST-03."""
    with pytest.raises(InvalidQuery) as refusal:
        ListQuery(**{field: bad})
    assert refusal.value.field == field


def test_a_page_has_a_default_and_a_largest_limit() -> None:
    """S-LIST-02."""
    assert ListQuery().limit == 1_000
    assert [ListQuery(limit=limit).limit for limit in (1, 10_000, 10_001, 10**30)] == [1, 10_000, 10_000, 10_000]


@pytest.mark.parametrize(
    ("find", "scan"),
    [
        ({}, {"order": "desc"}),
        ({"cursor": 5}, {"order": "desc", "to_seq": 4}),
        ({"order": "asc", "cursor": 5, "type": "custom"}, {"order": "asc", "type": "custom", "from_seq": 6}),
        ({"custom_type": "soil", "limit": 0}, {"order": "desc", "custom_type": "soil", "limit": 0}),
    ],
)
def test_a_find_is_a_scan_with_an_exclusive_cursor(find: Any, scan: Any) -> None:
    """S-QRY-09, S-QRY-14."""
    assert FindQuery(**find).scan() == {"type": None, "custom_type": None, "limit": None} | scan


@pytest.mark.parametrize("cursor", NO_INTEGER)
def test_a_find_refuses_a_cursor_that_is_no_sequence(cursor: Any) -> None:
    with pytest.raises(InvalidQuery):
        FindQuery(cursor=cursor)


def test_a_find_takes_no_parameter_that_it_does_not_know() -> None:
    """A misspelt filter must not be a filter that matches everything."""
    unknown: Any = {"from_seq": 1}
    with pytest.raises(TypeError):
        FindQuery(**unknown)


def test_one_entry_needs_at_most_one() -> None:
    """S-QRY-15."""
    assert [first_only(limit) for limit in (None, 0, 1, 9)] == [1, 0, 1, 1]
    bad: Any = True
    with pytest.raises(InvalidQuery):
        first_only(bad)


def test_ids_are_looked_up_once_in_order() -> None:
    """S-QRY-01."""
    assert check_entry_ids(["b", "a", "b"]) == ["b", "a"]
    assert check_entry_ids(iter(("a",))) == ["a"]
    assert check_entry_ids([]) == []


@pytest.mark.parametrize("ids", [None, "ab", b"ab", 5, [1], ["a", None], [["a"]]])
def test_ids_are_a_list_of_text(ids: Any) -> None:
    """S-QRY-13."""
    with pytest.raises(InvalidQuery):
        check_entry_ids(ids)


@pytest.mark.parametrize("entry_id", [None, 1, b"a"])
def test_an_id_is_text(entry_id: Any) -> None:
    with pytest.raises(InvalidQuery):
        check_entry_id(entry_id)


@pytest.mark.parametrize("address", [None, ("app", "", "value"), list_address("app")])
def test_an_address_of_the_wrong_kind_is_refused(address: Any) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        check_address(address, "value")
    assert refusal.value.field == "address"
    assert check_address(value_address("app"), "value") == value_address("app")
