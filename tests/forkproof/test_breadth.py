"""A short run leaves out variants of cases, never a case or a clause, and says how many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from forkproof.checking import plan, suite
from forkproof.cli import main
from forkproof.verdict import Target
from forkstore.testing import SqliteHarness

CASES = suite("sessions")
TARGET = Target.of(SqliteHarness(Path("/srv")))
WHOLE = plan(TARGET, CASES)


@pytest.mark.parametrize("breadth", [1, 3])
def test_every_case_keeps_some_of_its_variants(breadth: int) -> None:
    short = plan(TARGET, CASES, breadth=breadth)
    variants = Counter(bound.case.function for bound in WHOLE.cases)
    kept = Counter(bound.case.function for bound in short.cases)
    assert kept == {function: min(count, breadth) for function, count in variants.items()}
    assert short.left_out == len(WHOLE.cases) - len(short.cases) > 0
    assert [bound.id for bound in short.cases] == [bound.id for bound in WHOLE.cases if bound in short.cases]
    named = {clause for bound in WHOLE.cases for clause in bound.clauses}
    assert {clause for bound in short.cases for clause in bound.clauses} == named


def test_the_choice_is_always_the_same_and_another_for_another_target() -> None:
    first, again = (plan(TARGET, CASES, breadth=2).cases for _ in range(2))
    other = plan(Target("other", kinds=TARGET.kinds, seams=TARGET.seams, durable=True), CASES, breadth=2).cases
    assert first == again
    assert {bound.id for bound in first} != {bound.id for bound in other}


def test_a_breadth_that_is_wide_enough_leaves_nothing_out() -> None:
    assert plan(TARGET, CASES, breadth=10_000) == WHOLE


def test_the_last_line_says_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", "memory", "--only", "S-LIST-03"]
    assert main([*asked, "--breadth", "1"]) == 0
    short = capsys.readouterr().out.splitlines()[-1]
    assert main(asked) == 0
    whole = capsys.readouterr().out.splitlines()[-1]
    assert "variants 1 of " in short
    assert "variants" not in whole


@pytest.mark.parametrize("breadth", ["0", "-1", "few", ""])
def test_breadth_is_counted_from_one(breadth: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", "memory", "--breadth", breadth])
    assert stopped.value.code == 2
    assert "--breadth" in capsys.readouterr().err.splitlines()[-1]
