"""Which sessions of a repository are open or being made, opened or removed, and whether it still takes calls (spec
section 12).

How order is guaranteed: a repository reserves in the first step of its coroutine, before any suspension (S-OWN-01).
The first steps of tasks run one after the other, so of two calls for one session the one whose task stepped first has
the reservation (S-OWN-02).
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from .contract.errors import RepoClosed, SessionStoreError


class Closable(Protocol):
    """An open session, as far as reservations care."""

    async def close(self) -> None: ...


K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Closable)


class Reservations(Generic[K, S]):
    """The reserved keys of one repository, its running calls and its open sessions."""

    def __init__(self) -> None:
        self._reserved: set[K] = set()
        self._open: dict[K, S] = {}
        self._running = 0
        self._closed = False
        self._settled: asyncio.Future[None] | None = None

    def check_open(self) -> None:
        """Raises RepoClosed from the first step of the repository's close on (S-REPO-21, S-REPO-24)."""
        if self._closed:
            raise RepoClosed

    def reserve(self, key: K, refusal: SessionStoreError) -> Reservation[K, S]:
        """Reserves a key for the call that runs. Raises the given refusal when it is taken."""
        if key in self._reserved:
            raise refusal
        self._reserved.add(key)
        self._running += 1
        return Reservation(self, key)

    def open_session(self, key: K) -> S | None:
        """The open session of that key, closing ones included, or None."""
        return self._open.get(key)

    def release(self, key: K) -> None:
        """Lets go of a session: its key is free again (S-OWN-03, S-SESS-17)."""
        self._reserved.discard(key)
        self._open.pop(key, None)

    def opened(self, key: K, session: S) -> None:
        """The reservation of that key now belongs to an open session, until it is released."""
        self._open[key] = session

    def call_ended(self) -> None:
        """A call that reserved has ended."""
        self._running -= 1
        if not self._running and self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    def refuse_new(self) -> None:
        """From now on new calls are refused."""
        self._closed = True

    async def close_all(self) -> None:
        """Closes every open session and waits for all of them and for the running calls (S-REPO-22, S-REPO-24).

        Raises a single failure as it is, and several as one ExceptionGroup.
        """
        closings = [session.close() for session in self._open.values()]
        outcomes = await asyncio.gather(*closings, self._calls_settled(), return_exceptions=True)
        failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if len(failures) > 1:
            raise BaseExceptionGroup("several sessions could not be closed", failures)
        for failure in failures:
            raise failure

    async def _calls_settled(self) -> None:
        if self._running:
            self._settled = asyncio.get_running_loop().create_future()
            await self._settled


class Reservation(Generic[K, S]):
    """The reservation of one running call: `with` releases it at the end unless it was handed to an open session
    (S-OWN-09).
    """

    def __init__(self, reservations: Reservations[K, S], key: K) -> None:
        self._reservations = reservations
        self._key = key
        self._kept = False

    def hand_to(self, session: S) -> S:
        """The reservation lasts until the session is closed (S-OWN-03)."""
        self._kept = True
        self._reservations.opened(self._key, session)
        return session

    def __enter__(self) -> Reservation[K, S]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._kept:
            self._reservations.release(self._key)
        self._reservations.call_ended()
