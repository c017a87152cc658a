"""The parameters of reads, scans and finds: their checks and their meaning, once for all backends (spec sections 7
and 8).

A query object is built from the caller's parameters, checks them all, and either answers over rows in memory
(`select`) or hands its checked fields to a backend that lets a database do the same. Sequences, cursors and limits may
be integers of any size; a backend whose database has 64 bits brings them into its range first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, Protocol, TypedDict, TypeVar

from .addresses import Address
from .errors import InvalidQuery

Order = Literal["asc", "desc"]
BranchOrder = Literal["newest_first", "oldest_first"]

DEFAULT_LIST_LIMIT: Final = 1_000
LARGEST_LIST_LIMIT: Final = 10_000


class Structured(Protocol):
    """What a query looks at in an entry: its structural fields."""

    @property
    def id(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def custom_type(self) -> str | None: ...


E = TypeVar("E", bound=Structured)


class BranchArguments(TypedDict, total=False):
    """The optional parameters of `scan_branch` and of a branch's finds."""

    order: BranchOrder
    stop_at_id: str | None
    stop_at_type: str | None
    type: str | None
    custom_type: str | None
    cursor: int | None
    limit: int | None


class EntryArguments(TypedDict, total=False):
    """The optional parameters of `scan_entries`."""

    order: Order
    type: str | None
    custom_type: str | None
    from_seq: int | None
    to_seq: int | None
    limit: int | None


class UsageArguments(TypedDict, total=False):
    """The optional parameters of `scan_usage`."""

    order: Order
    from_seq: int | None
    to_seq: int | None
    limit: int | None


class FindArguments(TypedDict, total=False):
    """The optional parameters of a session's finds."""

    order: Order
    type: str | None
    custom_type: str | None
    cursor: int | None
    limit: int | None


class ListArguments(TypedDict, total=False):
    """The optional parameters of `read_list`."""

    order: Order
    limit: int
    cursor: int | None


@dataclass(frozen=True, slots=True)
class BranchQuery:
    """A walk from `start` to the root: stop, filters, cursor, limit, in this order (S-QRY-06 to S-QRY-09).

    Raises InvalidQuery (S-QRY-12, S-QRY-13).
    """

    start: str
    order: BranchOrder = "newest_first"
    stop_at_id: str | None = None
    stop_at_type: str | None = None
    type: str | None = None
    custom_type: str | None = None
    cursor: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        if type(self.start) is not str:
            raise InvalidQuery("start", "is not a string")
        _check_choice("order", self.order, ("newest_first", "oldest_first"))
        for field in ("stop_at_id", "stop_at_type", "type", "custom_type"):
            _check_text(field, getattr(self, field))
        _check_sequence("cursor", self.cursor)
        _check_limit(self.limit)

    def select(self, newest_first: Iterable[E]) -> Iterator[E]:
        """The answer, from the path of `start` as it is walked: newest first."""
        path = newest_first if self.order == "newest_first" else reversed(list(newest_first))
        return _first(filter(self._keeps, self._to_stop(path)), self.limit)

    def _to_stop(self, path: Iterable[E]) -> Iterator[E]:
        for entry in path:
            yield entry
            if entry.id == self.stop_at_id or entry.type == self.stop_at_type:
                return

    def _keeps(self, entry: E) -> bool:
        if not _fits(entry, self.type, self.custom_type):
            return False
        if self.cursor is None:
            return True
        return entry.seq < self.cursor if self.order == "newest_first" else entry.seq > self.cursor


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """All entries of a session by sequence, both bounds inclusive (S-QRY-11).

    Raises InvalidQuery (S-QRY-12, S-QRY-13).
    """

    order: Order = "asc"
    type: str | None = None
    custom_type: str | None = None
    from_seq: int | None = None
    to_seq: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        _check_text("type", self.type)
        _check_text("custom_type", self.custom_type)
        _check_bounds(self)

    def select(self, ordered: Iterable[E]) -> Iterator[E]:
        """The answer, from the entries within the bounds in the asked order."""
        return _first((entry for entry in ordered if _fits(entry, self.type, self.custom_type)), self.limit)


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """The usage ledger by sequence, both bounds inclusive (S-QRY-11). Raises InvalidQuery (S-QRY-12, S-QRY-13)."""

    order: Order = "asc"
    from_seq: int | None = None
    to_seq: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        _check_bounds(self)


