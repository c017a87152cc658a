"""Mutants of the suite `closing_faults`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class AFailedClosingKeepsTheSession(SourceLie):
    """Lie: the repository lets go of a session only where there was nothing left to do in closing it."""

    kills = "S-SESS-17"
    file = "repo.py"
    line = "lambda: self._release(key)"
    lie = "lambda: storage._left_over or self._release(key)"


class ASecondCloseReturns(SourceLie):
    """Lie: a session that is closed already is closed, whatever became of the first closing."""

    kills = "S-SESS-16"
    file = "repo.py"
    line = "return reservation.hand_to(session)"
    lie = (
        "first = session.close\n"
        "\n"
        "        async def close() -> None:\n"
        "            if not session.is_closing:\n"
        "                await first()\n"
        "\n"
        "        session.close = close\n"
        "        return reservation.hand_to(session)"
    )


class ACloseThatIsCancelledStops(SourceLie):
    """Lie: a closing that is cancelled is not gone on with until somebody calls close again."""

    kills = "S-SESS-18"
    file = "repo.py"
    line = "return reservation.hand_to(session)"
    lie = (
        "asyncio = __import__('asyncio')\n"
        "\n"
        "        async def close(first=session.close) -> None:\n"
        "            try:\n"
        "                await first()\n"
        "            except asyncio.CancelledError:\n"
        "                session._closing._task.cancel()\n"
        "                self._reservations._reserved.add(key)\n"
        "                session._release = lambda: None\n"
        "                raise\n"
        "\n"
        "        session.close = close\n"
        "        return reservation.hand_to(session)"
    )


class ARepositoryClosesUpToTheFirstFailure(SourceLie):
    """Lie: the closing of a repository ends with the first session that fails."""

    kills = "S-REPO-22"
    file = "repo.py"
    line = "self._closing = Closing(self._reservations.refuse_new, self._reservations.close_all)"
    lie = (
        "async def close_all() -> None:\n"
        "            for session in list(self._reservations._open.values()):\n"
        "                await session.close()\n"
        "\n"
        "        self._closing = Closing(self._reservations.refuse_new, close_all)"
    )


class AFailureOfClosingIsAlwaysAGroup(SourceLie):
    """Lie: a single failure comes in a group of one."""

    kills = "S-REPO-22"
    file = "repo.py"
    line = "self._closing = Closing(self._reservations.refuse_new, self._reservations.close_all)"
    lie = (
        "async def close_all() -> None:\n"
        "            try:\n"
        "                await self._reservations.close_all()\n"
        "            except ExceptionGroup:\n"
        "                raise\n"
        "            except Exception as error:\n"
        "                raise ExceptionGroup('one session could not be closed', [error]) from error\n"
        "\n"
        "        self._closing = Closing(self._reservations.refuse_new, close_all)"
    )


class TheFirstFailureOfClosingIsToldAlone(SourceLie):
    """Lie: of several sessions that could not be closed, one is told."""

    kills = "S-REPO-22"
    file = "repo.py"
    line = "self._closing = Closing(self._reservations.refuse_new, self._reservations.close_all)"
    lie = (
        "async def close_all() -> None:\n"
        "            try:\n"
        "                await self._reservations.close_all()\n"
        "            except ExceptionGroup as group:\n"
        "                raise group.exceptions[0] from None\n"
        "\n"
        "        self._closing = Closing(self._reservations.refuse_new, close_all)"
    )
