"""Mutants of the suite `interruptions`."""

from __future__ import annotations

import asyncio
from typing import Any

from forkstore.contract.errors import InvalidArgument, SessionClosed, StoreIOError
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.mutations import MutationScope
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class CancelledMeansClosed(Mutant):
    """Lie: a wait for a scope that is cancelled ends in `SessionClosed`."""

    kills = "S-ERR-03"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def begin_mutation(self) -> MutationScope:
            try:
                return await super().begin_mutation()
            except asyncio.CancelledError:
                raise SessionClosed(self.metadata.id) from None


class CancelledCallbackReturns(Mutant):
    """Lie: a callback that is cancelled counts as one that returned."""

    kills = "S-ERR-03"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            try:
                return await super().mutate(callback)
            except asyncio.CancelledError:
                return None


class CancelledForkIsAFailure(Mutant):
    """Lie: a cancelled fork ends in `StoreIOError`."""

    kills = "S-ERR-03"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except asyncio.CancelledError as error:
            raise StoreIOError("fork", "", "unknown") from error


class RetriesCancelledCommits(Mutant):
    """Lie: an append to a list that is cancelled where it suspends is done all the same, and returns."""

    kills = "S-ERR-03"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def append_list(self, address: Any, value: Any) -> Any:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                return await super().append_list(address, value)
            return await super().append_list(address, value)


class WrapsCallbackErrors(Mutant):
    """Lie: an error of a mutation callback reaches the caller as `InvalidArgument`."""

    kills = "S-ERR-04"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            try:
                return await super().mutate(callback)
            except Exception as error:
                raise InvalidArgument("callback", "failed") from error


class CopiesCallbackErrors(Mutant):
    """Lie: the caller of `mutate` gets an equal error, which is another object."""

    kills = "S-ERR-04"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def mutate(self, callback: Any) -> Any:
            try:
                return await super().mutate(callback)
            except KeyError as error:
                raise KeyError(*error.args) from None


class ProbeErrorsAreIOErrors(Mutant):
    """Lie: an OSError of the fork probe is taken for one of the store."""

    kills = "S-ERR-04"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Session:
        try:
            return await super().fork(metadata, options)
        except OSError as error:
            raise StoreIOError("fork", "", "unknown") from error
