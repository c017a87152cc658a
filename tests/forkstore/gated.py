"""A storage whose every call suspends, stops where a test holds it, and fails where a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from forkstore.contract.addresses import branch_tip
from forkstore.contract.ids import Uuid7Generator
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ValueSet, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.session import Session
from forkstore.state import SessionState

METADATA = SessionMetadata(id="walk-1", created_at=1)


class GatedStorage(MemoryStorage):
    """`begun` and `ended` name the calls in order. `held` calls wait until they are let go; `failing` calls raise."""

    def __init__(self) -> None:
        super().__init__(SessionState(), Clock(None))
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.failing: dict[str, BaseException] = {}
        self._held: dict[str, asyncio.Event] = {}

    def hold(self, call: str) -> None:
        """From now on calls of that name wait."""
        self._held[call] = asyncio.Event()

    def let_go(self, call: str) -> None:
        """The calls of that name go on."""
        self._held.pop(call).set()

    async def gate(self, call: str) -> None:
        """What every call passes before its work."""
        self.begun.append(call)
        try:
            await asyncio.sleep(0)
            if call in self._held:
                await self._held[call].wait()
            if call in self.failing:
                raise self.failing[call]
        finally:
            self.ended.append(call)


def _gated(call: str) -> Callable[..., Any]:
    async def gated(self: GatedStorage, *arguments: Any, **query: Any) -> Any:
        await self.gate(call)
        return await getattr(MemoryStorage, call)(self, *arguments, **query)

    return gated


READS = (
    "get_entries",
    "get_value",
    "scan_values",
    "read_list",
    "scan_branch",
    "scan_branch_structure",
    "scan_entries",
    "scan_usage",
    "get_stats",
)
for _call in (*READS, "commit", "close"):
    setattr(GatedStorage, _call, _gated(_call))


class Opened:
    """A session over a gated storage, and how often it was let go of."""

    def __init__(self) -> None:
        self.storage = GatedStorage()
        self.released = 0
        self.session = Session(METADATA, self.storage, Uuid7Generator(), self._release)

    def _release(self) -> None:
        self.released += 1


async def settle() -> None:
    """Lets everything run that can run."""
    for _ in range(20):
        await asyncio.sleep(0)


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
