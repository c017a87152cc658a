"""`forkproof clauses` and `forkproof explain`: the contract, read from the kit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from forkproof.case import BoundCase
from forkproof.checking import suite
from forkproof.clauses import Clause, load_all
from forkproof.clauses.coverage import cases_by_clause, without_case
from forkproof.commands import UsageError
from forkproof.report.markdown import escape
from forkproof.report.terminal import Terminal


def list_clauses(area: str | None, *, missing: bool, form: str, color: str) -> int:
    """Lists the clauses of every family. Raises UsageError when an area selects none."""
    chosen = [clause for clauses in load_all() for clause in (clauses.starting_with(area) if area else clauses)]
    if not chosen:
        raise UsageError(f"--area {area}: no clause id begins so")
    cases = _cases()
    by_clause = cases_by_clause((bound.id, bound.clauses) for bound in cases)
    reasons = {clause.id: reason for clause, reason in without_case(chosen, by_clause)}
    if missing:
        chosen = [clause for clause in chosen if clause.id in reasons]
    terminal = Terminal(color=color)
    if form == "json":
        documents = [_document(clause, by_clause, reasons) for clause in chosen]
        print(json.dumps({"clauses": documents}, indent=1, ensure_ascii=False))
        return 0
    last = "reason" if missing else "statement"
    columns = ("id", "level", "applies", "needs", last)
    rows = [_cells(clause, reasons[clause.id] if missing else clause.statement) for clause in chosen]
    if form == "md":
        terminal.line(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for row in rows:
            terminal.line(f"| {' | '.join(escape(cell) for cell in row)} |")
    else:
        title = f"{len(rows)} clauses{' without a case' if missing else ''}"
        terminal.table(title, columns, [[(cell, "") for cell in row] for row in rows])
    return 0


def explain(clause_id: str, *, color: str) -> int:
    """Says everything the kit knows about a clause. Raises UsageError for an unknown id, with the nearest ones."""
    known = {clause.id: clause for clauses in load_all() for clause in clauses}
    if clause_id not in known:
        close = ", ".join(get_close_matches(clause_id.upper(), known, n=3))
        raise UsageError(f"unknown clause {clause_id!r}{f'; near it: {close}' if close else ''}")
    clause, terminal = known[clause_id], Terminal(color=color)
    cases = [bound for bound in _cases() if clause_id in bound.clauses]
    terminal.line(f"{clause.id}  {clause.level}  {clause.area}", "bold")
    terminal.line(clause.statement)
    terminal.line()
    terminal.line(f"applies   {', '.join(clause.applies)}{' and every durable store' if clause.durable else ''}")
    terminal.line(f"needs     {', '.join(clause.needs) or 'nothing beyond an open repository'}")
    terminal.line(f"since     {clause.since}{', beyond the public protocol' if clause.beyond else ''}")
    for label, text in (("proven by", clause.proven_by), ("no case:", clause.reason)):
        if text and not cases:
            terminal.line(f"{label} {text}")
    _list(terminal, "cases", [bound.id for bound in cases])
    _list(terminal, "if it fails, look at", [cause for bound in cases for cause in bound.case.look_at])
    return 0


def _list(terminal: Terminal, title: str, lines: Sequence[str]) -> None:
    if lines:
        terminal.line()
        terminal.line(f"{title}:")
        for line in dict.fromkeys(lines):
            terminal.line(f"  {line}")


def _cases() -> tuple[BoundCase, ...]:
    return tuple(bound for clauses in load_all() for bound in suite(clauses.family))


def _cells(clause: Clause, last: str) -> tuple[str, ...]:
    return (clause.id, clause.level, ", ".join(clause.applies), ", ".join(clause.needs) or "-", last)


def _document(clause: Clause, cases: Mapping[str, Sequence[str]], reasons: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": clause.id,
        "level": clause.level,
        "area": clause.area,
        "applies": list(clause.applies),
        "needs": list(clause.needs),
        "since": clause.since,
        "beyond": clause.beyond,
        "statement": clause.statement,
        "cases": list(cases.get(clause.id, ())),
        "proven_by": clause.proven_by,
        "reason": reasons.get(clause.id),
    }
