"""The one JSON codec: what goes in comes out, and what could not come out never goes in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkstore.contract.codec import UndecodableText, decode, depth, encode
from forkstore.contract.errors import InvalidValue

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=20)


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@settings(max_examples=60)
@given(VALUES)
def test_a_value_comes_back_equal_in_type_and_order(value: Any) -> None:
    back = decode(encode(value, "value"))
    # repr shows what equality hides: True and 1, 1 and 1.0, -0.0, and the order of members
    assert repr(back) == repr(value)


@settings(max_examples=60)
@given(VALUES)
def test_the_text_is_that_of_python(value: Any) -> None:
    assert encode(value, "value") == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def test_every_character_is_written_as_python_writes_it() -> None:
    for start in range(0, 0x110000, 0x100):
        text = "".join(chr(code) for code in range(start, start + 0x100) if not 0xD800 <= code <= 0xDFFF)
        assert encode(text, "value") == json.dumps(text, ensure_ascii=False).encode()


@pytest.mark.parametrize("number", [1e16, 1e-7, 1e22, 5e-324, 1.7976931348623157e308, -0.0, 1.0, 0.1, 2.5])
def test_floats_are_written_as_python_prints_them(number: float) -> None:
    assert encode([number], "value") == f"[{number!r}]".encode()


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ((1, 2), "value"),
        ({"a": [1, {2: 3}]}, "value.a[1]"),
        ([0, float("nan")], "value[1]"),
        ([math.inf], "value[0]"),
        (2**63, "value"),
        (-(2**63) - 1, "value"),
        ({"text": "ab\ud800"}, "value.text"),
        ({"\udfff": 1}, "value"),
        (b"bytes", "value"),
        (type("Words", (str,), {})("x"), "value"),
        ({"list": type("Items", (list,), {})()}, "value.list"),
        (nested(201), "value" + "[0]" * 200),
    ],
)
def test_a_refusal_names_the_place(value: Any, where: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        encode(value, "value")
    assert refusal.value.where == where


def test_depth_200_is_written_and_a_cycle_is_refused() -> None:
    assert depth(decode(encode(nested(200), "value"))) == 200
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(InvalidValue):
        encode(cycle, "value")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\\ud800"', "\ud800"),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b"9" * 4300, int("9" * 4300)),
        (b" [1 , 2.50]\r", [1, 2.5]),
        (b'"\xe2\x80\xa8"', "\u2028"),
        ("[1]", [1]),
    ],
)
def test_foreign_text_is_read_as_it_stands(text: bytes | str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    "text",
    [
        b"NaN",
        b"-Infinity",
        b"1e400",
        b"[-1e999]",
        b"9" * 4301,
        b"",
        b"[1,]",
        b'"\x01"',
        b'"\xff"',
        b"\xef\xbb\xbf1",
        b"1\x00",
        "[1]".encode("utf-16"),
        b"[" * 211 + b"]" * 211,
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_text_that_is_not_json_as_the_contract_reads_it_is_refused(text: bytes) -> None:
    with pytest.raises(UndecodableText):
        decode(text)


def test_depth_210_is_read() -> None:
    assert depth(decode(b"[" * 210 + b"]" * 210)) == 210


def test_each_decode_gives_a_fresh_object() -> None:
    text = encode({"a": [1]}, "value")
    first = decode(text)
    first["a"].append(2)
    assert decode(text) == {"a": [1]}
