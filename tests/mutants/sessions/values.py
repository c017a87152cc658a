"""Mutants of the suite `values`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.store import ValueRow
from forkstore.contract.writes import CommitResult, ValueDelete, ValueSet, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.state import TextRecord
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import LeafRewritingStorage


class OldRowsComeBack(MemoryStorage):
    """After each commit, gives the old row back its place wherever `kept` makes one of the old and the new one."""

    def kept(self, old: TextRecord, new: TextRecord) -> TextRecord:
        return new

    async def commit(self, writes: list[Write]) -> CommitResult:
        places = [write.address for write in writes if isinstance(write, ValueSet)]
        olds = [self._state.scalar(place.namespace, place.key) for place in places]
        result = await super().commit(writes)
        for place, old in zip(places, olds, strict=True):
            new = self._state.scalar(place.namespace, place.key)
            if old is not None and new is not None:
                self._state.put("value", place.namespace, place.key, self.kept(old, new))
        return result


class KeepsTheFirstSequence(Mutant):
    """Lie: a row keeps the sequence of its first set."""

    kills = "S-VAL-01"

    class storage_class(OldRowsComeBack):  # noqa: N801 - takes the place of an attribute
        def kept(self, old: TextRecord, new: TextRecord) -> TextRecord:
            return TextRecord(old.seq, new.text)


class EqualSetsAreLeftOut(Mutant):
    """Lie: a set to the value that is there is not applied."""

    kills = "S-VAL-01"

    class storage_class(OldRowsComeBack):  # noqa: N801 - takes the place of an attribute
        def kept(self, old: TextRecord, new: TextRecord) -> TextRecord:
            return old if old.text == new.text else new


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
