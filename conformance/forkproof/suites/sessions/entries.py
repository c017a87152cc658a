"""Entries: what a new one must be, and that stored ones stay (section 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    Record,
    branch_summary_entry,
    compaction_entry,
    custom_entry,
    message_entry,
)
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownParent
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet


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
    "kind",
    empty="",
    upper="Message",
    blank="message ",
    plural="messages",
    camel="branchSummary",
    role="user",
    usage="usage",
    value="value",
)
async def an_unknown_type_is_refused(store: SessionMaker, kind: str) -> None:
    """A `type` outside `message`, `compaction`, `branch_summary` and `custom` is refused with `InvalidValue`.

    If this fails, look at: types compared without case, or trimmed; unknown types stored as custom ones.
    """
    subject = await store.linear_session()
    with refused(InvalidValue):
        await subject.insert({**message_entry("new", "e1"), "type": kind})
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
