"""Mutants of the suites `errors` and `errors_content`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.errors import DataOnlyBranch, DuplicateId, SessionInUse, SessionNotFound, UnknownBranch
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant


class MissingIsAKeyError(Mutant):
    """Lie: opening a deleted session raises the register's own KeyError."""

    kills = "S-ERR-01"

    async def open(self, metadata: SessionMetadata) -> Session:
        try:
            return await super().open(metadata)
        except SessionNotFound as error:
            raise KeyError(metadata.id) from error


class InUseNamesNobody(Mutant):
    """Lie: the refusal to delete an open session does not say which."""

    kills = "S-ERR-01"

    async def delete(self, metadata: SessionMetadata) -> None:
        try:
            await super().delete(metadata)
        except SessionInUse:
            raise SessionInUse("") from None


class DuplicateNamesAnotherId(Mutant):
    """Lie: the refusal of a used id names the first write's id."""

    kills = "S-ERR-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            try:
                return await super().commit(writes)
            except DuplicateId:
                raise DuplicateId("entry") from None


class UnknownBranchIsDataOnly(Mutant):
    """Lie: a fork of a branch without a tip is told to lack a lane."""

    kills = "S-ERR-01"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        try:
            return super().fork_state(source, options)
        except UnknownBranch as error:
            raise DataOnlyBranch(error.name) from error


class WalkFromNowhereIsEmpty(Mutant):
    """Lie: a walk from an unknown entry gives nothing."""

    kills = "S-ERR-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[dict[str, Any]]:
            return await super().scan_branch(start, **query) if start in self._state.entries else []
