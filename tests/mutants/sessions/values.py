"""Mutants of the suite `values`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.store import ValueRow
from forkstore.contract.writes import CommitResult, ValueDelete, ValueSet, Write
from forkstore.memory.state import TextRecord
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import LeafRewritingStorage


class KeepsTheFirstSequence(Mutant):
    """Lie: a row keeps the sequence of its first set."""

    kills = "S-VAL-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _apply(self, seq: int, write: Any) -> None:
            old = self._state.scalar(write.address.namespace, write.address.key)
            super()._apply(old.seq if old and write.address.kind == "value" else seq, write)


class EqualSetsAreLeftOut(Mutant):
    """Lie: a set to the value that is there is not applied."""

    kills = "S-VAL-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def _apply(self, seq: int, write: Any) -> None:
            old = self._state.scalar(write.address.namespace, write.address.key)
            if write.address.kind != "value" or old != TextRecord(old.seq if old else 0, write.text or b""):
                super()._apply(seq, write)


class FirstSetOfACommitWins(Mutant):
    """Lie: of several sets of one commit the first counts."""

    kills = "S-VAL-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            sets = {write.address: write for write in reversed(writes) if isinstance(write, ValueSet)}
            return await super().commit(
                [sets[write.address] if isinstance(write, ValueSet) else write for write in writes]
            )


class NullIsAbsent(Mutant):
    """Lie: a scalar that is null is not there."""

    kills = "S-VAL-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_value(self, address: Address) -> ValueRow | None:
            row = await super().get_value(address)
            return row if row and row.value is not None else None


class DeleteStoresNull(Mutant):
    """Lie: a delete sets the scalar to null."""

    kills = "S-VAL-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit(
                [ValueSet(write.address, None) if isinstance(write, ValueDelete) else write for write in writes]
            )


class NothingCannotBeDeleted(Mutant):
    """Lie: a delete of an absent scalar is refused."""

    kills = "S-VAL-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            for write in writes:
                if isinstance(write, ValueDelete) and not await self.get_value(write.address):
                    raise InvalidValue("write.address", "holds nothing; expected a row")
            return await super().commit(writes)


class LongTextIsCut(Mutant):
    """Lie: a text ends after 16 million letters."""

    kills = "S-VAL-13"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return value[:16_000_000] if type(value) is str else value
