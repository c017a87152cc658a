"""Branches over a storage that suspends in every call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import (
    BranchExists,
    InvalidArgument,
    InvalidBranchName,
    InvalidQuery,
    InvalidValue,
    PendingMessage,
    UnknownBranch,
    UnknownEntry,
)
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import ValueDelete

from .gated import Opened, ids, settle, with_entries

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app", "k"), list_address("app", "k")


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


async def test_a_message_that_turns_pending_while_it_waits_is_refused() -> None:
    """S-SESS-10: what is judged is what would be stored."""
    opened = await with_entries(1)
    branch = await opened.session.create_branch("plot", "e1")
    scope = await opened.session.begin_mutation()
    message: dict[str, Any] = {"role": "assistant", "stopReason": "stop", "content": []}
    appending = asyncio.create_task(branch.append_message(message))
    await settle()
    message["stopReason"] = "pending"
    await scope.end()
    with pytest.raises(PendingMessage):
        await appending
    assert await branch.get_tip_id() == "e1"
