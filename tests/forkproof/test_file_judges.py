"""What judges session files: names, strict lines, and the models of what a file holds."""

from pathlib import Path

import pytest

from forkgen import recipe
from forkgen.jsonl import lines
from forkgen.legacy import legacy_files
from forkproof.expect import ClauseBroken
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_in, lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.file_names import directory_name, encoded_id, file_name, session_path, stamp
from forkproof.oracle.ledger import zero_usage
from forkproof.oracle.legacy_model import legacy_model
from forkproof.oracle.model import SessionModel
from forkstore.contract.addresses import value_address
from forkstore.contract.records import SessionStats
from forkstore.contract.writes import CommitResult, EntryInsert, ValueSet

HEADER = b'{"v":4,"kind":"header","id":"a"}\n'


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/srv/garden", "--srv-garden--"),
        ("\\srv\\garden", "--srv-garden--"),
        ("C:\\srv:garden/north", "--C--srv-garden-north--"),
        ("//srv", "---srv--"),
        ("/", "----"),
        ("relative", "--relative--"),
        ("/süd — 코드", "--süd — 코드--"),
    ],
)
def test_directories_are_named_as_22_4_says(cwd, name):
    assert directory_name(cwd) == name


@pytest.mark.parametrize(
    ("id", "encoded"),
    [
        ("walk 1", "walk%201"),
        ("AZaz09-_.!~*'()", "AZaz09-_.!~*'()"),
        ("a/b\\c:d%e+f#g", "a%2Fb%5Cc%3Ad%25e%2Bf%23g"),
        ("\0\n\x7f", "%00%0A%7F"),
        ("süß🌱", "s%C3%BC%C3%9F%F0%9F%8C%B1"),
        ("", ""),
    ],
)
def test_ids_are_encoded_as_22_4_says(id, encoded):
    assert encoded_id(id) == encoded


def test_a_lone_surrogate_has_no_name():
    with pytest.raises(UnicodeEncodeError):
        encoded_id("\ud800")


@pytest.mark.parametrize(
    ("created_at", "text"),
    [
        (0, "1970-01-01T00-00-00-000Z"),
        (1_760_000_000_123, "2025-10-09T08-53-20-123Z"),
        (253_402_300_799_999, "9999-12-31T23-59-59-999Z"),
    ],
)
def test_times_have_24_characters(created_at, text):
    assert stamp(created_at) == text
    assert len(text) == 24


def test_the_example_of_22_4():
    assert file_name(1_760_000_000_123, "walk 1") == "2025-10-09T08-53-20-123Z_walk%201.jsonl"
    path = session_path(Path("/data"), "/srv/garden", 1_760_000_000_123, "walk 1")
    assert path == Path("/data/--srv-garden--/2025-10-09T08-53-20-123Z_walk%201.jsonl")


def test_a_file_is_read_line_by_line_in_order(tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(HEADER + b'{"b":2.50,"a":"x\xe2\x80\xa8y"}\n[{"n":1},{"n":2}]\n[]\n')
    found = lines_of(path)
    assert found.header == {"v": 4, "kind": "header", "id": "a"}
    assert found.transactions == [[{"b": 2.5, "a": "x\u2028y"}], [{"n": 1}, {"n": 2}], []]
    assert found.records == [{"b": 2.5, "a": "x\u2028y"}, {"n": 1}, {"n": 2}]
    assert list(found.records[0]) == ["b", "a"]
    assert b"2.50" in found.texts[1]
    assert (found.values[1], found.values[3]) == ({"b": 2.5, "a": "x\u2028y"}, [])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "an empty file"),
        (HEADER[:-1], "last byte is LF"),
        (HEADER + b'{"a":1}', "last byte is LF"),
        (HEADER + b"\n", "line 2"),
        (b"\xef\xbb\xbf" + HEADER, "line 1"),
        (HEADER + b'{"a":NaN}\n', "NaN is no JSON"),
        (HEADER + b'{"a":-Infinity}\n', "-Infinity is no JSON"),
        (HEADER + b'{"a":"\x01"}\n', "line 2"),
        (HEADER + b'{"a":"\xff"}\n', "utf-8"),
        (HEADER + b"7\n", "an object or an array of objects"),
        (HEADER + b'[{"a":1},7]\n', "an object or an array of objects"),
        (HEADER + b'{"a":1}{"a":1}\n', "line 2"),
        (HEADER + b"{}\n" + b"[" * 100_000 + b"\n", "line 3"),
    ],
)
def test_what_breaks_the_framing_breaks_the_clause(data, told):
    with pytest.raises(ClauseBroken) as broken:
        lines_in(data, Path("/data/walk.jsonl"))
    assert told in str(broken.value)
    assert "/data/walk.jsonl" in str(broken.value)


