"""What a payload may hold, and that it comes back as it was: one codec for every place (section 6)."""

from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.places import PLACES
from forkproof.makers.records import custom_entry, message_entry, usage, usage_row, user_message
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import EntryInsert, UsageInsert, Write


class _Dict(dict[str, int]):
    """A dict of another class."""


class _List(list[int]):
    """A list of another class."""


class _Text(str):
    """A text of another class."""

    __slots__ = ()


class _Integer(int):
    """An integer of another class."""


class _Float(float):
    """A float of another class."""


class _Color(Enum):
    GREEN = "green"


class _Word(StrEnum):
    GREEN = "green"


class _Level(IntEnum):
    LOW = 1


_Pair = namedtuple("_Pair", ("x", "y"))  # noqa: PYI024 - the plain class is the point

NOT_JSON: dict[str, Any] = {
    "set": {1, 2},
    "frozenset": frozenset({1}),
    "tuple": (1, 2),
    "empty-tuple": (),
    "named-tuple": _Pair(1, 2),
    "bytes": b"beans",
    "bytearray": bytearray(b"beans"),
    "date": date(2026, 3, 1),
    "datetime": datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2))),
    "timedelta": timedelta(seconds=1),
    "enum": _Color.GREEN,
    "text-enum": _Word.GREEN,
    "integer-enum": _Level.LOW,
    "decimal": Decimal("1.5"),
    "fraction": Fraction(1, 3),
    "complex": 1 + 2j,
    "uuid": UUID(int=7),
    "range": range(3),
    "object": SimpleNamespace(a=1),
    "class": int,
    "function": len,
    "ellipsis": ...,
    "dict-subclass": _Dict(a=1),
    "ordered-dict": OrderedDict(a=1),
    "default-dict": defaultdict(int, a=1),
    "counter": Counter("ab"),
    "user-dict": UserDict(a=1),
    "list-subclass": _List([1]),
    "text-subclass": _Text("beans"),
    "integer-subclass": _Integer(1),
    "float-subclass": _Float(1.5),
    "integer-key": {1: "a"},
    "null-key": {None: "a"},
    "tuple-key": {("a", 1): "a"},
    "boolean-key": {True: "a"},
    "float-key": {1.5: "a"},
    "bytes-key": {b"a": "a"},
    "text-subclass-key": {_Text("a"): "a"},
    "mixed-keys": {"a": 1, 2: "b"},
}
"""Values of every kind that programs hand to a store by mistake."""


async def _attempt(subject: Subject, write: Write) -> None:
    """A commit past the model, for what the kit itself must not copy."""
    await subject.session.mutate(lambda scope: scope.commit([write]))


@case("S-VAL-03")
@rows("place", {name: name for name in PLACES})
@rows("value", NOT_JSON)
async def a_value_of_another_class_is_refused(store: SessionMaker, place: str, value: Any) -> None:
    """A value of any other class, subclasses included, or a member name that is no text, is refused with
    `InvalidValue` in every place a payload can stand, alone, in a list and in an object.

    If this fails, look at: `isinstance` checks, which take subclasses; an encoder's `default`; an encoder that turns
    tuples into arrays and keys into text; a memory backend that stores the object.
    """
    subject = await store.create()
    for payload in (value, [1, value], {"a": {"b": [value]}}):
        with refused(InvalidValue):
            await _attempt(subject, PLACES[place].write(payload, "odd"))
    await subject.check()


RECORDS: dict[str, Callable[[], EntryInsert | UsageInsert]] = {
    "entry-class": lambda: EntryInsert(OrderedDict(message_entry("odd", None))),
    "entry-id": lambda: EntryInsert(message_entry(_Text("odd"), None)),
    "entry-parent": lambda: EntryInsert(message_entry("odd", _Text("e1"))),
    "entry-type": lambda: EntryInsert({**message_entry("odd", None), "type": _Text("message")}),
    "entry-enum-type": lambda: EntryInsert({**custom_entry("odd", None), "customType": _Word.GREEN}),
    "entry-field-name": lambda: EntryInsert({**message_entry("odd", None), 5: "five"}),  # type: ignore[dict-item]
    "entry-message": lambda: EntryInsert(message_entry("odd", None, message=OrderedDict(user_message("")))),
    "entry-message-set": lambda: EntryInsert({**message_entry("odd", None), "message": {"a"}}),
    "entry-unnamed-field": lambda: EntryInsert({**message_entry("odd", None), "xNote": (1,)}),
    "row-class": lambda: UsageInsert(OrderedDict(usage_row("odd"))),
    "row-id": lambda: UsageInsert(usage_row(_Text("odd"))),
    "row-usage": lambda: UsageInsert(usage_row("odd", usage=OrderedDict(usage()))),
    "row-cost": lambda: UsageInsert(usage_row("odd", usage={**usage(), "cost": OrderedDict(usage()["cost"])})),
    "row-number": lambda: UsageInsert(usage_row("odd", usage={**usage(), "input": _Integer(1)})),
    "row-decimal": lambda: UsageInsert(usage_row("odd", usage={**usage(), "input": Decimal(1)})),
    "row-unnamed-field": lambda: UsageInsert({**usage_row("odd"), "xNote": b""}),
}


