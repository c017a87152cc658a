"""The scalars and list elements that a fork fetches from its source: filtered by namespace in SQL (S-SQL-FORK-09).

The filter is made from the classifier. Which reserved namespaces have rows at all is probed, one step through the
primary key per namespace; each is classified once; only those that the scope copies from are read. So a namespace that
nobody declared is found although its rows are never fetched (S-SQL-FORK-10). Application namespaces are the three
ranges around the reserved ones; they are compared by code point, with case (S-SQL-FORK-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import apsw

from forkstore.contract.addresses import RESERVED_RANGES, Kind
from forkstore.contract.policy import Fetch, to_fetch

from .batches import SizedRow

KINDS: Final[tuple[Kind, ...]] = ("value", "list")

_APPLICATION_BETWEEN: Final = (("", RESERVED_RANGES[0][0]), (RESERVED_RANGES[0][1], RESERVED_RANGES[1][0]))
_APPLICATION_FROM: Final = RESERVED_RANGES[1][1]


class _Statements:
    """The queries of one kind, each by primary key and in its order."""

    def __init__(self, table: str, order: str) -> None:
        columns = (
            "octet_length(namespace) + octet_length(key) + octet_length(value), "
            "namespace, key, seq, CAST(value AS BLOB)"
        )
        of_session = f"FROM {table} WHERE session_id = ?"
        ordered = f"ORDER BY {order}"
        self.probe = f"SELECT namespace {of_session} AND namespace >= ? AND namespace < ? ORDER BY namespace LIMIT 1"
        self.between = f"SELECT {columns} {of_session} AND namespace >= ? AND namespace < ? {ordered}"
        self.from_on = f"SELECT {columns} {of_session} AND namespace >= ? {ordered}"
        self.of_namespace = f"SELECT {columns} {of_session} AND namespace = ? {ordered}"
        self.of_key = f"SELECT {columns} {of_session} AND namespace = ? AND key = ? {ordered}"


_STATEMENTS: Final[dict[Kind, _Statements]] = {
    "value": _Statements("scalar_values", "namespace, key"),
    "list": _Statements("list_values", "namespace, key, seq"),
}


class AddressRows:
    """What a fork reads of a source's scalars and lists: of one branch, or with application rows of the whole tree.

    Raises UndeclaredNamespace at once (S-FORK-CLS-04 to S-FORK-CLS-06).
    """

    def __init__(self, source: apsw.Connection, session_id: str, branch: str | None) -> None:
        self._source = source
        self._session_id = session_id
        self._branch = branch
        self._reserved = {kind: tuple(self._namespaces_to_read(kind)) for kind in KINDS}

    def rows(self, kind: Kind) -> Iterator[SizedRow]:
        """The rows of one kind, with their bytes of text first."""
        statements = _STATEMENTS[kind]
        for namespace, fetch in self._reserved[kind]:
            if fetch is Fetch.ROW_OF_BRANCH and self._branch is not None:
                yield from self._of(statements.of_key, namespace, self._branch)
            else:
                yield from self._of(statements.of_namespace, namespace)
        if self._branch is None:
            for bounds in _APPLICATION_BETWEEN:
                yield from self._of(statements.between, *bounds)
            yield from self._of(statements.from_on, _APPLICATION_FROM)

    def _namespaces_to_read(self, kind: Kind) -> Iterator[tuple[str, Fetch]]:
        for namespace in self._reserved_namespaces(kind):
            fetch = to_fetch(namespace, kind, of_branch=self._branch is not None)
            if fetch is not Fetch.NOTHING:
                yield namespace, fetch

    def _reserved_namespaces(self, kind: Kind) -> Iterator[str]:
        """The reserved namespaces that have a row, found from each to the next."""
        for start, end in RESERVED_RANGES:
            while (found := self._of(_STATEMENTS[kind].probe, start, end).fetchone()) is not None:
                yield found[0]
                start = found[0] + "\0"  # noqa: PLW2901 - the smallest name behind it

    def _of(self, statement: str, *bindings: str) -> apsw.Cursor:
        return self._source.execute(statement, (self._session_id, *bindings))
