"""Mutants of the suites `queries`, `query_parameters`, `branch_scans` and `finds`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forkstore.contract.addresses import Address, value_address
from forkstore.contract.errors import InvalidQuery, UnknownEntry
from forkstore.contract.records import Record
from forkstore.contract.store import ValueRow
from forkstore.memory.storage import MemoryStorage
from forkstore.mutations import ExclusiveUse
from forkstore.session import Branch, Session
from tests.mutants.catalogue import Mutant


class EntriesInTableOrder(Mutant):
    """Lie: `get_entries` answers in the order of the table."""

    kills = "S-QRY-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
            found = await super().get_entries(ids)
            return dict(sorted(found.items(), key=lambda item: item[1]["seq"]))


class AsManyIdsAsParameters(Mutant):
    """Lie: `get_entries` takes at most 32,766 ids."""

    kills = "S-QRY-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_entries(self, ids: Iterable[str]) -> dict[str, Record]:
            asked = list(ids)
            if len(asked) > 32_766:
                raise InvalidQuery("ids", "are too many")
            return await super().get_entries(asked)


class PrefixesWithoutCase(Mutant):
    """Lie: `scan_values` compares prefixes without case."""

    kills = "S-QRY-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
            rows = await super().scan_values(value_address(prefix_address.namespace))
            return [row for row in rows if row.address.key.lower().startswith(prefix_address.key.lower())]


class KeysByUtf16(Mutant):
    """Lie: `scan_values` orders keys by their UTF-16 units."""

    kills = "S-QRY-04"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_values(self, prefix_address: Address) -> list[ValueRow]:
            rows = await super().scan_values(prefix_address)
            return sorted(rows, key=lambda row: row.address.key.encode("utf-16-be"))


class NothingFromNowhere(Mutant):
    """Lie: a scan from an unknown entry gives nothing."""

    kills = "S-QRY-05"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            try:
                return await super().scan_branch(start, **query)
            except UnknownEntry:
                return []


class OldestFirstByDefault(Mutant):
    """Lie: a scan starts at the root unless asked otherwise."""

    kills = "S-QRY-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            return await super().scan_branch(start, **{"order": "oldest_first"} | query)


class StopsBeforeTheStop(Mutant):
    """Lie: the stop entry is left out."""

    kills = "S-QRY-07"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            entries = await super().scan_branch(start, **query)
            return [entry for entry in entries if entry["id"] != query.get("stop_at_id", 0)]


class FiltersBeforeTheStop(Mutant):
    """Lie: the stop entry is looked for among the filtered entries."""

    kills = "S-QRY-08"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            stop = query.pop("stop_at_id", None)
            found = await super().scan_branch(start, **query)
            places = [place for place, entry in enumerate(found) if entry["id"] == stop]
            return found[: places[0] + 1] if places else found


class ACursorIsInclusive(Mutant):
    """Lie: a scan gives the entry that its cursor names, too."""

    kills = "S-QRY-09"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            if type(query.get("cursor")) is int:
                query["cursor"] += -1 if query.get("order") == "oldest_first" else 1
            return await super().scan_branch(start, **query)


class StructuresIgnoreTheStop(Mutant):
    """Lie: the structure scan goes on behind a stop of a type."""

    kills = "S-QRY-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch_structure(self, start: str, **query: Any) -> list[Record]:
            query.pop("stop_at_type", None)
            return await super().scan_branch_structure(start, **query)


class AnUpperBoundIsExclusive(Mutant):
    """Lie: `scan_entries` leaves out the entry at its upper bound."""

    kills = "S-QRY-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_entries(self, **query: Any) -> list[Record]:
            if type(query.get("to_seq")) is int:
                query["to_seq"] -= 1
            return await super().scan_entries(**query)


class ANegativeLimitIsNone(Mutant):
    """Lie: a negative limit means all."""

    kills = "S-QRY-12"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            if query.get("limit") == -1:
                query["limit"] = None
            return await super().scan_branch(start, **query)


class AnUnknownOrderIsAscending(Mutant):
    """Lie: an order that `scan_usage` does not know means ascending."""

    kills = "S-QRY-13"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_usage(self, **query: Any) -> list[Record]:
            if query.get("order") not in ("asc", "desc"):
                query["order"] = "asc"
            return await super().scan_usage(**query)


class FindsOldestFirst(Mutant):
    """Lie: `find_entries` of a session is ascending by default."""

    kills = "S-QRY-14"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def find_entries(self, **query: Any) -> list[Record]:
            return await super().find_entries(**{"order": "asc"} | query)


class FindsOneInItsOwnOrder(Mutant):
    """Lie: `find_entry` of a session looks newest first whatever is asked."""

    kills = "S-QRY-15"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def find_entry(self, **query: Any) -> Record | None:
            return await super().find_entry(**query | {"order": "desc"})


class StartsOnTheBranchOnly(Mutant):
    """Lie: a find of a branch gives nothing from a start off the branch."""

    kills = "S-QRY-16"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            return None if await super().branch(name) is None else _PathOnly(self, name)


class _PathOnly(Branch):
    async def find_entries(self, *, start: str | None = None, **query: Any) -> list[Record]:
        path = await super().find_entries()
        if start is not None and start not in [entry["id"] for entry in path]:
            return []
        return await super().find_entries(start=start, **query)


class AnUnknownEntryIsAnError(Mutant):
    """Lie: `get_entry` raises for an unknown id."""

    kills = "S-QRY-17"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def get_entry(self, entry_id: str) -> Record | None:
            found = await super().get_entry(entry_id)
            if found is None:
                raise UnknownEntry(entry_id)
            return found


class ReadsStandInLine(Mutant):
    """Lie: `scan_entries` takes a place in the mutation line."""

    kills = "S-QRY-18"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def scan_entries(self, **query: Any) -> list[Record]:
            async with ExclusiveUse(self._line):
                return await super().scan_entries(**query)
