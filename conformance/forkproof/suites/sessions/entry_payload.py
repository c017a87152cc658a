"""Entries: their payload and their ids come back as they were given (section 3)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    Record,
    branch_summary_entry,
    compaction_entry,
    custom_entry,
    message_entry,
    messages_of_every_role,
    user_message,
)
from forkstore.contract.forks import TreeFork
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import EntryInsert, UsageInsert

ODD_FIELDS: Record = {
    "": "an empty name",
    "parent_id": "snake",
    "customtype": "lower",
    "Seq": 1,
    "op": "delete",
    "namespace": "pi.branch.tip",
    "key": "main",
    "value": {"seq": 7, "timestamp": 8, "id": "inner"},
    "entryId": "e1",
    "adjustment": 1,
    "usage": "not a usage object",
    "text": None,
    "data": [True, 1, 1.0],
    "summary": {"b": 1, "a": 2},
    "__proto__": {"x": "y"},
    "terminate": False,
    "日本": "\u2028",
}
"""Fields that the contract does not name on the entry, names of other records and of columns among them."""

ENTRIES: dict[str, Record] = {
    "message": message_entry("new", "e1"),
    "compaction": compaction_entry("new", "e1"),
    "branch-summary": branch_summary_entry("new", "e1", "e2"),
    "custom": custom_entry("new", "e1", data={"rain": 2.5}),
}


async def _expect_fields(subject: Subject, id: str, supplied: Record) -> None:
    found = await subject.session.get_entry(id) or {}
    fields = {name: value for name, value in found.items() if name not in ("seq", "timestamp")}
    expect(fields.keys() == supplied.keys(), f"expected: the fields {sorted(supplied)}\nseen:     {sorted(fields)}")
    for name, value in supplied.items():
        expect_equal(fields[name], value, of=f"the field {name!r} of {id!r}", ordered=True)


@case("S-ENT-04", needs=())
@rows("entry", ENTRIES)
async def fields_that_the_contract_does_not_name_come_back(store: SessionMaker, entry: Record) -> None:
    """Every field of an entry comes back equal and under its name, those included that the contract does not name.

    If this fails, look at: columns for known fields only; a field that collides with a column or with the framing of
    a record; names that are trimmed or turned into another case.
    """
    subject = await store.linear_session()
    supplied = {**ODD_FIELDS, **entry}
    await subject.insert(supplied)
    await _expect_fields(subject, "new", supplied)
    await subject.reopen()
    await _expect_fields(subject, "new", supplied)
    await subject.check()


@case("S-ENT-04", needs=())
@rows("message", messages_of_every_role())
async def a_message_of_every_role_comes_back(store: SessionMaker, message: Record) -> None:
    """Messages of every role come back equal, unknown fields at every level included.

    If this fails, look at: messages parsed into classes; content blocks without unknown types; optional fields filled
    with null.
    """
    subject = await store.linear_session()
    odd = {**message, "xNote": {"deep": [{"type": "unknown-block", "seq": 1}]}, "timestamp": -1.5}
    await subject.insert(message_entry("plain", "e1", message=message), message_entry("odd", "e1", message=odd))
    for id, supplied in (("plain", message), ("odd", odd)):
        found = (await subject.session.get_entries([id]))[id]
        expect_equal(found["message"], supplied, of=f"the message of {id!r}", ordered=True)
    await subject.check_everywhere()


@case("S-ENT-05")
@rows("data", absent=ABSENT, null=None, false=False, zero=0, empty_text="", empty_list=[], empty_object={})
async def data_comes_back_as_it_was_given(store: SessionMaker, data: Any) -> None:
    """A custom entry without `data` has none when it is read, and one with null or another empty value has that: by
    every way of reading, after reopening, and in a fork.

    If this fails, look at: a column that is null for both; `if data:`; null fields left out of stored text.
    """
    subject = await store.linear_session()
    branch = await subject.session.create_branch("left", "e1")
    id = await branch.append_custom_entry("weather", data)
    fork = await store.repo.fork(subject.metadata, TreeFork())
    await subject.reopen()
    expected = {} if data is ABSENT else {"data": data}
    for session, place in ((subject.session, "after reopening"), (fork, "in a fork")):
        found = [await session.get_entry(id), *await session.scan_branch(id, limit=1)]
        found += await session.find_entries(limit=1)
        for entry in found:
            seen = {name: value for name, value in (entry or {}).items() if name == "data"}
            expect_equal(seen, expected, of=f"the data of the custom entry, {place}")


@case("S-ENT-05")
async def data_that_is_left_out_comes_back_left_out(store: SessionMaker) -> None:
    """`append_custom_entry` without `data`, and an insert without it, store none; live too.

    If this fails, look at: a parameter whose default is None.
    """
    subject = await store.linear_session()
    branch = await subject.session.create_branch("left", "e1")
    id = await branch.append_custom_entry("weather")
    await subject.session.mutate(lambda scope: scope.commit([EntryInsert(custom_entry("bare", "e1"))]))
    for name, entry in (await subject.session.get_entries([id, "bare"])).items():
        expect("data" not in entry, f"expected: the entry {name!r} without data\nseen:     {entry!r}")


IDS = {
    "empty": "",
    "blank": " ",
    "blank-at-ends": " e1 ",
    "upper": "E1",
    "nul": "a\0b",
    "nul-alone": "\0",
    "newline": "a\nb\r",
    "quotes": "'\"`\\",
    "path": "../../x",
    "colon": "op:0:1",
    "percent": "%00_%",
    "word": "NULL",
    "number": "1",
    "number-with-zero": "01",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "emoji": "🌱",
    "line-separator": "\u2028",
    "last-of-plane": "\uffff",
    "byte-order-mark": "\ufeffe1",
    "long": "x" * 5_000,
}


@case("S-ENT-06", needs=())
@rows("id", IDS)
async def any_text_is_an_id(store: SessionMaker, id: str) -> None:
    """Every text without lone surrogates names an entry or a usage row, and works as parent, tip, start and stop.

    If this fails, look at: ids that are trimmed, folded or normalized; ids in paths or patterns; C strings that end at
    U+0000; an index with a length limit.
    """
    subject = await store.linear_session()
    await subject.insert(message_entry(id, "e1", "odd"), message_entry("child", id, "its child"))
    await subject.set_tip("main", id)
    found = await subject.session.get_entries([id])
    expect_equal(list(found), [id], of="the ids that get_entries found")
    path = [entry["id"] for entry in await subject.session.scan_branch("child", stop_at_id=id)]
    expect_equal(path, ["child", id], of="the path from the child, stopped at the odd id")
    await subject.check_everywhere()
    spender = await store.create()
    await spender.spend(id, id)
    await spender.check_everywhere()


@case("S-ENT-06", needs=())
async def ids_that_look_alike_are_different(store: SessionMaker) -> None:
    """Ids that differ in any code point live side by side in one session, half of them as usage rows.

    If this fails, look at: a collation without case or accents; normalization; numbers compared as numbers.
    """
    subject = await store.linear_session()
    for number, id in enumerate(IDS.values()):
        if number % 2:
            await subject.commit(UsageInsert({**_spent(), "id": id}))
        else:
            await subject.insert(custom_entry(id, None, data=id))
    await subject.check_everywhere()


def _spent() -> Record:
    numbers: Record = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 1)
    cost: Record = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0.5)
    return {"usage": {**numbers, "cost": cost}, "adjustment": False, "details": user_message("why")}
