"""Who has a session first: reservations, with files that suspend in every call (spec section 12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkstore import Session, TreeFork, ValueSet, value_address
from forkstore.contract.errors import (
    SessionClosed,
    SessionExists,
    SessionInUse,
)
from tests.forkstore.jsonl.moments import slow_files
from tests.forkstore.jsonl.planted import (
    GARDEN,
    header_line,
    plant,
)
from tests.forkstore.jsonl.stores import Store, closing

pytestmark = pytest.mark.asyncio
NOTE = value_address("app", "note")


@pytest_asyncio.fixture
async def slow(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        yield store


async def first_step(call: Awaitable[object]) -> BaseException | None:
    """How a call ends in its first step; None when it goes on."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
        return None
    return task.exception()


async def test_a_session_is_reserved_from_the_first_step_of_a_call_to_its_end(slow: Store) -> None:
    """S-OWN-01 to S-OWN-05, S-OWN-08."""
    metadata, source = plant(slow.root), plant(slow.root, header_line(id="source"), "source.jsonl", id="source")
    holders: dict[str, Callable[[], Awaitable[Any]]] = {
        "create": lambda: slow.repo.create(id="new", cwd=GARDEN),
        "fork": lambda: slow.repo.fork(source, TreeFork("new")),
        "open": lambda: slow.repo.open(metadata),
        "delete": lambda: slow.repo.delete(metadata),
    }
    for name, holder in holders.items():
        held = "new" if name in ("create", "fork") else "walk-1"
        task = asyncio.ensure_future(holder())
        await asyncio.sleep(0)
        named = replace(metadata, id=held)
        assert isinstance(await first_step(slow.repo.create(id=held, cwd=GARDEN)), SessionExists), name
        assert isinstance(await first_step(slow.repo.fork(source, TreeFork(held))), SessionExists), name
        assert isinstance(await first_step(slow.repo.open(named)), SessionInUse), name
        assert isinstance(await first_step(slow.repo.delete(named)), SessionInUse), name
        assert await first_step(slow.repo.create(id=held, cwd="/srv-garden")) is None, name
        made = await task
        if isinstance(made, Session):
            assert isinstance(await first_step(slow.repo.create(id=held, cwd=GARDEN)), SessionExists), name
            await made.close()
            if held == "new":
                await slow.repo.delete(made.metadata)
    assert await first_step(slow.repo.create(id="walk-1", cwd=GARDEN)) is None


async def test_a_fork_of_a_closing_source_is_refused_and_one_of_a_closed_source_is_not(slow: Store) -> None:
    """S-FORK-ORD-06."""
    session = await slow.repo.open(plant(slow.root))
    task = asyncio.ensure_future(session.close())
    await asyncio.sleep(0)
    assert isinstance(await first_step(slow.repo.fork(session.metadata, TreeFork("f"))), SessionClosed)
    await task
    await slow.repo.fork(session.metadata, TreeFork("f"))


async def test_a_fork_has_its_place_in_the_commit_queue_from_its_first_step(slow: Store) -> None:
    """S-FORK-ORD-01."""
    session = await slow.repo.open(plant(slow.root))
    tasks = [
        asyncio.ensure_future(session.storage.commit([ValueSet(NOTE, "before")])),
        asyncio.ensure_future(slow.repo.fork(session.metadata, TreeFork("f"))),
        asyncio.ensure_future(session.storage.commit([ValueSet(NOTE, "after")])),
    ]
    _, fork, _ = await asyncio.gather(*tasks)
    assert isinstance(fork, Session)
    row = await fork.get_value(NOTE)
    assert row is not None
    assert row.value == "before"
