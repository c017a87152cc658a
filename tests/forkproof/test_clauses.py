"""The clause files: complete, true to their rules, and refused as a whole when they break one."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from forkproof.clauses import CONTRACT, ClausesError, families, load, load_all, parse_version, read_clauses
from forkproof.clauses.coverage import cases_by_clause, gaps, without_case

GOOD = """
family = "toys"
contract = "2026.1"
prefix = "T-"
kinds = ["memory"]
seams = ["clock"]

[[clause]]
id = "T-ONE-01"
level = "MUST"
applies = ["all"]
needs = []
statement = "A toy is a toy."
since = "2026.1"
area = "Toys"
"""


def read(directory: Path, text: str):
    path = directory / "toys.toml"
    path.write_text(text, encoding="utf-8")
    return read_clauses(path)


def test_the_session_contract_is_whole():
    sessions = load("sessions")
    levels = Counter(clause.level for clause in sessions)
    assert (len(sessions), dict(levels)) == (356, {"MUST": 353, "SHOULD": 3})
    assert sum(1 for clause in sessions if "all" in clause.applies) == 207
    assert sum(1 for clause in sessions if "code" in clause.needs) == 8
    assert [clause.id for clause in sessions if clause.durable] == ["S-TXN-15", "S-TXN-18"]
    assert {clause.since for clause in sessions} == {CONTRACT}


def test_sentences_are_the_contracts_own():
    clause = load("sessions")["S-ERR-03"]
    sentence = "`asyncio.CancelledError` reaches the caller as it is; it is neither wrapped nor swallowed."
    assert clause.statement == sentence
    assert (clause.group, clause.area) == ("S-ERR", "Interface and errors")


def test_every_family_loads_once():
    assert "sessions" in families()
    assert load("sessions") is load("sessions")
    assert [clauses.family for clauses in load_all()] == list(families())


def test_an_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(ClausesError, match=r"family 'dreams': unknown; known are .*sessions"):
        load("dreams")


def test_a_prefix_ends_at_a_hyphen():
    sessions = load("sessions")
    assert len(sessions.starting_with("S-FORK-BR")) == len(sessions.starting_with("S-FORK-BR-")) == 11
    assert [clause.id for clause in sessions.starting_with("S-FORK-BR-04")] == ["S-FORK-BR-04"]
    assert sessions.starting_with("S-FORK-BR-0") == sessions.starting_with("S-FO") == ()


@pytest.mark.parametrize(
    ("text", "order"), [("2026.1", (2026, 1)), ("2026.10", (2026, 10))], ids=["plain", "two-digits-go-after-one"]
)
def test_versions_compare_as_numbers(text, order):
    assert parse_version(text) == order


@pytest.mark.parametrize("text", ["", "2026", "v2026.1", "2026.1 ", "2026.1\n", "2026.x"])
def test_other_texts_are_no_version(text):
    with pytest.raises(ValueError, match="not a contract version"):
        parse_version(text)


def test_a_good_file_loads(tmp_path):
    assert [clause.id for clause in read(tmp_path, GOOD)] == ["T-ONE-01"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('family = "toys"', "", "lacks 'family'"),
        ('id = "T-ONE-01"', "", "clause 1 lacks 'id'"),
        ('"T-ONE-01"', '"S-ONE-01"', "S-ONE-01 is not an id of the form T-AREA-01"),
        ('"T-ONE-01"', '"T-ONE"', "T-ONE is not an id of the form T-AREA-01"),
        ('"MUST"', '"MAY"', "T-ONE-01 has the level 'MAY', not MUST or SHOULD"),
        ('["all"]', '["paper"]', "T-ONE-01 applies to an unknown kind of store: paper"),
        ('["all"]', "[]", "T-ONE-01 applies to an unknown kind of store: none named"),
        ("needs = []", 'needs = ["magic"]', "T-ONE-01 needs an unknown seam: magic"),
        ("needs = []", 'needs = "clock"', "T-ONE-01: needs must be a list, is 'clock'"),
        ('since = "2026.1"', 'since = "2027.1"', "no contract version up to 2026.1"),
        ('since = "2026.1"', 'since = "soon"', "no contract version up to 2026.1"),
        ('"A toy is a toy."', '" "', "T-ONE-01 has an empty statement or area"),
        ('area = "Toys"', 'area = "Toys"\ncolour = "red"', "T-ONE-01 has an unknown field 'colour'"),
        ("[[clause]]", "[[clause", "cannot be read"),
        ("\n[[clause]]", GOOD[GOOD.index("\n[[clause]]") :] + "[[clause]]", "T-ONE-01 is written twice"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused(tmp_path, old, new, problem):
    with pytest.raises(ClausesError) as refused:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert str(refused.value).startswith("toys.toml: ")
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_map_of_clauses_and_cases_names_every_gap(tmp_path):
    entry = tomllib.loads(GOOD)["clause"][0]["id"]
    two = GOOD + GOOD[GOOD.index("\n[[clause]]") :].replace("01", "02") + 'reason = "no eye sees it"\n'
    toys = read(tmp_path, two)
    cases = cases_by_clause([("case-a", ["T-ONE-02", "T-NIL-01"])])
    assert gaps(toys, cases) == (
        "T-NIL-01: no clause, named by case-a",
        f"{entry}: no case, no proven_by and no reason",
        "T-ONE-02: has a reason for having no case, and is proven all the same",
    )
    assert gaps(toys, cases_by_clause([("case-b", ["T-ONE-01"])])) == ()
    assert [(clause.id, reason) for clause, reason in without_case(toys, cases)] == [("T-ONE-01", "NO REASON WRITTEN")]
