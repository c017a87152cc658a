"""The only way a case judges: expectations that say what was expected and what was seen.

They work without pytest's assertion rewriting, because a case also runs from the command line and in other people's
repositories. Every broken expectation is a `ClauseBroken`; any other exception of a case counts as a failure of the
backend.
"""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import TracebackType
from typing import Any, Literal, Self

from forkproof.difference import bounded, contrast


class ClauseBroken(Exception):
    """A clause does not hold: the message says what was expected, what was seen, and where they differ."""


def expect(condition: object, message: str) -> None:
    """Breaks the clause unless `condition` is true. `message` says what was expected and what was seen.

    >>> expect(reopened is not first, "open gives a new object; it gave the one that was closed")
    """
    if not condition:
        raise ClauseBroken(message)


def expect_equal(seen: object, expected: object, of: str, *, ordered: bool = False) -> None:
    """Breaks the clause unless both are equal in value and in type at every place (True is not 1, 1 is not 1.0).

    `ordered` also compares the member order of dicts. `of` names what is compared.

    >>> expect_equal(await branch.get_tip_id(), "e3", of="the tip after the append")
    """
    if not strictly_equal(seen, expected, ordered=ordered):
        raise ClauseBroken(f"{of}\n{contrast(seen, expected, ordered=ordered)}")


def strictly_equal(seen: object, expected: object, *, ordered: bool = False) -> bool:
    """Equality that knows types: the same class at every place, and member order where `ordered` asks for it."""
    return _equal_text(seen, expected) or _equal_parts(seen, expected, ordered)


def _equal_text(seen: Any, expected: Any) -> bool:
    """A quick yes for large plain values: equal marshalled text means equal classes, values and order; it refuses
    subclasses.
    """
    try:
        return marshal.dumps(seen, 0) == marshal.dumps(expected, 0)
    except ValueError:
        return False


def _equal_parts(seen: object, expected: object, ordered: bool) -> bool:
    if type(seen) is not type(expected):
        return False
    if isinstance(seen, dict) and isinstance(expected, dict):
        return _equal_dicts(seen, expected, ordered)
    if isinstance(seen, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(seen) == len(expected) and all(
            _equal_parts(a, b, ordered) for a, b in zip(seen, expected, strict=True)
        )
    if is_dataclass(seen) and is_dataclass(expected) and not isinstance(seen, type):
        return all(
            strictly_equal(getattr(seen, field.name), getattr(expected, field.name), ordered=ordered)
            for field in fields(seen)
        )
    return bool(seen == expected)


def _equal_dicts(seen: dict[Any, Any], expected: dict[Any, Any], ordered: bool) -> bool:
    if seen.keys() != expected.keys() or (ordered and list(seen) != list(expected)):
        return False
    return all(_equal_parts(value, expected[key], ordered) for key, value in seen.items())


class refused:  # noqa: N801 - reads as a sentence: `with refused(UnknownBranch, name="x"):`
    """Expects the block to be refused with one of the named classes, and with these attributes.

    An attribute may be a value (compared strictly) or a predicate. The refusal is kept as `.error`.

    >>> with refused(EntryNotOnBranch, entry_id="x", branch="main") as refusal:
    ...     await store.repo.fork(source.metadata, BranchFork("main", entry_id="x"))
    >>> refusal.error.entry_id
    'x'
    """

    error: Any = None

    def __init__(self, *classes: type[BaseException], **attributes: object) -> None:
        if not classes:
            raise TypeError("refused() needs the class of the refusal")
        self.classes = classes
        self.attributes = attributes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[True]:
        if error is None:
            raise ClauseBroken(f"expected: refused with {self._wanted()}\nseen:     the call succeeded")
        if isinstance(error, self.classes):
            self.error = error
            self._expect_attributes(error)
            return True
        if isinstance(error, (ClauseBroken, asyncio.CancelledError)) or not isinstance(error, Exception):
            raise error
        raise ClauseBroken(f"expected: refused with {self._wanted()}\nseen:     {_said(error)}") from error

    def _wanted(self) -> str:
        names = " or ".join(one.__name__ for one in self.classes)
        told = ", ".join(f"{name}={bounded(value)}" for name, value in self.attributes.items() if not callable(value))
        return f"{names}({told})" if told else names

    def _expect_attributes(self, error: BaseException) -> None:
        for name, expected in self.attributes.items():
            if not hasattr(error, name):
                raise ClauseBroken(
                    f"expected: {type(error).__name__} carries {name}\nseen:     no such attribute"
                ) from error
            seen = getattr(error, name)
            agrees = expected(seen) if callable(expected) else strictly_equal(seen, expected)
            if not agrees:
                wanted = "what the clause asks" if callable(expected) else bounded(expected)
                raise ClauseBroken(
                    f"{type(error).__name__}.{name}\nexpected: {wanted}\nseen:     {bounded(seen)}"
                ) from error


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {bounded(str(error), quoted=False)}"


def expect_subset(seen: Mapping[str, object], expected: Mapping[str, object], of: str) -> None:
    """Breaks the clause unless `seen` holds every member of `expected`, equal in value and type.

    >>> expect_subset(entry, {"id": "e1", "type": "message"}, of="the appended entry")
    """
    expect_equal({name: seen[name] for name in expected if name in seen}, dict(expected), of)
