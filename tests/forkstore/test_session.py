"""Sessions over a storage that suspends in every call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import (
    InvalidAddress,
    InvalidArgument,
    InvalidQuery,
)
from forkstore.contract.writes import ListAppend

from .gated import METADATA, Opened, ids, settle, with_entries

pytestmark = pytest.mark.asyncio

SCALAR, LIST = value_address("app", "k"), list_address("app", "k")


async def test_an_open_session_shows_what_it_was_made_of() -> None:
    opened = Opened()
    assert opened.session.metadata is METADATA
    assert opened.session.id_generator.next(5).startswith("00000000-0005-7")
    assert not opened.session.is_closing


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