@dataclass(frozen=True, slots=True)
class FindQuery:
    """A find over the whole session: newest first by default, the cursor exclusive (S-QRY-09, S-QRY-14).

    Raises InvalidQuery for a cursor of the wrong type; the scan checks the rest.
    """

    order: Order = "desc"
    type: str | None = None
    custom_type: str | None = None
    cursor: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        _check_sequence("cursor", self.cursor)

    def scan(self) -> EntryArguments:
        """The parameters of the `scan_entries` that answers it."""
        scan: EntryArguments = {
            "order": self.order,
            "type": self.type,
            "custom_type": self.custom_type,
            "limit": self.limit,
        }
        if self.cursor is not None and self.order == "asc":
            scan["from_seq"] = self.cursor + 1
        elif self.cursor is not None:
            scan["to_seq"] = self.cursor - 1
        return scan


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A page of a list; the limit is cut to 10,000 (S-LIST-02, S-LIST-04). Raises InvalidQuery (S-LIST-03)."""

    order: Order = "asc"
    limit: int = DEFAULT_LIST_LIMIT
    cursor: int | None = None

    def __post_init__(self) -> None:
        _check_choice("order", self.order, ("asc", "desc"))
        if type(self.limit) is not int or self.limit < 1:
            raise InvalidQuery("limit", "is not an integer of at least 1")
        _check_sequence("cursor", self.cursor)
        if self.cursor is not None and self.cursor < 0:
            raise InvalidQuery("cursor", "is below 0")
        object.__setattr__(self, "limit", min(self.limit, LARGEST_LIST_LIMIT))


def first_only(limit: int | None) -> int:
    """The limit of a find that wants one entry (S-QRY-15).

    Raises InvalidQuery for a limit that `find_entries` refuses.
    """
    _check_limit(limit)
    return 1 if limit is None else min(limit, 1)


def check_entry_id(entry_id: object) -> str:
    """An entry id to look up. Raises InvalidQuery when it is no string (S-QRY-13)."""
    if type(entry_id) is not str:
        raise InvalidQuery("entry_id", "is not a string")
    return entry_id


def check_entry_ids(ids: Iterable[str]) -> list[str]:
    """The ids of a `get_entries` request in order, each once (S-QRY-01). Raises InvalidQuery (S-QRY-13)."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise InvalidQuery("ids", "is not a list of entry ids")
    once = list(ids)
    for entry_id in once:
        check_entry_id(entry_id)
    return list(dict.fromkeys(once))


def check_address(address: Address, kind: str) -> Address:
    """An address to read. Raises InvalidQuery when it is no address of that kind."""
    if not isinstance(address, Address) or address.kind != kind:
        raise InvalidQuery("address", f"is not an address of kind {kind!r}")
    return address


def _first(entries: Iterator[E], limit: int | None) -> Iterator[E]:
    # A limit has no upper bound; islice has one, which no number of entries can reach.
    return islice(entries, None if limit is None else min(limit, sys.maxsize))


def _fits(entry: Structured, entry_type: str | None, custom_type: str | None) -> bool:
    return (entry_type is None or entry.type == entry_type) and (
        custom_type is None or entry.custom_type == custom_type
    )


def _check_bounds(query: EntryQuery | UsageQuery) -> None:
    _check_choice("order", query.order, ("asc", "desc"))
    _check_sequence("from_seq", query.from_seq)
    _check_sequence("to_seq", query.to_seq)
    _check_limit(query.limit)


def _check_choice(field: str, value: object, choices: tuple[str, ...]) -> None:
    if type(value) is not str or value not in choices:
        raise InvalidQuery(field, f"is neither {choices[0]!r} nor {choices[1]!r}")


def _check_text(field: str, value: Any) -> None:
    if value is not None and type(value) is not str:
        raise InvalidQuery(field, "is neither a string nor None")


def _check_sequence(field: str, value: Any) -> None:
    if value is not None and type(value) is not int:
        raise InvalidQuery(field, "is neither an integer nor None")


def _check_limit(limit: Any) -> None:
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidQuery("limit", "is neither None nor an integer of at least 0")