def test_an_array_is_no_header():
    with pytest.raises(ClauseBroken, match="a header, which is an object"):
        _ = lines_in(b"[]\n", Path("/data/walk.jsonl")).header


@pytest.mark.parametrize("name", ["everything", "dead_history", "lists", "usage", "labels"])
def test_the_model_of_a_file_is_what_its_recipe_expects(name):
    generated = recipe(name)(seed=3, size=40)
    data = b"".join(lines(generated, id="a", cwd="/srv/garden", created_at=7))
    model = model_of_records(lines_in(data, Path("a")).records)
    expected = generated.expectation
    assert [{k: v for k, v in row.value.items() if k != "timestamp"} for row in model.entries.values()] == list(
        expected.entries()
    )
    assert {(a.namespace, a.key): value for a, value in expected.scalars()} == model.state().scalars
    assert {(a.namespace, a.key): list(values) for a, values in expected.lists()} == model.state().lists
    assert list(expected.usage_rows()) == model.state().ledger
    assert model.state().usage == expected.usage
    assert model.next_seq == sum(len(transaction) for transaction in generated) + 1
    seqs = [row.seq for row in model.entries.values()]
    assert seqs == sorted(set(seqs))


def test_the_model_of_a_file_follows_commits_like_any_other():
    model = model_of_records(lines_in(small_file(), Path("a")).records, parent_session_id="p", next_seq=900)
    assert (model.parent_session_id, model.next_seq) == ("p", 900)
    stats = SessionStats(0, {})
    model.apply([ValueSet(value_address("garden.plan"), 1)], CommitResult(900, [900], 5, stats))
    assert (model.next_seq, model.value(value_address("garden.plan"))) == (901, 1)
    assert ("garden.plan", "row:3") in model.touched


def test_the_small_file_has_everything_damage_works_on():
    found = lines_in(small_file(), Path("a"))
    assert {(one["kind"], one.get("op")) for one in found.records} == {
        ("entry", None),
        ("usage", None),
        ("value", "set"),
        ("value", "delete"),
        ("list", "append"),
        ("list", "delete"),
    }
    assert {one["type"] for one in found.records if one["kind"] == "entry"} == {"message", "custom", "compaction"}
    assert len(found.transactions[-1]) > 1
    assert any(byte > 0x7F for byte in found.texts[-1])


CASES = {case.name: case for case in legacy_files()}


def test_a_legacy_session_shows_the_usage_of_its_messages_until_it_is_upgraded():
    case = next(case for case in CASES.values() if case.normalized and case.normalized.usage != zero_usage())
    ids = [f"fresh-{number}" for number in range(len(case.normalized.entries))]
    model = legacy_model(case, ids)
    assert (model.state().usage, model.state().ledger) == (case.normalized.usage, [])
    assert list(model.entries) == ids
    row = {"id": "u", "usage": case.normalized.usage, "adjustment": True, "details": {"source": "v3-import"}, "seq": 9}
    model.follow_upgrade([row])
    assert (model.state().usage, len(model.state().ledger)) == (case.normalized.usage, 1)
    assert model.state().ledger == [{name: value for name, value in row.items() if name != "seq"}]


@pytest.mark.parametrize("lie", [{"adjustment": False}, {"details": {"source": "v4"}}, {"usage": {}}])
def test_another_row_than_the_import_breaks_the_clause(lie):
    case = CASES["every-kind"]
    model = legacy_model(case, [f"fresh-{number}" for number in range(len(case.normalized.entries))])
    row = {"id": "u", "usage": model.imported, "adjustment": True, "details": {"source": "v3-import"}, "seq": 9}
    for rows in ([{**row, **lie}], []):
        with pytest.raises(ClauseBroken, match="the first usage row after the upgrade"):
            model.follow_upgrade(rows)


def test_a_legacy_session_is_modelled_with_the_ids_of_one_reading():
    case = CASES["every-kind"]
    ids = [f"fresh-{number}" for number in range(len(case.normalized.entries))]
    model = legacy_model(case, ids)
    assert model.tip("main") == ids[-1]
    assert model.scalars["pi.session.name", ""].value == "pruning"
    assert model.next_seq == case.normalized.next_seq
    assert model.entries[ids[4]].value["fromId"] == ids[1]
    assert isinstance(model, SessionModel)
    model.apply(
        [EntryInsert({"id": "x", "parentId": ids[0], "type": "custom", "customType": "n"})],
        CommitResult(90, [90], 5, SessionStats(0, {})),
    )
    assert list(model.entries) == [*ids, "x"]
    with pytest.raises(ValueError, match="argument"):
        legacy_model(case, ids[:-1])


def test_a_file_that_does_not_open_has_no_model():
    refused = next(case for case in CASES.values() if case.normalized is None)
    with pytest.raises(ValueError, match="does not open"):
        legacy_model(refused, [])
