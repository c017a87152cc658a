"""The kit's teeth: every wrong backend is caught by a case of the clause it breaks, with that case's own message."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from forkproof.case import BoundCase
from forkproof.checking import is_asked
from forkproof.clauses import load
from forkproof.runner import run_case
from forkproof.suites.sessions import cases
from forkproof.verdict import Outcome, Target
from forkstore.contract.errors import SessionStoreError
from tests.mutants.catalogue import AnyMutant, mutants

MUTANTS = mutants()
CLAUSES = load("sessions")
CASES: defaultdict[str, list[BoundCase]] = defaultdict(list)
for _bound in cases():
    CASES[_bound.clauses[0]].append(_bound)

REFUSALS = "|".join(refusal.__name__ for refusal in SessionStoreError.__subclasses__())
OWN_MESSAGE = re.compile(rf"\bexpected\b|unexpected (?:{REFUSALS})")
"""What was expected, or a refusal of the contract where none was due; any other error would be an accident."""

WITHOUT_A_MUTANT: dict[str, str] = {
    "S-ADDR-01": "addresses are built by the contract package, so a backend has no say in it",
}
"""MUST clauses with cases that no subclass of a backend can break, and why."""


@pytest.mark.one_python
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a lie may leave files open
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_lie_is_caught_by_the_case_of_its_clause(mutant: AnyMutant, tmp_path: Path) -> None:
    seen = []
    target = Target.of(mutant.harness(tmp_path))
    asked = [bound for bound in CASES[mutant.kills] if is_asked(target, CLAUSES, bound)]
    for number, bound in enumerate(asked):
        place = tmp_path / str(number)
        place.mkdir()
        result = run_case(bound, mutant.harness(place), slow=0.5)
        if result.outcome is Outcome.FAILED and OWN_MESSAGE.search(result.detail):
            return
        seen.append(f"{result.case}: {result.outcome} {result.detail}".strip())
    pytest.fail(f"{mutant.__name__} survived the cases of {mutant.kills}:\n" + "\n".join(seen))


def test_every_mutant_says_its_lie() -> None:
    for mutant in MUTANTS:
        assert (mutant.__doc__ or "").startswith("Lie: "), mutant.__name__
    names = [mutant.__name__ for mutant in MUTANTS]
    assert len(names) == len(set(names))


def test_every_must_clause_with_a_case_has_a_mutant() -> None:
    killed = {mutant.kills for mutant in MUTANTS}
    must = {clause.id for clause in CLAUSES if clause.level == "MUST" and clause.id in CASES}
    assert must - killed == set(WITHOUT_A_MUTANT)
