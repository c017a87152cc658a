"""The known-failures ledger: what an author knows to be broken, why, who owns it, and until when that is accepted.

It lives in the author's repository, as `[[tool.forkproof.known-failures]]` in pyproject.toml or as
`[[known-failures]]` in forkproof.toml. It is strict, because a ledger that is allowed to rot hides the next failure:
a listed clause that holds is red, an expired entry is red, and an entry that matches nothing is red.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from forkproof.clauses import Clauses, load_all


class Kind(StrEnum):
    """Why a clause is known to fail."""

    BUG = "bug"
    UNSUPPORTED = "unsupported"
    LATER = "later"


class LedgerError(Exception):
    """A ledger that cannot be used. One line that names the file, the entry by number, and the field."""

    def __init__(self, path: Path, problem: str, *, entry: int | None = None, field: str | None = None) -> None:
        place = [str(path)]
        if entry is not None:
            place.append(f"known-failures entry {entry}")
        if field is not None:
            place.append(f"field {field!r}")
        super().__init__(f"{', '.join(place)}: {problem}")
        self.path = path
        self.entry = entry
        self.field = field


@dataclass(frozen=True)
class LedgerEntry:
    """One known failure; `expires` is the last day it is accepted, `target` None means every target."""

    number: int
    clause: str
    kind: Kind
    reason: str
    owner: str
    expires: date
    target: str | None = None

    def is_for(self, target: str) -> bool:
        return self.target is None or self.target == target


@dataclass(frozen=True)
class Ledger:
    """The entries of one ledger, and the day they are judged on."""

    entries: tuple[LedgerEntry, ...] = ()
    path: Path | None = None
    on: date = date.min

    def entry_for(self, target: str, clause_id: str) -> LedgerEntry | None:
        """The entry of a clause; one that names the target goes before one for every target."""
        found = [entry for entry in self.entries if entry.clause == clause_id and entry.is_for(target)]
        return min(found, key=lambda entry: entry.target is None, default=None)

    def is_expired(self, entry: LedgerEntry) -> bool:
        return entry.expires < self.on

    def problems(
        self, target: str, clauses: Clauses, statuses: Mapping[str, str], selection: Collection[str] | None = None
    ) -> tuple[str, ...]:
        """What makes the ledger red for a target whose clauses came to `statuses`, one line each.

        Entries for other targets and families are none of this target's business; entries outside a selection were
        not asked.
        """
        lines = []
        for entry in self.entries:
            ours = entry.is_for(target) and entry.clause.startswith(clauses.prefix)
            if not ours or (selection is not None and entry.clause not in selection):
                continue
            problem = self._problem(entry, statuses.get(entry.clause))
            if problem:
                lines.append(f"{self.path or 'ledger'}, known-failures entry {entry.number}, {entry.clause}: {problem}")
        return tuple(lines)

    def _problem(self, entry: LedgerEntry, status: str | None) -> str | None:
        if status == "holds":
            return "passes: remove it"
        if self.is_expired(entry):
            return f"expired on {entry.expires.isoformat()}: mend it, or let {entry.owner} renew it"
        if status is None:
            return "matches nothing: the clause is not asked of this target"
        if status in ("not exercised", "not offered"):
            return f"matches nothing: the clause was {status}"
        return None


def today() -> date:
    """The day where the command runs: owners mean their own calendar when they write `expires`."""
    return datetime.now().astimezone().date()


def find_ledger(directory: Path) -> Path | None:
    """The ledger of a project: forkproof.toml goes before pyproject.toml, which counts only if it has our table."""
    own = directory / "forkproof.toml"
    if own.is_file():
        return own
    project = directory / "pyproject.toml"
    return project if project.is_file() and _project_table(_read(project)) is not None else None


def _project_table(data: Mapping[str, Any]) -> Any:
    tools = data.get("tool")
    return tools.get("forkproof") if isinstance(tools, dict) else None


def load_ledger(path: Path | None, *, on: date | None = None) -> Ledger:
    """Reads a ledger; None gives the empty one. Raises LedgerError.

    `on` is the day entries expire against; it is read here once, so that judging depends on nothing but values.
    """
    day = on or today()
    if path is None:
        return Ledger(on=day)
    data = _read(path)
    table = _project_table(data) or {} if path.name == "pyproject.toml" else data
    if not isinstance(table, dict):
        raise LedgerError(path, "tool.forkproof must be a table")
    raw = table.get("known-failures", [])
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise LedgerError(path, "known-failures must be an array of tables, written [[...known-failures]]")
    unknown = [name for name in table if name != "known-failures"]
    if unknown:
        # A misspelt table must not pass for an empty ledger.
        raise LedgerError(path, f"{unknown[0]}: unknown; entries are written [[...known-failures]]")
    entries = tuple(_entry(path, number, entry) for number, entry in enumerate(raw, start=1))
    _refuse_unusable(path, entries)
    return Ledger(entries, path, day)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(path, f"cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(path, f"is not TOML: {error}") from error


_TEXT_FIELDS = ("clause", "kind", "reason", "owner")


def _entry(path: Path, number: int, raw: Mapping[str, Any]) -> LedgerEntry:
    def wrong(field: str, problem: str) -> LedgerError:
        return LedgerError(path, problem, entry=number, field=field)

    for field in raw:
        if field not in (*_TEXT_FIELDS, "expires", "target"):
            raise wrong(field, "unknown; known are clause, kind, reason, owner, expires, target")
    for field in (*_TEXT_FIELDS, "expires"):
        if field not in raw:
            raise wrong(field, "missing")
    for field in (*_TEXT_FIELDS, "target"):
        if field in raw and (not isinstance(raw[field], str) or not raw[field].strip()):
            raise wrong(field, f"must be a text that is not blank, is {raw[field]!r}")
    if raw["kind"] not in list(Kind):
        raise wrong("kind", f"must be one of {', '.join(Kind)}, is {raw['kind']!r}")
    expires = raw["expires"]
    if not isinstance(expires, date) or isinstance(expires, datetime):
        raise wrong("expires", f"must be a TOML date such as 2026-12-31 without quotes, is {expires!r}")
    return LedgerEntry(
        number, raw["clause"], Kind(raw["kind"]), raw["reason"], raw["owner"], expires, raw.get("target")
    )


def _refuse_unusable(path: Path, entries: tuple[LedgerEntry, ...]) -> None:
    known = load_all() if entries else ()
    seen: dict[tuple[str, str | None], int] = {}
    for entry in entries:
        if not any(entry.clause in clauses for clauses in known):
            raise LedgerError(
                path, f"{entry.clause!r} is no clause of any contract", entry=entry.number, field="clause"
            )
        first = seen.setdefault((entry.clause, entry.target), entry.number)
        if first != entry.number:
            raise LedgerError(path, f"{entry.clause} is also entry {first}", entry=entry.number, field="clause")


def write_ledger(failures: Iterable[tuple[str, str]], *, target: str, owner: str, expires: date) -> str:
    """Today's failures as (clause, reason) pairs, in the form `load_ledger` reads from forkproof.toml."""
    parts = [
        "[[known-failures]]\n"
        f"clause = {_toml(clause)}\n"
        f"target = {_toml(target)}\n"
        f'kind = "{Kind.BUG}"\n'
        f"reason = {_toml(reason)}\n"
        f"owner = {_toml(owner)}\n"
        f"expires = {expires.isoformat()}\n"
        for clause, reason in failures
    ]
    heading = "# For forkproof.toml. In pyproject.toml the tables are named [[tool.forkproof.known-failures]].\n"
    return "\n".join([heading, *parts]) if parts else ""


def _toml(text: str) -> str:
    """A TOML basic string; what UTF-8 cannot carry is shown as a question mark, for the text is for people."""
    written = text.encode("utf-8", "replace").decode("utf-8")
    escaped = written.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escape(letter) for letter in escaped) + '"'


def _escape(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x20 or 0x7F <= ord(letter) <= 0x9F else letter
