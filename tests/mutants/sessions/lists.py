"""Mutants of the suite `lists`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import Address
from forkstore.contract.store import ListElement
from forkstore.contract.writes import CommitResult, ListDelete, Write
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant


class DescendsByDefault(Mutant):
    """Lie: a list is read newest first unless asked otherwise."""

    kills = "S-LIST-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            return await super().read_list(address, **{"order": "desc"} | query)


class OrdersByValue(Mutant):
    """Lie: a page is sorted by the text of its values."""

    kills = "S-LIST-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            return sorted(await super().read_list(address, **query), key=lambda element: repr(element.value))


class DefaultLimitOfTenThousand(Mutant):
    """Lie: a read without a limit gives up to 10,000 elements."""

    kills = "S-LIST-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            return await super().read_list(address, **{"limit": 10_000} | query)


class TakesTrueForOne(Mutant):
    """Lie: a boolean is an integer and so a limit."""

    kills = "S-LIST-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            if isinstance(query.get("limit"), bool):
                query["limit"] = int(query["limit"])
            return await super().read_list(address, **query)


class InclusiveCursor(Mutant):
    """Lie: an ascending page starts at the element that the cursor names."""

    kills = "S-LIST-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            if query.get("order", "asc") == "asc" and type(query.get("cursor")) is int and query["cursor"] > 0:
                query["cursor"] -= 1
            return await super().read_list(address, **query)


class LosesTheLastPage(Mutant):
    """Lie: a page that is not full is not given."""

    kills = "S-LIST-05"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            page = await super().read_list(address, **query)
            return page if query.get("cursor") is None or len(page) == query.get("limit") else []


class DeletesNoElements(Mutant):
    """Lie: deleting a list takes a sequence and leaves the elements."""

    kills = "S-LIST-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            kept = [ListDelete(Address("elsewhere", "", "list")) if isinstance(w, ListDelete) else w for w in writes]
            return await super().commit(kept)
