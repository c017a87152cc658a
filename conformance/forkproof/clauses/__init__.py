"""The clauses a store is graded on: read from the TOML files beside this module, one file per family.

The files are the single source of ids, levels, sentences and seams; no other file repeats them. Loading is lazy and
cached, and a file that breaks its own rules is refused as a whole: a kit with a wrong clause must not grade anybody.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

CONTRACT = "2026.1"
"""The newest contract version this kit knows."""

LEVELS = ("MUST", "SHOULD")

_VERSION = re.compile(r"\d+\.\d+")
_CLAUSE_ID = re.compile(r"[A-Z]+(-[A-Z0-9]+)*-\d+")


class ClausesError(Exception):
    """A clause file that breaks its rules, or a family that does not exist; the message is one line."""

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(f"{source}: {problem}")
        self.source = source
        self.problem = problem


def parse_version(text: str) -> tuple[int, ...]:
    """`"2026.1"` as a tuple that compares in order. Raises ValueError for anything else."""
    if not _VERSION.fullmatch(text):
        raise ValueError(f"not a contract version: {text!r}")
    return tuple(int(part) for part in text.split("."))


@dataclass(frozen=True)
class Clause:
    """One statement of a contract that a test can check (spec 1.3)."""

    id: str
    level: str
    applies: tuple[str, ...]
    needs: tuple[str, ...]
    statement: str
    since: str
    area: str
    beyond: bool = False
    durable: bool = False
    proven_by: str | None = None
    reason: str | None = None

    @property
    def group(self) -> str:
        """The id without its number: `S-FORK-BR` of `S-FORK-BR-04`."""
        return self.id.rpartition("-")[0]

    @property
    def number(self) -> int:
        """The number of the id: 4 of `S-FORK-BR-04`."""
        return int(self.id.rpartition("-")[2])


@dataclass(frozen=True)
class Clauses:
    """All clauses of one family, in contract order."""

    family: str
    contract: str
    prefix: str
    kinds: tuple[str, ...]
    seams: tuple[str, ...]
    by_id: Mapping[str, Clause]

    def __iter__(self) -> Iterator[Clause]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    def __contains__(self, clause_id: object) -> bool:
        return clause_id in self.by_id

    def __getitem__(self, clause_id: str) -> Clause:
        return self.by_id[clause_id]

    def starting_with(self, prefix: str) -> tuple[Clause, ...]:
        """The clauses a prefix selects; it ends at a hyphen, so `S-FORK-BR-0` or `S-FO` select nothing."""
        return tuple(clause for clause in self if f"{clause.id}-".startswith(f"{prefix.rstrip('-')}-"))


def families() -> tuple[str, ...]:
    """The families that have a clause file, by name."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def load(family: str) -> Clauses:
    """The clauses of one family. Raises ClausesError for an unknown family or a file that breaks its rules."""
    if family not in families():
        raise ClausesError(f"family {family!r}", f"unknown; known are {', '.join(families())}")
    return read_clauses(files(__name__) / f"{family}.toml")


def load_all() -> tuple[Clauses, ...]:
    """The clauses of every family. Raises ClausesError as `load` does, and when two families share a clause id."""
    loaded = tuple(load(family) for family in families())
    owner: dict[str, str] = {}
    for clauses in loaded:
        for clause in clauses:
            if owner.setdefault(clause.id, clauses.family) != clauses.family:
                raise ClausesError(f"{clauses.family}.toml", f"{clause.id} is also a clause of {owner[clause.id]}")
    return loaded


def read_clauses(source: Traversable) -> Clauses:
    """Reads one clause file. Raises ClausesError, which names the file and the clause."""
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ClausesError(source.name, f"cannot be read: {error}") from error
    for key in ("family", "contract", "prefix", "kinds", "seams", "clause"):
        if key not in data:
            raise ClausesError(source.name, f"lacks {key!r}")
    kinds, seams = tuple(data["kinds"]), tuple(data["seams"])
    by_id: dict[str, Clause] = {}
    for number, entry in enumerate(data["clause"], start=1):
        clause = _clause(source.name, number, entry)
        problem = _problem(clause, data["prefix"], data["contract"], kinds, seams)
        if clause.id in by_id:
            problem = "is written twice"
        if problem:
            raise ClausesError(source.name, f"{clause.id} {problem}")
        by_id[clause.id] = clause
    return Clauses(data["family"], data["contract"], data["prefix"], kinds, seams, by_id)


_FIELDS: dict[str, type] = {
    "id": str,
    "level": str,
    "applies": list,
    "needs": list,
    "statement": str,
    "since": str,
    "area": str,
}
_OPTIONAL: dict[str, type] = {"beyond": bool, "durable": bool, "proven_by": str, "reason": str}


def _clause(source: str, number: int, entry: Mapping[str, Any]) -> Clause:
    name = entry.get("id", f"clause {number}")
    known = _FIELDS | _OPTIONAL
    for key, value in entry.items():
        if key not in known:
            raise ClausesError(source, f"{name} has an unknown field {key!r}")
        if not isinstance(value, known[key]):
            raise ClausesError(source, f"{name}: {key} must be a {known[key].__name__}, is {value!r}")
    for key in _FIELDS:
        if key not in entry:
            raise ClausesError(source, f"{name} lacks {key!r}")
    fields: dict[str, Any] = {key: tuple(value) if type(value) is list else value for key, value in entry.items()}
    return Clause(**fields)


def _problem(clause: Clause, prefix: str, contract: str, kinds: tuple[str, ...], seams: tuple[str, ...]) -> str | None:
    unknown_kinds = [kind for kind in clause.applies if kind not in ("all", *kinds)]
    unknown_seams = [seam for seam in clause.needs if seam not in seams]
    if not _CLAUSE_ID.fullmatch(clause.id) or not clause.id.startswith(prefix):
        return f"is not an id of the form {prefix}AREA-01"
    if clause.level not in LEVELS:
        return f"has the level {clause.level!r}, not MUST or SHOULD"
    if unknown_kinds or not clause.applies:
        return f"applies to an unknown kind of store: {', '.join(unknown_kinds) or 'none named'}"
    if unknown_seams:
        return f"needs an unknown seam: {', '.join(unknown_seams)}"
    if not _VERSION.fullmatch(clause.since) or parse_version(clause.since) > parse_version(contract):
        return f"is there since {clause.since!r}, which is no contract version up to {contract}"
    if not clause.statement.strip() or not clause.area.strip():
        return "has an empty statement or area"
    return None
