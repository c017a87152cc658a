"""From results to a verdict: every rule of scoring, and the sum that must come out for any results."""

from datetime import date
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.clauses import Clause, Clauses
from forkproof.ledger import Kind, Ledger, LedgerEntry
from forkproof.verdict import CaseResult, Lane, Outcome, Status, Target, TargetError, Word, judge


def clause(clause_id, level="MUST", applies=("all",), needs=(), since="2026.1", **more):
    return Clause(clause_id, level, applies, needs, f"The sentence of {clause_id}.", since, "Toys", **more)


def contract(*clauses):
    by_id = {each.id: each for each in clauses}
    return Clauses("sessions", "2026.1", "T-", ("memory", "jsonl"), ("clock", "code"), by_id)


CONTRACT = contract(
    clause("T-A-01"),
    clause("T-A-02"),
    clause("T-A-03", level="SHOULD"),
    clause("T-B-01", applies=("memory",)),
    clause("T-B-02", applies=("jsonl",), durable=True),
    clause("T-C-01", needs=("clock",)),
    clause("T-C-02", needs=("code",)),
    clause("T-C-03", reason="no eye sees it"),
    clause("T-D-01", beyond=True),
)
MINE = Target("mine", kinds=frozenset({"memory"}))
OUTCOMES = {"+": Outcome.HELD, "-": Outcome.FAILED, "?": Outcome.NOT_EXERCISED, "/": Outcome.NOT_OFFERED}


def result(clauses, outcome=Outcome.HELD, case="", detail=""):
    ids = tuple(clauses.split())
    return CaseResult(case or f"{ids[0]}-case-{outcome}", ids, outcome, 0.25, detail or f"{outcome}, seen", 3)


def verdict(*results, target=MINE, ledger=None, clauses=CONTRACT, **more):
    return judge(target, clauses, results, ledger or Ledger(), **more)


def status(judged, clause_id):
    return next(each.status for each in judged.clauses if each.clause.id == clause_id)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("+", Status.HOLDS),
        ("+?", Status.HOLDS),
        ("+/", Status.HOLDS),
        ("-", Status.FAILS),
        ("+-", Status.FAILS),
        ("?", Status.NOT_EXERCISED),
        ("?/", Status.NOT_OFFERED),
        ("", Status.NOT_EXERCISED),
    ],
)
def test_a_clause_comes_to_what_its_cases_say(outcomes, expected):
    judged = verdict(*(result("T-A-01", OUTCOMES[each], case=f"case {n}") for n, each in enumerate(outcomes)))
    assert status(judged, "T-A-01") is expected


def test_a_case_speaks_for_each_of_its_clauses():
    judged = verdict(result("T-A-01 T-A-02"))
    assert [status(judged, each) for each in ("T-A-01", "T-A-02")] == [Status.HOLDS, Status.HOLDS]
    assert judged.of_level("MUST") == (2, 2)


def test_what_is_asked_depends_on_kind_and_durability():
    def asked(target):
        return [each.clause.id for each in verdict(target=target).clauses if each.clause.id.startswith("T-B")]

    assert asked(Target("other")) == []
    assert asked(MINE) == ["T-B-01"]
    assert asked(Target("jsonl", kinds=frozenset({"jsonl"}))) == ["T-B-02"]
    assert asked(Target("other", durable=True)) == ["T-B-02"]


def test_every_clause_nobody_asked_says_why():
    seen = {each.clause.id: each.detail for each in verdict().clauses}
    assert seen["T-A-01"] == "no case asks it"
    assert seen["T-C-01"] == "needs the seam clock, not offered by the harness"
    assert seen["T-C-02"] == "asked of the reference only, by a test of its own"
    assert seen["T-C-03"] == "no eye sees it"


