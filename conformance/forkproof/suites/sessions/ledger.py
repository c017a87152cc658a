"""The usage ledger: what a row must be, and that it comes back (sections 3.2, 3.3)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker
from forkproof.makers.records import (
    Record,
    message_entry,
    usage,
    usage_row,
)
from forkproof.oracle.ledger import COSTS, OPTIONAL, REQUIRED
from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import UsageInsert


@case("S-ENT-04", needs=())
async def every_field_of_a_usage_row_comes_back(store: SessionMaker) -> None:
    """A usage row comes back with all its fields: in the row, in its usage object and in the cost, those included
    that belong to entries elsewhere.

    If this fails, look at: numbers in columns and the rest dropped; a `timestamp` that the storage adds or replaces;
    details stored as text.
    """
    subject = await store.linear_session()
    numbers = {**usage(cacheWrite1h=3, reasoning=2), "audio": 1, "note": None}
    numbers["cost"]["currency"] = "EUR"
    odd = {"timestamp": -1, "type": "message", "parentId": 4, "customType": None, "": [], "xNote": {"b": 1, "a": 2.0}}
    row = usage_row("spent", "e1", usage=numbers, details={"why": ["wässern", None, {}]}, adjustment=True, **odd)
    await subject.session.mutate(lambda scope: scope.commit([UsageInsert(row)]))
    for place in ("live", "after reopening"):
        (found,) = await subject.session.scan_usage() or [{}]
        fields = {name: value for name, value in found.items() if name != "seq"}
        expect(fields.keys() == row.keys(), f"expected: the fields {sorted(row)}\nseen:     {sorted(fields)}")
        for name, value in row.items():
            expect_equal(fields[name], value, of=f"the field {name!r} of the usage row, {place}", ordered=True)
        await subject.reopen()


@case("S-ENT-07", needs=())
@rows("entry_id", unknown="no-such-entry", empty="", usage_id="earlier", own_id="spent", later="later", known="e1")
async def the_entry_of_a_usage_row_is_not_checked(store: SessionMaker, entry_id: str) -> None:
    """A usage row may name any entry, or what is no entry at all, and comes back with that name.

    If this fails, look at: a foreign key; a join that leaves out rows without their entry.
    """
    subject = await store.linear_session()
    await subject.spend("earlier")
    await subject.spend("spent", entry_id)
    await subject.insert(message_entry("later", "e1"))
    await subject.check_everywhere()


def _without(record: Record, name: str) -> Record:
    return {member: value for member, value in record.items() if member != name}


@case("S-ENT-08", needs=())
@rows("field", id="id", entry_id="entryId", adjustment="adjustment")
@rows("value", null=None, number=1, zero=0, list=[], object={}, fraction=0.5)
async def an_ill_typed_field_of_a_usage_row_is_refused(store: SessionMaker, field: str, value: object) -> None:
    """A usage row whose `id` or `entryId` is no string, or whose `adjustment` is no boolean, is refused with
    `InvalidValue`.

    If this fails, look at: 0 and 1 taken for booleans; a null `entryId` taken for a missing one.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.commit(UsageInsert({**usage_row("spent", "e1"), field: value}))
    await subject.check()


@case("S-ENT-08", needs=())
@rows("field", id=("id", True), entry_id=("entryId", False), adjustment=("adjustment", "true"))
async def a_field_of_the_other_type_is_refused(store: SessionMaker, field: tuple[str, object]) -> None:
    """A boolean in place of an id, or text in place of the boolean, is refused with `InvalidValue`.

    If this fails, look at: values converted instead of checked.
    """
    subject = await store.linear_session()
    name, value = field
    with refused(InvalidValue):
        await subject.commit(UsageInsert({**usage_row("spent", "e1"), name: value}))
    await subject.check()


@case("S-ENT-08", needs=())
@rows("field", id="id", usage="usage", adjustment="adjustment")
async def a_usage_row_without_a_required_field_is_refused(store: SessionMaker, field: str) -> None:
    """A usage row without its id, its usage object or its `adjustment` is refused with `InvalidValue`.

    If this fails, look at: defaults made up for what is missing.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.session.mutate(
            lambda scope: scope.commit([UsageInsert(_without(usage_row("spent", "e1"), field))])
        )
    await subject.check()


@case("S-ENT-08", needs=())
@rows("name", {**{name: name for name in (*REQUIRED, "cost")}, **{f"cost.{name}": f"cost.{name}" for name in COSTS}})
async def a_usage_object_without_a_required_number_is_refused(store: SessionMaker, name: str) -> None:
    """A usage object that lacks a required number, one of its cost or the whole cost, is refused with `InvalidValue`.

    If this fails, look at: missing numbers counted as 0; a check of the outer object only.
    """
    subject = await store.linear_session()
    numbers = usage()
    if name.startswith("cost."):
        numbers["cost"] = _without(numbers["cost"], name.removeprefix("cost."))
    else:
        numbers = _without(numbers, name)
    with refused(InvalidValue):
        await subject.spend("spent", usage=numbers)
    await subject.check()


NO_NUMBERS: dict[str, Any] = {"true": True, "false": False, "null": None, "text": "1", "list": [1], "object": {}}


@case("S-ENT-08", needs=())
@rows("value", NO_NUMBERS)
@rows("name", {name: name for name in (*REQUIRED, *OPTIONAL)})
async def what_is_no_number_is_refused_in_its_place(store: SessionMaker, name: str, value: object) -> None:
    """A boolean or another non-number in the place of a number, an optional one too, is refused with `InvalidValue`.

    If this fails, look at: `isinstance(value, int)`, which takes booleans; optional numbers that are not checked;
    null taken for a missing number.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.spend("spent", usage={**usage(), name: value})
    await subject.check()


@case("S-ENT-08", needs=())
@rows("value", NO_NUMBERS)
@rows("name", {name: name for name in COSTS})
async def what_is_no_number_is_refused_in_the_cost(store: SessionMaker, name: str, value: object) -> None:
    """A boolean or another non-number in the cost is refused with `InvalidValue`.

    If this fails, look at: a check of the outer numbers only.
    """
    subject = await store.linear_session()
    numbers = usage()
    with refused(InvalidValue):
        await subject.spend("spent", usage={**numbers, "cost": {**numbers["cost"], name: value}})
    await subject.check()


@case("S-ENT-08", needs=())
@rows("value", null=None, number=0, list=[], text="{}")
@rows("name", usage="usage", cost="cost")
async def what_is_no_usage_object_is_refused(store: SessionMaker, name: str, value: object) -> None:
    """A usage object, or its cost, that is no object is refused with `InvalidValue`.

    If this fails, look at: a TypeError of the first look into it.
    """
    subject = await store.linear_session()
    row = usage_row("spent")
    (row if name == "usage" else row["usage"])[name] = value
    with refused(InvalidValue):
        await subject.session.mutate(lambda scope: scope.commit([UsageInsert(row)]))
    await subject.check()
