"""The branch index read: chains of segments, and scans through them (spec section 30).

A *link* is the part of a segment that belongs to a chain. Links come newest first and one at a time, so a scan that has
enough never asks for the next one. Each base lies below its segment, and a chain that does not go down is damage: so
every walk ends, whatever the rows say (S-QRY-19).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import apsw

from forkstore.contract.errors import UnknownEntry
from forkstore.contract.queries import BranchQuery
from forkstore.contract.records import Record

from . import rows
from .binding import any_text, limited, sequence
from .failing import Damage

# Statements differ in columns, indexes and conditions only, and all of these stand here.
# ruff: noqa: S608


class Link(NamedTuple):
    """The rows of a segment with `above` < sequence <= `upto`."""

    branch_id: str
    above: int
    upto: int


_HOLDING: Final = """
    SELECT m.branch_id, i.entry_seq, m.tip_seq, m.base_branch_id, m.base_seq
    FROM branch_entries AS i INDEXED BY ix_be_entry
        CROSS JOIN branch_meta AS m ON m.session_id = i.session_id AND m.branch_id = i.branch_id
    WHERE i.session_id = ? AND i.entry_id = ?
        AND coalesce(m.base_seq, 0) < i.entry_seq AND i.entry_seq <= m.tip_seq
"""
_BASE: Final = "SELECT tip_seq, base_branch_id, base_seq FROM branch_meta WHERE session_id = ? AND branch_id = ?"
_IS_ENTRY: Final = "SELECT 1 FROM entries WHERE session_id = ? AND id = ?"
_BOUNDS: Final = "session_id = ? AND branch_id = ? AND entry_seq > ? AND entry_seq <= ?"
_STOP_AT_ID: Final = f"SELECT entry_seq FROM branch_entries WHERE {_BOUNDS} AND entry_id = ?"
_NEWEST_OF_TYPE: Final = f"SELECT max(entry_seq) FROM branch_entries WHERE {_BOUNDS} AND entry_type = ?"
_OLDEST_OF_TYPE: Final = f"SELECT min(entry_seq) FROM branch_entries WHERE {_BOUNDS} AND entry_type = ?"


def chain(connection: apsw.Connection, session_id: str, entry_id: str) -> Iterator[Link]:
    """The links of the chain of an entry, newest first; nothing when no segment holds it.

    Raises Damage for a base without a sequence, a base that is not there, and a base that does not lie below.
    """
    segment = _segment_of(connection, session_id, entry_id)
    while segment is not None:
        link, base_id, base_seq = segment
        yield link
        segment = None if base_id is None else _base(connection, session_id, link, base_id, base_seq)


_Segment = tuple[Link, str | None, int]


def _segment_of(connection: apsw.Connection, session_id: str, entry_id: str) -> _Segment | None:
    """Of the segments that hold an entry within bounds the one with the highest tip, then the smallest id."""
    holding = (_checked(*row) for row in connection.execute(_HOLDING, (session_id, any_text(entry_id))))
    best = min(holding, key=lambda found: (-found[0], found[1][0].branch_id), default=None)
    return None if best is None else best[1]


def _base(connection: apsw.Connection, session_id: str, link: Link, base_id: str, base_seq: int) -> _Segment:
    row = connection.execute(_BASE, (session_id, base_id)).get
    if row is None:
        raise Damage(f"branch_meta row {link.branch_id!r}: its base {base_id!r} is not there")
    tip_seq, base = _checked(base_id, base_seq, *row)
    if not base[0].above < base_seq <= tip_seq:
        raise Damage(f"branch_meta row {link.branch_id!r}: its base {base_id!r} does not hold sequence {base_seq}")
    return base


def _checked(branch_id: Any, upto: Any, tip_seq: Any, base_id: Any, base_seq: Any) -> tuple[int, _Segment]:
    """The tip's sequence and a segment, up to a sequence of it. Raises Damage."""
    if not (
        type(branch_id) is str
        and type(upto) is int
        and type(tip_seq) is int
        and (base_id is None) is (base_seq is None)
        and (base_id is None or (type(base_id) is str and type(base_seq) is int and base_seq >= 1))
    ):
        raise Damage(f"branch_meta row {branch_id!r}: a base without a sequence, or a column of the wrong type")
    above = base_seq or 0
    return tip_seq, (Link(branch_id, above, upto), base_id, above)


def scan(connection: apsw.Connection, session_id: str, query: BranchQuery, *, payload: bool) -> list[Record]:
    """The entries that a query asks for, or without payload their structures. Keeps S-QRY-05 to S-QRY-10, S-SQL-IDX-02.

    Raises UnknownEntry, Damage.
    """
    newest_first = query.order == "newest_first"
    read = rows.entry if payload else rows.structure
    path = _Path(query)
    records: list[Record] = []
    for link in _links(connection, session_id, query.start, newest_first=newest_first):
        stop = _stop(connection, session_id, link, query)
        found = _rows(connection, session_id, _cut(link, stop, query), query, len(records), payload=payload)
        records.extend(path.take(read(_index_checked(row))) for row in found)
        if stop is not None or len(records) == query.limit:
            return records
    path.end()
    return records


