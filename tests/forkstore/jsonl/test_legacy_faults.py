"""What a legacy file may hold and what it may not, where no case of forkgen says it."""

from __future__ import annotations

from typing import Any

import pytest

from forkgen.legacy.records import assistant_message, header, id_of, label, model, record, text_of, user
from forkgen.legacy.summaries import compaction
from forkstore.contract.errors import CorruptSession
from forkstore.contract.records import Record, zero_usage
from tests.forkstore.jsonl.legacy_reading import decoded, read_legacy

LONE = "\ud83d"


def file_of(*records: Record, **replaced: str) -> bytes:
    """A file of the records; each name in a text gives way to JSON text."""
    contents = text_of(header(), *records)
    for name, text in replaced.items():
        contents = contents.replace(b'"%b"' % name.encode(), text.encode())
    return contents


def fault_of(contents: bytes) -> CorruptSession:
    with pytest.raises(CorruptSession) as refusal:
        read_legacy(contents)
    assert refusal.value.path == "shed.jsonl"
    return refusal.value


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (record(2, "custom_message", 1, customType="hint", content={}, display=True), "content"),
        (record(2, "custom_message", 1, customType="hint", content="", display=1), "display"),
        (record(2, "compaction", 1, summary="", firstKeptEntryId=id_of(1), tokensBefore=True), "tokensBefore"),
        (record(2, "message", 1, message=[]), "message"),
        (record(2, "label", 1, targetId=id_of(1), label=None), "label"),
        (record(2, "session_info", 1, name=None), "name"),
        (record(2, "active_tools_change", 1, activeToolNames={}), "activeToolNames"),
    ],
)
def test_a_field_that_is_looked_at_has_its_type(wrong: Record, field: str) -> None:
    fault = fault_of(file_of(user(1, None), wrong))
    assert fault.line == 3
    assert fault.reason.startswith(f"{field} of a {wrong['type']} is")


@pytest.mark.parametrize("kept", [7, None, ["x"], {}])
def test_a_first_kept_record_that_is_no_text_names_the_compaction(kept: Any) -> None:
    fault = fault_of(file_of(user(1, None), compaction(2, 1, 1) | {"firstKeptEntryId": kept}))
    assert (fault.line, repr(id_of(2)) in fault.reason) == (None, True)


@pytest.mark.parametrize(
    "wrong", [record(2, "branch_summary", 1, fromId=id_of(9), summary=""), label(2, 1, 9, label="a"), label(2, 1, 9)]
)
def test_a_reference_to_nothing_names_the_record_and_the_id(wrong: Record) -> None:
    fault = fault_of(file_of(user(1, None), wrong))
    assert fault.line is None
    assert all(repr(id_of(number)) in fault.reason for number in (2, 9))


def test_the_cause_is_kept() -> None:
    assert fault_of(file_of(user(1, None), user(1, None))).__cause__ is not None


def test_fields_that_are_only_passed_on_may_be_anything() -> None:
    odd = {"details": [LONE], "fromHook": None, "usage": "much"}
    summary = record(2, "branch_summary", 1, fromId=id_of(1), summary="a")
    reading = read_legacy(file_of(user(1, None), summary | odd | {"details": None}, extra="1"))
    entry = decoded(reading.entries[1].text)
    assert {name: entry[name] for name in odd} == {"details": None, "fromHook": None, "usage": "much"}
    assert reading.index.usage == zero_usage()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, {}),
        ([1], {}),
        ({"input": True, "output": "7", "cacheRead": None, "cacheWrite": 2.5}, {"cacheWrite": 2.5}),
        ({"cost": 9, "totalTokens": 4}, {"totalTokens": 4}),
        ({"cost": {"input": [], "output": 0.5}}, {"cost": {**zero_usage()["cost"], "output": 0.5}}),
        ({"reasoning": "7", "cacheWrite1h": 3}, {"cacheWrite1h": 3}),
    ],
)
def test_what_is_no_number_of_imported_usage_counts_as_nothing(usage: Any, counted: Record) -> None:
    answer = record(1, "message", None, message=assistant_message(1, usage))
    spent = compaction(2, 1, 1) | {"usage": usage}
    for records, times in (([answer], 1), ([user(1, None), spent], 1), ([answer, spent], 2)):
        total = read_legacy(file_of(*records)).index.usage
        once = zero_usage() | counted
        costs = {name: number * times for name, number in once.pop("cost").items()}
        assert total == {name: number * times for name, number in once.items()} | {"cost": costs}


@pytest.mark.parametrize(("spent", "line"), [([10**19], 2), ([1.7e308, 1.7e308], 3), ([2**62, 2**62], 3)])
def test_usage_beyond_what_can_be_stored_is_corruption_where_it_is_reached(spent: list[float], line: int) -> None:
    answers = [
        record(number, "message", None, message=assistant_message(number, {"input": fed}))
        for number, fed in enumerate(spent, 1)
    ]
    fault = fault_of(file_of(*answers))
    assert fault.line == line
    assert "usage.input" in fault.reason


def test_a_line_may_be_200_deep_and_not_one_more() -> None:
    lists: Any = []
    for _ in range(198):
        lists = [lists]
    fits, deeper = (record(1, "custom", None, customType="weather", data=data) for data in (lists, [lists]))
    assert len(read_legacy(file_of(fits)).entries) == 1
    assert fault_of(file_of(deeper)).line == 2


def test_a_custom_type_with_a_lone_surrogate_could_not_stand_in_format_4() -> None:
    wrong = file_of(record(1, "custom", None, customType="odd"), odd=r'"\ud83d"')
    assert fault_of(wrong).line == 2


def test_old_ids_may_be_any_text() -> None:
    records = [user(1, None) | {"id": ""}, user(2, None) | {"id": "odd", "parentId": ""}]
    reading = read_legacy(file_of(*records, model(3, None) | {"parentId": "odd"}, odd=r'"\ud83d\u0000"'))
    assert [entry.parent_id for entry in reading.entries] == [None, reading.entries[0].id]
    assert reading.index.tip == reading.entries[1].id


def test_the_id_root_is_no_record_to_a_branch_summary() -> None:
    records = [user(1, None) | {"id": "root"}, record(2, "branch_summary", None, fromId="root", summary="a")]
    reading = read_legacy(file_of(*records))
    assert decoded(reading.entries[1].text)["fromId"] is None


def test_the_last_of_equal_member_names_wins() -> None:
    line = text_of(user(1, None))[:-2] + b',"type":"session_info","name":"a","name":"b"}\n'
    reading = read_legacy(text_of(header()) + line)
    assert reading.entries == []
    assert [text for _, text in reading.derived] == [b'"b"', b"null"]
