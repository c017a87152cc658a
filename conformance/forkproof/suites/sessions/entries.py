"""Entries: what a new one must be, that stored ones stay, and that their payload comes back (section 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect, expect_equal, refused
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
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownParent
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet

MISSING = object()
"""Stands for a field that is left out."""


def _with(entry: Record, field: str, value: object) -> Record:
    rest = {name: member for name, member in entry.items() if name != field}
    return rest if value == "left out" else {**rest, field: value}


@case("S-ENT-01", needs=())
@rows("field", id="id", parent="parentId", type="type", custom_type="customType")
@rows("value", missing="left out", number=7, boolean=True, list=["e1"], object={"id": "e1"}, fraction=1.5)
async def an_ill_typed_structural_field_is_refused(store: SessionMaker, field: str, value: object) -> None:
    """A new entry whose `id`, `parentId`, `type` or `customType` is missing or no string is refused with
    `InvalidValue`, and nothing of its commit is stored.

    If this fails, look at: `entry.get("parentId")`, which takes a missing field for null; ids turned into text; a
    check that only one entry type gets.
    """
    subject = await store.linear_session()
    entry = _with(custom_entry("new", "e1", data=1), field, value)
    with refused(InvalidValue):
        await subject.commit(ValueSet(value_address("garden.plan"), 1), EntryInsert(entry))
    await subject.check()


@case("S-ENT-01", needs=())
@rows("field", id="id", type="type", custom_type="customType")
async def a_null_structural_field_is_refused(store: SessionMaker, field: str) -> None:
    """Only `parentId` may be null: a null `id`, `type` or `customType` is refused with `InvalidValue`.

    If this fails, look at: null taken for a missing field with a default; an id made up by the store.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.insert(_with(custom_entry("new", "e1"), field, None))
    await subject.check()


@case("S-ENT-01", needs=())
@rows(
    "type",
    empty="",
    upper="Message",
    blank="message ",
    plural="messages",
    camel="branchSummary",
    role="user",
    usage="usage",
    value="value",
)
async def an_unknown_type_is_refused(store: SessionMaker, type: str) -> None:
    """A `type` outside `message`, `compaction`, `branch_summary` and `custom` is refused with `InvalidValue`.

    If this fails, look at: types compared without case, or trimmed; unknown types stored as custom ones.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.insert({**message_entry("new", "e1"), "type": type})
    await subject.check()


@case("S-ENT-01", needs=())
@rows("custom_type", null=None, number=5, boolean=False, list=[])
async def an_ill_typed_custom_type_is_refused_on_every_type(store: SessionMaker, custom_type: object) -> None:
    """A `customType` that is no string is refused on the other entry types too.

    If this fails, look at: a check of `customType` on custom entries only.
    """
    subject = await store.linear_session()
    for entry in (message_entry("new", "e1"), compaction_entry("new", "e1"), branch_summary_entry("new", "e1")):
        with refused(InvalidValue):
            await subject.insert({**entry, "customType": custom_type})
    await subject.check()


@case("S-ENT-01", needs=())
@rows("entry", null=None, list=[], text="entry", number=1, nothing={})
async def what_is_no_entry_is_refused(store: SessionMaker, entry: Any) -> None:
    """An insert of something that is no object, or an empty one, is refused with `InvalidValue`.

    If this fails, look at: an AttributeError or TypeError of the first look into the entry.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.session.mutate(lambda scope: scope.commit([EntryInsert(entry)]))
    await subject.check()


@case("S-ENT-02", needs=())
@rows("field", seq="seq", timestamp="timestamp")
@rows("value", one=1, zero=0, null=None, large=2**40, text="1")
async def what_the_storage_gives_an_entry_is_refused(store: SessionMaker, field: str, value: object) -> None:
    """A new entry of any type that carries `seq` or `timestamp` is refused with `InvalidValue`, whatever its value.

    If this fails, look at: a field that is overwritten without a word; null taken for absent.
    """
    subject = await store.linear_session()
    for entry in (message_entry("new", "e1"), custom_entry("new", "e1"), compaction_entry("new", "e1")):
        with refused(InvalidValue):
            await subject.insert({**entry, field: value})
    await subject.check()