def _links(connection: apsw.Connection, session_id: str, start: str, *, newest_first: bool) -> Iterable[Link]:
    """The chain of a query's start, in the order of the query. Raises UnknownEntry, Damage (S-SQL-IDX-03)."""
    links = chain(connection, session_id, start)
    first = next(links, None)
    if first is None:
        if connection.execute(_IS_ENTRY, (session_id, any_text(start))).get is None:
            raise UnknownEntry(start)
        raise Damage(f"entries row {start!r}: no segment of the branch index holds it within its bounds")
    return itertools.chain([first], links) if newest_first else reversed([first, *links])


def _stop(connection: apsw.Connection, session_id: str, link: Link, query: BranchQuery) -> int | None:
    """The sequence of the entry of a link at which the walk stops (S-QRY-07)."""
    bounds = (session_id, *link)
    of_type = _NEWEST_OF_TYPE if query.order == "newest_first" else _OLDEST_OF_TYPE
    stops: list[int | None] = [
        connection.execute(statement, (*bounds, any_text(wanted))).get
        for statement, wanted in ((_STOP_AT_ID, query.stop_at_id), (of_type, query.stop_at_type))
        if wanted is not None
    ]
    found = [stop for stop in stops if stop is not None]
    if not found:
        return None
    return max(found) if query.order == "newest_first" else min(found)


def _cut(link: Link, stop: int | None, query: BranchQuery) -> Link:
    """What a walk takes of a link: down or up to the stop, and beyond the cursor (S-QRY-09)."""
    above, upto = link.above, link.upto
    cursor = None if query.cursor is None else sequence(query.cursor)
    if query.order == "newest_first":
        above = above if stop is None else stop - 1
        upto = upto if cursor is None else min(upto, cursor - 1)
    else:
        upto = upto if stop is None else stop
        above = above if cursor is None else max(above, cursor)
    return Link(link.branch_id, above, upto)


def _rows(
    connection: apsw.Connection, session_id: str, link: Link, query: BranchQuery, count: int, *, payload: bool
) -> Iterable[rows.Row]:
    """The rows of a link that the filters keep, with the index's own columns first (section 31)."""
    bindings: list[Any] = [session_id, *link]
    if query.type is not None:
        bindings.append(any_text(query.type))
    if query.custom_type is not None:
        bindings.append(any_text(query.custom_type))
    bindings.append(limited(query.limit, count))
    return connection.execute(_select(query, payload=payload), bindings)


def _select(query: BranchQuery, *, payload: bool) -> str:
    """The statement of a scan. A row of the index without its entry stays in it, for it is damage."""
    by_type = query.type is not None
    return f"""
        SELECT i.entry_id, i.entry_seq, i.entry_type, {rows.ENTRY_COLUMNS if payload else rows.STRUCTURE_COLUMNS}
        FROM branch_entries AS i INDEXED BY {"ix_be_type" if by_type else "ix_be_seq"}
            LEFT JOIN entries AS e ON e.session_id = i.session_id AND e.id = i.entry_id
        WHERE i.session_id = ? AND i.branch_id = ? AND i.entry_seq > ? AND i.entry_seq <= ?
            {"AND i.entry_type = ?" if by_type else ""}
            {"" if query.custom_type is None else "AND (e.id IS NULL OR e.custom_type = ?)"}
        ORDER BY i.entry_seq {"DESC" if query.order == "newest_first" else "ASC"} LIMIT ?
    """


def _index_checked(row: rows.Row) -> rows.Row:
    """A row without the index's columns. Raises Damage when they are not those of the entry."""
    entry_id, seq, entry_type, *entry = row
    if (entry[0], entry[2], entry[4]) != (entry_id, seq, entry_type):
        raise Damage(f"branch_entries row {entry_id!r}: there is no such entry of this sequence and type")
    return tuple(entry)


class _Path:
    """Follows the parents of a walk's entries: each is the one that comes next towards the root (S-QRY-19).

    A walk that filters does not see the entries between.
    """

    def __init__(self, query: BranchQuery) -> None:
        self._newest_first = query.order == "newest_first"
        self._whole = query.type is None and query.custom_type is None
        self._last: Record | None = None
        self._from_root = not self._newest_first and query.cursor is None

    def take(self, entry: Record) -> Record:
        """The next entry of the walk. Raises Damage when it is not the one that belongs there."""
        if self._whole and self._last is not None:
            child, parent = (self._last, entry) if self._newest_first else (entry, self._last)
            if child["parentId"] != parent["id"]:
                raise Damage(f"entries row {child['id']!r}: its parent is not the entry before it on its branch")
        elif self._whole and self._from_root:
            _check_root(entry)
        self._last = entry
        return entry

    def end(self) -> None:
        """The walk has come to its end by itself. Raises Damage when that is not the root."""
        if self._whole and self._newest_first and self._last is not None:
            _check_root(self._last)


def _check_root(entry: Record) -> None:
    if entry["parentId"] is not None:
        raise Damage(f"entries row {entry['id']!r}: its parent is not on its branch")
