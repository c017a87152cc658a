"""Backends for the tests of `forkgen make --into`: one that keeps its sessions, and some that fail in one way each."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, ClassVar

from forkstore import MemorySessionRepo
from forkstore.testing import MemoryHarness

number = 7


class KeptRepo(MemorySessionRepo):
    """A repository whose sessions survive its closing, and which is told a working directory."""

    async def create(self, *, cwd: str | None = None, **options: Any) -> Any:
        assert cwd == "/srv/garden"
        return await super().create(**options)

    async def close(self) -> None:
        pass


class Kept(MemoryHarness):
    """A store with a place: one repository for each directory."""

    durable = True
    cwd = "/srv/garden"
    repos: ClassVar[dict[Path, KeptRepo]] = {}

    async def open_repo(self, seams: Any) -> MemorySessionRepo:
        assert (seams.clock, seams.probe) == (None, None)
        return self.repos.setdefault(self.directory, KeptRepo())


class Faulty(Kept):
    """A store that goes wrong at one commit, the third unless said otherwise."""

    wrong_commit = 3

    async def open_repo(self, seams: Any) -> MemorySessionRepo:
        repo = await super().open_repo(seams)
        create = repo.create

        async def creating(**options: Any) -> Any:
            session = await create(**options)
            commit, count = session.mutate, 0

            async def mutate(callback: Any) -> Any:
                nonlocal count
                count += 1
                return await commit(callback) if count != self.wrong_commit else await self.go_wrong()

            session.mutate = mutate  # type: ignore[method-assign]
            return session

        repo.create = creating  # type: ignore[method-assign]
        return repo

    async def go_wrong(self) -> None:
        """Does something else than the commit."""


class Forgetful(Faulty):
    """Loses the last commit of five appends and says nothing."""

    wrong_commit = 6


class Full(Faulty):
    async def go_wrong(self) -> None:
        raise OSError("no space\nleft")


class Interrupted(Faulty):
    async def go_wrong(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


class Unmade(MemoryHarness):
    def __init__(self, directory: Path) -> None:
        raise OSError("no disk\nat all")


class Closed(MemoryHarness):
    async def open_repo(self, seams: Any) -> MemorySessionRepo:
        raise ConnectionError("refused")


class Stranger(MemoryHarness):
    family = "streams"
