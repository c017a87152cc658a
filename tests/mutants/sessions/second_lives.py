"""Mutants of the suite `second_lives`."""

from __future__ import annotations

from forkstore.contract.addresses import (
    BRANCH_TIP,
    ENTRY_LABEL,
    LANE_CONFIG,
    LANE_STATE,
    SESSION_NAME,
    Address,
    is_reserved,
)
from forkstore.contract.errors import BranchExists
from forkstore.contract.forks import ForkOptions
from forkstore.contract.writes import CommitResult, ListDelete, ValueDelete, Write
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.session import Branch, Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import copy_of


def _bury(state: SessionState, address: Address) -> None:
    at = state.scalars if address.kind == "value" else state.lists
    at.get(address.namespace, {}).pop(address.key, None)


class _Remembering(MemoryStorage):
    async def commit(self, writes: list[Write]) -> CommitResult:
        result = await super().commit(writes)
        graves = self._state.__dict__.setdefault("graves", set())
        graves |= {write.address for write in writes if isinstance(write, ValueDelete | ListDelete)}
        return result


class _OnceDeleted(Mutant):
    class storage_class(_Remembering):  # noqa: N801 - takes the place of an attribute
        pass

    def stays_away(self, address: Address) -> bool:
        raise NotImplementedError

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        seen = copy_of(source)
        for address in source.__dict__.get("graves", ()):
            if self.stays_away(address):
                _bury(seen, address)
        return super().fork_state(seen, options)


class LabelsOnceDeletedStayAway(_OnceDeleted):
    """Lie: a label that was deleted once is never copied again."""

    kills = "S-FORK-CLS-02"

    def stays_away(self, address: Address) -> bool:
        return address.namespace == ENTRY_LABEL


class NamesOnceDeletedStayAway(_OnceDeleted):
    """Lie: a session whose name was deleted once has forks without a name."""

    kills = "S-FORK-CLS-01"

    def stays_away(self, address: Address) -> bool:
        return address.namespace == SESSION_NAME


class ScalarsOnceDeletedStayAway(_OnceDeleted):
    """Lie: an application scalar that was deleted once is never copied again."""

    kills = "S-FORK-TREE-06"

    def stays_away(self, address: Address) -> bool:
        return address.kind == "value" and not is_reserved(address.namespace)


class TipsOnceDeletedStayAway(_OnceDeleted):
    """Lie: a branch whose tip row was deleted once is never copied again."""

    kills = "S-FORK-TREE-02"

    def stays_away(self, address: Address) -> bool:
        return address.namespace == BRANCH_TIP


class LanesOnceDeletedStayAway(_OnceDeleted):
    """Lie: lane rows that were deleted once are never copied again."""

    kills = "S-FORK-TREE-03"

    def stays_away(self, address: Address) -> bool:
        return address.namespace in (LANE_CONFIG, LANE_STATE)


class ADeleteExcusesForEver(_OnceDeleted):
    """Lie: an undeclared row fails no fork once its address was deleted, though it was made again."""

    kills = "S-FORK-CLS-04"

    def stays_away(self, address: Address) -> bool:
        return address.namespace == "pi.unknown"


class EqualElementsAreCopiedOnce(Mutant):
    """Lie: of equal elements of a list one is copied."""

    kills = "S-FORK-TREE-07"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        for keys in destination.lists.values():
            for key, elements in keys.items():
                keys[key] = list({element.text: element for element in elements}.values())
        return destination, count


class DeletesAreReplayedLast(Mutant):
    """Lie: opening a session applies its deletes after all other writes."""

    kills = "S-REPO-06"

    class storage_class(_Remembering):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            for address in state.__dict__.get("graves", ()):
                _bury(state, address)


class BranchesAreKnownForEver(Mutant):
    """Lie: a branch that was found once is always found."""

    kills = "S-SESS-01"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            known = self.__dict__.setdefault("_known", {})
            found = await super().branch(name)
            if found is not None:
                known[name] = found
            return known.get(name)  # type: ignore[no-any-return]


class NamesOfBranchesAreTakenForEver(Mutant):
    """Lie: the name of a branch whose tip row was deleted is not free."""

    kills = "S-SESS-04"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def create_branch(self, name: str, at: str | None) -> Branch:
            taken = self.__dict__.setdefault("_taken", [])
            if name in taken:
                raise BranchExists(name)
            made = await super().create_branch(name, at)
            taken.append(name)
            return made
