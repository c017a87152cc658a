"""How the kit shows values and what differs between two of them: canonical, one member a line, and always bounded."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice

SHOWN_TEXT = 400
SHOWN_LINES = 40
COMPARED_LINES = 4_000


def bounded(value: object, *, quoted: bool = True, limit: int = SHOWN_TEXT) -> str:
    """`repr(value)` (or the text itself), cut in the middle when it is longer than `limit` characters."""
    text = repr(value) if quoted else str(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} … {len(text) - limit} characters … {text[-limit // 2 :]}"


def difference(seen: object, expected: object) -> str:
    """The lines in which the canonical forms differ, with a little context; empty for values that fit a line."""
    if not _is_compound(seen) or not _is_compound(expected):
        return ""
    before = list(islice(canonical_lines(expected), COMPARED_LINES))
    after = list(islice(canonical_lines(seen), COMPARED_LINES))
    changes = difflib.unified_diff(before, after, "expected", "seen", n=2, lineterm="")
    lines = list(islice(changes, SHOWN_LINES + 1))
    if not lines:
        return ""
    if len(lines) > SHOWN_LINES:
        lines[SHOWN_LINES:] = ["… more differences"]
    return "\ndifference:\n" + "\n".join(f"  {bounded(line, quoted=False)}" for line in lines)


def canonical_lines(value: object, indent: str = "", label: str = "") -> Iterator[str]:
    """The value as text, one member a line; the members of a dict by name, so that member order shows no difference."""
    opening, members, closing = _members(value)
    if not members:
        yield f"{indent}{label}{repr(value) if not opening else opening + closing}"
        return
    yield f"{indent}{label}{opening}"
    for name, member in members:
        yield from canonical_lines(member, indent + "  ", name)
    yield f"{indent}{closing}"


def _is_compound(value: object) -> bool:
    return isinstance(value, (dict, list, tuple)) or (is_dataclass(value) and not isinstance(value, type))


def _members(value: object) -> tuple[str, list[tuple[str, object]], str]:
    if isinstance(value, dict):
        return "{", [(f"{name!r}: ", value[name]) for name in sorted(value, key=str)], "}"
    if isinstance(value, list):
        return "[", [("", member) for member in value], "]"
    if isinstance(value, tuple):
        return "(", [("", member) for member in value], ")"
    if is_dataclass(value) and not isinstance(value, type):
        shown = [(f"{field.name}=", getattr(value, field.name)) for field in fields(value)]
        return f"{type(value).__name__}(", shown, ")"
    return "", [], ""
