"""The map between the session contract and its suites is total: nothing is silently left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkproof.clauses import load
from forkproof.clauses.coverage import cases_by_clause, gaps
from forkproof.suites.sessions import cases
from forkproof.verdict import Target
from forkstore.testing import JsonlHarness, MemoryHarness, SqliteHarness, SqliteSharedHarness

CLAUSES = load("sessions")


def test_every_clause_has_a_case_a_test_or_a_reason() -> None:
    assert gaps(CLAUSES, cases_by_clause((bound.id, bound.clauses) for bound in cases())) == ()


@pytest.mark.parametrize("harness", [MemoryHarness, JsonlHarness, SqliteHarness, SqliteSharedHarness])
def test_every_clause_that_a_reference_backend_can_be_asked_names_a_case(harness: type[Any]) -> None:
    target = Target.of(harness(Path("/srv")))
    naming = {bound.clauses[0] for bound in cases()}
    asked = [clause for clause in CLAUSES if target.is_asked(clause) and not clause.proven_by]
    assert [clause.id for clause in asked if clause.id not in naming] == []


def test_every_clause_has_a_case_or_a_test() -> None:
    named = {clause_id for bound in cases() for clause_id in bound.clauses}
    assert [clause.id for clause in CLAUSES if clause.id not in named and not clause.proven_by] == []
