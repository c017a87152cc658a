"""Sessions and branches over a storage that suspends in every call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import (
    BranchExists,
    InvalidAddress,
    InvalidArgument,
    InvalidBranchName,
    InvalidQuery,
    InvalidValue,
    PendingMessage,
    UnknownBranch,
    UnknownEntry,
)
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import EntryInsert, ListAppend, ValueDelete, ValueSet, Write

from .gated import METADATA, Opened, settle

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app", "k"), list_address("app", "k")


async def with_entries(count: int) -> Opened:
    """A session with a branch `garden` over a chain e1 … en; e2, e4, … are custom entries."""
    opened = Opened()
    await opened.session.create_branch("garden", None)
    for number in range(1, count + 1):
        entry: dict[str, Any] = {"id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
        entry |= {"type": "custom", "customType": "weather"} if number % 2 == 0 else {"type": "message"}
        writes: list[Write] = [EntryInsert(entry), ValueSet(branch_tip("garden"), entry["id"])]
        await opened.session.storage.commit(writes)
    return opened


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


async def test_an_open_session_shows_what_it_was_made_of() -> None:
    opened = Opened()
    assert opened.session.metadata is METADATA
    assert opened.session.id_generator.next(5).startswith("00000000-0005-7")
    assert not opened.session.is_closing


async def test_a_branch_is_what_has_a_tip_row() -> None:
    """S-SESS-01, S-SESS-05: a null tip is a branch."""
    opened = await with_entries(2)
    assert await opened.session.branch("plot") is None
    made = await opened.session.create_branch("plot", None)
    assert (made.name, await made.get_tip_id()) == ("plot", None)
    found = await opened.session.branch("plot")
    assert found is not None
    assert await found.get_tip_id() is None
    at = await opened.session.create_branch("old", "e1")
    assert await at.get_tip_id() == "e1"


async def test_creating_a_branch_is_one_commit_of_one_write() -> None:
    """S-SESS-02."""
    opened = await with_entries(1)
    before = (await opened.session.set_value(SCALAR, 1)).first_seq
    await opened.session.create_branch("plot", "e1")
    assert (await opened.session.set_value(SCALAR, 2)).first_seq == before + 2
    assert opened.storage.begun.count("commit") == 5


@pytest.mark.parametrize(
    ("name", "at", "error"),
    [
        ("", None, InvalidBranchName),
        (None, None, InvalidBranchName),
        (5, None, InvalidBranchName),
        ("a\0", None, InvalidBranchName),
        ("\ud800", None, InvalidBranchName),
        ("garden", None, BranchExists),
        ("garden", "unknown", BranchExists),
        ("plot", "unknown", UnknownEntry),
        ("plot", 5, InvalidArgument),
    ],
)
async def test_a_branch_that_cannot_be_created_is_not_written(name: Any, at: Any, error: type[Exception]) -> None:
    """S-SESS-03, S-SESS-04, S-SESS-05."""
    opened = await with_entries(1)
    commits = opened.storage.begun.count("commit")
    with pytest.raises(error):
        await opened.session.create_branch(name, at)
    assert opened.storage.begun.count("commit") == commits
    await opened.session.create_branch("another", None)


async def test_of_concurrent_creations_of_one_name_one_succeeds() -> None:
    """S-SESS-04: the check and the commit are one scope."""
    opened = Opened()
    calls = (opened.session.create_branch("garden", None) for _ in range(5))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[1:]] == [BranchExists] * 4
    assert opened.storage.begun.count("commit") == 1


async def test_each_public_writer_makes_one_commit_of_one_write() -> None:
    """S-SESS-06, S-SESS-07."""
    opened = Opened()
    results = [
        await opened.session.set_value(SCALAR, None),
        await opened.session.delete_value(SCALAR),
        await opened.session.append_list(LIST, 1),
        await opened.session.delete_list(LIST),
        await opened.session.set_name("walk"),
        await opened.session.set_label("unknown entry", "oak"),
    ]
    assert [result.seqs for result in results] == [[seq] for seq in range(1, 7)]
    assert await opened.session.get_name() == "walk"
    assert await opened.session.get_label("unknown entry") == "oak"
    await opened.session.set_name(None)
    await opened.session.set_label("unknown entry", None)
    assert await opened.session.get_name() is None
    assert await opened.session.get_label("unknown entry") is None


async def test_public_writers_wait_for_a_scope_and_reads_do_not() -> None:
    """S-SESS-06, S-QRY-18."""
    opened = Opened()
    branch = await opened.session.create_branch("garden", None)
    scope = await opened.session.begin_mutation()
    writers = [
        asyncio.create_task(call)
        for call in (
            opened.session.set_value(SCALAR, 1),
            opened.session.delete_list(LIST),
            opened.session.set_name("walk"),
            branch.append_message({"role": "user"}),
        )
    ]
    assert (await opened.session.get_stats()).message_count == 0
    assert await branch.get_tip_id() is None
    assert await opened.session.find_entries() == []
    assert not any(writer.done() for writer in writers)
    await scope.end()
    await asyncio.gather(*writers)


@pytest.mark.parametrize(
    "call",
    [
        lambda session: session.set_name(5),
        lambda session: session.set_label("e1", 5),
    ],
)
async def test_a_name_and_a_label_are_text(call: Any) -> None:
    opened = Opened()
    with pytest.raises(InvalidArgument):
        await call(opened.session)


async def test_a_label_has_an_address() -> None:
    with pytest.raises(InvalidAddress):
        await Opened().session.set_label("a\0", "oak")


async def test_an_append_inserts_below_the_tip_and_moves_it_in_one_commit() -> None:
    """S-SESS-08, S-SESS-09."""
    opened = await with_entries(1)
    branch = await opened.session.create_branch("plot", "e1")
    commits = opened.storage.begun.count("commit")
    first = await branch.append_message({"role": "user", "content": "x"})
    second = await branch.append_custom_entry("soil", None)
    third = await branch.append_custom_entry("soil")
    assert opened.storage.begun.count("commit") == commits + 3
    assert ids(await branch.find_entries()) == [third, second, first, "e1"]
    entries = await opened.session.get_entries([first, second, third])
    assert entries[first]["message"] == {"role": "user", "content": "x"}
    assert entries[second]["data"] is None
    assert "data" not in entries[third]
    garden = await opened.session.branch("garden")
    assert garden is not None
    assert await garden.get_tip_id() == "e1"
    assert repr(ABSENT) == "ABSENT"


async def test_concurrent_appends_form_one_chain_in_order() -> None:
    opened = Opened()
    branch = await opened.session.create_branch("garden", None)
    appended = await asyncio.gather(*(branch.append_custom_entry("soil", number) for number in range(6)))
    assert ids(await branch.find_entries(order="oldest_first")) == appended


@pytest.mark.parametrize("settled", ["stop", "length", "toolUse", "error", "aborted", "deferred"])
async def test_settled_messages_are_appended(settled: str) -> None:
    """S-SESS-11."""
    opened = Opened()
    branch = await opened.session.create_branch("garden", None)
    message = {"role": "assistant", "content": [], "stopReason": settled}
    entry = await opened.session.get_entry(await branch.append_message(message))
    assert entry is not None
    assert entry["message"] == message


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda branch: branch.append_message({"role": "assistant", "stopReason": "pending"}), PendingMessage),
        (lambda branch: branch.append_message("text"), InvalidValue),
        (lambda branch: branch.append_message({"role": {1, 2}}), InvalidValue),
        (lambda branch: branch.append_custom_entry(None), InvalidValue),
        (lambda branch: branch.append_custom_entry("soil", float("nan")), InvalidValue),
    ],
)
async def test_a_refused_append_changes_nothing(call: Any, error: type[Exception]) -> None:
    """S-SESS-10, S-VAL-10."""
    opened = Opened()
    branch = await opened.session.create_branch("garden", None)
    with pytest.raises(error):
        await call(branch)
    assert await branch.get_tip_id() is None
    assert (await opened.session.set_value(SCALAR, 1)).first_seq == 2


async def test_a_branch_whose_tip_row_is_gone_is_unknown() -> None:
    """S-SESS-12, for every operation."""
    opened = await with_entries(1)
    branch = await opened.session.branch("garden")
    assert branch is not None
    await opened.session.storage.commit([ValueDelete(branch_tip("garden"))])
    for call in (
        branch.get_tip_id(),
        branch.find_entries(),
        branch.find_entry(),
        branch.find_entries(start="e1"),
        branch.append_message({"role": "user"}),
        branch.append_custom_entry("soil"),
    ):
        with pytest.raises(UnknownBranch) as refusal:
            await call
        assert refusal.value.name == "garden"


async def test_finds_of_a_session_cover_all_entries_newest_first() -> None:
    """S-QRY-14, S-QRY-09, S-QRY-15."""
    opened = await with_entries(6)
    session = opened.session
    assert ids(await session.find_entries()) == ["e6", "e5", "e4", "e3", "e2", "e1"]
    assert ids(await session.find_entries(order="asc", type="custom")) == ["e2", "e4", "e6"]
    sixth = await session.find_entry()
    assert sixth is not None
    assert ids(await session.find_entries(cursor=sixth["seq"], limit=2)) == ["e5", "e4"]
    assert ids(await session.find_entries(order="asc", cursor=sixth["seq"])) == []
    first = await session.find_entry(order="asc")
    assert first is not None
    assert first["id"] == "e1"
    assert await session.find_entry(custom_type="soil") is None
    assert await session.find_entry(limit=0) is None
    assert await session.get_entry("unknown") is None


async def test_finds_of_a_branch_start_at_the_tip_or_at_any_entry() -> None:
    """S-QRY-16: also at an entry off the branch; and nothing for a null tip."""
    opened = await with_entries(4)
    branch = await opened.session.create_branch("old", "e2")
    assert ids(await branch.find_entries()) == ["e2", "e1"]
    assert ids(await branch.find_entries(start="e4", stop_at_type="message")) == ["e4", "e3"]
    assert await branch.get_tip_id() == "e2"
    found = await branch.find_entry(start="e4", type="message")
    assert found is not None
    assert found["id"] == "e3"
    empty = await opened.session.create_branch("empty", None)
    assert await empty.find_entries() == []
    assert await empty.find_entry() is None
    assert ids(await empty.find_entries(start="e1")) == ["e1"]


@pytest.mark.parametrize("query", [{"limit": True}, {"order": "asc"}, {"cursor": "1"}, {"type": 5}])
async def test_a_wrong_parameter_is_refused_on_an_empty_branch_too(query: Any) -> None:
    """S-QRY-13."""
    branch = await Opened().session.create_branch("empty", None)
    for find in (branch.find_entries, branch.find_entry):
        with pytest.raises(InvalidQuery):
            await find(**query)


@pytest.mark.parametrize("query", [{"from_seq": 1}, {"stop_at_id": "e1"}, {"kind": "message"}])
async def test_a_parameter_that_a_find_does_not_have_is_a_type_error(query: Any) -> None:
    opened = Opened()
    for find in (opened.session.find_entries, opened.session.find_entry):
        with pytest.raises(TypeError):
            await find(**query)


@pytest.mark.parametrize("entry_id", [None, 5, ["e1"]])
async def test_an_entry_is_looked_up_by_text(entry_id: Any) -> None:
    with pytest.raises(InvalidQuery):
        await Opened().session.get_entry(entry_id)


async def test_a_commit_through_the_storage_does_not_wait_for_a_scope() -> None:
    """The commit queue is the storage's; the mutation line is the session's."""
    opened = Opened()
    scope = await opened.session.begin_mutation()
    assert (await opened.session.storage.commit([ListAppend(LIST, 1)])).seqs == [1]
    await scope.end()


async def test_a_writer_cancelled_while_it_waits_writes_nothing() -> None:
    opened = Opened()
    scope = await opened.session.begin_mutation()
    writer = asyncio.create_task(opened.session.set_value(SCALAR, 1))
    await settle()
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer
    await scope.end()
    assert await opened.session.get_value(SCALAR) is None
