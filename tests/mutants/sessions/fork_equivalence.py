"""Mutants of the suite `fork_equivalence`."""

from __future__ import annotations

from typing import Any

from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, SESSION_NAME
from forkstore.contract.forks import ForkOptions, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.memory.storage import MemoryStorage
from forkstore.options import Clock
from forkstore.state import SessionState, TextRecord
from tests.mutants.catalogue import Mutant


class NamesAreLostAfterADelete(Mutant):
    """Lie: once a session was deleted, forks have no name and no labels."""

    kills = "S-FORK-EQ-01"

    deleted = False

    async def delete(self, metadata: SessionMetadata) -> None:
        await super().delete(metadata)
        self.deleted = True

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if self.deleted:
            destination.scalars.pop(ENTRY_LABEL, None)
            destination.scalars.pop(SESSION_NAME, None)
        return destination, count


class ALimitOfNothingIsOne(Mutant):
    """Lie: a scan with limit 0 gives one entry."""

    kills = "S-FORK-EQ-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_entries(self, **query: Any) -> list[dict[str, Any]]:
            return await super().scan_entries(**query | ({"limit": 1} if query.get("limit") == 0 else {}))


class RichSessionsLoseBranches(Mutant):
    """Lie: a tree fork of a session with pending work leaves its data-only branches out."""

    kills = "S-FORK-EQ-02"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        if isinstance(options, TreeFork) and "pi.pending.entry" in source.scalars:
            lanes = destination.scalars.get(LANE_CONFIG, {})
            tips = destination.scalars.get(BRANCH_TIP, {})
            destination.scalars[BRANCH_TIP] = {branch: row for branch, row in tips.items() if branch in lanes}
        return destination, count


class ListsAreOrderedByValueOnOpening(Mutant):
    """Lie: a session that is opened again shows its lists in the order of their values."""

    kills = "S-FORK-EQ-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            for keys in state.lists.values():
                for key, elements in keys.items():
                    texts = sorted(record.text for record in elements)
                    keys[key] = [TextRecord(one.seq, text) for one, text in zip(elements, texts, strict=True)]


class NullsAreLostOnOpening(Mutant):
    """Lie: scalars that hold null are gone when a session is opened again."""

    kills = "S-FORK-EQ-03"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        def __init__(self, state: SessionState, clock: Clock) -> None:
            super().__init__(state, clock)
            for namespace, keys in state.scalars.items():
                state.scalars[namespace] = {key: row for key, row in keys.items() if row.text != b"null"}
