"""The harnesses that put the right backends before the kit."""

from __future__ import annotations

from pathlib import Path

from forkproof.harness import Seams, SessionHarness
from forkstore.contract.store import SessionRepo

from .black_box import SealedSessionRepo
from .odd import OddSessionRepo
from .suspending import Sessions, SuspendingSessionRepo

SEAMS = frozenset({"clock", "probe", "raw-commit"})


class Suspending(SessionHarness):
    """Suspends in every call; its sessions are gone with their repository."""

    name = "suspending"
    seams = SEAMS

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """A store of its own per repository."""
        return SuspendingSessionRepo(now=seams.clock, fork_probe=seams.probe)


class SuspendingDurable(SessionHarness):
    """Suspends in every call, and its sessions outlive their repository."""

    name = "suspending-durable"
    seams = SEAMS
    durable = True

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.sessions: Sessions = {}

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """Another repository on the harness's one store."""
        return SuspendingSessionRepo(sessions=self.sessions, now=seams.clock, fork_probe=seams.probe)


class Odd(SessionHarness):
    """Choices that nobody expects and the contract allows."""

    name = "odd"
    seams = SEAMS
    cwd = "/srv/garden"

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """A store of its own per repository."""
        return OddSessionRepo(now=seams.clock, fork_probe=seams.probe)


class BlackBox(SessionHarness):
    """Offers no seam at all."""

    name = "black-box"

    async def open_repo(self, seams: Seams) -> SessionRepo:
        """A repository with nothing to see or steer it by."""
        return SealedSessionRepo()
