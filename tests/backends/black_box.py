"""A right backend that lets nobody steer it: no clock, no probe, and no commit past the scopes."""

from __future__ import annotations

from typing import Any, ClassVar

from forkstore.admission import AdmittedStorage
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory import MemorySessionRepo
from forkstore.session import Session


class SealedStorage(AdmittedStorage):
    """Its commit is for cases with the seam `raw-commit` only."""

    async def commit(self, writes: list[Write]) -> CommitResult:
        with self._admission:
            raise AssertionError("asked for the seam 'raw-commit', which the harness does not offer")


class SealedSession(Session):
    """A session with such a storage; scopes and writers commit as ever."""

    def __init__(self, *made_of: Any) -> None:
        super().__init__(*made_of)
        self.storage = SealedStorage(self._storage, self._calls, self.close)


class SealedSessionRepo(MemorySessionRepo):
    """The memory backend with such sessions."""

    session_class: ClassVar[type[Session]] = SealedSession
