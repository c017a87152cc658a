"""The options and arguments that the repositories of all backends share, checked once (spec sections 2.1 and 2.5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .contract.errors import InvalidArgument
from .contract.ids import IdGenerator, Uuid7Generator, check_session_id
from .contract.store import SessionMetadata
from .contract.text import text_fault

LATEST_TIME: Final = 2**53 - 1


def system_clock() -> int:
    """The time in Unix milliseconds."""
    return time.time_ns() // 1_000_000


class Clock:
    """The repository's clock: the option `now`, or the system clock."""

    def __init__(self, now: Callable[[], int] | None) -> None:
        if now is not None and not callable(now):
            raise InvalidArgument("now", "is not callable")
        self._now = now or system_clock

    def read(self) -> int:
        """One reading, in Unix milliseconds.

        Raises InvalidArgument when `now` gives anything but an integer in 0 … 2^53−1, the times that a file can hold.
        """
        time_ms = self._now()
        if type(time_ms) is not int or not 0 <= time_ms <= LATEST_TIME:
            raise InvalidArgument("now", "gives something other than Unix milliseconds in 0 … 2^53−1")
        return time_ms


def checked_generator(id_generator: IdGenerator | None) -> IdGenerator:
    """The option `id_generator`, or the built-in generator. Raises InvalidArgument."""
    if id_generator is None:
        return Uuid7Generator()
    if not callable(getattr(id_generator, "next", None)):
        raise InvalidArgument("id_generator", "has no method `next`")
    return id_generator


@dataclass(frozen=True, slots=True)
class Probe:
    """The option `fork_probe`: a method that is missing does nothing (spec section 19.2).

    Errors pass unchanged (S-ERR-04).
    """

    target: object | None

    async def boundary_captured(self) -> None:
        """The boundary is fixed and the source's commit queue is free (S-FORK-ORD-10)."""
        await self._call("boundary_captured")

    async def batch_copied(self, count: int) -> None:
        """A batch of `count` destination writes is copied; an empty one is not reported (S-FORK-ORD-11)."""
        if count:
            await self._call("batch_copied", count)

    async def before_publish(self) -> None:
        """All is copied and nobody can see the destination yet (S-FORK-ORD-12)."""
        await self._call("before_publish")

    async def _call(self, name: str, *arguments: Any) -> None:
        method = getattr(self.target, name, None)
        if method is not None:
            await method(*arguments)


def check_parent_session_id(parent_session_id: str | None) -> str | None:
    """The argument `parent_session_id` of a create. Raises InvalidArgument."""
    fault = None if parent_session_id is None else text_fault(parent_session_id, allow_nul=True)
    if fault is not None:
        raise InvalidArgument("parent_session_id", fault)
    return parent_session_id


def refuse_cwd(cwd: str | None) -> None:
    """For stores whose sessions have no working directory. Raises InvalidArgument (S-REPO-26)."""
    if cwd is not None:
        raise InvalidArgument("cwd", "is not for this store, whose sessions have no working directory")


def check_metadata(metadata: SessionMetadata) -> SessionMetadata:
    """The metadata that a call names a session by. Raises InvalidArgument."""
    if not isinstance(metadata, SessionMetadata):
        raise InvalidArgument("metadata", "is not SessionMetadata")
    if type(metadata.id) is not str:
        raise InvalidArgument("metadata", "has an id that is not a string")
    return metadata


def new_identity(session_id: str | None, clock: Clock, id_generator: IdGenerator) -> tuple[str, int]:
    """Id and creation time of a session to be made, by one clock reading (S-ENT-15, S-ENT-16).

    Raises InvalidSessionId, for a generated id too (S-REPO-04).
    """
    if session_id is not None:
        check_session_id(session_id)
    created_at = clock.read()
    return (check_session_id(id_generator.next(created_at)) if session_id is None else session_id), created_at
