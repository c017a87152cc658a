"""Texts that some stores take for nothing or cannot hold: empty, with U+0000, beyond the 16-bit letters (sections 3, 8,
14 to 16). Wherever the contract takes a text it takes these.
"""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    branch_summary_entry,
    compaction_entry,
    custom_entry,
    message_entry,
    usage_row,
)
from forkproof.suites.sessions.evaluating import NOT_GIVEN, queries, scanned, structure, walked
from forkproof.suites.sessions.forking import expect_sound, forked, from_open_and_closed, in_both_scopes
from forkstore.contract.addresses import branch_tip, entry_label, session_name, value_address
from forkstore.contract.errors import InvalidSessionId
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet

IDS = ("a", "", "\0", "a\0b", "𝌆", "\U0010ffff", "z")
"""The ids of a path, oldest first."""


async def _odd_path(store: SessionMaker) -> Subject:
    """A lane `main` over custom entries with such ids, every second one of an empty custom type."""
    subject = await store.create()
    for parent, id in zip((None, *IDS), IDS, strict=False):
        await subject.insert(custom_entry(id, parent, "" if len(subject.model.entries) % 2 else "weather"))
    await subject.set_tip("main", "z")
    await subject.configure("main")
    return subject


@case("S-FORK-BR-09")
@from_open_and_closed
@rows("entry", {f"id-{number}": id for number, id in enumerate(IDS)})
async def a_branch_fork_walks_through_any_id(store: SessionMaker, entry: str, source_is: str) -> None:
    """The members are all ancestors of the fork point, whatever their ids are, the empty text included.

    If this fails, look at: a walk that ends at a falsy id; ids that end at U+0000 or lose letters.
    """
    source = await _odd_path(store)
    fork = await forked(source, BranchFork("main", entry_id=entry), source_is)
    found = [one["id"] for one in await fork.session.scan_entries()]
    expect_equal(found, list(IDS[: IDS.index(entry) + 1]), of=f"the entries of the fork at {entry!r}")
    await expect_sound(fork, source)


@case("S-FORK-TREE-01", needs=())
@from_open_and_closed
async def entries_with_any_id_are_copied(store: SessionMaker, source_is: str) -> None:
    """Entries with empty ids, U+0000 and letters of any plane in them are copied.

    If this fails, look at: ids that are falsy; ids that end at U+0000 or lose letters.
    """
    source = await _odd_path(store)
    fork = await forked(source, TreeFork(), source_is)
    expect_equal([one["id"] for one in await fork.session.scan_entries()], list(IDS), of="the entries of the fork")
    await expect_sound(fork, source)


@case("S-REPO-03")
async def the_empty_session_id_is_an_id(store: SessionMaker) -> None:
    """A store that takes the empty session id makes a session of that id, by create and fork, and names it as parent.

    If this fails, look at: `id or generated`; a parent link that is left out when it is falsy.
    """
    try:
        source = await store.create("")
    except InvalidSessionId:  # a store may refuse further ids, but then always
        with refused(InvalidSessionId, session_id=""):
            await store.repo.fork((await store.empty_session()).metadata, TreeFork(id=""))
        return
    expect_equal(source.id, "", of="the id of the session")
    child = await source.fork(TreeFork())
    expect_equal(child.metadata.parent_session_id, "", of="the parent of its fork")
    await source.close()
    await store.repo.delete(source.metadata)
    again = await child.fork(TreeFork(id=""))
    expect_equal(again.id, "", of="the id of the fork")
    await store.assert_only_known_sessions(child, again)


@case("S-QRY-01")
async def entries_are_found_by_any_id(store: SessionMaker) -> None:
    """`get_entries` finds an entry by any id, the empty text included.

    If this fails, look at: falsy ids left out of the request.
    """
    subject = await _odd_path(store)
    expect_equal(list(await subject.session.get_entries(IDS[::-1])), list(IDS[::-1]), of="the ids that are found")


@case("S-QRY-17")
async def an_empty_text_is_not_nothing(store: SessionMaker) -> None:
    """The entry with the empty id is found, and an empty name or label is an empty text and not None.

    If this fails, look at: `if id:`; `value or None`.
    """
    subject = await _odd_path(store)
    await subject.commit(ValueSet(session_name(), ""), ValueSet(entry_label(""), ""), ValueSet(entry_label("a"), ""))
    session = subject.session
    expect_equal((await session.get_entry("") or {}).get("id"), "", of="the id of the entry with the empty id")
    expect_equal(await session.get_name(), "", of="the empty name")
    expect_equal([await session.get_label(""), await session.get_label("a")], ["", ""], of="the empty labels")


