"""The streaming checks: every way in which a session can differ is found, and said where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from forkgen import Expectation, ExpectationBroken, check_session, recipe
from forkgen.recipes import lists
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import Address, branch_tip, entry_label, list_address, value_address
from forkstore.contract.records import Record, SessionStats
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)
from tests.forkgen.sessions import kept

Records = list[Record]
USAGE = recipe("usage")(1, 6).expectation


def stored_entries() -> Records:
    return [{**entry, "seq": 2 * at + 1, "timestamp": 7} for at, entry in enumerate(USAGE.entries())]


def stored_usage() -> Records:
    return [{**row, "seq": 2 * at + 2} for at, row in enumerate(USAGE.usage_rows())]


def stored_values(expectation: Expectation = USAGE) -> list[ValueRow]:
    return [ValueRow(address, value, 1) for address, value in expectation.scalars()]


def without(at: int) -> Callable[[Any], None]:
    def change(rows: Any) -> None:
        del rows[at]

    return change


def with_fields(at: int, **fields: Any) -> Callable[[Records], None]:
    return lambda rows: rows[at].update(fields)


def swapped(rows: Records) -> None:
    rows[1], rows[2] = rows[2], rows[1]


def added(rows: Records) -> None:
    rows.append({**rows[-1], "id": "one more", "seq": 99})


def retyped(rows: Records) -> None:
    rows[0]["message"]["timestamp"] = float(rows[0]["message"]["timestamp"])


def reordered(rows: Records) -> None:
    rows[0]["message"] = dict(reversed(rows[0]["message"].items()))


def stripped(rows: Records) -> None:
    del rows[2]["parentId"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        pytest.param(without(5), "entry 5 .*\nexpected: .*\nseen:     only 5 of them", id="last one missing"),
        pytest.param(without(0), "entry 0 .*, field 'id'", id="first one missing"),
        pytest.param(added, "entry 6\nexpected: only 6 of them\nseen: .*one more", id="one too many"),
        pytest.param(swapped, "entry 1 .*, field 'id'", id="order"),
        pytest.param(retyped, "entry 0 .*, field 'message'", id="type of a number"),
        pytest.param(reordered, "entry 0 .*, field 'message'", id="order of members"),
        pytest.param(stripped, "entry 2 .*, field 'parentId'\n.*\nseen:     no such field", id="field missing"),
        pytest.param(with_fields(3, more=1), "entry 3 .*, field 'more'\nexpected: no such", id="field too many"),
        pytest.param(with_fields(3, parentId=None), "entry 3 .*, field 'parentId'", id="parent"),
        pytest.param(with_fields(3, message={1, 2}), "entry 3 .*, field 'message'", id="no JSON value"),
        pytest.param(with_fields(3, seq=5), "entry 3 .*, sequence\nexpected: an integer above 5", id="sequence falls"),
        pytest.param(with_fields(3, seq=True), "entry 3 .*, sequence", id="sequence of another type"),
        pytest.param(with_fields(3, timestamp=-1), "entry 3, timestamp", id="timestamp"),
        pytest.param(with_fields(3, timestamp=None), "entry 3, timestamp", id="no timestamp"),
    ],
)
def test_a_difference_of_entries_is_found(change: Callable[[Records], None], place: str) -> None:
    USAGE.check_entries(stored_entries())
    rows = stored_entries()
    change(rows)
    with pytest.raises(ExpectationBroken, match=place):
        USAGE.check_entries(rows)


@pytest.mark.parametrize("change", [without(5), without(0), swapped, added, with_fields(1, seq=1), with_fields(0, x=0)])
def test_a_difference_of_usage_rows_is_found(change: Callable[[Records], None]) -> None:
    USAGE.check_usage(stored_usage())
    rows = stored_usage()
    change(rows)
    with pytest.raises(ExpectationBroken, match="usage row"):
        USAGE.check_usage(rows)


def test_the_fields_of_a_stored_row_may_come_in_any_order() -> None:
    USAGE.check_entries(dict(reversed(entry.items())) for entry in stored_entries())
    USAGE.check_usage(dict(reversed(row.items())) for row in stored_usage())


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_missing_scalar_is_found(at: int) -> None:
    USAGE.check_values(stored_values())
    rows = stored_values()
    gone = rows.pop(at)
    with pytest.raises(ExpectationBroken) as broken:
        USAGE.check_values(rows)
    assert gone.address.namespace in broken.value.place
    assert broken.value.seen == "none"


@pytest.mark.parametrize("address", [value_address("a"), branch_tip("maim"), value_address("z", "key")])
def test_an_unexpected_scalar_is_found(address: Address) -> None:
    rows = sorted([*stored_values(), ValueRow(address, 0, 1)], key=lambda row: row.address.namespace)
    with pytest.raises(ExpectationBroken) as broken:
        USAGE.check_values(rows)
    assert repr(address.namespace) in broken.value.place
    assert broken.value.expected == "none"


def test_another_value_is_found() -> None:
    numbers = recipe("numbers")(0, 1).expectation
    rows = stored_values(numbers)
    numbers.check_values(rows)
    zero = next(at for at, row in enumerate(rows) if repr(row.value) == "-0.0")
    for other in (0.0, 0, False, None, "-0.0"):
        with pytest.raises(ExpectationBroken, match=r"garden\.numbers"):
            numbers.check_values([*rows[:zero], ValueRow(rows[zero].address, other, 1), *rows[zero + 1 :]])


@pytest.mark.parametrize("change", ["missing", "more", "order", "value", "sequence"])
def test_a_difference_of_a_list_is_found(change: str) -> None:
    expectation, address = recipe("lists")(1, 5).expectation, list_address(lists.NAMESPACE, "long")
    (values,) = [list(elements) for place, elements in expectation.lists() if place == address]
    elements = [ListElement(at + 1, value) for at, value in enumerate(values)]
    expectation.check_list(address, elements)
    wrong = {
        "missing": elements[:-1],
        "more": [*elements, ListElement(9, values[0])],
        "order": [ListElement(at + 1, value) for at, value in enumerate(values[::-1])],
        "value": [*elements[:2], ListElement(3, "other"), *elements[3:]],
        "sequence": [*elements[:2], ListElement(2, values[2]), *elements[3:]],
    }
    with pytest.raises(ExpectationBroken, match=r"element \d of the list at 'garden\.lists', 'long'"):
        expectation.check_list(address, wrong[change])


def test_a_list_that_must_be_gone_has_no_elements() -> None:
    expectation, deleted = recipe("lists")(1, 5).expectation, list_address(lists.NAMESPACE, "deleted")
    expectation.check_list(deleted, [])
    with pytest.raises(ExpectationBroken):
        expectation.check_list(deleted, [ListElement(1, 0)])


def test_a_difference_of_the_statistics_is_found() -> None:
    usage, count = USAGE.usage, USAGE.message_count
    USAGE.check_stats(SessionStats(count, usage))
    wrong = [
        SessionStats(count + 1, usage),
        SessionStats(count, {**usage, "input": usage["input"] + 1}),
        SessionStats(count, {**usage, "input": float(usage["input"])}),
        SessionStats(count, {name: value for name, value in usage.items() if name != "reasoning"}),
    ]
    for stats in wrong:
        with pytest.raises(ExpectationBroken):
            USAGE.check_stats(stats)


def test_a_difference_of_a_path_is_found() -> None:
    path = list(USAGE.path("main"))
    USAGE.check_path("main", path)
    for wrong in (path[:-1], path[1:], [*path, "more"], path[::-1]):
        with pytest.raises(ExpectationBroken, match=r"branch 'main', \d below its tip"):
            USAGE.check_path("main", wrong)
    with pytest.raises(KeyError):
        USAGE.check_path("no such branch", [])


def test_a_long_value_is_shown_in_part() -> None:
    giant = recipe("giant")(0, 1).expectation
    with pytest.raises(ExpectationBroken) as broken:
        giant.check_entries([])
    assert len(str(broken.value)) < 1_000


EXTRA: list[Write] = [
    EntryInsert({"id": "more", "parentId": None, "type": "custom", "customType": "more"}),
    UsageInsert({"id": "more", "usage": USAGE.usage, "adjustment": False}),
    ValueSet(value_address("garden.scalars", "more"), 1),
    ValueSet(branch_tip("main"), "linear-entry-00000000"),
    ValueSet(entry_label("linear-entry-00000000"), "more"),
    ValueDelete(branch_tip("main")),
    ListAppend(list_address(lists.NAMESPACE, "deleted"), 1),
    ListDelete(list_address(lists.NAMESPACE, "plain")),
]


@pytest.mark.parametrize("write", EXTRA, ids=lambda write: f"{type(write).__name__}")
def test_one_write_too_many_breaks_the_check_of_a_session(write: Write) -> None:
    async def checked() -> None:
        generated = recipe("everything")(1, 45)
        async with kept(generated) as source:
            await source.session.storage.commit([write])
            with pytest.raises(ExpectationBroken):
                await check_session(source.session, generated.expectation)

    asyncio.run(checked())


@pytest.mark.parametrize("kind", [EntryInsert, UsageInsert, ValueSet])
def test_one_write_too_few_breaks_the_check_of_a_session(kind: type[Write]) -> None:
    async def checked() -> None:
        generated = recipe("usage")(1, 5)
        writes = [write for transaction in generated for write in transaction]
        last = max(at for at, write in enumerate(writes) if isinstance(write, kind))
        repo = MemorySessionRepo()
        session = await repo.create()
        await session.storage.commit([write for at, write in enumerate(writes) if at != last])
        with pytest.raises(ExpectationBroken):
            await check_session(session, generated.expectation)
        await repo.close()

    asyncio.run(checked())
