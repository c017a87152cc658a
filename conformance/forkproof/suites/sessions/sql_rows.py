"""The rows of a session: entries as the contract stores them, and totals that agree with them (section 27)."""

from __future__ import annotations

import json
from typing import Any

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.database_rows import Row, state_of_rows
from forkproof.suites.sessions.committing import all_six
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import UnknownParent
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

COLUMNS = frozenset({"id", "parentId", "seq", "type", "customType", "timestamp"})
"""The fields of an entry that have columns of their own."""
PLAN, LOG = value_address("garden.plan", "beds"), list_address("garden.log", "beds")


@case("S-SQL-SCH-03")
@in_any_state
async def the_rows_say_what_the_session_holds(subject: Subject) -> None:
    """In any state the rows of a session, read as section 27.1 says, are what the session shows: every field of an
    entry stands in its column or in its payload, not in both.

    If this fails, look at: a payload with all fields; a parent of a root that is an empty text; rows of a delete that
    stay.
    """
    found = subject.store.databases.session_rows(subject.metadata)
    expect_equal(state_of_rows(found), subject.model.state(), of="the session, as its rows tell it")
    doubled = {row["id"]: sorted(COLUMNS & json.loads(row["payload"]).keys()) for row in found.entries}
    expect_equal({id: names for id, names in doubled.items() if names}, {}, of="payloads with fields of columns")
    sequences = {row["id"]: row["seq"] for row in found.entries}
    known = {id: placed.seq for id, placed in subject.model.entries.items() if placed.seq is not None}
    expect_equal({id: sequences[id] for id in known}, known, of="the sequences of the entries")


_ODD: dict[str, Any] = {"später": [1.0, None], "": {"b": 1, "a": 2}}
ENTRIES: dict[str, tuple[records.Record, dict[str, Any], str]] = {
    "message": (
        records.message_entry("new", "e1", message={"role": "user", "content": "früh\n"}),
        {"type": "message", "custom_type": None},
        '{"message":{"role":"user","content":"früh\\n"}}',
    ),
    "terminating-message": (
        {"terminate": True, **records.message_entry("new", "e1", message={"role": "x"})},
        {"type": "message", "custom_type": None},
        '{"terminate":true,"message":{"role":"x"}}',
    ),
    "custom": (
        records.custom_entry("new", "e1", "weather", {"rain": 2.5}),
        {"type": "custom", "custom_type": "weather"},
        '{"data":{"rain":2.5}}',
    ),
    "custom-with-null": (
        records.custom_entry("new", "e1", "weather", None),
        {"type": "custom", "custom_type": "weather"},
        '{"data":null}',
    ),
    "custom-without-data": (
        records.custom_entry("new", "e1", ""),
        {"type": "custom", "custom_type": ""},
        "{}",
    ),
    "root": (
        {**records.custom_entry("new", None, "x"), **_ODD},
        {"type": "custom", "custom_type": "x", "parent_id": None},
        '{"später":[1.0,null],"":{"b":1,"a":2}}',
    ),
}
"""New entries, the columns of their rows, and their payload."""


@case("S-SQL-SCH-03", needs=("raw-files", "raw-commit"))
@rows("entry", ENTRIES)
async def an_entry_is_stored_in_its_columns(
    store: SessionMaker, entry: tuple[records.Record, dict[str, Any], str]
) -> None:
    """An entry is a row with its id, parent, sequence, type and timestamp in columns, its custom type exactly on a
    custom entry, and everything else as one JSON object in the order in which it was given.

    If this fails, look at: a custom type of a message that is an empty text; payload fields in another order; fields
    that the contract does not name.
    """
    new, columns, payload = entry
    subject = await store.linear_session(1)
    result = await subject.raw_commit(EntryInsert(new))
    found = store.databases.session_rows(subject.metadata).entries
    expected = {
        "session_id": subject.id,
        "id": "new",
        "parent_id": "e1",
        "seq": result.first_seq,
        "timestamp": result.timestamp,
        "payload": payload,
        **columns,
    }
    expect_equal(_by_id(found)["new"], expected, of="the row of the entry")


