"""How the kit shows values and what differs between two of them: the places by name, and always bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

SHOWN_TEXT = 400
SHOWN_PLACES = 12
SHOWN_AT_PLACE = 120


class _Nothing:
    """Stands for a member that one side does not have."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def bounded(value: object, *, quoted: bool = True, limit: int = SHOWN_TEXT) -> str:
    """`repr(value)` (or the text itself), cut in the middle when it is longer than `limit` characters."""
    try:
        text = repr(value) if quoted else str(value)
    except Exception as error:  # noqa: BLE001 - any object can be seen, also one that cannot show itself
        text = f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} … {len(text) - limit} characters … {text[-limit // 2 :]}"


def contrast(seen: object, expected: object, *, ordered: bool = False) -> str:
    """Expected and seen, and where inside they differ; large values are shown by the places only.

    >>> print(contrast({"a": [1, 2]}, {"a": [1, 3]}))
    expected: {'a': [1, 3]}
    seen:     {'a': [1, 2]}
    differs at:
      ['a'][1]: expected 3, seen 2
    """
    places = list(islice(differences(seen, expected, ordered=ordered), SHOWN_PLACES + 1))
    inside = places if places and not places[0].startswith(":") else []
    if len(inside) > SHOWN_PLACES:
        inside[SHOWN_PLACES:] = ["… and more places"]
    lines = [f"expected: {bounded(expected)}", f"seen:     {bounded(seen)}"]
    if inside and any("characters …" in line for line in lines):
        lines = []
    return "\n".join(lines + (["differs at:", *(f"  {place}" for place in inside)] if inside else []))


def differences(seen: Any, expected: Any, path: str = "", *, ordered: bool = False) -> Iterator[str]:
    """One line for each place at which the two differ in value, in type, or (`ordered`) in the order of members."""
    if type(seen) is not type(expected):
        yield f"{path}: expected {_shown(expected, seen)}, seen {_shown(seen, expected)}"
    elif isinstance(expected, dict):
        yield from _in_dicts(seen, expected, path, ordered)
    elif isinstance(expected, list | tuple):
        yield from _in_sequences(seen, expected, path, ordered)
    elif is_dataclass(expected) and not isinstance(expected, type):
        for field in fields(expected):
            inner = f"{path}.{field.name}" if path else field.name
            yield from differences(getattr(seen, field.name), getattr(expected, field.name), inner, ordered=ordered)
    elif seen != expected:
        yield f"{path}: expected {_shown(expected, seen)}, seen {_shown(seen, expected)}"


def _in_dicts(seen: dict[Any, Any], expected: dict[Any, Any], path: str, ordered: bool) -> Iterator[str]:
    for name in [*expected, *(name for name in seen if name not in expected)]:
        inner = f"{path}[{bounded(name, limit=SHOWN_AT_PLACE)}]"
        yield from differences(seen.get(name, NOTHING), expected.get(name, NOTHING), inner, ordered=ordered)
    if ordered and seen.keys() == expected.keys() and list(seen) != list(expected):
        orders = (bounded(list(one), limit=SHOWN_AT_PLACE) for one in (expected, seen))
        yield f"{path or 'the value'}: order of members: expected {next(orders)}, seen {next(orders)}"


def _in_sequences(seen: Any, expected: Any, path: str, ordered: bool) -> Iterator[str]:
    if len(seen) != len(expected):
        yield f"{path or 'the value'}: expected {len(expected)} members, seen {len(seen)}"
    for place in range(max(len(seen), len(expected))):
        members = (one[place] if place < len(one) else NOTHING for one in (seen, expected))
        yield from differences(next(members), next(members), f"{path}[{place}]", ordered=ordered)


def _shown(value: object, other: object) -> str:
    text = bounded(value, limit=SHOWN_AT_PLACE)
    return f"{text} of type {type(value).__name__}" if text == bounded(other, limit=SHOWN_AT_PLACE) else text
