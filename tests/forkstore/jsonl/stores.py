"""A repository on files whose file work is watched and can be made to fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.file_spy import FileSpy
from forkstore import JsonlSessionRepo
from forkstore.contract.files import Files
from forkstore.jsonl.files import LocalFiles


class Store:
    """The repository `repo` under `root`, with `faults` in its file work and a `spy` on it."""

    def __init__(self, root: Path, files: Files | None = None, **options: Any) -> None:
        self.root = root
        self.faults, self.spy = FileFaults(), FileSpy()
        self.files = self.spy.wrap(self.faults.wrap(LocalFiles() if files is None else files))
        self.repo = JsonlSessionRepo(root, files=self.files, **options)

    async def ids(self, **query: str) -> list[str]:
        """The ids that a listing shows, in its order."""
        return [metadata.id for metadata in await self.repo.list(**query)]


@asynccontextmanager
async def closing(store: Store) -> AsyncIterator[Store]:
    """Closes the repository at the end and shows that it holds no file any more."""
    yield store
    store.faults.disarm()
    await store.repo.close()
    assert store.spy.open_readers == []
