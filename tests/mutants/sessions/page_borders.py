"""Mutants of the suite `page_borders`."""

from __future__ import annotations

from itertools import islice
from typing import Any

from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, Address
from forkstore.contract.forks import ForkOptions
from forkstore.contract.records import Record
from forkstore.contract.store import ListElement, SessionMetadata
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import applications


class EntryScansHaveAPage(Mutant):
    """Lie: an entry scan without a limit gives 10,000 entries."""

    kills = "S-QRY-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_entries(self, **query: Any) -> list[Record]:
            return await super().scan_entries(**query | {"limit": 10_000 if _unlimited(query) else query["limit"]})


class LedgerScansHaveAPage(Mutant):
    """Lie: a ledger scan without a limit gives 1,000 rows."""

    kills = "S-QRY-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_usage(self, **query: Any) -> list[Record]:
            return await super().scan_usage(**query | {"limit": 1_000 if _unlimited(query) else query["limit"]})


def _unlimited(query: dict[str, Any]) -> bool:
    return query.get("limit") is None


class ListsReopenThroughAPage(Mutant):
    """Lie: opening a session reads the first 10,000 elements of each list."""

    kills = "S-REPO-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            for keys in state.lists.values():
                keys.update({key: elements[:10_000] for key, elements in keys.items()})


class ScalarsReopenThroughAPage(Mutant):
    """Lie: opening a session reads the first 1,000 scalars of each namespace."""

    kills = "S-REPO-06"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            for namespace, keys in state.scalars.items():
                state.scalars[namespace] = dict(islice(keys.items(), 1_000))


class ACursorLiftsTheLimit(Mutant):
    """Lie: a read of a list with a cursor and no limit gives up to 10,000 elements."""

    kills = "S-LIST-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            default = {} if query.get("cursor") is None else {"limit": 10_000}
            return await super().read_list(address, **default | query)


class LimitsAreBoundTo64Bits(Mutant):
    """Lie: a limit of a list that has more than 64 bits overflows."""

    kills = "S-LIST-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def read_list(self, address: Address, **query: Any) -> list[ListElement]:
            if type(query.get("limit")) is int and query["limit"] >= 2**63:
                query["limit"] -= 2**64
            return await super().read_list(address, **query)


class LargeRequestsComeInStoredOrder(Mutant):
    """Lie: a request of more than 999 ids is answered in stored order."""

    kills = "S-QRY-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_entries(self, ids: Any) -> dict[str, Record]:
            found = await super().get_entries(ids)
            return found if len(found) < 1_000 else dict(sorted(found.items(), key=lambda one: int(one[1]["seq"])))


class _Cutting(Mutant):
    def cut(self, destination: SessionState) -> None:
        raise NotImplementedError

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        self.cut(destination)
        return destination, count


class TenThousandScalars(_Cutting):
    """Lie: a fork takes at most 10,000 scalars of a namespace."""

    kills = "S-FORK-TREE-06"

    def cut(self, destination: SessionState) -> None:
        for namespace in applications(destination.scalars):
            destination.scalars[namespace] = dict(islice(destination.scalars[namespace].items(), 10_000))


class AFullLastPageIsLost(_Cutting):
    """Lie: the last 1,000 elements of a list are lost when they fill their page."""

    kills = "S-FORK-TREE-07"

    def cut(self, destination: SessionState) -> None:
        for keys in destination.lists.values():
            keys.update({key: rows[:-1_000] for key, rows in keys.items() if len(rows) % 1_000 == 0})


class AThousandLabels(_Cutting):
    """Lie: a fork takes at most 1,000 labels."""

    kills = "S-FORK-CLS-02"

    def cut(self, destination: SessionState) -> None:
        labels = destination.scalars.get(ENTRY_LABEL, {})
        destination.scalars[ENTRY_LABEL] = dict(islice(labels.items(), 1_000))


class AThousandBranches(_Cutting):
    """Lie: a fork takes at most 1,000 branches."""

    kills = "S-FORK-TREE-02"

    def cut(self, destination: SessionState) -> None:
        destination.scalars[BRANCH_TIP] = dict(islice(destination.scalars.get(BRANCH_TIP, {}).items(), 1_000))


class ListsAHundredSessions(Mutant):
    """Lie: `list` gives at most 100 sessions."""

    kills = "S-REPO-11"

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        return (await super().list(cwd=cwd))[:100]


class TheListIsKeptByItsLength(Mutant):
    """Lie: `list` answers as before while the number of sessions is the same."""

    kills = "S-REPO-11"

    async def list(self, *, cwd: str | None = None) -> list[SessionMetadata]:
        kept: list[SessionMetadata] = self.__dict__.setdefault("_kept", [])
        listed = await super().list(cwd=cwd)
        if len(kept) != len(listed):
            kept[:] = listed
        return [*kept]