@pytest.mark.parametrize(
    ("results", "word", "code"),
    [
        (["T-A-01+"], Word.CONFORMS, 0),
        (["T-A-01+", "T-A-03-"], Word.CONFORMS, 0),
        (["T-A-01+", "T-A-02-"], Word.DOES_NOT_CONFORM, 1),
        (["T-A-02-"], Word.DOES_NOT_CONFORM, 1),
        ([], Word.NOTHING_EXERCISED, 3),
        (["T-A-01?", "T-A-02/"], Word.NOTHING_EXERCISED, 3),
        (["T-D-01+"], Word.NOTHING_EXERCISED, 3),
        (["T-D-01-", "T-A-01+"], Word.CONFORMS, 0),
    ],
)
def test_the_verdict_in_a_word(results, word, code):
    judged = verdict(*(result(each[:-1], OUTCOMES[each[-1]]) for each in results))
    assert (judged.word, judged.exit_code) == (word, code)


def test_a_selection_is_partial_unless_it_fails():
    held = verdict(result("T-A-01"), selection={"T-A-01"})
    assert (held.word, held.planned, held.exit_code) == (Word.PARTIAL, 1, 0)
    failed = verdict(result("T-A-01", Outcome.FAILED), selection={"T-A-01"})
    assert failed.word is Word.DOES_NOT_CONFORM


def test_clauses_beyond_count_only_where_the_harness_opts_in():
    bad = result("T-D-01", Outcome.FAILED)
    closed, opened = verdict(bad, result("T-A-01")), verdict(bad, target=Target("mine", beyond=True))
    assert [each.clause.id for each in closed.in_lane(Lane.BEYOND)] == ["T-D-01"]
    assert (closed.word, opened.word) == (Word.CONFORMS, Word.DOES_NOT_CONFORM)
    assert opened.in_lane(Lane.BEYOND) == ()


def test_clauses_newer_than_the_pin_are_shown_not_scored():
    clauses = contract(clause("T-A-01", since="2025.10"), clause("T-A-02", since="2026.1"))
    results = (result("T-A-01"), result("T-A-02", Outcome.FAILED))
    pinned = verdict(*results, clauses=clauses, target=Target("mine", contract="2025.10"))
    assert [each.status for each in pinned.in_lane(Lane.GRACE)] == [Status.FAILS]
    assert (pinned.word, pinned.planned) == (Word.CONFORMS, 1)
    assert verdict(*results, clauses=clauses).word is Word.DOES_NOT_CONFORM


def entry(clause_id, expires=date(2026, 12, 31), **more):
    return LedgerEntry(1, clause_id, Kind.BUG, "known", "kay", expires, **more)


def test_a_known_failure_does_not_break_conformance_but_is_counted():
    ledger = Ledger((entry("T-A-02"),), on=date(2026, 6, 1))
    judged = verdict(result("T-A-01"), result("T-A-02", Outcome.FAILED), ledger=ledger)
    assert (judged.word, judged.of_level("MUST"), judged.counts[Status.KNOWN]) == (Word.KNOWN_FAILURES, (1, 2), 1)


@pytest.mark.parametrize(
    ("known", "outcome", "line"),
    [
        (entry("T-A-02"), Outcome.HELD, "passes: remove it"),
        (entry("T-A-02", date(2026, 5, 31)), Outcome.FAILED, "expired on 2026-05-31"),
        (entry("T-C-03"), Outcome.HELD, "matches nothing"),
    ],
    ids=["holds", "expired", "matches-nothing"],
)
def test_a_red_ledger_is_red(known, outcome, line):
    judged = verdict(result("T-A-01"), result("T-A-02", outcome), ledger=Ledger((known,), on=date(2026, 6, 1)))
    assert judged.exit_code == 1
    assert len(judged.ledger_problems) == 1
    assert line in judged.ledger_problems[0]


