"""Repositories on databases, in both layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkstore import SqliteSessionRepo, branch_tip, lane_config, lane_state
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ValueSet
from forkstore.session import Session
from tests.forkstore.sqlite.watched_connections import WatchedConnections

BOTH_LAYOUTS = pytest.mark.parametrize("shared", [False, True], ids=["per-file", "shared"])


class Store:
    """The repository `repo` below `root`, on watched connections."""

    def __init__(self, root: Path, *, shared: bool, **options: Any) -> None:
        self.root = root
        self.shared = shared
        self.connections = WatchedConnections()
        self.directory = root / "store"
        self.repo = self.another(**options)

    def another(self, **options: Any) -> SqliteSessionRepo:
        """A second repository on the same sessions."""
        place: dict[str, Any] = (
            {"database_path": self.directory / "all.sqlite"} if self.shared else {"directory": self.directory}
        )
        return SqliteSessionRepo(**place | {"connect": self.connections.connect} | options)

    async def closed(self, id: str, *, entries: int = 2) -> SessionMetadata:
        """A closed session with a lane `garden`."""
        session = await self.repo.create(id=id)
        await grow(session, entries)
        await session.close()
        return session.metadata

    async def ids(self) -> list[str]:
        """The ids that a listing shows."""
        return sorted(metadata.id for metadata in await self.repo.list())

    def is_untouched(self) -> bool:
        """Whether nothing at all stands below the root."""
        return not any(self.root.iterdir())

    def standing(self) -> set[str]:
        """What stands below the root, side files aside."""
        paths = {str(path.relative_to(self.root)) for path in self.root.rglob("*")}
        return {path for path in paths if not path.endswith(("-wal", "-shm"))}


async def grow(session: Session, entries: int) -> None:
    """Adds a lane `garden` on a chain e1 … en."""
    await session.storage.commit(
        [ValueSet(lane_config("garden"), {}), ValueSet(lane_state("garden"), {}), ValueSet(branch_tip("garden"), None)]
    )
    for number in range(1, entries + 1):
        parent = f"e{number - 1}" if number > 1 else None
        message = {"role": "user", "content": f"bed {number}", "timestamp": number}
        entry = {"id": f"e{number}", "parentId": parent, "type": "message", "message": message}
        await session.storage.commit([EntryInsert(entry), ValueSet(branch_tip("garden"), f"e{number}")])
