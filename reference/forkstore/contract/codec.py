"""The one JSON codec: every payload of every backend goes in and comes out through here (S-VAL-12).

`encode` takes only what JSON can give back unchanged (S-VAL-03 to S-VAL-09) and writes it as section 6.1 says.
`decode` reads what stands in a store, other writers' text included (S-VAL-15 to S-VAL-17). JSON text is UTF-8 bytes
throughout.

Two encoders share the work. msgspec's is several times faster and writes every character as 6.1 asks; it differs from
Python only in floats with an exponent (`1e16` for `1e+16`), so a value that holds a float goes through the standard
library.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import msgspec

from .errors import InvalidValue
from .text import has_lone_surrogate

DEEPEST_WRITTEN: Final = 200
"""Depth of a payload that is stored (S-VAL-09)."""
DEEPEST_READ: Final = 210
"""Depth of stored text that is read; deeper text is corruption (S-VAL-17)."""
_MOST_DIGITS: Final = 4_300
"""Digits of an integer that is read (S-VAL-17)."""
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1

_write_fast = msgspec.json.Encoder().encode
_write_floats = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))

_read_fast = msgspec.json.Decoder().decode


class UndecodableText(ValueError):
    """Stored text that is not JSON as the contract reads it.

    A backend names the place: it raises CorruptSession from this.
    """


class _Unstorable(Exception):
    """The fast check met something; the place is found by `_locate`."""


def encode(value: Any, where: str, deepest: int = DEEPEST_WRITTEN) -> bytes:
    """The JSON text of a payload.

    Raises InvalidValue, whose `where` extends the given place, when the payload holds anything but dict with str
    keys, list, str, int, float, bool and None (S-VAL-03), a number that is not finite (S-VAL-05) or outside 64 bits
    (S-VAL-06), a lone surrogate (S-VAL-08), or is deeper than `deepest`. Keeps S-VAL-14.
    """
    try:
        floats = check_members([value], deepest + 1)
        return _write_floats(value).encode() if floats else _write_fast(value)
    except (_Unstorable, UnicodeEncodeError):
        _locate(value, where, deepest)
        raise


def check_members(members: Any, room: int) -> bool:
    """Whether a list or dict of storable members holds a float; raises `_Unstorable` when a member cannot be stored.

    `room` is how deep the container itself may be. Lone surrogates are left to the encoder, which meets every text
    anyway. This runs over every payload of every commit, hence one loop over the common classes first.
    """
    if not room:
        raise _Unstorable
    floats = False
    if type(members) is dict:
        members = _named_members(members)
    for member in members:
        kind = type(member)
        if kind is str or kind is bool or member is None:
            continue
        if kind is dict or kind is list:
            floats = check_members(member, room - 1) or floats
        elif kind is float and math.isfinite(member):
            floats = True
        elif not (kind is int and SMALLEST_INTEGER <= member <= LARGEST_INTEGER):
            raise _Unstorable
    return floats


def _named_members(members: dict[Any, Any]) -> Any:
    for name in members:
        if type(name) is not str:
            raise _Unstorable
    return members.values()


def _locate(value: Any, where: str, room: int) -> None:
    """Raises InvalidValue for the first place in the value that cannot be stored."""
    kind = type(value)
    if kind is not dict and kind is not list:
        _locate_scalar(value, where)
        return
    if not room:
        raise InvalidValue(where, "is nested too deeply")
    if kind is list:
        for index, member in enumerate(value):
            _locate(member, f"{where}[{index}]", room - 1)
        return
    for name, member in value.items():
        _locate_name(name, where)
        _locate(member, f"{where}.{name}", room - 1)


def _locate_scalar(value: Any, where: str) -> None:
    kind = type(value)
    if kind is str:
        if has_lone_surrogate(value):
            raise InvalidValue(where, "holds a lone surrogate")
    elif kind is int:
        if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            raise InvalidValue(where, "is an integer outside −2^63 … 2^63−1")
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidValue(where, "is not a finite number")
    elif kind is not bool and value is not None:
        raise InvalidValue(where, f"is of class {kind.__qualname__}, which is not a JSON value")


def _locate_name(name: object, where: str) -> None:
    if type(name) is not str:
        raise InvalidValue(where, f"has the member name {name!r}, which is not a string")
    if has_lone_surrogate(name):
        raise InvalidValue(where, "has a member name with a lone surrogate")


def decode(text: bytes | str, deepest: int = DEEPEST_READ) -> Any:
    """The payload of stored JSON text, a fresh object on every call (S-VAL-11).

    The last of several equal member names wins (S-VAL-15); lone surrogates and large integers are read as they stand
    (S-VAL-16). Raises UndecodableText for anything that is not strict JSON, for numbers beyond the finite floats or
    of more than 4,300 digits, and for text deeper than `deepest` (S-VAL-17), which is more for a whole record: its
    fields count on their own.
    """
    try:
        value = _read_fast(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = _decode_slowly(text)
    if is_deeper(text, deepest):
        raise UndecodableText("JSON text is nested too deeply")
    return value


def is_deeper(text: bytes | str, deepest: int) -> bool:
    """Whether JSON text is deeper than that, found without reading it: asked of all that is read.

    Nothing is left of the text but the brackets outside of its strings, all of one kind. A round takes away the
    innermost pairs, which is one level; what is left after as many rounds is too deep.
    """
    if len(text) <= 2 * deepest:  # too short for more pairs than that
        return False
    octets = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    if b"\\" in octets:  # without escapes every quote begins or ends a string
        octets = octets.replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = octets.translate(_ONE_KIND, _NO_STRUCTURE)
    if len(brackets) <= 2 * deepest:  # again, quotes included: so it is with nearly every text
        return False
    brackets = brackets.replace(b'""', b"")
    if b'"' in brackets:
        brackets = b"".join(brackets.split(b'"')[::2])
    for _ in range(deepest):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _decode_slowly(text: bytes | str) -> Any:
    """Reads what the fast reader refuses though it is JSON: lone surrogates and very large integers."""
    try:
        characters = text.decode() if isinstance(text, bytes) else text
        return json.loads(characters, parse_float=_finite, parse_int=_integer, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise UndecodableText(f"not JSON text: {error.msg} at character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        raise UndecodableText(f"not JSON text: {error}") from error


def _integer(digits: str) -> int:
    if len(digits.removeprefix("-")) > _MOST_DIGITS:  # whatever the process allows itself
        raise ValueError(f"an integer has more than {_MOST_DIGITS:,} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"number {digits[:40]} is beyond the finite floats")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def depth(value: Any) -> int:
    """Depth of a payload: 0 for a scalar, else 1 plus the greatest depth of the members (spec section 6)."""
    deepest, level = 0, [value]
    while level := [member for member in level if isinstance(member, dict | list)]:
        deepest += 1
        level = [inner for member in level for inner in (member.values() if isinstance(member, dict) else member)]
    return deepest
