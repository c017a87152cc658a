"""Mutants of the suites `closing` and `closing_refusals`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from forkstore.contract.records import Record, SessionStats
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class StatisticsOfTheClosed(Mutant):
    """Lie: a closed session still tells its statistics."""

    kills = "S-SESS-13"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def get_stats(self) -> SessionStats:
            return await self._storage.get_stats()


class TheLineGoesOn(Mutant):
    """Lie: scopes that wait when closing begins are granted all the same."""

    kills = "S-SESS-14"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        def _refuse_new_calls(self) -> None:
            self._calls.refuse_new()


class ClosesUnderARunningScope(Mutant):
    """Lie: closing does not wait for the scope that runs."""

    kills = "S-SESS-15"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def _settle_and_close(self) -> None:
            await self._calls.settled()
            await self._storage.close()
            self._release()


class ASecondCloseReturnsAtOnce(Mutant):
    """Lie: a call of close during the closing returns at once."""

    kills = "S-SESS-16"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def close(self) -> None:
            if not self.is_closing:
                await super().close()


class ALateCloseReleasesAgain(Mutant):
    """Lie: every call of close makes the repository let go of the id."""

    kills = "S-SESS-16"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def close(self) -> None:
            await super().close()
            self._release()


class LetsGoAtTheStart(Mutant):
    """Lie: the repository lets go of the session when closing begins."""

    kills = "S-SESS-17"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        def _refuse_new_calls(self) -> None:
            super()._refuse_new_calls()
            self._release()


class ClosesInTheCallersTask(Mutant):
    """Lie: cancelling the first caller of close stops the closing, and nobody takes it up."""

    kills = "S-SESS-18"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        _begun = False

        async def close(self) -> None:
            if self._begun:
                return
            self._begun = True
            self._refuse_new_calls()
            await self._line.idle()
            await self._settle_and_close()


class _SlowReads(MemoryStorage):
    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        for _ in range(60):
            await asyncio.sleep(0)
        return await super().get_entries(ids)


class ClosingForgetsReads(Mutant):
    """Lie: closing waits for scopes, and not for the reads that run."""

    kills = "S-SESS-15"

    class storage_class(_SlowReads):  # noqa: N801 - takes the place of an attribute
        pass

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def _settle_and_close(self) -> None:
            await self._line.idle()
            self._release()


class NothingCanBeAskedOfTheClosed(Mutant):
    """Lie: a request for no entries is answered by a closed session too."""

    kills = "S-SESS-13"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
            asked = list(ids)
            return await super().get_entries(asked) if asked else {}


class NothingCanBeFoundInTheClosed(Mutant):
    """Lie: a find with limit 0 is answered by a closed session too."""

    kills = "S-SESS-13"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def find_entries(self, **query: Any) -> list[Record]:
            return [] if self.is_closing and query.get("limit") == 0 else await super().find_entries(**query)
