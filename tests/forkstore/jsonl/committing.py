"""A session of a planted file, what is committed to it, and what stands in the file then."""

from __future__ import annotations

from typing import Any

from forkstore import CommitResult, Session, ValueSet, value_address
from tests.forkstore.jsonl.planted import GOOD, bytes_of, plant
from tests.forkstore.jsonl.stores import Store

NOTE = value_address("app", "note")
NEXT = 21
"""The next sequence of the file that is planted."""


async def opened(store: Store) -> Session:
    return await store.repo.open(plant(store.root))


async def commit(session: Session, value: Any) -> CommitResult:
    return await session.storage.commit([ValueSet(NOTE, value)])


async def note(session: Session) -> Any:
    row = await session.get_value(NOTE)
    return None if row is None else row.value


async def reopened(store: Store, session: Session) -> Session:
    await session.close()
    return await store.repo.open(session.metadata)


def added(session: Session) -> bytes:
    """What stands in the file behind what was planted there."""
    content = bytes_of(session.metadata)
    assert content.startswith(GOOD)
    return content.removeprefix(GOOD)
