"""The kit's teeth: every wrong backend is caught by a case of the clause it breaks, with that case's own message."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkproof.runner import run_case
from forkproof.suites.sessions import cases
from forkproof.verdict import Outcome
from tests.mutants.catalogue import Mutant, harness_of, mutants

MUTANTS = mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_lie_is_caught_by_the_case_of_its_clause(mutant: type[Mutant], tmp_path: Path) -> None:
    named = [bound for bound in cases() if bound.clauses[0] == mutant.kills]
    assert named, f"no case is named by {mutant.kills}"
    results = [run_case(bound, harness_of(mutant, tmp_path), slow=0.1) for bound in named]
    caught = [result for result in results if result.outcome is Outcome.FAILED]
    assert caught, f"{mutant.__name__} survived {len(named)} cases of {mutant.kills}"
    assert any("expected" in result.detail for result in caught), "caught by accident:\n" + caught[0].detail


def test_every_mutant_says_its_lie() -> None:
    assert len(MUTANTS) >= 25
    for mutant in MUTANTS:
        assert (mutant.__doc__ or "").startswith("Lie: "), mutant.__name__
    names = [mutant.__name__ for mutant in MUTANTS]
    assert len(names) == len(set(names))
