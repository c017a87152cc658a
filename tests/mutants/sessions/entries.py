"""Mutants of the suites `entries` and `entry_payload`."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.records import ENTRY_TYPES
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, EntryInsert, ValueDelete, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Session
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import RewritingStorage

KNOWN_FIELDS = (
    *("id", "parentId", "seq", "timestamp", "type", "customType", "message", "terminate", "summary", "retainedTail"),
    *("tokensBefore", "fromId", "fromHook", "details", "usage", "data"),
)


class MissingParentIsNull(Mutant):
    """Lie: a new entry without `parentId` becomes a root."""

    kills = "S-ENT-01"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {"parentId": None, **entry} if isinstance(entry, dict) else entry


class TypesWithoutCase(Mutant):
    """Lie: the type of an entry may be written in capitals."""

    kills = "S-ENT-01"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {**entry, "type": entry["type"].lower()} if isinstance(entry.get("type"), str) else entry


class UnknownTypesAreCustom(Mutant):
    """Lie: an entry of an unknown type is stored as a custom one."""

    kills = "S-ENT-01"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            known = not isinstance(entry.get("type"), str) or entry["type"] in ENTRY_TYPES
            return entry if known else {**entry, "type": "custom", "customType": entry["type"]}


class IdsAreTurnedIntoText(Mutant):
    """Lie: a number is a legal id; it becomes text."""

    kills = "S-ENT-01"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {**entry, "id": str(entry["id"])} if "id" in entry else entry


class CustomTypeUncheckedOnMessages(Mutant):
    """Lie: a null `customType` on a message counts as none."""

    kills = "S-ENT-01"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            if entry.get("type") == "message" and entry.get("customType", 0) is None:
                return {name: value for name, value in entry.items() if name != "customType"}
            return entry


class OverwritesGivenSequences(Mutant):
    """Lie: a `seq` or `timestamp` on a new entry is overwritten without a word."""

    kills = "S-ENT-02"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {name: value for name, value in entry.items() if name not in ("seq", "timestamp")}


class OverwritesUsageSequences(Mutant):
    """Lie: a null `seq` on a new usage row counts as none."""

    kills = "S-ENT-02"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return {name: value for name, value in row.items() if (name, value) != ("seq", None)}


class UsedIdReplacesTheEntry(Mutant):
    """Lie: an insert with a used id replaces the stored entry."""

    kills = "S-ENT-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            for write in writes:
                if isinstance(write, EntryInsert) and (known := self._state.entries.pop(write.entry["id"], None)):
                    self._state.entry_order.remove(known)
            return await super().commit(writes)


class DeletedTipsTakeTheirEntry(Mutant):
    """Lie: with the tip of a branch its last entry goes, unless it has children."""

    kills = "S-ENT-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            result = await super().commit(writes)
            if any(isinstance(write, ValueDelete) and write.address.namespace == BRANCH_TIP for write in writes):
                parents = {entry.parent_id for entry in self._state.entry_order}
                leaves = [entry for entry in self._state.entry_order if entry.id not in parents]
                self._state.entry_order.remove(leaves[-1])
                del self._state.entries[leaves[-1].id]
            return result


class OpeningRenewsTimes(Mutant):
    """Lie: opening a session gives its entries new timestamps."""

    kills = "S-ENT-03"

    async def open(self, metadata: SessionMetadata) -> Session:
        session = await super().open(metadata)
        state = self._sessions[metadata.id][1]
        state.entry_order = [replace(entry, timestamp=entry.timestamp + 1) for entry in state.entry_order]
        state.entries = {entry.id: entry for entry in state.entry_order}
        return session


class KnownFieldsOnly(Mutant):
    """Lie: entries keep only the fields that the contract names."""

    kills = "S-ENT-04"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {name: value for name, value in entry.items() if name in KNOWN_FIELDS}


class UsageRowsGetATime(Mutant):
    """Lie: the storage gives usage rows a timestamp, over the caller's own."""

    kills = "S-ENT-04"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return {**row, "timestamp": 1}


class NullDataIsNoData(Mutant):
    """Lie: `data` that is null is left out."""

    kills = "S-ENT-05"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {name: value for name, value in entry.items() if (name, value) != ("data", None)}


class NoDataIsNull(Mutant):
    """Lie: a custom entry without `data` comes back with null."""

    kills = "S-ENT-05"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {"data": None, **entry} if entry.get("type") == "custom" else entry


class TrimsEntryIds(Mutant):
    """Lie: blanks around an entry's id do not count."""

    kills = "S-ENT-06"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {**entry, "id": entry["id"].strip(" ")}


class UsageIdsEndAtNul(Mutant):
    """Lie: the id of a usage row ends at U+0000."""

    kills = "S-ENT-06"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return {**row, "id": row["id"].partition("\0")[0]}