@case("S-SQL-SCH-03", needs=("raw-files", "raw-commit"))
async def every_type_of_entry_keeps_its_type_in_a_fork(store: SessionMaker) -> None:
    """The rows of a fork are stored like those of commits, custom types on custom entries only, in both scopes.

    If this fails, look at: columns that are copied in another order; a payload taken for the custom type.
    """
    source = await store.rich_session()
    for options in (TreeFork(), BranchFork("main")):
        fork = await source.fork(options)
        copied = _by_id(store.databases.session_rows(fork.metadata).entries)
        originals = _by_id(store.databases.session_rows(source.metadata).entries)
        expected = {id: {**originals[id], "session_id": fork.id} for id in fork.model.entries}
        seen = {id: {**row, "seq": expected[id]["seq"]} for id, row in copied.items() if id in expected}
        expect_equal(seen, expected, of=f"the entry rows of the fork by {options!r}")


def _by_id(found: tuple[Row, ...]) -> dict[str, Row]:
    return {row["id"]: row for row in found}


COMMITS: dict[str, tuple[Write, ...]] = {
    "messages": tuple(EntryInsert(records.message_entry(f"m{number}", "e1")) for number in range(3)),
    "other-entries": (
        EntryInsert(records.custom_entry("note", "e1")),
        EntryInsert(records.compaction_entry("compaction", "note")),
    ),
    "usage": (UsageInsert(records.usage_row("spent", usage=records.usage(reasoning=7))),),
    "usage-with-other-numbers": (UsageInsert(records.usage_row("more", usage=records.usage(cacheWrite1h=2))),),
    "values": (ValueSet(PLAN, 1), ValueSet(PLAN, 2)),
    "deletes": (ValueDelete(PLAN), ValueDelete(value_address("garden.plan", "never"))),
    "list": (ListAppend(LOG, 1), ListAppend(LOG, 2)),
    "list-deleted": (ListDelete(LOG),),
    "nothing": (),
    "all-kinds": tuple(all_six("six", "e1")),
}


async def _expect_agreement(subject: Subject, of: str) -> None:
    """The totals in the session row agree with the other tables, and with what the model counts."""
    found = subject.store.databases.session_rows(subject.metadata)
    session, state = found.session, subject.model.state()
    counted = sum(row["type"] == "message" for row in found.entries)
    expect_equal(session["message_count"], counted, of=f"message_count {of}")
    expect_equal(session["message_count"], state.message_count, of=f"message_count {of}, against the model")
    expect_equal(json.loads(session["usage_payload"]), state.usage, of=f"usage_payload {of}")
    tables = (found.entries, found.scalar_values, found.list_values, found.usage_ledger)
    last = max((row["seq"] for table in tables for row in table), default=0)
    next_seq = session["next_seq"]
    expect(next_seq > last, f"next_seq {of}\nexpected: above the last sequence, {last}\nseen:     {next_seq}")
    if subject.model.next_seq is not None:
        expect_equal(next_seq, subject.model.next_seq, of=f"next_seq {of}")


@case("S-SQL-SCH-04", needs=("raw-files", "raw-commit"))
async def the_totals_agree_after_every_commit(store: SessionMaker) -> None:
    """After every commit, of each kind of write, the message count, the usage and the next sequence in the session row
    agree with the rows of the other tables: live, after reopening, after a refused commit, and in forks.

    If this fails, look at: totals that are written when the session is closed; a delete that takes no sequence; usage
    that is summed in another order.
    """
    subject = await store.linear_session(2)
    for name, writes in COMMITS.items():
        await subject.raw_commit(*writes)
        await _expect_agreement(subject, f"after the commit {name!r}")
    with refused(UnknownParent):
        await subject.session.storage.commit(
            [UsageInsert(records.usage_row("never")), EntryInsert(records.message_entry("lost", "nobody"))]
        )
    await _expect_agreement(subject, "after a refused commit")
    await subject.reopen()
    await _expect_agreement(subject, "after reopening")
    for options in (TreeFork(), BranchFork("main")):
        fork = await subject.fork(options)
        await _expect_agreement(fork, f"of the fork by {options!r}")
        await fork.append("main", "in the fork")
        await _expect_agreement(fork, f"of the fork by {options!r}, after a commit")
