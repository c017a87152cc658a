"""Query plans as SQLite tells them (EXPLAIN QUERY PLAN), read into accesses of tables and temporary B-trees.

A plan is asked for on the connection that runs the statement, at the moment it starts: so it knows the attached and
temporary schemas, and what the transaction has made. Explaining reads no table, starts no transaction and changes
nothing, its statement stays out of the connection's cache, and tracers are not told of it. It does set the SQL function
`changes()` back, so a changing statement that asks for that is not explained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

import apsw

from forkproof.instruments.sql_statements import Statement

PRIMARY_KEY: Final = "PRIMARY KEY"

_AS_PLAN: Final = 2
_EXPLAINED = frozenset({"select", "insert", "update", "delete"})
_ACCESS = re.compile(
    r"(?P<way>SEARCH|SCAN) (?P<alias>.+?)"
    r"(?: USING (?P<automatic>AUTOMATIC )?(?:PARTIAL )?(?P<covering>COVERING )?"
    r"(?:INDEX(?: (?P<index>[^( ]+))?|(?P<key>(?:INTEGER )?PRIMARY KEY)))?"
    r"(?: \((?P<terms>.*)\))?(?: [A-Z-]+)*\Z"
)
_NO_TABLE = re.compile(r"SCAN (?:(?:\d+ )?CONSTANT ROWS?|\d+-ROW VALUES CLAUSE)\Z")
_TEMPORARY = "USE TEMP B-TREE"


@dataclass(frozen=True)
class Access:
    """How a plan comes to the rows of one table. `index` is None for a scan without one, `"PRIMARY KEY"` for that key,
    and `"automatic"` for an index that is made for the query; `terms` is what the key is compared with.
    """

    table: str
    schema: str | None
    way: Literal["search", "scan"]
    index: str | None
    covering: bool
    terms: str

    def __str__(self) -> str:
        index = f" by {'covering ' if self.covering else ''}{self.index}" if self.index else ""
        return f"{self.way} of {self.table}{index}{f' ({self.terms})' if self.terms else ''}"


@dataclass(frozen=True)
class Plan:
    """One plan: the lines as SQLite words them, the accesses in order, and the lines that build a temporary B-tree."""

    lines: tuple[str, ...]
    accesses: tuple[Access, ...]
    temporary: tuple[str, ...]

    def of(self, table: str) -> list[Access]:
        """The accesses of one table."""
        return [access for access in self.accesses if access.table == table]

    def __str__(self) -> str:
        return "; ".join(self.lines) or "no plan"


def explain(connection: apsw.Connection, statement: Statement) -> Plan | None:
    """The plan of a statement on that connection; None where there is none to tell."""
    if statement.kind not in _EXPLAINED or (statement.changes and "changes" in statement.text.lower()):
        return None
    try:
        cursor = apsw.Cursor(connection)
        cursor.exec_trace, cursor.row_trace = _go_on, _as_it_is
        nulls = (None,) * statement.parameters
        rows = cursor.execute(statement.text, nulls, can_cache=False, explain=_AS_PLAN).fetchall()
        cursor.close()
    except apsw.Error:
        return None
    return read_plan(statement, [str(row[3]) for row in rows])


def read_plan(statement: Statement, lines: list[str]) -> Plan:
    """Reads the lines of a plan; aliases become the tables that the statement names by them.

    >>> plan = read_plan(read_statement("SELECT 1 FROM entries e WHERE id = 1"), ["SEARCH e USING PRIMARY KEY (id=?)"])
    >>> [str(access) for access in plan.accesses]
    ['search of entries by PRIMARY KEY (id=?)']
    """
    found = (_ACCESS.match(line) for line in lines if not _NO_TABLE.match(line))
    accesses = tuple(_access(statement, one) for one in found if one is not None)
    return Plan(tuple(lines), accesses, tuple(line for line in lines if line.startswith(_TEMPORARY)))


def _access(statement: Statement, found: re.Match[str]) -> Access:
    place, _, alias = found["alias"].lower().rpartition(".")  # a table without an alias goes by its schema too
    table = statement.table(alias)
    name, schema = (alias, None) if table is None else (table.name, place or table.schema)
    way: Literal["search", "scan"] = "search" if found["way"] == "SEARCH" else "scan"
    index = "automatic" if found["automatic"] else found["index"] or found["key"]
    return Access(name, schema, way, index, found["covering"] is not None, found["terms"] or "")


def _go_on(*_: Any) -> bool:
    return True


def _as_it_is(_: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row