@case("S-FORK-CLS-01", "S-FORK-CLS-02", needs=())
@in_both_scopes
@from_open_and_closed
async def an_empty_name_is_copied(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """A name that is the empty text is in the fork.

    If this fails, look at: falsy rows left out.
    """
    source = await _odd_path(store)
    await source.commit(ValueSet(session_name(), ""))
    fork = await forked(source, options, source_is)
    row = await fork.session.get_value(session_name())
    expect_equal(row and row.value, "", of="the name of the fork")


@case("S-FORK-CLS-02")
@in_both_scopes
@from_open_and_closed
async def empty_labels_and_labels_of_any_id_are_copied(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A label that is the empty text is copied with its entry, and so is a label of the entry with the empty id.

    If this fails, look at: falsy rows or keys left out; a set of member ids without the empty one.
    """
    source = await _odd_path(store)
    await source.commit(*(ValueSet(entry_label(id), "" if id else "of the empty id") for id in IDS if "\0" not in id))
    fork = await forked(source, options, source_is)
    rows_seen = await fork.session.scan_values(value_address("pi.entry.label"))
    expected = {id: "" if id else "of the empty id" for id in IDS if "\0" not in id}
    expect_equal({row.address.key: row.value for row in rows_seen}, expected, of="the labels of the fork")


@case("S-SESS-08")
async def an_append_goes_below_the_entry_with_the_empty_id(store: SessionMaker) -> None:
    """The empty text is a tip like any other: an append below it has it as parent, and is no root.

    If this fails, look at: `tip or None`.
    """
    subject = await _odd_path(store)
    await subject.commit(ValueSet(branch_tip("main"), ""))
    branch = await subject.session.branch("main")
    added = branch and await branch.append_custom_entry("weather")
    found = await subject.session.get_entry(str(added)) or {}
    expect_equal(found.get("parentId", "no entry"), "", of="the parent of the new entry")


@case("S-QRY-08", "S-QRY-07")
async def an_empty_filter_is_a_filter(store: SessionMaker) -> None:
    """A filter or stop that is the empty text finds what has exactly that: an empty custom type, the empty id, and no
    entry for an empty type.

    If this fails, look at: `if type:`; an empty text taken for None.
    """
    subject = await _odd_path(store)
    for query in _filters():
        seen = await subject.session.scan_branch("z", **query)
        expect_equal(seen, walked(subject.model, "z", **query), of=f"scan_branch with {query}")


@case("S-QRY-07")
@rows("order", newest_first="newest_first", oldest_first="oldest_first")
async def a_walk_stops_at_any_id(store: SessionMaker, order: Any) -> None:
    """`stop_at_id` stops at the entry with that id, the empty one included.

    If this fails, look at: `if stop_at_id:`; an id that ends at U+0000.
    """
    subject = await _odd_path(store)
    for id in IDS:
        seen = await subject.session.scan_branch("z", order=order, stop_at_id=id)
        expect_equal(seen, walked(subject.model, "z", order=order, stop_at_id=id), of=f"the walk to {id!r}")


@case("S-QRY-10")
async def structures_have_an_empty_custom_type(store: SessionMaker) -> None:
    """The structure of a custom entry has its custom type, an empty one too.

    If this fails, look at: `if custom_type:`.
    """
    subject = await _odd_path(store)
    for query in _filters():
        seen = await subject.session.scan_branch_structure("z", **query)
        expected = [structure(entry) for entry in walked(subject.model, "z", **query)]
        expect_equal(seen, expected, of=f"scan_branch_structure with {query}")


@case("S-QRY-11", needs=())
async def an_empty_filter_of_a_scan_is_a_filter(store: SessionMaker) -> None:
    """`scan_entries` and `find_entries` with an empty type or custom type give what has exactly that.

    If this fails, look at: `if type:`; an empty text taken for None.
    """
    subject = await _odd_path(store)
    entries = [subject.model.entry(id) for id in subject.model.entries]
    for query in queries(type=(NOT_GIVEN, "", "custom"), custom_type=(NOT_GIVEN, "", "weather")):
        seen = await subject.session.scan_entries(**query)
        expect_equal(seen, scanned(entries, **query), of=f"scan_entries with {query}")
        found = await subject.session.find_entries(**query)
        expect_equal(found, scanned(entries, **query)[::-1], of=f"find_entries with {query}")


@case("S-ENT-04", needs=())
async def empty_and_null_fields_come_back(store: SessionMaker) -> None:
    """Optional fields that are null or empty, and numbers with a fraction of nothing, come back as they were given.

    If this fails, look at: null or falsy fields left out of stored records; columns that have a type.
    """
    subject = await store.linear_session()
    entries = {
        "compaction": {**compaction_entry("k", "e1"), "summary": "", "details": None, "tokensBefore": 310.0},
        "summary": {**branch_summary_entry("s", "e1", "e2"), "summary": "", "details": None, "fromId": ""},
        "message": {**message_entry("m", "e1"), "message": {}, "terminate": None},
    }
    rows_given = [usage_row("u"), {**usage_row("v"), "details": None, "entryId": ""}]
    await subject.commit(*map(EntryInsert, entries.values()), *map(UsageInsert, rows_given))
    for moment in ("live", "reopened"):
        for name, supplied in entries.items():
            found = await subject.session.get_entry(str(supplied["id"])) or {}
            seen = {field: value for field, value in found.items() if field not in ("seq", "timestamp")}
            expect_equal(seen, supplied, of=f"the {name} entry, {moment}")
        ledger = [{key: row[key] for key in row if key != "seq"} for row in await subject.session.scan_usage()]
        expect_equal(ledger, rows_given, of=f"the ledger, {moment}")
        await subject.reopen()


def _filters() -> list[dict[str, Any]]:
    return list(
        queries(
            type=(NOT_GIVEN, "", "custom"),
            custom_type=(NOT_GIVEN, "", "weather"),
            stop_at_id=(NOT_GIVEN, "", "\0"),
            stop_at_type=(NOT_GIVEN, ""),
            order=("newest_first", "oldest_first"),
        )
    )
