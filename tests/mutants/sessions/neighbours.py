"""Mutants of the suite `neighbours`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forkstore.contract.addresses import Address, is_reserved
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import CommitResult, ListDelete, ValueDelete, Write
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import RewritingStorage


class _Joining(RewritingStorage):
    separator = ""

    def address(self, address: Address) -> Address:
        known: dict[Any, Address] = self._state.__dict__.setdefault("joined", {})
        if is_reserved(address.namespace):
            return address
        return known.setdefault((address.namespace + self.separator + address.key, address.kind), address)

    async def get_value(self, address: Address) -> ValueRow | None:
        row = await super().get_value(self.address(address))
        return None if row is None else replace(row, address=address)

    async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
        return await super().read_list(self.address(address), **query)


class JoinsWithAnInvisibleLetter(Mutant):
    """Lie: namespace and key are one text with U+001F between them."""

    kills = "S-ADDR-02"

    class storage_class(_Joining):  # noqa: N801 - takes the place of an attribute
        separator = "\x1f"


class JoinsWithABar(Mutant):
    """Lie: namespace and key are one text with a bar between them."""

    kills = "S-ADDR-02"

    class storage_class(_Joining):  # noqa: N801 - takes the place of an attribute
        separator = "|"


class JoinsWithANewline(Mutant):
    """Lie: namespace and key are two lines of one text."""

    kills = "S-ADDR-02"

    class storage_class(_Joining):  # noqa: N801 - takes the place of an attribute
        separator = "\n"


class TheEmptyKeyMeansAllLists(Mutant):
    """Lie: deleting the list at the empty key deletes all lists of the namespace."""

    kills = "S-LIST-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            for write in writes:
                if isinstance(write, ListDelete) and not write.address.key:
                    self._state.lists.pop(write.address.namespace, None)
            return result


class TheEmptyKeyMeansAllScalars(Mutant):
    """Lie: deleting the scalar at the empty key deletes all scalars of the namespace."""

    kills = "S-VAL-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            for write in writes:
                if isinstance(write, ValueDelete) and not write.address.key:
                    self._state.scalars.pop(write.address.namespace, None)
            return result
