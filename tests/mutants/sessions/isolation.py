"""Mutants of the suite `isolation`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.records import SessionStats
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import CommitResult, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class EncodesWhenItsTurnComes(Mutant):
    """Lie: a commit copies its values in a later step."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            kept = list(writes)
            await asyncio.sleep(0)
            return await super().commit(kept)


class KeepsTheCallersList(Mutant):
    """Lie: the list of writes is read in a later step."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            await asyncio.sleep(0)
            return await super().commit(writes)


class HandsOutOneEntry(Mutant):
    """Lie: every read of one entry by its id gives one object."""

    kills = "S-VAL-11"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def get_entry(self, entry_id: str) -> dict[str, Any] | None:
            known = self.__dict__.setdefault("_known", {})
            return known.setdefault(entry_id, await super().get_entry(entry_id))  # type: ignore[no-any-return]


class HandsOutOneScalar(Mutant):
    """Lie: two reads of one row share its value."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        _last: ValueRow | None = None

        async def get_value(self, address: Address) -> ValueRow | None:
            row = await super().get_value(address)
            if not (row and self._last and (row.address, row.seq) == (self._last.address, self._last.seq)):
                self._last = row
            return self._last if row else None


class HandsOutOneElement(Mutant):
    """Lie: the decoded elements of a list are kept and handed out again."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            known = self.__dict__.setdefault("_known", {})
            return [known.setdefault(one.seq, one) for one in await super().read_list(address, **query)]


class StatisticsAreOneObject(Mutant):
    """Lie: statistics hand out the running total itself."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _stats(self) -> SessionStats:
            return replace(super()._stats(), usage=self._state.usage)


class CompletesTheCallersRow(Mutant):
    """Lie: a commit writes the sequence into the caller's usage row."""

    kills = "S-VAL-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            for write, seq in zip(writes, result.seqs, strict=True):
                getattr(write, "row", {})["seq"] = seq
            return result
