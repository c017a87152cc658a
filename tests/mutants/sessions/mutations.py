"""Mutants of the suites `mutations`, `mutation_cancellations`, `scopes` and `scope_ends`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.records import Record, SessionStats
from forkstore.contract.store import ValueRow
from forkstore.contract.writes import CommitResult, Write
from forkstore.mutations import CallbackScope, MutationLine, MutationScope
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class _LastComesFirst(MutationLine):
    def leave(self) -> None:
        self._waiting.reverse()
        super().leave()
        self._waiting.reverse()


class TheLastInLineIsServed(Mutant):
    """Lie: the line grants the latest call first."""

    kills = "S-MUT-01"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self._line = _LastComesFirst(self.metadata.id)


class _FreeForAMoment(MutationLine):
    async def enter(self) -> None:
        while self._held:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        await super().enter()

    def leave(self) -> None:
        super().leave()
        self._held = False


class TheLineIsFreeForAMoment(Mutant):
    """Lie: who asks right after an end overtakes those who wait."""

    kills = "S-MUT-01"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self._line = _FreeForAMoment(self.metadata.id)


class ErrorsAreWrapped(Mutant):
    """Lie: an error of a callback reaches its caller inside another."""

    kills = "S-MUT-02"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            try:
                return await super().mutate(callback)
            except Exception as error:
                raise RuntimeError("a mutation failed") from error


class _Scoped(Session):
    """A session that hands out scopes of another class."""

    scope_class = MutationScope

    async def begin_mutation(self) -> MutationScope:
        await self._line.enter()
        return self.scope_class(self._storage, self._calls, self._line)


class _TriesAgain(MutationScope):
    async def commit(self, writes: list[Write]) -> CommitResult:
        try:
            return await super().commit(writes)
        except Exception:
            self._attempted = False
            raise


class ARefusalIsNoAttempt(Mutant):
    """Lie: a scope may commit again after a refused commit."""

    kills = "S-MUT-03"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _TriesAgain


class _EndsWithItsCommit(MutationScope):
    async def commit(self, writes: list[Write]) -> CommitResult:
        result = await super().commit(writes)
        self.end_now()
        return result


class ACommitEndsItsScope(Mutant):
    """Lie: a scope ends with its commit."""

    kills = "S-MUT-04"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _EndsWithItsCommit


class _EndsTwice(MutationScope):
    def end_now(self) -> None:
        if self._calls.ended:
            self._line.leave()
        super().end_now()


class AFurtherEndLeavesAgain(Mutant):
    """Lie: every end lets the next scope in."""

    kills = "S-MUT-05"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _EndsTwice


class _EndsUnderItsCommit(MutationScope):
    async def commit(self, writes: list[Write]) -> CommitResult:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return await self._storage.commit(writes)


class AnEndWaitsForNothing(Mutant):
    """Lie: a scope ends while its commit still runs."""

    kills = "S-MUT-05"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _EndsUnderItsCommit


class _ReadsOn(MutationScope):
    async def get_stats(self) -> SessionStats:
        return await self._storage.get_stats()


class AnEndedScopeReadsOn(Mutant):
    """Lie: a scope tells the statistics after its end."""

    kills = "S-MUT-06"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _ReadsOn


class CallbacksMayEndTheirScope(Mutant):
    """Lie: a callback is given a scope with an end."""

    kills = "S-MUT-07"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            scope = await self.begin_mutation()
            try:
                return await callback(scope)
            finally:
                await scope.end()


class TheLineMayBeEnteredAgain(Mutant):
    """Lie: a writer called inside a callback writes at once."""

    kills = "S-MUT-08"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        _inside = False

        async def mutate(self, callback: Any) -> Any:
            async def inside(scope: CallbackScope) -> Any:
                self._inside = True
                try:
                    return await callback(scope)
                finally:
                    self._inside = False

            return await super().mutate(inside)

        async def _write(self, write: Write) -> CommitResult:
            return await (self._storage.commit([write]) if self._inside else super()._write(write))


class ACancelledWriterWritesLater(Mutant):
    """Lie: a writer that was cancelled in the line keeps its place and writes."""

    kills = "S-MUT-09"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def _write(self, write: Write) -> CommitResult:
            return await asyncio.shield(asyncio.ensure_future(super()._write(write)))


class ACancelledScopeStaysOpen(Mutant):
    """Lie: the scope of a cancelled callback can still be used."""

    kills = "S-MUT-10"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            await self._line.enter()
            scope = CallbackScope(self._storage, self._calls, self._line)
            try:
                value = await callback(scope)
            except asyncio.CancelledError:
                self._line.leave()
                raise
            except Exception:
                scope.end_now()
                raise
            scope.end_now()
            return value


class _ReadsOnce(MutationScope):
    async def get_value(self, address: Address) -> ValueRow | None:
        known: dict[Address, ValueRow | None] = self.__dict__.setdefault("_known", {})
        if address not in known:
            known[address] = await super().get_value(address)
        return known[address]


class AScopeReadsOnce(Mutant):
    """Lie: a scope that has read a value goes on giving that one."""

    kills = "S-MUT-04"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _ReadsOnce


class _AsksForNothing(MutationScope):
    async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
        asked = list(ids)
        return await super().get_entries(asked) if asked else {}


class AnEndedScopeGivesNothing(Mutant):
    """Lie: a request for no entries is answered by an ended scope too."""

    kills = "S-MUT-06"

    class session_class(_Scoped):  # noqa: N801 - takes the place of an attribute
        scope_class = _AsksForNothing


class ACallbackMustNotRaiseAtOnce(Mutant):
    """Lie: a callback that raises before it gives anything to await keeps its scope."""

    kills = "S-MUT-07"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            await self._line.enter()
            scope = CallbackScope(self._storage, self._calls, self._line)
            running = callback(scope)
            try:
                return await running
            finally:
                scope.end_now()
