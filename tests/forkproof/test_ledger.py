"""The known-failures ledger: strict in what it accepts, one clear line for what it refuses."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.clauses import load
from forkproof.ledger import Kind, Ledger, LedgerEntry, LedgerError, find_ledger, load_ledger, write_ledger

TODAY = date(2026, 6, 1)
ENTRY = """
[[known-failures]]
clause = "S-TXN-02"
kind = "bug"
reason = "half a commit stays"
owner = "kay"
expires = 2026-12-31
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="forkproof.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_an_entry_is_read(written):
    ledger = load_ledger(written(ENTRY), on=TODAY)
    expected = LedgerEntry(1, "S-TXN-02", Kind.BUG, "half a commit stays", "kay", date(2026, 12, 31))
    assert ledger.entries == (expected,)
    assert ledger.entry_for("any target", "S-TXN-02") == expected
    assert ledger.entry_for("any target", "S-TXN-03") is None


def test_the_same_entry_in_pyproject(written):
    path = written(ENTRY.replace("[[known", "[[tool.forkproof.known"), "pyproject.toml")
    assert [entry.clause for entry in load_ledger(path, on=TODAY).entries] == ["S-TXN-02"]


def test_where_a_project_keeps_its_ledger(written, tmp_path):
    assert find_ledger(tmp_path) is None
    project = written("[tool.other]\n", "pyproject.toml")
    assert find_ledger(tmp_path) is None
    written("[tool.forkproof]\n", "pyproject.toml")
    assert find_ledger(tmp_path) == project
    assert find_ledger(tmp_path) != written("")
    assert find_ledger(tmp_path) == tmp_path / "forkproof.toml"


def test_no_file_is_an_empty_ledger():
    assert load_ledger(None, on=TODAY) == Ledger(on=TODAY)


def test_a_project_table_that_is_none_is_one_clear_line(written):
    with pytest.raises(LedgerError, match=r"tool\.forkproof must be a table"):
        load_ledger(written("tool.forkproof = 3", "pyproject.toml"), on=TODAY)
    assert find_ledger(written("tool = 3", "pyproject.toml").parent) is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('owner = "kay"', "", "entry 1, field 'owner': missing"),
        ('owner = "kay"', 'owner = " "', "entry 1, field 'owner': must be a text that is not blank, is ' '"),
        ('owner = "kay"', "owner = 7", "entry 1, field 'owner': must be a text that is not blank, is 7"),
        ('owner = "kay"', 'owner = "kay"\nwhen = 1', "entry 1, field 'when': unknown; known are clause, kind"),
        ('"bug"', '"wish"', "entry 1, field 'kind': must be one of bug, unsupported, later, is 'wish'"),
        ("2026-12-31", '"2026-12-31"', "entry 1, field 'expires': must be a TOML date"),
        ("2026-12-31", "2026-12-31T10:00:00Z", "entry 1, field 'expires': must be a TOML date"),
        ('"S-TXN-02"', '"S-TXN-2"', "entry 1, field 'clause': 'S-TXN-2' is no clause of any contract"),
        ("[[known-failures]]", "[known-failures]", "known-failures must be an array of tables"),
        ("[[known-failures]]", "[[known_failures]]", "known_failures: unknown; entries are written"),
        ("[[known-failures]]", "known-failures = [1]", "is not TOML|must be an array"),
        ('"bug"', "bug", "is not TOML: "),
        (ENTRY, ENTRY + ENTRY, "entry 2, field 'clause': S-TXN-02 is also entry 1"),
    ],
)
def test_a_malformed_ledger_is_one_clear_line(written, old, new, problem):
    path = written(ENTRY.replace(old, new, 1))
    with pytest.raises(LedgerError) as refused:
        load_ledger(path, on=TODAY)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    assert any(part in str(refused.value) for part in problem.split("|"))


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["missing", "not-utf-8"])
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path, content):
    path = tmp_path / "forkproof.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LedgerError, match="cannot be read"):
        load_ledger(path, on=TODAY)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("holds", "passes: remove it"),
        ("known failure", None),
        ("fails", None),
        ("not exercised", "matches nothing: the clause was not exercised"),
        ("not offered", "matches nothing: the clause was not offered"),
        (None, "matches nothing: the clause is not asked of this target"),
    ],
)
def test_a_ledger_is_strict(written, status, line):
    path = written(ENTRY)
    statuses = {"S-TXN-02": status} if status else {}
    problems = load_ledger(path, on=TODAY).problems("mystore", load("sessions"), statuses)
    assert problems == ((f"{path}, known-failures entry 1, S-TXN-02: {line}",) if line else ())


def test_an_entry_counts_through_its_last_day(written):
    path = written(ENTRY)
    for day, red in ((date(2026, 12, 31), 0), (date(2027, 1, 1), 1)):
        ledger = load_ledger(path, on=day)
        assert ledger.is_expired(ledger.entries[0]) == bool(red)
        assert len(ledger.problems("mystore", load("sessions"), {"S-TXN-02": "fails"})) == red


def test_entries_of_other_targets_and_outside_a_selection_are_left_alone(written):
    ledger = load_ledger(written(ENTRY + 'target = "yours"\n'), on=TODAY)
    sessions = load("sessions")
    assert ledger.problems("mine", sessions, {"S-TXN-02": "holds"}) == ()
    assert ledger.entry_for("mine", "S-TXN-02") is None
    assert len(ledger.problems("yours", sessions, {"S-TXN-02": "holds"})) == 1
    assert ledger.problems("yours", sessions, {"S-TXN-02": "holds"}, {"S-TXN-03"}) == ()


def test_an_entry_for_the_target_goes_before_one_for_all(written):
    ledger = load_ledger(written(ENTRY + ENTRY + 'target = "mine"\n'), on=TODAY)
    assert ledger.entry_for("mine", "S-TXN-02").number == 2
    assert ledger.entry_for("yours", "S-TXN-02").number == 1


texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@given(reason=texts, owner=texts, target=texts, expires=st.dates(date(2026, 1, 1)))
def test_what_is_written_is_read_back(tmp_path_factory, reason, owner, target, expires):
    path = tmp_path_factory.mktemp("ledger") / "forkproof.toml"
    pairs = [("S-TXN-02", reason), ("S-FORK-BR-04", reason)]
    path.write_bytes(write_ledger(pairs, target=target, owner=owner, expires=expires).encode())
    entries = load_ledger(path, on=TODAY).entries
    assert [(each.clause, each.reason) for each in entries] == pairs
    assert {(each.owner, each.target, each.expires, each.kind) for each in entries} == {
        (owner, target, expires, Kind.BUG)
    }


def test_a_lone_surrogate_in_a_reason_can_be_written():
    text = write_ledger([("S-TXN-02", "seen \ud800")], target="mine", owner="kay", expires=TODAY)
    assert 'reason = "seen ?"' in text
