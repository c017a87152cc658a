"""The limits of a payload: numbers, letters and depth (section 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker
from forkproof.makers.places import PLACES
from forkproof.makers.records import (
    branch_summary_entry,
    compaction_entry,
    custom_entry,
    message_entry,
    usage,
    usage_row,
)
from forkproof.oracle.ledger import COSTS, OPTIONAL, REQUIRED
from forkstore.contract.addresses import branch_tip, value_address
from forkstore.contract.errors import InvalidValue, UnknownParent
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet, Write

PLAN = value_address("garden.plan")
IN_PLACES = {name: name for name in PLACES}
NOT_FINITE = {"nan": float("nan"), "infinity": float("inf"), "minus-infinity": float("-inf")}
TOO_LARGE = {
    "above": 2**63,
    "below": -(2**63) - 1,
    "unsigned": 2**64 - 1,
    "two-to-70": 2**70,
    "5000-digits": 10**5_000,
    "minus-5000-digits": -(10**5_000),
}


async def _expect_refused(store: SessionMaker, *writes: Write) -> None:
    """Each write, behind one that could be stored, is refused; then the session is as before, and can be used."""
    subject = await store.create()
    await subject.append("main", "before", id="e1")
    for write in writes:
        with refused(InvalidValue):
            await subject.commit(ValueSet(PLAN, "not stored"), write)
    await subject.check()
    await subject.append("main", "afterwards")
    await subject.check_everywhere()


def _everywhere(place: str, value: Any) -> list[Write]:
    """The value alone, in a list and in an object, at one place."""
    return [PLACES[place].write(payload, "odd") for payload in (value, [0, value], {"a": {"b": value}})]


@case("S-VAL-05")
@rows("value", NOT_FINITE)
@rows("place", IN_PLACES)
async def a_number_that_is_not_finite_is_refused(store: SessionMaker, value: float, place: str) -> None:
    """NaN and the infinities are refused with `InvalidValue`, at the top and inside.

    If this fails, look at: an encoder that writes `NaN`, or null for it; a check of the outermost value only.
    """
    await _expect_refused(store, *_everywhere(place, value))


def _usage_with(name: str, value: Any) -> Write:
    numbers = usage()
    if name.startswith("cost."):
        numbers["cost"][name.removeprefix("cost.")] = value
    else:
        numbers[name] = value
    return UsageInsert(usage_row("odd", usage=numbers))


USAGE_NUMBERS = (*REQUIRED, *OPTIONAL, *(f"cost.{name}" for name in COSTS))


@case("S-VAL-05")
@rows("value", NOT_FINITE)
async def a_usage_number_that_is_not_finite_is_refused(store: SessionMaker, value: float) -> None:
    """NaN and the infinities are refused as numbers of a usage row, too, and leave the sum alone.

    If this fails, look at: a sum that is NaN for ever after.
    """
    await _expect_refused(store, *(_usage_with(name, value) for name in USAGE_NUMBERS))


@case("S-VAL-06")
@rows("place", IN_PLACES)
async def an_integer_of_64_bits_comes_back_exactly(store: SessionMaker, place: str) -> None:
    """Integers within −2^63 … 2^63−1 come back exactly, those that no float can hold included.

    If this fails, look at: numbers that pass through floats; a limit at 2^53; unsigned columns.
    """
    numbers = [0, *(sign * (2**power + step) for power in (31, 32, 53, 62) for step in (-1, 0, 1) for sign in (1, -1))]
    numbers += [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 10**18 + 1, -(10**18) - 1]
    subject = await store.create()
    await subject.commit(*(PLACES[place].write(number, f"n{at}") for at, number in enumerate(numbers)))
    await subject.commit(PLACES[place].write(numbers, "together"))
    for when in ("live", "after reopening"):
        for at, number in enumerate(numbers):
            expect_equal(await PLACES[place].read(subject.session, f"n{at}"), number, of=f"an integer, {when}")
        expect_equal(await PLACES[place].read(subject.session, "together"), numbers, of=f"the integers, {when}")
        await subject.reopen()


@case("S-VAL-06")
@rows("value", TOO_LARGE)
@rows("place", IN_PLACES)
async def a_larger_integer_is_refused(store: SessionMaker, value: int, place: str) -> None:
    """Any other integer is refused with `InvalidValue`, at the top and inside, however many digits it has.

    If this fails, look at: an OverflowError of the database; a float in its place; Python's limit on digits.
    """
    await _expect_refused(store, *_everywhere(place, value))


@case("S-VAL-06")
@rows("value", TOO_LARGE)
async def a_larger_usage_number_is_refused(store: SessionMaker, value: int) -> None:
    """An integer outside 64 bits is refused as a number of a usage row, too.

    If this fails, look at: usage numbers that pass by the codec.
    """
    await _expect_refused(store, *(_usage_with(name, value) for name in USAGE_NUMBERS))


NUL = {"alone": "\0", "first": "\0bean", "inside": "be\0an", "last": "bean\0", "many": "a\0\0b" * 100}


@case("S-VAL-07")
@rows("text", NUL)
@rows("place", IN_PLACES)
async def text_with_a_nul_comes_back(store: SessionMaker, text: str, place: str) -> None:
    """Text with U+0000 comes back exactly, as a value and as a member name.

    If this fails, look at: C strings that end there; a database that refuses `\\u0000`; the letter left out.
    """
    subject = await store.create()
    payloads: dict[str, Any] = {"text": text, "members": [text, {text: text}, {"a": text, f"{text}b": None}]}
    await subject.commit(*(PLACES[place].write(payload, id) for id, payload in payloads.items()))
    for id, payload in payloads.items():
        seen = await PLACES[place].read(subject.session, id)
        expect_equal(seen, payload, of=f"the {id} with U+0000", ordered=True)
    await subject.check_everywhere()


@case("S-VAL-07")
@rows("text", NUL)
async def structural_text_with_a_nul_comes_back(store: SessionMaker, text: str) -> None:
    """U+0000 comes back in a custom type, a tip, a name and a label as well.

    If this fails, look at: structural fields in columns of their own.
    """
    subject = await store.linear_session()
    await subject.insert(custom_entry(text, "e1", text, {text: text}))
    await subject.set_tip("main", text)
    for entry in await subject.session.scan_entries(custom_type=text):
        expect_equal(entry["customType"], text, of="the custom type")
    await subject.session.set_name(text)
    await subject.session.set_label("e1", text)
    expect_equal(await subject.session.get_name(), text, of="the name")
    expect_equal(await subject.session.get_label("e1"), text, of="the label")


SURROGATES = {"high": "\ud800", "low": "\udfff", "inside": "be\udabcan", "reversed": "\udc00\ud800", "first": "\ud83dx"}


@case("S-VAL-08")
@rows("text", SURROGATES)
@rows("place", IN_PLACES)
async def a_lone_surrogate_is_refused(store: SessionMaker, text: str, place: str) -> None:
    """A lone surrogate is refused with `InvalidValue`, in text and in member names, and the session goes on.

    If this fails, look at: a UnicodeEncodeError of the file or the database; a letter replaced by `?`; a half-written
    record.
    """
    members: list[Any] = [{text: 1}, [{"a": {text: {}}}]]
    named = [PLACES[place].write(payload, "odd") for payload in members]
    await _expect_refused(store, *_everywhere(place, text), *named)


STRUCTURAL: dict[str, Callable[[str], Write]] = {
    "entry-id": lambda text: EntryInsert(message_entry(text, "e1")),
    "custom-type": lambda text: EntryInsert(custom_entry("odd", "e1", text)),
    "field-name": lambda text: EntryInsert({**message_entry("odd", "e1"), text: 1}),
    "unnamed-field": lambda text: EntryInsert({**message_entry("odd", "e1"), "xNote": text}),
    "summary": lambda text: EntryInsert({**compaction_entry("odd", "e1"), "summary": text}),
    "from-id": lambda text: EntryInsert(branch_summary_entry("odd", "e1", text)),
    "usage-id": lambda text: UsageInsert(usage_row(text)),
    "usage-entry": lambda text: UsageInsert(usage_row("odd", text)),
    "usage-field-name": lambda text: UsageInsert({**usage_row("odd"), text: 1}),
    "usage-member-name": lambda text: _usage_with(text, 1),
    "tip": lambda text: ValueSet(branch_tip("main"), text),
}


@case("S-VAL-08")
@rows("text", SURROGATES)
@rows("write", STRUCTURAL)
async def a_lone_surrogate_in_a_record_is_refused(
    store: SessionMaker, text: str, write: Callable[[str], Write]
) -> None:
    """A lone surrogate in an id or another field of an entry or usage row is refused with `InvalidValue`.

    If this fails, look at: ids that pass by the codec; names of fields that nobody looks at.
    """
    await _expect_refused(store, write(text))


@case("S-VAL-08")
@rows("text", SURROGATES)
async def a_lone_surrogate_as_parent_is_refused(store: SessionMaker, text: str) -> None:
    """A parent with a lone surrogate is refused: as a value that cannot be stored, or as the unknown parent it is too.

    If this fails, look at: an encoding error of the look-up.
    """
    subject = await store.linear_session()
    with refused(InvalidValue, UnknownParent):
        await subject.insert(message_entry("odd", text))
    await subject.check_everywhere()
