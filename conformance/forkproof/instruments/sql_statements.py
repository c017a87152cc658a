"""What the text of one SQL statement says: its kind, the tables it names with their aliases, its parameters.

A reading for tests: it knows SQLite's words well enough to tell which tables a statement takes rows from and which one
it changes, whoever wrote it. It is no parser and refuses nothing; what it does not understand it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CHANGING: Final = frozenset({"insert", "update", "delete", "create", "drop", "alter", "reindex", "analyze"})
"""The kinds of statements that change a database. Pragmas and `attach` are settings of a connection."""

_TOKEN = re.compile(
    r"""(?P<gap>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<text>[xX]?'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])
      | (?P<parameter>\?\d*|[:@$]\w+)
      | (?P<word>\w+)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = {"values": "select", "replace": "insert", "end": "commit"}
_VERBS = frozenset({"select", "values", "insert", "replace", "update", "delete"})
_OPENS_A_LIST = frozenset({"from", "join"})
_NO_ALIAS = frozenset(
    {
        "as",
        "cross",
        "default",
        "do",
        "except",
        "from",
        "full",
        "group",
        "having",
        "indexed",
        "inner",
        "intersect",
        "join",
        "left",
        "limit",
        "natural",
        "not",
        "offset",
        "on",
        "order",
        "outer",
        "returning",
        "right",
        "select",
        "set",
        "union",
        "using",
        "values",
        "where",
        "window",
    }
)


@dataclass(frozen=True)
class TableName:
    """One mention of a table: its name and its schema as written, in lower case, and the alias it goes by."""

    name: str
    schema: str | None
    alias: str


@dataclass(frozen=True)
class Statement:
    """One distinct statement. `target` is the table that it changes; `tables` are those it names besides, in order.

    >>> read_statement("SELECT e.id FROM entries AS e WHERE e.id = ?").sources
    frozenset({'entries'})
    """

    text: str
    kind: str
    target: TableName | None
    tables: tuple[TableName, ...]
    parameters: int
    begins: str | None
    """Of a statement that may begin a transaction: `deferred`, `immediate` or `exclusive`."""

    @property
    def sources(self) -> frozenset[str]:
        """The names of the tables it takes rows from."""
        return frozenset(table.name for table in self.tables)

    @property
    def changes(self) -> bool:
        """Whether it is of a kind that changes a database."""
        return self.kind in CHANGING

    def table(self, alias: str) -> TableName | None:
        """The table that goes by that alias."""
        named = (*self.tables, self.target)
        return next((table for table in named if table is not None and table.alias == alias.lower()), None)

    def __str__(self) -> str:
        return " ".join(self.text.split())


@lru_cache(maxsize=2_000)
def read_statement(text: str) -> Statement:
    """Reads the text of one statement; the same text gives the same object."""
    tokens = list(_tokens(text))
    words = [token for token in tokens if not token.startswith(("?", ":", "@", "$"))]
    kind = _kind(words)
    target, tables = _tables(words)
    return Statement(text, kind, target, tables, _parameters(tokens), _begins(kind, words))


def _tokens(text: str) -> Iterator[str]:
    """Words in lower case, quoted names without their quotes, signs and parameters; a text is an empty text."""
    for found in _TOKEN.finditer(text):
        token = found.group()
        if found.lastgroup == "gap":
            continue
        if found.lastgroup == "text":
            yield "''"
        elif found.lastgroup == "quoted":
            yield token[1:-1].lower()
        else:
            yield token.lower() if found.lastgroup == "word" else token


def _kind(words: list[str]) -> str:
    first = words[0] if words else ""
    if first == "with":
        depth = 0
        for word in words:
            depth += (word == "(") - (word == ")")
            if depth == 0 and word in _VERBS:
                first = word
                break
    return _KINDS.get(first, first)


def _begins(kind: str, words: list[str]) -> str | None:
    if kind == "begin":
        return next((word for word in words[1:2] if word in ("immediate", "exclusive")), "deferred")
    return "deferred" if kind == "savepoint" else None


def _parameters(tokens: list[str]) -> int:
    """How many values it wants bound: a bare `?` takes the next number, `?5` that number, a name its own once."""
    highest, names = 0, set[str]()
    for one in tokens:
        if one[0] == "?":
            highest = max(highest, int(one[1:])) if len(one) > 1 else highest + 1
        elif one[0] in ":@$" and one not in names:
            names.add(one)
            highest += 1
    return highest


def _tables(words: list[str]) -> tuple[TableName | None, tuple[TableName, ...]]:
    target: TableName | None = None
    tables: list[TableName] = []
    lists: list[bool] = [False]  # for every open bracket: whether a comma in it parts tables
    for place, word in enumerate(words):
        if word == "(":
            lists.append(lists[-1] and words[place - 1] in (*_OPENS_A_LIST, ","))
        elif word == ")":
            lists = lists[:-1] or [False]
        elif word in _OPENS_A_LIST:
            lists[-1] = word == "join" or words[place - 1] != "distinct"
        elif word in _NO_ALIAS and word not in ("as", "indexed", "not", "on", "using"):
            lists[-1] = lists[-1] and word in ("cross", "full", "inner", "left", "natural", "outer", "right")
        is_target = _changes_at(words, place)
        if is_target or (lists[-1] and (word in _OPENS_A_LIST or word in (",", "("))):
            named = _named(words, place + 1)
            if named is not None and is_target and target is None:
                target = named
            elif named is not None:
                tables.append(named)
    return target, tuple(tables)


def _changes_at(words: list[str], place: int) -> bool:
    """Whether the next word names the table that the statement changes."""
    word, before = words[place], words[place - 1] if place else ""
    if word == "into":
        return True
    if word == "update":
        return before not in ("do", "or", "on", "for")
    return word == "from" and before == "delete"


def _named(words: list[str], place: int) -> TableName | None:
    rest = [*words[place : place + 8], *[""] * 8]
    if rest[0] == "or":  # UPDATE OR IGNORE name
        rest = rest[2:]
    if not re.fullmatch(r"\w[^()]*", rest[0]) or rest[0] in _NO_ALIAS:
        return None
    schema, name, after = (rest[0], rest[2], rest[3:]) if rest[1] == "." else (None, rest[0], rest[1:])
    if after[0] == "(" and words[place - 1] != "into":  # a function that gives rows
        return None
    if after[0] == "as":
        after = after[1:]
    is_alias = re.fullmatch(r"\w+", after[0]) and after[0] not in _NO_ALIAS
    return TableName(name, schema, after[0] if is_alias else name)