@case("S-ENT-02", needs=())
@rows("value", one=1, zero=0, null=None, large=2**40, text="1")
async def a_usage_row_that_carries_a_sequence_is_refused(store: SessionMaker, value: object) -> None:
    """A new usage row that carries `seq` is refused with `InvalidValue`, whatever its value.

    If this fails, look at: a field that is overwritten without a word; null taken for absent.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.spend("spent", seq=value)
    await subject.check()


async def _refused_copy(subject: Subject) -> None:
    """Commits that are refused: known ids with other content, and a parent that does not exist."""
    other = message_entry("root", None, "other content")
    with refused(DuplicateId):
        await subject.commit(ValueSet(session_name(), "x"), EntryInsert(other))
    with refused(UnknownParent):
        await subject.insert(message_entry("fresh", "root"), message_entry("orphan", "nobody"))


async def _child_of_everything(subject: Subject) -> None:
    for parent in list(subject.model.entries):
        await subject.insert(message_entry(f"below-{parent}", parent, "a sibling"))


async def _lose_every_tip(subject: Subject) -> None:
    for branch in subject.model.branches():
        await subject.set_tip(branch, None)
        await subject.commit(ValueDelete(branch_tip(branch)))


async def _relabel(subject: Subject) -> None:
    for label in ("first", "second"):
        await subject.commit(*(ValueSet(entry_label(id), label) for id in subject.model.entries))
    await subject.commit(*(ValueDelete(entry_label(id)) for id in subject.model.entries))


async def _lists(subject: Subject) -> None:
    log = list_address("root")
    await subject.commit(ListAppend(log, 1), ListDelete(log), ListAppend(log, 2), ListDelete(log))


async def _fork_and_delete(subject: Subject) -> None:
    for options in (TreeFork(), BranchFork("main", position="before")):
        fork = await subject.fork(options)
        await fork.append("main", "in the fork")
        await fork.close()
        await subject.store.repo.delete(fork.metadata)


OPERATIONS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "append": lambda subject: subject.append("main", "one more"),
    "compaction": lambda subject: subject.append("main", entry=compaction_entry("compacted", None)),
    "children": _child_of_everything,
    "tip-back": lambda subject: subject.set_tip("main", "root"),
    "tips-gone": _lose_every_tip,
    "labels": _relabel,
    "name": lambda subject: subject.commit(ValueSet(session_name(), "root"), ValueDelete(session_name())),
    "usage": lambda subject: subject.spend("spent", "root", adjustment=True),
    "lists": _lists,
    "refused-commits": _refused_copy,
    "forks": _fork_and_delete,
    "reopening": lambda subject: subject.reopen(),
}


async def _stored(subject: Subject, count: int | None = None) -> tuple[list[Record], dict[str, Record]]:
    """The first `count` entries as two ways of reading show them, `seq` and `timestamp` included."""
    entries = (await subject.session.scan_entries())[:count]
    return entries, await subject.session.get_entries([entry["id"] for entry in entries])


@case("S-ENT-03")
@rows("operation", OPERATIONS)
async def no_operation_changes_a_stored_entry(
    store: SessionMaker, operation: Callable[[Subject], Awaitable[object]]
) -> None:
    """Whatever is done to a session, its stored entries stay as they are, sequence and time included.

    If this fails, look at: an insert that replaces; entries removed with their branch or by a compaction; parents
    rewritten by a new child; rows shared with a fork that is deleted.
    """
    subject = await store.rich_session()
    before = await _stored(subject)
    await operation(subject)
    expect_equal(await _stored(subject, len(before[0])), before, of="the entries stored before")
    await subject.check_everywhere()


@case("S-ENT-03")
@in_any_state
async def stored_entries_stay_in_any_state(subject: Subject) -> None:
    """In any state of a session, new entries, labels, forks and reopening leave the stored entries as they are.

    If this fails, look at: clean-up of entries that no tip reaches; a fork that moves entries instead of copying them;
    timestamps or sequences given anew on opening.
    """
    before = await _stored(subject)
    await subject.append("another", "on a branch of its own")
    await subject.commit(ValueDelete(branch_tip("another")), ValueSet(session_name(), "stays"))
    fork = await subject.fork(TreeFork())
    await fork.close()
    await subject.reopen()
    expect_equal(await _stored(subject, len(before[0])), before, of="the entries stored before")
    await subject.check()


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
@rows("message", {role: message for role, message in messages_of_every_role().items()})
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
