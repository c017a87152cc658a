"""Mutants of the suite `repository_closing`."""

from __future__ import annotations

import asyncio
from typing import Any

from forkstore.closing import Closing
from forkstore.contract.errors import RepoClosed
from forkstore.contract.store import SessionMetadata
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class _Closer(Mutant):
    def open_sessions(self) -> list[Session]:
        """The open sessions, the oldest first."""
        found = (self._reservations.open_session(session_id) for session_id in self._sessions)
        return [session for session in found if session is not None]


class RefusesWhenClosingHasEnded(Mutant):
    """Lie: new calls are refused from the end of closing on, not from its beginning."""

    kills = "S-REPO-21"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._closing = Closing(lambda: None, self._close_all)

    async def _close_all(self) -> None:
        await super()._close_all()
        self._reservations.refuse_new()


class AClosedRepositoryListsNothing(Mutant):
    """Lie: a closed repository gives an empty list."""

    kills = "S-REPO-21"

    async def list(self, **options: Any) -> list[SessionMetadata]:
        return [] if self._closing.begun else await super().list(**options)


class ClosesWithoutWaiting(_Closer):
    """Lie: sessions are told to close, and nobody waits for them."""

    kills = "S-REPO-22"

    async def _close_all(self) -> None:
        self._closings = [asyncio.ensure_future(one.close()) for one in self.open_sessions()]


class ClosesTheOldestOnly(_Closer):
    """Lie: closing stops after the first session."""

    kills = "S-REPO-22"

    async def _close_all(self) -> None:
        for session in self.open_sessions()[:1]:
            await session.close()


class RefusesASecondClose(Mutant):
    """Lie: a second `close` raises RepoClosed."""

    kills = "S-REPO-23"

    async def close(self) -> None:
        if self._closing.begun:
            raise RepoClosed
        await super().close()


class ASecondCloseDoesNotWait(Mutant):
    """Lie: a second `close` returns at once."""

    kills = "S-REPO-23"

    async def close(self) -> None:
        if not self._closing.begun:
            await super().close()


class ClosesWithoutItsForks(_Closer):
    """Lie: closing waits for the open sessions, and not for the forks that run."""

    kills = "S-REPO-24"

    async def _close_all(self) -> None:
        for session in self.open_sessions():
            await session.close()
