"""Who is admitted to a session's storage, and when all of them have settled."""

from __future__ import annotations

import asyncio

import pytest

from forkstore.admission import Calls
from forkstore.contract.errors import SessionClosed

from .gated import settle

pytestmark = pytest.mark.asyncio


async def test_calls_are_admitted_until_closing_begins() -> None:
    calls = Calls("walk-1")
    with calls:
        calls.refuse_new()
        with pytest.raises(SessionClosed) as refusal, calls:
            pytest.fail("admitted")
        assert refusal.value.session_id == "walk-1"
    await calls.settled()


async def test_a_refused_call_does_not_count() -> None:
    calls = Calls("walk-1")
    calls.refuse_new()
    with pytest.raises(SessionClosed):
        calls.check_open()
    with pytest.raises(SessionClosed), calls:
        pytest.fail("admitted")
    await calls.settled()


async def test_settled_waits_for_the_last_call_and_for_late_ones() -> None:
    """A scope that was granted before closing began may make calls while the closing waits for others."""
    calls = Calls("walk-1")
    calls.enter_late()
    settled = asyncio.create_task(calls.settled())
    await settle()
    calls.refuse_new()
    calls.enter_late()
    calls.leave()
    await settle()
    assert not settled.done()
    calls.leave()
    calls.enter_late()  # in the same step in which the last call ended
    await settle()
    assert not settled.done()
    calls.leave()
    await settled


async def test_a_call_that_fails_is_settled() -> None:
    calls = Calls("walk-1")
    with pytest.raises(LookupError), calls:
        raise LookupError
    await calls.settled()