@case("S-VAL-03")
@rows("write", RECORDS)
async def a_record_of_another_class_is_refused(
    store: SessionMaker, write: Callable[[], EntryInsert | UsageInsert]
) -> None:
    """An entry or usage row of another class, or with a structural field of one, is refused with `InvalidValue`.

    If this fails, look at: only payload fields checked; `dict(entry)` before the check.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await _attempt(subject, write())
    await subject.check()


JSON: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "one": 1,
    "minus-one": -1,
    "float-zero": 0.0,
    "float-one": 1.0,
    "text-one": "1",
    "tenth": 0.1,
    "third": 1 / 3,
    "two-to-53-as-float": 2.0**53,
    "above-two-to-53": 2**53 + 1,
    "large-float": 1.7976931348623157e308,
    "small-float": 5e-324,
    "exponents": [1e16, 1e22, 1e-7, 123456789012345680.0, -1.5e300],
    "ten-to-18": 10**18,
    "like-in-a-row": [0, False, 0.0, None, "", "0", 1, True, 1.0, [], {}, [[]], [{}]],
    "empty-text": "",
    "blanks": "  a\t\r\n ",
    "escapes": '"quoted" \\back\\ /slash/ \b\f\u007f',
    "controls": "".join(map(chr, range(1, 32))),
    "second-controls": "".join(map(chr, range(0x7F, 0xA1))),
    "like-escapes": "\\u0041 \\n \\\\ \\x41 &amp; %41 \\",
    "numbers-in-one-list": [1, 2.5, -3, 4.0],
    "separators": "a\u2028b\u2029c\u0085d\x0b\x0c\x1c",
    "letters": "ß ﬁ İ \u0131 Ǆ 水 नमस्ते مرحبا 👩‍🌾 🏳️‍🌈 e\u0301 \u00e9",
    "marks": "\ufeff\ufffe\uffff\u200b\U0010ffff",
    "like-other-values": ["null", "NaN", "true", "1e5", "2026-03-01T00:00:00Z", "[1]", '{"a":1}', "b'x'"],
    "empty-list": [],
    "empty-object": {},
    "nested": {"a": [{"b": [[], {}, [None, {"c": {}}]]}]},
    "member-order": {"z": 1, "a": 2, "10": 3, "9": 4, "1": 5, "Z": 6, "é": 7, "": 8, "m": {"y": 1, "b": 2}},
    "odd-names": {
        "__proto__": 1,
        "$ref": "#/a",
        "@type": "date",
        "__class__": "x",
        "a.b": 1,
        "a b": 2,
        "'": 3,
        "\n": 4,
    },
    "like-names": {"e\u0301": 1, "\u00e9": 2, "A": 3, "a": 4, " a": 5},
    "names-of-the-store": {"seq": 1, "timestamp": 2, "id": 3, "type": "message", "namespace": "pi", "kind": "entry"},
    "lone-number-names": {"0": "a", "00": "b", "-1": "c", "1.0": "d"},
}
"""Payloads that JSON can hold, and that some codec somewhere gives back as something else."""


@case("S-VAL-04")
@rows("place", {name: name for name in PLACES})
async def a_payload_comes_back_with_types_and_order(store: SessionMaker, place: str) -> None:
    """An accepted payload comes back equal in value, in type at every place and in member order, live, after
    reopening, and when it was read and stored once more.

    If this fails, look at: 1.0 read as 1, or True as 1; floats cut to fewer digits; sorted members; text that looks
    like a date or number and is parsed; escapes done twice.
    """
    subject = await store.create()
    at = PLACES[place]
    await subject.commit(*(at.write(value, name) for name, value in JSON.items()))
    for name, value in JSON.items():
        expect_equal(await at.read(subject.session, name), value, of=f"{name} in {place}", ordered=True)
    await subject.commit(*[at.write(await at.read(subject.session, name), f"{name} again") for name in JSON])
    await subject.reopen()
    for name, value in JSON.items():
        expect_equal(await at.read(subject.session, name), value, of=f"{name} in {place}, reopened", ordered=True)
        again = await at.read(subject.session, f"{name} again")
        expect_equal(again, value, of=f"{name} in {place}, stored twice", ordered=True)
    await subject.check()


@case("S-VAL-04")
async def every_float_of_a_kind_comes_back(store: SessionMaker) -> None:
    """Floats of every size come back as the same floats, and never as integers.

    If this fails, look at: numbers written with a fixed number of digits; whole floats written without their fraction.
    """
    subject = await store.create()
    numbers = [sign * 2.0**power for power in range(-1074, 1023, 7) for sign in (1, -1, 1.1, -1.1)]
    await subject.session.set_value(value_address("garden.plan"), numbers)
    await subject.reopen()
    row = await subject.session.get_value(value_address("garden.plan"))
    expect_equal(row and row.value, numbers, of="the floats")