@pytest.mark.parametrize(
    ("results", "line"),
    [
        ([result("T-X-01", case="lost")], "lost: names T-X-01, which the contract does not know"),
        ([result("T-A-01", Outcome.KIT_ERROR, detail="no call was made")], "no call was made"),
        ([result("T-A-01", case="twin"), result("T-A-01", case="twin")], "twin: gave 2 results in one run"),
        ([CaseResult("bare", (), Outcome.HELD, 0, "", 1)], "bare: names no clause"),
    ],
    ids=["unknown-clause", "kit-error", "twice", "no-clause"],
)
def test_kit_errors_go_before_everything(results, line):
    judged = verdict(*results, result("T-A-02", Outcome.FAILED))
    assert (judged.word, judged.exit_code) == (Word.KIT_ERROR, 1)
    assert any(line in each for each in judged.kit_errors)


def test_a_planned_case_without_a_result_is_not_accounted():
    planned = {"here": ("T-A-01",), "gone": ("T-A-02", "T-A-03")}
    judged = verdict(result("T-A-01", case="here"), planned=planned)
    assert judged.word is Word.KIT_ERROR
    assert judged.planned - judged.accounted == 2
    assert judged.kit_errors == ("gone: was planned and gave no result",)


ids = st.sampled_from([each.id for each in CONTRACT])
results = st.builds(
    CaseResult,
    case=st.uuids().map(str),
    clauses=st.lists(ids, min_size=1, max_size=4, unique=True).map(tuple),
    outcome=st.sampled_from(list(Outcome)),
    seconds=st.floats(0, 10),
    detail=st.text(),
    calls=st.integers(0, 9),
    reproducer=st.none() | st.text(),
)


@given(st.lists(results), st.booleans(), st.sets(ids) | st.none(), st.lists(ids, unique=True))
def test_planned_is_accounted_for_any_results(found, durable, selection, listed):
    target = Target("mine", kinds=frozenset({"memory"}), durable=durable)
    ledger = Ledger(tuple(entry(each) for each in listed), on=date(2026, 6, 1))
    judged = verdict(
        *found, target=target, ledger=ledger, selection=selection, planned={each.case: each.clauses for each in found}
    )
    assert judged.planned == judged.accounted == sum(judged.counts.values()) == len(judged.scored)
    counted = sum(judged.of_level(level)[1] for level in ("MUST", "SHOULD"))
    rest = judged.counts[Status.NOT_EXERCISED] + judged.counts[Status.NOT_OFFERED]
    assert counted + rest == judged.planned
    if judged.exit_code == 0:
        assert judged.counts[Status.KIT_ERROR] == 0
        assert any(each.status in (Status.HOLDS, Status.KNOWN, Status.FAILS) for each in judged.scored)


@given(results)
def test_a_result_travels_as_json(one):
    assert CaseResult.from_json(one.to_json()) == one


def test_a_duck_typed_harness_takes_the_defaults():
    class Harness:
        pass

    assert Target.of(Harness()) == Target("Harness")
    assert Target.of(Harness(), "named") == Target("named")


def test_the_facts_of_a_harness_are_read():
    harness = SimpleNamespace(name="mine", kinds={"memory"}, seams=["clock"], durable=True, contract="2025.3")
    expected = Target("mine", "sessions", frozenset({"memory"}), frozenset({"clock"}), True, "2025.3")
    assert Target.of(harness) == expected


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"kinds": "memory"}, "kinds must be a set of names, is 'memory'"),
        ({"seams": [1]}, r"seams must be a set of names, is \[1\]"),
        ({"name": "mine", "seams": {"clock", "clok"}}, "mine: seams: unknown clok; known are probe, .*clock"),
        ({"name": "mine", "kinds": {"redis"}}, "mine: kinds: unknown redis; known are memory, jsonl, sqlite"),
        ({"family": "chairs"}, "family 'chairs': unknown; known are sessions"),
        ({"cwd": 5}, "cwd must be a str or None, is 5"),
        ({"durable": "yes"}, "durable must be a bool, is 'yes'"),
        ({"contract": "soon"}, "contract 'soon' is no version such as 2026.1"),
        ({"contract": "2099.1"}, "contract 2099.1 is newer than this kit's"),
    ],
)
def test_facts_that_cannot_be_used_are_refused(facts, line):
    with pytest.raises(TargetError, match=line):
        Target.of(SimpleNamespace(**facts))
