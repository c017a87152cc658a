"""The records that a commit writes: which fields, in which order (section 22.2)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, records
from forkproof.suites.sessions.spelled_files import ODD_TEXT, deletion, element, last_line, line, scalar, stored
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

PLAN, LOG = value_address("garden.plan", 'row:"3"'), list_address("garden.log")

NEW: dict[str, records.Record] = {
    "message": records.message_entry("e9", "e1", ODD_TEXT),
    "message-backwards": dict(reversed(records.message_entry("e9", None).items())),
    "terminate-first": {"terminate": True, **records.message_entry("e9", "e1", message=records.tool_result("moist"))},
    "custom": records.custom_entry("e9", "e1", data={"rain": 2.5, "none": None, "": []}),
    "custom-without-data": records.custom_entry("e9", "e1"),
    "custom-with-null": records.custom_entry("e9", None, data=None),
    "custom-type-first": {"customType": "weather", "data": 1, "type": "custom", "parentId": None, "id": "e9"},
    "compaction": records.compaction_entry("e9", "e1"),
    "branch-summary": records.branch_summary_entry("e9", "e1"),
    "unknown-fields": {"": 0, "zoom": {"b": 1, "a": 2}, "op": "x", **records.message_entry("e9", "e1"), "alpha": []},
    "usage": records.usage_row("e9", "e1", details={"why": "wässern"}),
    "usage-without-entry": records.usage_row("e9", adjustment=True),
    "usage-entry-first": {"entryId": "nobody", **records.usage_row("e9", usage=records.usage(reasoning=7))},
    "usage-backwards": dict(reversed(records.usage_row("e9", "e1", details=None).items())),
}


@case("S-JSONL-FMT-07")
@rows("new", NEW)
async def an_entry_or_usage_row_keeps_the_callers_fields(store: SessionMaker, new: records.Record) -> None:
    """The record of an entry begins with `kind`, has the caller's fields in the caller's order, then `seq` and
    `timestamp`; that of a usage row is the same without `timestamp`. What is absent is left out, unknown fields are
    not.

    If this fails, look at: sorted fields; structural fields in front; absent fields written as null; null fields left
    out.
    """
    subject = await store.linear_session(1)
    write = EntryInsert(new) if "type" in new else UsageInsert(new)
    result = await subject.commit(write)
    expected = line(stored(new, result.first_seq, result.timestamp))
    expect_equal(last_line(store.path_of(subject)), expected, of="the line of the commit")


ROWS: dict[str, tuple[Write, records.Record]] = {
    "set": (ValueSet(PLAN, {"b": 1, "a": ODD_TEXT}), scalar(0, "garden.plan", 'row:"3"', {"b": 1, "a": ODD_TEXT})),
    "set-null": (ValueSet(PLAN, None), scalar(0, "garden.plan", 'row:"3"', None)),
    "set-false": (ValueSet(value_address("früh"), False), scalar(0, "früh", "", False)),
    "delete-value": (ValueDelete(PLAN), deletion("value", 0, "garden.plan", 'row:"3"')),
    "append": (ListAppend(LOG, [None, 2.0]), element(0, "garden.log", "", [None, 2.0])),
    "append-null": (ListAppend(list_address("a/b", "c\\d\n"), None), element(0, "a/b", "c\\d\n", None)),
    "delete-list": (ListDelete(LOG), deletion("list", 0, "garden.log", "")),
}


@case("S-JSONL-FMT-07")
@rows("row", ROWS)
async def a_row_has_its_fields_in_order(store: SessionMaker, row: tuple[Write, records.Record]) -> None:
    """The record of a scalar or list write has `kind`, `op`, `seq`, `namespace`, `key`, and `value` where one is set or
    appended; a delete has none.

    If this fails, look at: the address as one field; a null value for a delete; `value` left out where it is null.
    """
    subject = await store.linear_session(1)
    write, expected = row
    result = await subject.commit(write)
    expect_equal(
        last_line(store.path_of(subject)), line(expected | {"seq": result.first_seq}), of="the line of the commit"
    )


@case("S-JSONL-FMT-07", needs=("raw-files", "raw-commit"))
async def a_commit_of_all_writes_has_every_record_in_its_form(store: SessionMaker) -> None:
    """The records of one commit have the same form as alone, with rising sequences, and entries one timestamp.

    If this fails, look at: fields shared by the line; a timestamp for each entry.
    """
    subject = await store.linear_session(1)
    new = [records.message_entry("a", "e1"), records.usage_row("b", "a"), records.custom_entry("c", "a")]
    writes: list[Write] = [
        EntryInsert(new[0]),
        ValueSet(PLAN, 1),
        UsageInsert(new[1]),
        ListDelete(LOG),
        EntryInsert(new[2]),
    ]
    result = await subject.raw_commit(*writes)
    first, second, third, fourth, fifth = result.seqs
    expected = line(
        stored(new[0], first, result.timestamp),
        scalar(second, "garden.plan", 'row:"3"', 1),
        stored(new[1], third),
        deletion("list", fourth, "garden.log", ""),
        stored(new[2], fifth, result.timestamp),
    )
    expect_equal(last_line(store.path_of(subject)), expected, of="the line of the commit")
