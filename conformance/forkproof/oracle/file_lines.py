"""Reads a session file the slow and strict way (sections 22.1 to 22.3), for judging what a store has written.

Shares nothing with a store's decoder. What it gives is what the file says, record by record; what the file should say
is for the case to judge.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from forkproof.expect import ClauseBroken
from forkproof.oracle.state import Record

Value = Record | list[Record]


@dataclass(frozen=True)
class SessionLines:
    """A session file, line by line. `texts` are the bytes of each line without its LF, the header first; `values` what
    they say.

    >>> lines = lines_of(fork_path)
    >>> lines.header["parentSessionId"], [record["kind"] for record in lines.records]
    ('walk-1', ['entry', 'value', 'value', 'value'])
    """

    path: Path
    texts: tuple[bytes, ...]
    values: tuple[Value, ...]

    @property
    def header(self) -> Record:
        """The first line."""
        header = self.values[0]
        if isinstance(header, list):
            _broken(self.path, 1, "a header, which is an object", "an array")
        return header

    @property
    def transactions(self) -> list[list[Record]]:
        """The records of each further line."""
        return [value if isinstance(value, list) else [value] for value in self.values[1:]]

    @property
    def records(self) -> list[Record]:
        """All records behind the header, in order."""
        return [record for transaction in self.transactions for record in transaction]


def lines_of(path: str | os.PathLike[str]) -> SessionLines:
    """The lines of a session file. Breaks the clause when the last byte is no LF, or when a line is not UTF-8, not JSON
    in the strict grammar, or neither an object nor an array of objects.

    Member order is kept; a number keeps its Python type, and its digits stand in `texts`. Raises OSError.
    """
    return lines_in(Path(path).read_bytes(), Path(path))


def lines_in(data: bytes, path: Path) -> SessionLines:
    """`lines_of` for the bytes of a file; `path` is what a broken clause names."""
    if not data.endswith(b"\n"):
        told = f"the last bytes {data[-16:]!r}" if data else "an empty file"
        raise ClauseBroken(f"{path}\nexpected: a file whose last byte is LF\nseen:     {told}")
    texts = tuple(data[:-1].split(b"\n"))
    return SessionLines(path, texts, tuple(_value(path, number, text) for number, text in enumerate(texts, 1)))


def _value(path: Path, number: int, text: bytes) -> Value:
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        _broken(path, number, "UTF-8 and strict JSON", f"{error}: {text[:80]!r}")
    for record in value if isinstance(value, list) else [value]:
        if not isinstance(record, dict):
            _broken(path, number, "an object or an array of objects", repr(text[:80]))
    found: Value = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _broken(path: Path, number: int, expected: str, seen: str) -> NoReturn:
    raise ClauseBroken(f"line {number} of {path}\nexpected: {expected}\nseen:     {seen}")
