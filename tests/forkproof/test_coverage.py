"""The map between the session contract and its suites is total: nothing is silently left out."""

from __future__ import annotations

from pathlib import Path

from forkproof.clauses import load
from forkproof.clauses.coverage import cases_by_clause, gaps
from forkproof.suites.sessions import cases
from forkproof.verdict import Target
from forkstore.testing import MemoryHarness

CLAUSES = load("sessions")
LATER_SEAMS = {"spy-files", "spy-sql", "fault-injection"}


def test_every_clause_has_a_case_a_test_or_a_reason() -> None:
    assert gaps(CLAUSES, cases_by_clause((bound.id, bound.clauses) for bound in cases())) == ()


def test_every_clause_that_memory_can_be_asked_names_a_case() -> None:
    target = Target.of(MemoryHarness(Path()))
    naming = {bound.clauses[0] for bound in cases()}
    without = [
        clause for clause in CLAUSES if target.is_asked(clause) and clause.id not in naming and not clause.proven_by
    ]
    assert {clause.id for clause in without} == {"S-ERR-02", "S-REPO-15"}
    assert all(set(clause.needs) & LATER_SEAMS for clause in without)


def test_what_has_no_case_yet_belongs_to_files_or_databases() -> None:
    named = {clause_id for bound in cases() for clause_id in bound.clauses}
    for clause in CLAUSES:
        if clause.id not in named and not clause.proven_by:
            assert set(clause.applies) <= {"jsonl", "sqlite"} or set(clause.needs) & LATER_SEAMS, clause.id
