"""Every read of a storage, as statements on its connection (spec sections 2.4, 7, 8 and 31).

Each function is one job: it runs wholly in the thread and gives its whole answer. A read of several statements does
them in one snapshot, so it sees every commit wholly or not at all, those of other connections too (S-TXN-16).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import apsw

from forkstore.contract.addresses import Address
from forkstore.contract.queries import BranchQuery, EntryQuery, ListQuery, UsageQuery
from forkstore.contract.records import Record, SessionStats
from forkstore.contract.store import ListElement, ValueRow

from . import branches, rows
from .binding import after_prefix, any_text, limited, sequence
from .session_rows import read_session_row
from .transactions import snapshot

# Statements differ in columns and conditions only, and all of these stand here.
# ruff: noqa: S608

_ENTRY: Final = f"SELECT {rows.ENTRY_COLUMNS} FROM entries AS e WHERE e.session_id = ? AND e.id = ?"
_SCALAR: Final = (
    f"SELECT key, seq, {rows.json_column('value')} FROM scalar_values WHERE session_id = ? AND namespace = ?"
)
_ELEMENT: Final = (
    f"SELECT seq, {rows.json_column('value')} FROM list_values WHERE session_id = ? AND namespace = ? AND key = ?"
)


class Reads:
    """The reads of one session; `path` is its database, for the refusals. All raise Damage and apsw.Error."""

    def __init__(self, session_id: str, path: str) -> None:
        self._session_id = session_id
        self._path = path

    def entries(self, connection: apsw.Connection, ids: list[str]) -> dict[str, Record]:
        """The known entries among the ids, in their order; one search per id, however many there are (S-QRY-02)."""
        cursor = connection.cursor()
        with snapshot(connection):
            bindings = ((self._session_id, any_text(entry_id)) for entry_id in ids)
            return {entry["id"]: entry for entry in map(rows.entry, cursor.executemany(_ENTRY, bindings))}

    def value(self, connection: apsw.Connection, address: Address) -> ValueRow | None:
        """The current scalar at an address."""
        bindings = (self._session_id, address.namespace, address.key)
        row = connection.execute(f"{_SCALAR} AND key = ?", bindings).get
        return None if row is None else rows.value_row(address.namespace, row)

    def values(self, connection: apsw.Connection, prefix: Address) -> list[ValueRow]:
        """The scalars of a namespace whose key starts with the key of `prefix`, by code point, as UTF-8 sorts them."""
        end = after_prefix(prefix.key)
        bindings = [self._session_id, prefix.namespace, prefix.key]
        statement = f"{_SCALAR} AND key >= ? {'' if end is None else 'AND key < ?'} ORDER BY key"
        found = connection.execute(statement, bindings if end is None else [*bindings, end])
        return [rows.value_row(prefix.namespace, row) for row in found]

    def elements(self, connection: apsw.Connection, address: Address, query: ListQuery) -> list[ListElement]:
        """A page of a list."""
        bindings: list[Any] = [self._session_id, address.namespace, address.key]
        statement, ascending = _ELEMENT, query.order == "asc"
        if query.cursor is not None:
            statement += f" AND seq {'>' if ascending else '<'} ?"
            bindings.append(sequence(query.cursor))
        statement += f" ORDER BY seq {'ASC' if ascending else 'DESC'} LIMIT ?"
        found = connection.execute(statement, [*bindings, query.limit])
        return [rows.list_element(address, row) for row in found]

    def branch(self, connection: apsw.Connection, query: BranchQuery, *, payload: bool) -> list[Record]:
        """Entries of the path from a start to the root, or their structures. Raises UnknownEntry."""
        with snapshot(connection):
            return branches.scan(connection, self._session_id, query, payload=payload)

    def all_entries(self, connection: apsw.Connection, query: EntryQuery) -> list[Record]:
        """Entries of the whole session by sequence."""
        conditions, bindings = self._between(query, "e.")
        for column, wanted in (("e.type", query.type), ("e.custom_type", query.custom_type)):
            if wanted is not None:
                conditions += f" AND {column} = ?"
                bindings.append(any_text(wanted))
        found = self._select(connection, f"{rows.ENTRY_COLUMNS} FROM entries AS e", conditions, bindings, query, "e.")
        return [rows.entry(row) for row in found]

    def usage(self, connection: apsw.Connection, query: UsageQuery) -> list[Record]:
        """The usage ledger by sequence."""
        conditions, bindings = self._between(query, "")
        found = self._select(connection, f"{rows.USAGE_COLUMNS} FROM usage_ledger", conditions, bindings, query, "")
        return [rows.usage_row(row) for row in found]

    def stats(self, connection: apsw.Connection) -> SessionStats:
        """The statistics. Raises SessionNotFound."""
        row = read_session_row(connection, self._session_id, self._path)
        return SessionStats(row.message_count, row.usage())

    def _between(self, query: EntryQuery | UsageQuery, table: str) -> tuple[str, list[Any]]:
        """The condition of a query's bounds, which are inclusive, and its bindings."""
        conditions = f"{table}session_id = ?"
        bindings: list[Any] = [self._session_id]
        for comparison, bound in ((">=", query.from_seq), ("<=", query.to_seq)):
            if bound is not None:
                conditions += f" AND {table}seq {comparison} ?"
                bindings.append(sequence(bound))
        return conditions, bindings

    def _select(
        self,
        connection: apsw.Connection,
        what: str,
        conditions: str,
        bindings: list[Any],
        query: EntryQuery | UsageQuery,
        table: str,
    ) -> Iterator[rows.Row]:
        statement = f"SELECT {what} WHERE {conditions} ORDER BY {table}seq {query.order} LIMIT ?"
        return connection.execute(statement, [*bindings, limited(query.limit)])
