"""The second pass over a legacy file: the form of its texts, its ids, and a file that is not what it was."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from forkgen.legacy import Verdict, legacy_files
from forkgen.legacy.records import header, id_of, label, model, record, text_of, thinking, user, user_message
from forkgen.legacy.summaries import compaction
from forkstore.contract.codec import encode
from forkstore.contract.errors import SessionFileChanged
from forkstore.jsonl.headers import Header
from tests.forkgen.strict_format4 import examine
from tests.forkstore.jsonl.legacy_reading import Reading, decoded, indexed, read_legacy, take_all

OPEN = {case.name: case for case in legacy_files() if case.verdict is Verdict.OPENS}
LINES = [text_of(line)[:-1] for line in (model(1, None), user(2, 1), label(3, 2, 2, label="a"), user(4, 3))]
ODD = (
    rb'{"type" : "custom", "id": "a", "parentId": null, "timestamp": "2025-10-09T08:53:20Z", '
    rb'"customType": "w\u0065\/", "data": [ 2.50, 1E3, -0, -0.0, 123456789012345678901234567890, '
    rb'"\u00e9\u2028\u007F\u001F\b", "\uD83D", "\uD83D\uDE00" ]}'
)
WRITTEN = (
    '"customType":"we/","data":[2.5,1000.0,0,-0.0,123456789012345678901234567890,'
    '"é\u2028\x7f\\u001f\\b","\\ud83d","😀"],"seq":1,"timestamp":1760000000000}'
).encode()


def written_form(text: bytes) -> bytes:
    """The text in the form of section 6.1, as the standard library writes it."""
    value = json.loads(text)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


@pytest.mark.parametrize("name", OPEN)
def test_the_normalized_writes_are_a_file_of_format_4_in_written_form(name: str) -> None:
    reading = read_legacy(OPEN[name].contents)
    texts = reading.upgraded()
    first = Header(id="shed-7", created_at=0, cwd="/srv/garden", next_seq=reading.index.next_seq).line()
    found = examine(first + b"".join(b"%b\n" % text for text in texts))
    assert (found.verdict, found.next_seq) == ("opens", reading.index.next_seq)
    assert [entry["id"] for entry in found.state.entries] == [entry.id for entry in reading.entries]
    assert texts == [written_form(text) for text in texts]


def test_fields_stand_in_the_order_of_the_contract() -> None:
    orders = {
        "message": ["message"],
        "custom": ["customType", "data"],
        "compaction": ["summary", "retainedTail", "tokensBefore", "fromHook", "details", "usage"],
        "branch_summary": ["summary", "fromId", "fromHook", "details", "usage"],
    }
    spent = {"usage": {}, "fromHook": True, "details": 1}
    records = [
        user(1, None),
        record(2, "custom", 1, data=1, customType="weather"),
        compaction(3, 2, 1, **spent),
        record(4, "branch_summary", 3, summary="a", fromId=id_of(1), **spent),
    ]
    for entry in read_legacy(text_of(header(), *records)).entries:
        expected = ["kind", "id", "parentId", "type", *orders[entry.type], "seq", "timestamp"]
        assert list(decoded(entry.text)) == expected


def test_texts_of_other_writers_are_written_anew() -> None:
    [entry] = read_legacy(text_of(header()) + ODD + b"\n").entries
    assert entry.custom_type == "we/"
    assert entry.text.partition(b'"type":"custom",')[2] == WRITTEN


def test_odd_texts_come_through_a_retained_tail_and_the_derived_values() -> None:
    records = [
        record(1, "message", None, message=user_message(1) | {"odd": "odd"}),
        compaction(2, 1, 1),
        record(3, "session_info", 2, name="odd"),
        label(4, 3, 1, label="odd"),
        model(5, 4, "odd"),
        thinking(6, 5, "odd"),
    ]
    reading = read_legacy(text_of(header(), *records).replace(b'"odd"', rb'"\uD800"'))
    assert reading.entries[1].text.count(rb'"\ud800":"\ud800"') == 1
    assert [text for _, text in reading.derived if text and rb"\ud800" in text] == [
        rb'"\ud800"',
        rb'"\ud800"',
        rb'{"model":{"provider":"orchard","modelId":"\ud800"},"thinkingLevel":"\ud800","activeToolNames":[]}',
    ]


def identity(reading: Reading) -> set[str]:
    return {entry.id for entry in reading.entries}


def test_each_reading_gives_ids_of_its_own_with_the_time_of_the_record() -> None:
    contents = OPEN["every-kind"].contents
    first, second = read_legacy(contents), read_legacy(contents)
    assert identity(first).isdisjoint(identity(second))
    for entry in first.entries:
        assert UUID(entry.id).version == 7
        assert UUID(entry.id).int >> 80 == entry.timestamp


def test_a_second_pass_can_be_begun_again_and_gives_the_same() -> None:
    _, *lines = OPEN["tail-of-every-kind"].contents.split(b"\n")[:-1]
    index = indexed(lines)
    given_up, first, second = index.texts(), index.texts(), index.texts()
    take_all(given_up, lines[:6])
    assert take_all(first, lines) == take_all(second, lines)
    assert first.derived() == second.derived()


def test_a_second_pass_over_another_kind_of_record_is_refused() -> None:
    texts = indexed(LINES).texts()
    with pytest.raises(SessionFileChanged, match=r"shed\.jsonl .*line 2 holds another record"):
        take_all(texts, [LINES[1]])


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", LINES[0][:-1], LINES[0].replace(b"model_change", b"unheard_of")])
def test_a_second_pass_over_a_broken_line_is_refused(line: bytes) -> None:
    texts = indexed(LINES).texts()
    with pytest.raises(SessionFileChanged, match="line 2 was good before"):
        take_all(texts, [line])


def test_a_second_pass_over_more_records_is_refused() -> None:
    texts = indexed(LINES).texts()
    with pytest.raises(SessionFileChanged, match="more records"):
        take_all(texts, [*LINES, LINES[0]])


@pytest.mark.parametrize("taken", range(len(LINES)))
def test_a_second_pass_over_fewer_records_gives_no_derived_values(taken: int) -> None:
    texts = indexed(LINES).texts()
    take_all(texts, LINES[:taken])
    with pytest.raises(SessionFileChanged, match="fewer records"):
        texts.derived()


def test_changes_that_only_a_checksum_can_notice_end_in_no_other_error() -> None:
    _, *lines = OPEN["tail-of-every-kind"].contents.split(b"\n")[:-1]
    replaced = {b'"summary":"other tree"': b'"summary":""', b'"label":""': b'"label":"a"', id_of(2).encode(): b"x"}
    changed = lines
    for old, new in replaced.items():
        changed = [line.replace(old, new) for line in changed]
    assert sum(line != other for line, other in zip(changed, lines, strict=True)) > len(replaced)
    texts = indexed(lines).texts()
    assert len(take_all(texts, changed)) == len(lines)
    assert encode("x", "text") not in [text for _, text in texts.derived()]
