"""Streaming checks of a session against what a recipe expects: two rows at a time, one of each side.

Values are compared as JSON text, so 1, 1.0 and true differ, and so do -0.0 and 0.0, and the order of members counts
(S-VAL-04). The fields of an entry or usage row itself may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final

from forkstore.contract.addresses import Address
from forkstore.contract.codec import DEEPEST_WRITTEN, encode
from forkstore.contract.errors import InvalidValue
from forkstore.contract.records import Json, Record, SessionStats
from forkstore.contract.store import ListElement, ValueRow

_MISSING: Final = object()
_SHOWN: Final = 200


class ExpectationBroken(Exception):
    """A session differs from what its recipe expects: `place` says where, `expected` and `seen` show both sides."""

    def __init__(self, place: str, expected: str, seen: str) -> None:
        self.place = place
        self.expected = expected
        self.seen = seen
        super().__init__(f"{place}\nexpected: {expected}\nseen:     {seen}")


def text_of(value: Any) -> bytes | None:
    """The JSON text of a value, an entry with its fields included; None when it is not a JSON value."""
    try:
        return encode(value, "value", DEEPEST_WRITTEN + 2)
    except InvalidValue:
        return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def _differ(expected: Any, seen: Any) -> bool:
    return text_of(expected) != text_of(seen)


def _check_sequence(place: str, seq: object, last: int) -> int:
    if type(seq) is not int or seq <= last:
        raise ExpectationBroken(f"{place}, sequence", f"an integer above {last}", _shown(seq))
    return seq


def check_entries(expected: Iterable[Record], stored: Iterable[Record], *, first: int = 0, after: int = 0) -> int:
    """Compares entries in commit order; sequences must rise, the first one above `after`. Gives the last sequence.

    `first` is the index of the first one, for a check in pieces. Raises ExpectationBroken.
    """
    for index, (wanted, seen) in enumerate(zip_longest(expected, stored), first):
        after = _check_record("entry", index, wanted, seen, after, ("seq", "timestamp"))
        timestamp = seen["timestamp"] if seen is not None and "timestamp" in seen else None
        if type(timestamp) is not int or timestamp < 0:
            raise ExpectationBroken(f"entry {index}, timestamp", "an integer of at least 0", _shown(timestamp))
    return after


def check_usage(expected: Iterable[Record], stored: Iterable[Record], *, first: int = 0, after: int = 0) -> int:
    """Compares usage rows in commit order, as `check_entries` does. Raises ExpectationBroken."""
    for index, (wanted, seen) in enumerate(zip_longest(expected, stored), first):
        after = _check_record("usage row", index, wanted, seen, after, ("seq",))
    return after


def _check_record(
    kind: str, index: int, wanted: Record | None, seen: Record | None, after: int, given: tuple[str, ...]
) -> int:
    """Compares a stored record with a new one; `given` are the fields that the storage adds. Gives its sequence."""
    if wanted is None:
        raise ExpectationBroken(f"{kind} {index}", f"only {index} of them", _shown(seen))
    place = f"{kind} {index} ({wanted['id']!r})"
    if seen is None:
        raise ExpectationBroken(place, _shown(wanted), f"only {index} of them")
    _check_fields(place, wanted, {name: member for name, member in seen.items() if name not in given})
    return _check_sequence(place, seen.get("seq"), after)


def _check_fields(place: str, wanted: Record, seen: Record) -> None:
    """Compares an object with another; the order of its own fields does not count."""
    if not _differ(wanted, seen):
        return
    for name in (*wanted, *seen):
        field = f"{place}, field {name!r}"
        if name not in seen:
            raise ExpectationBroken(field, _shown(wanted[name]), "no such field")
        if name not in wanted:
            raise ExpectationBroken(field, "no such field", _shown(seen[name]))
        if _differ(wanted[name], seen[name]):
            raise ExpectationBroken(field, _shown(wanted[name]), _shown(seen[name]))


def check_values(expected: Iterable[tuple[Address, Json]], rows: Iterable[ValueRow]) -> None:
    """Compares scalars by namespace and key. Raises ExpectationBroken for a missing, unexpected or different one."""
    for wanted, row in _matched(iter(expected), iter(rows)):
        if wanted is None:
            raise ExpectationBroken(f"scalar at {_at(row.address)}", "none", _shown(row.value))
        address, value = wanted
        if row is None:
            raise ExpectationBroken(f"scalar at {_at(address)}", _shown(value), "none")
        if _differ(value, row.value):
            raise ExpectationBroken(f"scalar at {_at(address)}", _shown(value), _shown(row.value))


def _matched(expected: Iterator[Any], rows: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of what stands at one address on both sides, with None where a side has nothing."""
    for wanted, row in zip_longest(expected, rows):
        if wanted is None or row is None or wanted[0] == row.address:
            yield wanted, row
        elif (wanted[0].namespace, wanted[0].key) < (row.address.namespace, row.address.key):
            yield wanted, None
        else:
            yield None, row


def check_list(
    address: Address, expected: Iterable[Json], elements: Iterable[ListElement], *, first: int = 0, after: int = 0
) -> int:
    """Compares the elements of one list, oldest first, as `check_entries` does. Raises ExpectationBroken."""
    for index, (value, element) in enumerate(zip_longest(expected, elements, fillvalue=_MISSING), first):
        place = f"element {index} of the list at {_at(address)}"
        if not isinstance(element, ListElement):
            raise ExpectationBroken(place, _shown(value), "none")
        if value is _MISSING:
            raise ExpectationBroken(place, "none", _shown(element.value))
        if _differ(value, element.value):
            raise ExpectationBroken(place, _shown(value), _shown(element.value))
        after = _check_sequence(place, element.seq, after)
    return after


def check_stats(message_count: int, usage: Record, stats: SessionStats) -> None:
    """Compares statistics. Raises ExpectationBroken."""
    if _differ(message_count, stats.message_count):
        raise ExpectationBroken("message count", str(message_count), _shown(stats.message_count))
    _check_fields("usage of the statistics", usage, stats.usage)


def check_path(branch: str, expected: Iterable[str], ids: Iterable[str], *, first: int = 0) -> None:
    """Compares the ids of a branch, newest first. Raises ExpectationBroken."""
    for depth, (wanted, seen) in enumerate(zip_longest(expected, ids), first):
        if wanted != seen:
            raise ExpectationBroken(f"branch {branch!r}, {depth} below its tip", _shown(wanted), _shown(seen))


def _at(address: Address) -> str:
    return f"{address.namespace!r}, {address.key!r}"
