"""Recorded values as Python text: bounded, taken at the moment of the call, and good enough to run again.

What is too large is shortened and says so, because a recording must never become the largest thing in memory.
"""

from __future__ import annotations

import marshal
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from forkproof.difference import bounded
from forkstore.contract.addresses import Address
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import CommitResult

TEXT_KEPT = 300
MEMBERS_SHOWN = 8
MEMBERS_KEPT = 300
NODES_KEPT = 4_000
DEPTH_KEPT = 60

CONTRACT_OBJECTS = frozenset(
    {
        "BranchFork",
        "TreeFork",
        "EntryInsert",
        "UsageInsert",
        "ValueSet",
        "ValueDelete",
        "ListAppend",
        "ListDelete",
    }
)
"""The contract's own objects, whose text a reproducer can run."""


class Rendering:
    """Renders one call's values. `shortened` tells whether anything was left out.

    `text_of(n, head)` in the text stands for a text of n characters, `left_out(what)` for what cannot be written down.

    >>> Rendering().text({"k": [1, None, "é"]})
    "{'k': [1, None, 'é']}"
    """

    def __init__(self, named: Callable[[object], str | None] = lambda value: None) -> None:
        self._named = named
        self._nodes = 0
        self.shortened = False

    def text(self, value: object, depth: int = 0) -> str:
        """The value as Python text."""
        self._nodes += 1
        if self._nodes > NODES_KEPT or depth > DEPTH_KEPT:
            return self._left_out("more of a large value")
        kind = type(value)
        if kind is str:
            return self._string(str(value))
        if value is None or kind in (bool, int):
            return self._number(value)
        if isinstance(value, float) and kind is float:
            return repr(value) if math.isfinite(value) else f'float("{value!r}")'
        if isinstance(value, dict) and kind is dict:
            return self._dict(value, depth)
        if isinstance(value, (list, tuple)) and kind in (list, tuple):
            return self._sequence(value, depth)
        return self._object(value, depth)

    def _number(self, value: object) -> str:
        if isinstance(value, int) and value.bit_length() > 4_000:
            return self._left_out("a huge integer")
        return repr(value)

    def _string(self, value: str) -> str:
        if len(value) <= TEXT_KEPT:
            return repr(value)
        self.shortened = True
        return f"text_of({len(value)}, {value[:60]!r})"

    def _dict(self, value: dict[object, object], depth: int) -> str:
        plain = _plain_text(value)
        if plain is not None:
            return plain
        members = list(value.items())
        shown = [f"{self.text(k, depth + 1)}: {self.text(v, depth + 1)}" for k, v in members[:MEMBERS_KEPT]]
        self.shortened |= len(members) > MEMBERS_KEPT
        return "{" + ", ".join(shown) + "}"

    def _sequence(self, value: list[object] | tuple[object, ...], depth: int) -> str:
        plain = _plain_text(value)
        if plain is not None:
            return plain
        shown = [self.text(member, depth + 1) for member in value[:MEMBERS_KEPT]]
        self.shortened |= len(value) > MEMBERS_KEPT
        if isinstance(value, list):
            return "[" + ", ".join(shown) + "]"
        return "(" + ", ".join(shown) + ("," if len(shown) == 1 else "") + ")"

    def _object(self, value: object, depth: int) -> str:
        named = self._named(value)
        if named is not None:
            return named
        name = type(value).__name__
        if isinstance(value, Address):
            return f"{value.kind}_address({self.text(value.namespace)}, {self.text(value.key)})"
        if is_dataclass(value) and not isinstance(value, type) and name in CONTRACT_OBJECTS:
            members = (self.text(getattr(value, field.name), depth + 1) for field in fields(value))
            return f"{name}({', '.join(members)})"
        if value is ABSENT:
            return "ABSENT"
        if isinstance(value, Enum):
            return self._left_out(str(value))
        if callable(value):
            return self._left_out(f"the function {getattr(value, '__name__', name)}")
        return self._left_out(bounded(_plain(value), quoted=False))

    def _left_out(self, what: str) -> str:
        self.shortened = True
        return f"left_out({what!r})"


def _plain_text(value: Any) -> str | None:
    """The text of a small value that holds plain objects only, in one step: most recorded values are of that kind."""
    try:
        if len(marshal.dumps(value, 0)) > TEXT_KEPT:
            return None
    except ValueError:  # something of another class in it, or a value without an end
        return None
    text = repr(value)
    return None if "nan" in text or "inf" in text else text


def outcome_text(value: object) -> str:
    """A result in plain words, short enough for a line of a report."""
    if isinstance(value, CommitResult):
        return f"sequences {value.first_seq} to {value.first_seq + len(value.seqs) - 1} at {value.timestamp}"
    if isinstance(value, dict | list | tuple) and len(value) > MEMBERS_SHOWN:
        return f"{len(value)} members"
    text = _plain(value)
    return text if len(text) <= 200 else f"{text[:160]} … {len(text) - 160} characters more"


def _plain(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a recording survives any object's repr
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
