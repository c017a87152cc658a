"""The checks of one record, with their reasons; and how deep it may be (spec sections 6 and 22.3)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkstore.contract.codec import depth, is_deeper
from forkstore.jsonl.format import read_line
from forkstore.jsonl.records import LineFault, read_slowly, split_slowly
from tests.forkstore.jsonl.decoding import QUIET, entry_line, lists, usage_line, value_line, verdict

# ── reasons ──


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"kind":"header"}', "kind"),
        (b'{"seq":1}', "kind"),
        (entry_line(seq="0"), "seq"),
        (entry_line(seq="1.0"), "seq"),
        (entry_line(timestamp="-1"), "timestamp"),
        (entry_line(timestamp="true"), "timestamp"),
        (entry_line(id="7"), "id"),
        (entry_line(parentId="7"), "parentId"),
        (entry_line(type="null"), "type"),
        (entry_line(customType="null"), "customType"),
        (entry_line(type='"message"'), "customType"),
        (entry_line(customType='"\\ud800"'), "customType is missing or holds a lone surrogate"),
        (entry_line().replace(b'"customType":"c",', b""), "customType"),
        (entry_line().replace(b'"parentId":null,', b""), "parentId is missing"),
        (usage_line(adjustment="0"), "adjustment"),
        (usage_line(entryId="null"), "entryId"),
        (usage_line(usage="{}"), "usage.cost"),
        (usage_line().replace(b'"input":1,', b'"input":true,', 1), "usage.input"),
        (usage_line().replace(b'"total":0.5', b'"total":"0"'), "usage.cost.total"),
        (value_line("1", op="append"), "op"),
        (value_line("1").replace(b',"value":1', b""), "value"),
        (value_line("1").replace(b'"app"', b'""'), "namespace"),
        (value_line("1").replace(b'"app"', b'"a\\u0000"'), "namespace"),
        (value_line("1").replace(b'"k"', b'"\\u0000"'), "key"),
        (value_line("1").replace(b'"k"', b'"\\udfff"'), "key"),
        (value_line("1").replace(b'"k"', b"null"), "key"),
        (b"7", "not an object"),
        (b"[7]", "not an object"),
    ],
)
def test_a_fault_says_where_it_lies(line: bytes, reason: str) -> None:
    for read in (read_line, read_slowly):
        with pytest.raises(LineFault) as fault:
            read(line)
        assert reason in str(fault.value)


def test_a_line_that_is_no_json_says_at_which_character() -> None:
    line = value_line("tru")
    with pytest.raises(LineFault, match=rf"at character {line.index(b'tru')}$"):
        read_line(line)


def test_the_longest_number_does_not_depend_on_the_process() -> None:
    """S-VAL-17."""
    allowed = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        for sign in ("", "-"):
            assert verdict(read_line, value_line(sign + "9" * 4_300)) != "fault"
            assert verdict(read_line, value_line(sign + "9" * 4_301)) == "fault"
    finally:
        sys.set_int_max_str_digits(allowed)


def test_an_entry_of_an_unknown_type_and_fields_of_any_name_are_taken() -> None:
    """S-JSONL-FMT-08, S-JSONL-FMT-09."""
    for line in (
        entry_line(type='"digest"', other="[]").replace(b'"customType":"c",', b""),
        usage_line(other="1", entryId='""'),
        value_line('1,"other":2'),
        value_line("null", op="delete"),
    ):
        assert verdict(read_line, line) == verdict(read_slowly, line) != "fault"


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (b"[]", []),
        (b" [ \t]\r", []),
        (b'[1,"],[" , {"a":[2,"\\""]},\t[] ]', [b"1", b'"],["', b'{"a":[2,"\\""]}', b"[]"]),
        ('["früh \\ud800",1e5]'.encode(), ['"früh \\ud800"'.encode(), b"1e5"]),
    ],
)
def test_an_array_falls_into_the_texts_of_its_members(line: bytes, texts: list[bytes]) -> None:
    assert split_slowly(line) == texts


# ── depth ──


def message_line(message: str) -> bytes:
    return entry_line(type='"message"', message=message).replace(b'"customType":"c",', b"")


def tail_line(tail: str, kind: str = "compaction") -> bytes:
    return entry_line(type=f'"{kind}"', retainedTail=tail).replace(b'"customType":"c",', b"")


PLACES: dict[str, Any] = {
    "data of an entry": lambda text: entry_line(data=text),
    "message": lambda text: message_line(f'{{"role":{text[1:-1] or "[]"}}}'),
    "unknown field of an entry": lambda text: entry_line(other=text),
    "details of a usage row": lambda text: usage_line(details=text),
    "unknown field of a usage row": lambda text: usage_line(other=text),
    "value of a scalar": value_line,
    "value of an element": lambda text: value_line(text, op="append").replace(b'"value"', b'"list"', 1),
    "message of a tail": lambda text: tail_line(f"[0,{text}]"),
    "tail of another type": lambda text: tail_line(text, "message"),
    "tail of an unknown type": lambda text: tail_line(text, "digest"),
    "object for a tail": lambda text: tail_line(f'{{"0":{text[1:-1] or "[]"}}}'),
}


def mixed(depth: int) -> str:
    """The JSON text of lists and objects in turn, so deep."""
    return "[]" if depth == 1 else f"[{mixed_object(depth - 1)}]"


def mixed_object(depth: int) -> str:
    return "{}" if depth == 1 else f'{{"a":{mixed(depth - 1)}}}'


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("text", [lists, mixed])
@pytest.mark.parametrize("place", PLACES)
def test_a_payload_is_read_up_to_depth_210_wherever_it_stands(
    place: str, text: Callable[[int], str], alone: bool
) -> None:
    """S-VAL-17: every field counts on its own, and so does every message of a retained tail."""

    def outcome(levels: int) -> list[tuple[object, ...]] | str:
        line = PLACES[place](text(levels))
        return verdict(read_line, line if alone else b"[%b,%b]" % (value_line("1"), line))

    assert [levels for levels in (200, 209, 210) if outcome(levels) == "fault"] == []
    assert [levels for levels in (211, 212, 213, 214, 215, 300, 400) if outcome(levels) != "fault"] == []


@pytest.mark.parametrize("levels", [2_000, 100_000])
@pytest.mark.parametrize("closed", [True, False])
def test_bottomless_text_is_a_fault_and_nothing_else(levels: int, closed: bool) -> None:
    text = "[" * levels + "]" * levels * closed
    for line in (value_line(text), entry_line(data=text), value_line(text, op="delete"), text.encode()):
        assert verdict(read_line, line) == verdict(read_slowly, line) == "fault"


def hidden(levels: int, inner: str = "1") -> str:
    """Lists so deep around a text, with texts in them whose brackets pair off against those of the lists."""
    return '["]",' * levels + inner + ',"["]' * levels


@pytest.mark.parametrize("place", ["data of an entry", "value of a scalar", "details of a usage row"])
def test_brackets_inside_of_texts_do_not_hide_that_a_payload_is_too_deep(place: str) -> None:
    for levels, good in ((210, True), (211, False), (300, False)):
        assert (verdict(read_line, PLACES[place](hidden(levels))) != "fault") is good


@pytest.mark.parametrize("text", ["[" * 500, "]" * 500, "[{" * 300 + "}]" * 300, '\\"[' * 300, "\\\\[" * 300])
def test_nor_do_they_make_one_deep(text: str) -> None:
    for place in PLACES.values():
        assert verdict(read_line, place(f'["{text}"]')) != "fault"


ODD_TEXTS = st.text(st.sampled_from('[]{}"\\nx'), max_size=4)
NESTED = st.recursive(
    ODD_TEXTS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD_TEXTS, inner, max_size=3),
    max_leaves=12,
)


@QUIET
@given(NESTED)
def test_the_depth_of_text_is_that_of_its_value(value: Any) -> None:
    text = json.dumps(value).encode()
    # A text this short is not even looked at, so it is made deeper from outside.
    around = b"[" * 100 + text + b"]" * 100
    levels = 100 + depth(value)
    assert (is_deeper(around, levels - 1), is_deeper(around, levels)) == (True, False)
    assert is_deeper(around.decode(), levels - 1)


@QUIET
@given(NESTED, st.integers(200, 220))
def test_also_among_texts_that_look_like_levels(value: Any, levels: int) -> None:
    text = hidden(levels, json.dumps(value)).encode()
    assert (is_deeper(text, levels + depth(value) - 1), is_deeper(text, levels + depth(value))) == (True, False)


@pytest.mark.parametrize("levels", [1, 40, 209, 210, 211, 300])
def test_many_shallow_members_are_not_deep(levels: int) -> None:
    member = '{"a":' * levels + "0" + "}" * levels
    assert is_deeper(f"[{','.join([member] * 300)}]".encode(), 210) is (levels + 1 > 210)
