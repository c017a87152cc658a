"""The one decoder and the writer of lines (spec sections 6, 22.2 and 22.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkgen import recipe
from forkgen.damage import damage
from forkgen.jsonl import lines
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.codec import depth
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
    prepare,
)
from forkstore.jsonl.format import read_line, record_text, transaction_line, value_text
from forkstore.jsonl.records import LineFault, StoredElement, StoredValue, read_slowly, split_slowly, value_text_slowly
from tests.forkgen.good_files import CREATED_AT, FILES, good_file
from tests.forkgen.strict_format4 import Refused, Replay, require
from tests.forkgen.strict_json import NotStrict, parse
from tests.forkstore.jsonl.decoding import (
    QUIET,
    disagreement,
    entry_line,
    lists,
    texts_of,
    usage_line,
    value_line,
    verdict,
)

GOOD = {name: good_file(name) for name in FILES}


def lines_of_damage(good: bytes) -> set[bytes]:
    """Every line, torn ones and headers too, of every damaged file."""
    return {line for variant in damage(good) for line in b"".join(variant.chunks()).split(b"\n")}


def is_good(line: bytes) -> bool:
    """What a checker that shares nothing with the store says of a line, whatever stands before it."""
    try:
        value = parse(line)
        require(type(value) in (dict, list))
        for record in value if type(value) is list else [value]:
            require(type(record) is dict)
            require(all(depth(field) <= 210 for field in record.values()))
            replay = Replay()
            if type(record.get("parentId")) is str:
                replay.entry_ids.add(record["parentId"])
            replay.record(record)
    except (NotStrict, Refused):
        return False
    return True


# ── reading: two ways, one answer ──


@pytest.mark.parametrize("name", GOOD)
def test_both_ways_read_every_line_of_every_damaged_file_alike(name: str) -> None:
    assert {line: both for line in lines_of_damage(GOOD[name]) if (both := disagreement(line))} == {}


@pytest.mark.one_python
@pytest.mark.parametrize("name", ["everything", "unicode", "numbers", "wide"])
def test_both_ways_read_files_of_recipes_alike(name: str) -> None:
    good = b"".join(lines(recipe(name)(seed=3, size=2), id="walk-1", cwd="/srv/garden", created_at=CREATED_AT))
    assert {line: both for line in lines_of_damage(good) if (both := disagreement(line))} == {}


NAMES = "kind id parentId type customType seq timestamp op namespace key value usage adjustment entryId data other"
TEXTS = """null true false 0 1 1.0 1e0 -0 -1 9007199254740991 9007199254740992 18446744073709551617 1e999 [] {} [1,]
"" "x" "\\u0000" "\\ud800" "\\u00e9" "set" "append" "delete" "entry" "usage" "value" "list" "custom" "message" tru"""
RECORDS = (entry_line(), entry_line(type='"x"'), usage_line(), value_line("[1]"), value_line("1", op="delete"))
MEMBERS = st.tuples(st.sampled_from(NAMES.split()), st.sampled_from([*TEXTS.split(), lists(210), lists(211)]))
BLANKS = st.sampled_from(["", " ", "\t", "\r", "  "])


@st.composite
def odd_records(draw: st.DrawFn) -> str:
    """A good record with some members left out, put in or put in twice, in any order, and blanks between them."""
    members = [(name, json.dumps(value)) for name, value in json.loads(draw(st.sampled_from(RECORDS))).items()]
    kept = draw(st.lists(st.sampled_from(members), min_size=len(members) - 1, max_size=len(members), unique=True))
    members = draw(st.permutations(kept + draw(st.lists(MEMBERS, max_size=3))))
    blank = draw(BLANKS)
    return "{" + f"{blank},{blank}".join(f'"{name}"{blank}:{blank}{text}' for name, text in members) + "}"


@st.composite
def odd_lines(draw: st.DrawFn) -> bytes:
    """One record, or an array of up to three."""
    records = draw(st.lists(odd_records(), max_size=3))
    text = records[0] if len(records) == 1 and draw(st.booleans()) else "[" + ",".join(records) + "]"
    return (draw(BLANKS) + text + draw(BLANKS)).encode()


@QUIET
@given(odd_lines())
def test_both_ways_read_odd_lines_alike_and_as_a_strict_checker_does(line: bytes) -> None:
    assert disagreement(line) is None
    assert (verdict(read_line, line) != "fault") == is_good(line)


@QUIET
@given(st.sampled_from(RECORDS), st.integers(0, 200), st.integers(0, 4), st.binary(max_size=4))
def test_both_ways_read_lines_with_other_bytes_alike(line: bytes, at: int, taken: int, put: bytes) -> None:
    changed = line[:at] + put.replace(b"\n", b"") + line[at + taken :]
    assert disagreement(changed) is None


@QUIET
@given(odd_lines())
def test_a_good_line_falls_into_the_texts_of_its_records(line: bytes) -> None:
    if verdict(read_line, line) == "fault":
        return
    texts, records = texts_of(line), read_line(line)
    assert [verdict(read_line, text) for text in texts] == [[record] for record in verdict(read_line, line)]
    if line.strip().startswith(b"["):
        assert texts == split_slowly(line)
    for record, text in zip(records, texts, strict=True):
        if isinstance(record, StoredValue | StoredElement) and record.op != "delete":
            assert parse(value_text(text)) == parse(value_text_slowly(text)) == parse(text)["value"]


@pytest.mark.parametrize("wrong", [b"1e999", b'"\xff"', b'"\x01"', b"9" * 4301, b"tru", b"NaN", b"[1,]"])
@pytest.mark.parametrize(
    "line",
    [
        lambda wrong: value_line(wrong, op="delete"),
        lambda wrong: value_line(wrong + b',"value":1'),
        lambda wrong: value_line(wrong + b',"value":1', op="delete"),
        lambda wrong: b"[%b,%b]" % (usage_line(), value_line(wrong + b',"value":1')),
    ],
)
def test_what_a_record_does_not_keep_is_json_all_the_same(line: Any, wrong: bytes) -> None:
    """22.3: the line as a whole is UTF-8 and strict JSON."""
    assert verdict(read_line, line(b"1")) != "fault"
    assert verdict(read_line, line(wrong)) == "fault"


@pytest.mark.parametrize("line", [b"", b" \t\r", b"7", b"null", b'"x"', b"[[]]", b"[7]", b"[null]", b"{}", b"[{}]"])
def test_what_is_no_record_says_so(line: bytes) -> None:
    with pytest.raises(LineFault):
        read_line(line)


@pytest.mark.parametrize("line", [b"[]", b" [ ]\t\r"])
def test_an_empty_array_holds_no_record(line: bytes) -> None:
    assert read_line(line) == read_slowly(line) == []
    assert texts_of(line) == []


# ── writing ──

PLAN, LOG = value_address("garden.plan", "row:3"), list_address("garden.log")
MESSAGE = {"role": "user", "content": "früh\n\x7f", "timestamp": 1}
USAGE = json.loads(usage_line())["usage"]
FRAME = '"seq":7,"timestamp":1760000001010}'
WRITTEN: list[tuple[Write, str]] = [
    (
        EntryInsert({"message": MESSAGE, "type": "message", "id": "e1", "terminate": True, "parentId": None}),
        '{"kind":"entry","message":{"role":"user","content":"früh\\n\x7f","timestamp":1},"type":"message","id":"e1",'
        '"terminate":true,"parentId":null,' + FRAME,
    ),
    (
        EntryInsert({"id": "e2", "parentId": "e1", "type": "custom", "customType": "c", "odd": [1e16, 2.50, {}]}),
        '{"kind":"entry","id":"e2","parentId":"e1","type":"custom","customType":"c","odd":[1e+16,2.5,{}],' + FRAME,
    ),
    (
        UsageInsert({"id": "u1", "usage": USAGE, "adjustment": True, "details": None}),
        '{"kind":"usage","id":"u1","usage":' + json.dumps(USAGE, separators=(",", ":")) + ',"adjustment":true,'
        '"details":null,"seq":7}',
    ),
    (ValueSet(PLAN, None), '{"kind":"value","op":"set","seq":7,"namespace":"garden.plan","key":"row:3","value":null}'),
    (ValueDelete(PLAN), '{"kind":"value","op":"delete","seq":7,"namespace":"garden.plan","key":"row:3"}'),
    (ListAppend(LOG, "x"), '{"kind":"list","op":"append","seq":7,"namespace":"garden.log","key":"","value":"x"}'),
    (ListDelete(LOG), '{"kind":"list","op":"delete","seq":7,"namespace":"garden.log","key":""}'),
]


def text_of(write: Write) -> bytes:
    (prepared,) = prepare([write])
    return record_text(prepared, 7, 1_760_000_001_010)


@pytest.mark.parametrize(("write", "text"), WRITTEN)
def test_a_record_is_written_in_the_order_of_the_contract(write: Write, text: str) -> None:
    assert text_of(write) == text.encode()
    assert is_good(text_of(write))


def test_one_record_is_a_line_and_more_are_an_array() -> None:
    texts = [text_of(write) for write, _ in WRITTEN]
    assert transaction_line(texts[:1]) == texts[0] + b"\n"
    assert transaction_line(texts) == b"[" + b",".join(texts) + b"]\n"
    assert texts_of(transaction_line(texts)[:-1]) == texts


def test_names_of_addresses_are_written_as_payloads_are() -> None:
    """Section 6.1, for every character that a name may hold."""
    characters = "".join(chr(code) for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF)
    for start in range(0, len(characters), 0x200):
        name = characters[start : start + 0x200]
        quoted = json.dumps(name, ensure_ascii=False)
        text = f'{{"kind":"value","op":"delete","seq":7,"namespace":{quoted},"key":{quoted}}}'
        assert text_of(ValueDelete(value_address(name, name))) == text.encode()


@pytest.mark.parametrize("seq", [1, 2**53 - 1])
def test_what_is_written_is_read(seq: int) -> None:
    for write, _ in WRITTEN:
        (prepared,) = prepare([write])
        (record,) = read_line(record_text(prepared, seq, 2**53 - 1))
        assert record.seq == seq
