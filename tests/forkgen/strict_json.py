"""JSON as the contract reads it, slowly: the ground on which both independent checkers of session files stand.

Written from sections 6 and 22.3; shares nothing with the codec.
"""

from __future__ import annotations

import json
import math
from typing import Any

BLANK = " \t\r"


class NotStrict(Exception):
    """The text is no JSON value of the strict grammar, or one that no store may read."""


def parse(line: bytes) -> Any:
    """The value of one line, its LF taken off."""
    try:
        text = line.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise NotStrict("not UTF-8") from error
    if not text.strip(BLANK):
        raise NotStrict("blank")
    try:
        return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise NotStrict("not JSON") from error


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > 4300:
        raise NotStrict("too many digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrict("beyond the floats")
    return number


def _constant(name: str) -> Any:
    raise NotStrict(name)


def depth(value: Any) -> int:
    """Section 6: 0 for scalars, 1 for an empty container, else 1 more than the deepest member."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return 0
    return 1 + max((depth(member) for member in value), default=0)


def is_integer(value: Any, least: int) -> bool:
    """Section 22.1: without fraction and exponent, at most 2^53−1, no boolean."""
    return type(value) is int and least <= value <= 2**53 - 1


def is_clean_text(value: Any) -> bool:
    """A string without a lone surrogate. A pair of escapes is one letter by now, so any surrogate left is lone."""
    return type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value)
