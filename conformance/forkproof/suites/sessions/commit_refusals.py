"""What a commit refuses, and that a refused commit changes nothing (section 5: S-TXN-01, 02, 10, 11)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkstore.contract.addresses import Address, branch_tip, list_address, session_name, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, PendingMessage, SessionStoreError, UnknownParent
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

VALUE = value_address("garden.plan")
LIST = list_address("garden.log", "kept")
MARK = value_address("garden.mark")


def _spend(**fields: Any) -> UsageInsert:
    return UsageInsert({**made.usage_row("spent"), **fields})


def _insert(id: str = "new", parent: str | None = None, **fields: Any) -> EntryInsert:
    return EntryInsert({**made.message_entry(id, parent), **fields})


NO_WRITES: dict[str, Any] = {
    "none": None,
    "text": "ValueSet",
    "wire-form": {"type": "valueSet", "namespace": "garden.plan", "key": "", "value": 1},
    "tuple": (VALUE, 1),
    "class": ValueSet,
    "entry": made.message_entry("bare", None),
    "list": [ValueSet(VALUE, 1)],
}
WRONG_KINDS: dict[str, Any] = {
    "set-on-list": ValueSet(list_address("garden.plan"), 1),
    "delete-on-list": ValueDelete(list_address("garden.plan")),
    "append-on-value": ListAppend(value_address("garden.log", "kept"), 1),
    "list-delete-on-value": ListDelete(value_address("garden.log", "kept")),
}
Refusal = tuple[type[SessionStoreError], list[Any]]
REFUSED: dict[str, Refusal] = {
    **{name: (InvalidValue, [write]) for name, write in {**NO_WRITES, **WRONG_KINDS}.items()},
    "entry-without-parent-field": (InvalidValue, [EntryInsert({"id": "new", "type": "message", "message": {}})]),
    "entry-with-seq": (InvalidValue, [_insert(seq=1)]),
    "entry-of-unknown-type": (InvalidValue, [_insert(type="note")]),
    "usage-with-boolean-number": (InvalidValue, [_spend(usage={**made.usage(), "input": True})]),
    "value-not-a-number": (InvalidValue, [ValueSet(VALUE, float("nan"))]),
    "value-too-large": (InvalidValue, [ValueSet(VALUE, {"n": 2**63})]),
    "element-of-another-class": (InvalidValue, [ListAppend(LIST, {1, 2})]),
    "element-with-surrogate": (InvalidValue, [ListAppend(LIST, ["\ud800"])]),
    "unknown-parent": (UnknownParent, [_insert(parent="no-such-entry")]),
    "parent-placed-later": (UnknownParent, [_insert(parent="later"), _insert("later")]),
    "parent-is-usage-row": (UnknownParent, [_insert(parent="stored-usage")]),
    "stored-entry-again": (DuplicateId, [_insert("stored")]),
    "stored-usage-again": (DuplicateId, [UsageInsert(made.usage_row("stored-usage"))]),
    "id-twice": (DuplicateId, [_insert(), UsageInsert(made.usage_row("new"))]),
    "pending-message": (
        PendingMessage,
        [_insert(message=made.assistant_message("half a wo", stop_reason="pending"))],
    ),
}


def _around(bad: list[Any]) -> list[Write]:
    """The refused writes in the middle of good ones that touch everything a session has."""
    good = [
        _insert("good", "stored"),
        UsageInsert(made.usage_row("good-usage", "good")),
        ValueSet(branch_tip("main"), "good"),
        ValueDelete(session_name()),
        ValueSet(VALUE, "changed"),
        ListDelete(LIST),
        ListAppend(LIST, "changed"),
    ]
    return [*good, *bad, ListAppend(list_address("garden.log", "after"), 1), _insert("last", "good")]


async def _prepared(subject: Subject) -> int:
    """Stores what the refused commits name; gives the next sequence."""
    stored = EntryInsert(made.message_entry("stored", None)), UsageInsert(made.usage_row("stored-usage", "stored"))
    await subject.commit(*stored, ValueSet(session_name(), "beds"))
    subject.model.look_at([("garden.plan", ""), ("garden.log", "kept"), ("garden.log", "after")])
    return (await subject.commit(ValueSet(MARK, "before"))).seqs[-1] + 1


async def _expect_unchanged(subject: Subject, next_seq: int) -> None:
    after = await subject.commit(ValueSet(MARK, "after"))
    expect_equal(after.first_seq, next_seq, of="the sequence of the next commit after the refused one")
    await subject.check_everywhere()


@case("S-TXN-01", needs=())
@rows("write", NO_WRITES | WRONG_KINDS)
@rows("place", alone=0, last=3)
async def anything_but_the_six_writes_is_refused(store: SessionMaker, write: Any, place: int) -> None:
    """A list that holds anything but the six writes, or a write whose address has the wrong kind, is refused with
    `InvalidValue`, also when the writes before it are good.

    If this fails, look at: writes told apart by their attributes; kinds not looked at; checks made one by one while
    writing.
    """
    subject = await store.empty_session()
    next_seq = await _prepared(subject)
    good: list[Write] = [ValueSet(VALUE, 1), ListAppend(LIST, 1), _insert()]
    with refused(InvalidValue):
        await subject.commit(*good[:place], write)
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-01")
@rows("write", NO_WRITES | WRONG_KINDS)
async def the_storage_refuses_what_is_not_a_write(store: SessionMaker, write: Any) -> None:
    """`session.storage.commit` refuses the same lists as a mutation scope.

    If this fails, look at: checks that only the scope makes.
    """
    subject = await store.empty_session()
    next_seq = await _prepared(subject)
    with refused(InvalidValue):
        await subject.raw_commit(ValueSet(VALUE, 1), write)
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-02", needs=())
@rows("refusal", REFUSED)
async def a_refused_commit_changes_nothing(store: SessionMaker, refusal: Refusal) -> None:
    """After a refused commit entries, ledger, scalars, lists, statistics and next sequence are as before, whatever
    the reason and however many good writes stand around the refused one.

    If this fails, look at: writes applied one by one without a way back; a sequence taken before the checks;
    statistics counted ahead; deletes that are not undone.
    """
    subject = await store.lists_session()
    next_seq = await _prepared(subject)
    error, bad = refusal
    with refused(error):
        await subject.commit(*_around(bad))
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-02", needs=())
@in_any_state
async def refused_commits_change_nothing_in_any_state(subject: Subject) -> None:
    """Refused commits of every kind, one after the other, change nothing in any state of a session.

    If this fails, look at: a way back that restores only what the commit inserted; ids of a fork that are looked up
    in its source.
    """
    next_seq = await _prepared(subject)
    for error, bad in REFUSED.values():
        with refused(error):
            await subject.commit(*_around(bad))
    after = await subject.commit(ValueSet(MARK, "after"))
    expect_equal(after.first_seq, next_seq, of="the sequence of the next commit after the refused ones")
    await subject.check_everywhere()


@case("S-TXN-02", needs=("raw-commit",))
async def commits_refused_by_the_storage_change_nothing(store: SessionMaker) -> None:
    """The same commits, asked of the storage itself, change nothing.

    If this fails, look at: a way back that is the scope's and not the storage's.
    """
    subject = await store.rich_session()
    next_seq = await _prepared(subject)
    for error, bad in REFUSED.values():
        if error is not PendingMessage:
            with refused(error):
                await subject.raw_commit(*_around(bad))
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-02", needs=())
@rows("refusal", {name: REFUSED[name] for name in ("unknown-parent", "stored-entry-again", "value-not-a-number")})
async def what_a_refused_commit_named_is_still_free(store: SessionMaker, refusal: Refusal) -> None:
    """Ids of a refused commit are not taken and name nothing: the good part can be committed afterwards, and before
    that an entry below it is refused.

    If this fails, look at: an id index filled before the checks end.
    """
    subject = await store.bushy_session()
    await _prepared(subject)
    error, bad = refusal
    with refused(error):
        await subject.commit(*_around(bad))
    with refused(UnknownParent, entry_id="below", parent_id="good"):
        await subject.commit(_insert("below", "good"))
    await subject.commit(*_around([]))
    await subject.check_everywhere()


@case("S-TXN-10", needs=())
@rows(
    "parent",
    {
        "unknown": "no-such-entry",
        "empty-text": "",
        "other-case": "ROOT",
        "itself": "new",
        "placed-later": "later",
        "usage-row": "usage-1",
        "usage-row-of-this-commit": "spent",
        "branch-name": "main",
    },
)
async def a_parent_that_is_no_entry_yet_is_refused(store: SessionMaker, parent: str) -> None:
    """A parent that is unknown, placed later in the same commit, the entry itself, or the id of a usage row is
    refused with `UnknownParent`, which names both.

    If this fails, look at: an empty id taken for null; ids of the whole commit collected first; one index for entries
    and usage rows asked without the kind.
    """
    subject = await store.bushy_session()
    next_seq = await _prepared(subject)
    with refused(UnknownParent, entry_id="new", parent_id=parent):
        await subject.commit(_spend(), _insert("new", parent), _insert("later", "root"))
    await _expect_unchanged(subject, next_seq)


KINDS: dict[str, Any] = {"entry": _insert, "usage": lambda id: UsageInsert(made.usage_row(id))}


@case("S-TXN-11", needs=())
@rows("first", {name: name for name in KINDS})
@rows("second", {name: name for name in KINDS})
@rows("moment", stored="stored", reopened="reopened", same_commit="same commit")
async def an_id_is_taken_once(store: SessionMaker, first: str, second: str, moment: str) -> None:
    """An id that names an entry or a usage row, stored or earlier in the same commit, is refused with `DuplicateId`
    for either kind, although the content is equal.

    If this fails, look at: one namespace for each kind; an insert that ignores duplicates; an index that is not
    rebuilt on opening.
    """
    subject = await store.bushy_session()
    if moment != "same commit":
        await subject.commit(KINDS[first]("taken"))
    if moment == "reopened":
        await subject.reopen()
    next_seq = await _prepared(subject)
    earlier = [KINDS[first]("taken")] if moment == "same commit" else []
    with refused(DuplicateId, id="taken"):
        await subject.commit(ListAppend(LIST, 1), *earlier, KINDS[second]("taken"))
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-11", needs=())
@rows(
    "again",
    equal=_insert("root", message=made.user_message("root — grün")),
    other_content=_insert("root", message=made.user_message("something else")),
    other_type=EntryInsert(made.custom_entry("root", None)),
    unknown_parent=_insert("root", "no-such-entry"),
    itself_as_parent=_insert("root", "root"),
    a_usage_row_with_unknown_parent=_insert("usage-1", "no-such-entry"),
)
async def an_id_is_taken_whatever_comes_with_it(store: SessionMaker, again: EntryInsert) -> None:
    """A taken id is refused with `DuplicateId` even if the content is equal or the parent is unknown; the stored
    entry stays as it was.

    If this fails, look at: an upsert; equal content accepted as "already there"; the parent looked up before the id.
    """
    subject = await store.bushy_session()
    next_seq = await _prepared(subject)
    with refused(DuplicateId, id=again.entry["id"]):
        await subject.commit(again)
    await _expect_unchanged(subject, next_seq)


@case("S-TXN-11", needs=())
async def the_ids_of_other_sessions_are_free(store: SessionMaker) -> None:
    """Ids are taken within one session only: another session of the store uses them again.

    If this fails, look at: an id column that is unique over all sessions of a container.
    """
    first, second = await store.bushy_session(), await store.bushy_session()
    address: Address = value_address("garden.plan")
    await second.commit(_insert("only-here", "root"), ValueSet(address, "second"))
    await first.commit(_insert("only-here"), ValueSet(address, "first"))
    await second.close()
    await first.check_everywhere()
