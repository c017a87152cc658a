"""Mutants of the suite `lists`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.store import ListElement
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant


class DefaultLimitOfTenThousand(Mutant):
    """Lie: a read without a limit gives up to 10,000 elements."""

    kills = "S-LIST-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            return await super().read_list(address, **{"limit": 10_000} | query)


class InclusiveCursor(Mutant):
    """Lie: an ascending page starts at the element that the cursor names."""

    kills = "S-LIST-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            if query.get("order", "asc") == "asc" and type(query.get("cursor")) is int and query["cursor"] > 0:
                query["cursor"] -= 1
            return await super().read_list(address, **query)
