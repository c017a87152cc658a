"""Which clauses have a case, and why the others have none: the map between contract and suites, kept total."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forkproof.clauses import Clause, Clauses


def cases_by_clause(cases: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Case ids by clause id, from (case id, its clauses)."""
    found: dict[str, list[str]] = {}
    for case, clause_ids in cases:
        for clause_id in clause_ids:
            found.setdefault(clause_id, []).append(case)
    return found


def without_case(clauses: Iterable[Clause], cases: Mapping[str, Sequence[str]]) -> Iterator[tuple[Clause, str]]:
    """The clauses that neither a case nor a test of the reference proves, each with the reason."""
    for clause in clauses:
        if clause.id not in cases and not clause.proven_by:
            yield clause, clause.reason or "NO REASON WRITTEN"


def gaps(clauses: Clauses, cases: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What is wrong with the map, one line each; empty when it is total and says nothing twice."""
    lines = [f"{named}: no clause, named by {found[0]}" for named, found in cases.items() if named not in clauses]
    for clause in clauses:
        told = [bool(cases.get(clause.id)), bool(clause.proven_by), bool(clause.reason)]
        if not any(told):
            lines.append(f"{clause.id}: no case, no proven_by and no reason")
        elif clause.reason and sum(told) > 1:
            lines.append(f"{clause.id}: has a reason for having no case, and is proven all the same")
    return tuple(lines)
