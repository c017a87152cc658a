"""Strategies of JSON values that every store takes, and of values that every store refuses (spec section 6)."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from forkgen.recipes.numbers import FLOATS, INTEGERS
from forkstore.contract.codec import DEEPEST_WRITTEN, LARGEST_INTEGER, SMALLEST_INTEGER
from forkstore.contract.records import Json

from .names import texts
from .sharing import built_once

_BUSHY: Final = 3
"""Up to this depth values have several members at every level; towers, with one member each, go all the way."""


def json_values(max_depth: int = 4, *, max_members: int = 3) -> SearchStrategy[Json]:
    """Values that come back equal (S-VAL-04): 64-bit integers, -0.0 and floats of every notation, text with U+0000 and
    U+2028, lists and dicts as deep as asked for, 200 at most (S-VAL-09).

    >>> find(json_values(), lambda value: True) is None
    True
    >>> find(json_values(), lambda value: type(value) is int), find(json_values(), lambda value: type(value) is str)
    (0, '')
    >>> find(json_values(), lambda value: isinstance(value, list) and value)
    [None]

    Raises ValueError for another depth.
    """
    if not 0 <= max_depth <= DEEPEST_WRITTEN:
        raise ValueError(f"max_depth is {max_depth}, which is outside 0 … {DEEPEST_WRITTEN}")
    return _json_values(max_depth, max_members)


@dataclass(frozen=True)
class IllegalValue:
    """A value that no store takes: the clause that refuses it, and why."""

    value: Any
    clause: str
    reason: str


def illegal_values() -> SearchStrategy[IllegalValue]:
    """Values that are refused with InvalidValue, bare or deep inside a legal value (S-VAL-03, S-VAL-05, S-VAL-06,
    S-VAL-08, S-VAL-09).

    >>> find(illegal_values(), lambda illegal: illegal.clause == "S-VAL-06")
    IllegalValue(value=9223372036854775808, clause='S-VAL-06', reason='an integer outside 64 bits')
    """
    return _illegal_values()


@built_once
def _illegal_values() -> SearchStrategy[IllegalValue]:
    flat = st.one_of(_foreign(), _not_finite(), _too_large(), _broken_text())
    return st.one_of(flat, st.builds(_hidden, flat, st.integers(1, 6), st.booleans(), json_values(1)), _too_deep())


@built_once
def broken_texts() -> SearchStrategy[str]:
    """Text with a lone surrogate in it."""
    surrogates = st.sampled_from(("\ud800", "\udfff", "\udc00\ud800", "\ud83d"))
    around = st.builds(lambda before, lone, after: f"{before}{lone}{after}", texts(), surrogates, texts())
    return st.one_of(surrogates, around)


class _Bed(enum.IntEnum):
    NORTH = 1


class _Label(enum.StrEnum):
    DRY = "dry"


class _Text(str):
    __slots__ = ()


class _Number(int):
    pass


class _Float(float):
    pass


class _List(list[Json]):
    pass


@built_once
def _json_values(max_depth: int, max_members: int) -> SearchStrategy[Json]:
    level = _scalars()
    for _ in range(min(max_depth, _BUSHY)):
        lists = st.lists(level, max_size=max_members)
        level = st.one_of(_scalars(), lists, st.dictionaries(texts(), level, max_size=max_members))
    if max_depth == 0:
        return level
    return st.one_of(level, st.builds(_tower, _scalars(), st.integers(1, max_depth), st.booleans()))


@built_once
def _scalars() -> SearchStrategy[Json]:
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(SMALLEST_INTEGER, LARGEST_INTEGER),
        texts(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(INTEGERS),
        st.sampled_from(FLOATS),
    )


def _tower(value: Any, height: int, objects: bool) -> Any:
    """The value inside `height` lists and dicts in turn; `objects` says whether the outermost is a dict."""
    for storey in range(height, 0, -1):
        value = {"a": value} if (storey % 2 == 1) is objects else [value]
    return value


@built_once
def _foreign() -> SearchStrategy[IllegalValue]:
    """Other classes, subclasses of the right ones included, and member names that are no str."""

    def values() -> list[Any]:
        return [
            (),
            (1, 2),
            b"",
            bytearray(b"a"),
            set(),
            frozenset({1}),
            1j,
            decimal.Decimal("1.5"),
            fractions.Fraction(1, 3),
            dt.date(2024, 2, 29),
            _Bed.NORTH,
            _Label.DRY,
            _Text("text"),
            _Number(1),
            _Float(0.5),
            _List(),
            OrderedDict(a=1),
            range(2),
            object,
        ]

    names: list[Any] = [1, None, True, 1.5, (), b"a", _Text("a")]
    classes = st.integers(0, len(values()) - 1).map(lambda place: values()[place])
    return st.one_of(
        classes.map(lambda value: IllegalValue(value, "S-VAL-03", f"of class {type(value).__name__}")),
        st.sampled_from(names).map(lambda name: IllegalValue({name: None}, "S-VAL-03", "a member name that is no str")),
    )


@built_once
def _not_finite() -> SearchStrategy[IllegalValue]:
    numbers = st.sampled_from((float("nan"), float("inf"), float("-inf")))
    return numbers.map(lambda number: IllegalValue(number, "S-VAL-05", "not a finite number"))


@built_once
def _too_large() -> SearchStrategy[IllegalValue]:
    numbers = st.one_of(
        st.integers(min_value=LARGEST_INTEGER + 1),
        st.integers(max_value=SMALLEST_INTEGER - 1),
        st.sampled_from((2**64, -(2**64), 10**40)),
    )
    return numbers.map(lambda number: IllegalValue(number, "S-VAL-06", "an integer outside 64 bits"))


@built_once
def _broken_text() -> SearchStrategy[IllegalValue]:
    broken = broken_texts()
    return st.one_of(
        broken.map(lambda text: IllegalValue(text, "S-VAL-08", "text with a lone surrogate")),
        broken.map(lambda text: IllegalValue({text: None}, "S-VAL-08", "a member name with a lone surrogate")),
    )


@built_once
def _too_deep() -> SearchStrategy[IllegalValue]:
    towers = st.builds(_tower, _scalars(), st.integers(DEEPEST_WRITTEN + 1, DEEPEST_WRITTEN + 60), st.booleans())
    return towers.map(lambda tower: IllegalValue(tower, "S-VAL-09", "nested too deeply"))


def _hidden(illegal: IllegalValue, depth: int, objects: bool, beside: Json) -> IllegalValue:
    """The same fault inside a legal value, with a legal neighbour."""
    hidden = {"a": beside, "b": illegal.value} if objects else [beside, illegal.value]
    return IllegalValue(_tower(hidden, depth - 1, objects), illegal.clause, illegal.reason)
