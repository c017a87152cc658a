"""Mutants of the suites `identifiers` and `clock_readings`."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID, uuid4

from forkstore.contract.forks import ForkOptions
from forkstore.contract.ids import IdGenerator, Uuid7Generator
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class _OwnGenerator(Mutant):
    """Base of the mutants whose ids come from another generator."""

    generator: type[IdGenerator]

    def __init__(self, **options: Any) -> None:
        super().__init__(id_generator=self.generator(), **options)


class IdsOfVersion4(_OwnGenerator):
    """Lie: ids without a given time are random UUIDs."""

    kills = "S-ENT-12"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        def next(self, timestamp_ms: int | None = None) -> str:
            return str(uuid4()) if timestamp_ms is None else super().next(timestamp_ms)


class IdsInCapitals(_OwnGenerator):
    """Lie: ids are written in upper case."""

    kills = "S-ENT-12"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        def next(self, timestamp_ms: int | None = None) -> str:
            return super().next(timestamp_ms).upper()


class _RandomBits(Uuid7Generator):
    def next(self, timestamp_ms: int | None = None) -> str:
        prefix = UUID(super().next(timestamp_ms)).int >> 80
        return str(UUID(int=prefix << 80 | 0x7 << 76 | random.getrandbits(12) << 64 | 0b10 << 62 | 5))


class RandomBitsBehindTheTime(_OwnGenerator):
    """Lie: the bits behind the time are chance alone."""

    kills = "S-ENT-13"
    generator = _RandomBits


class TimesNeverFall(_OwnGenerator):
    """Lie: the prefix is raised to the latest time seen."""

    kills = "S-ENT-14"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        latest = 0

        def next(self, timestamp_ms: int | None = None) -> str:
            if type(timestamp_ms) is int:
                self.latest = timestamp_ms = max(self.latest, timestamp_ms)
            return super().next(timestamp_ms)


class BooleansAreTimes(_OwnGenerator):
    """Lie: a boolean is an integer."""

    kills = "S-ENT-14"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        def next(self, timestamp_ms: int | None = None) -> str:
            return super().next(int(timestamp_ms) if isinstance(timestamp_ms, bool) else timestamp_ms)


class LateTimesAreCut(_OwnGenerator):
    """Lie: a time beyond 48 bits is cut to them."""

    kills = "S-ENT-14"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        def next(self, timestamp_ms: int | None = None) -> str:
            late = type(timestamp_ms) is int and timestamp_ms >= 2**48
            return super().next(timestamp_ms % 2**48 if late and timestamp_ms is not None else timestamp_ms)


class ReadsTheClockPerWrite(Mutant):
    """Lie: the clock is read once more for each write but the first."""

    kills = "S-ENT-15"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            for _ in writes[1:]:
                self._clock.read()
            return await super().commit(writes)


class ReadsNoClockForNothing(Mutant):
    """Lie: an empty commit carries the time of the last one."""

    kills = "S-ENT-15"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            if writes:
                return await super().commit(writes)
            return CommitResult(self._state.next_seq, [], 0, await self.get_stats())


class ForkReadsTheClockTwice(Mutant):
    """Lie: a fork reads the clock once for its start and once for its metadata."""

    kills = "S-ENT-15"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        self._clock.read()
        return await super().fork(metadata, options)


class SessionIdsFromAnotherClock(_OwnGenerator):
    """Lie: the id of a session has the time of the system in its prefix."""

    kills = "S-ENT-16"

    class generator(Uuid7Generator):  # noqa: N801 - takes the place of an attribute
        def next(self, timestamp_ms: int | None = None) -> str:
            return super().next()
