"""The current scalars and lists of a file: where each was written, and how many records were for nothing."""

from __future__ import annotations

from typing import TypeVar

from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, LANE_STATE, Kind
from forkstore.contract.policy import Action, classify
from forkstore.contract.records import ABSENT, Absent

from .entries import EntryTree
from .facts import BranchFacts, DeadRecords, ListFacts

_Place = TypeVar("_Place")


class CurrentRows:
    """Scalars and lists by namespace and key. Values are not kept; tips are, because they are ids."""

    def __init__(self) -> None:
        self.tips: dict[str, str | Absent | None] = {}
        """The value of the last set of every branch's tip: an id or null, or ABSENT when it is neither."""
        self._scalars: dict[str, dict[str, int]] = {}
        """The line of every current set."""
        self._lists: dict[str, dict[str, tuple[int, int]]] = {}
        """Per list the line of its first element, and the number of its elements."""
        self._superseded_sets = 0
        self._deleted_rows = 0
        self._deletes = 0

    def set_scalar(self, namespace: str, key: str, line: int) -> None:
        """A set in the given line."""
        keys = self._scalars.setdefault(namespace, {})
        self._superseded_sets += key in keys
        keys[key] = line

    def delete_scalar(self, namespace: str, key: str) -> None:
        """A delete, whether there was something to delete or not."""
        self._deletes += 1
        self._deleted_rows += _discarded(self._scalars, namespace, key) is not None

    def append(self, namespace: str, key: str, line: int) -> None:
        """An append in the given line."""
        keys = self._lists.setdefault(namespace, {})
        first, count = keys.get(key, (line, 0))
        keys[key] = first, count + 1

    def delete_list(self, namespace: str, key: str) -> None:
        """A delete of a list, whether it had elements or not."""
        self._deletes += 1
        _, count = _discarded(self._lists, namespace, key) or (0, 0)
        self._deleted_rows += count

    def scalars(self) -> dict[str, int]:
        """The number of current scalars, by namespace."""
        return {namespace: len(keys) for namespace, keys in sorted(self._scalars.items())}

    def lists(self) -> dict[str, ListFacts]:
        """The lists, by namespace."""
        return {
            namespace: ListFacts(len(keys), sum(count for _, count in keys.values()))
            for namespace, keys in sorted(self._lists.items())
        }

    def dead(self) -> DeadRecords:
        """The records that were for nothing."""
        return DeadRecords(self._superseded_sets, self._deleted_rows, self._deletes)

    def branches(self, tree: EntryTree) -> list[BranchFacts]:
        """Every branch, by name."""
        names = sorted(self._scalars.get(BRANCH_TIP, {}))
        configs, states = self._scalars.get(LANE_CONFIG, {}), self._scalars.get(LANE_STATE, {})
        tips = [None if tip is ABSENT else tip for tip in map(self.tips.__getitem__, names)]
        lengths = tree.path_lengths(tips)
        return [
            BranchFacts(name, tip, name in configs and name in states, length)
            for name, tip, length in zip(names, tips, lengths, strict=True)
        ]

    def tip_lines(self) -> dict[str, int]:
        """The line of every branch's tip, by the branch's name."""
        return self._scalars.get(BRANCH_TIP, {})

    def label_lines(self) -> dict[str, int]:
        """The line of every label, by the id of what it labels."""
        return self._scalars.get(ENTRY_LABEL, {})

    def undeclared(self) -> list[tuple[str, Kind, int]]:
        """Namespace, kind and first line of the current rows that make every fork fail (spec section 16)."""
        found: list[tuple[str, Kind, int]] = [
            (namespace, "value", min(keys.values()))
            for namespace, keys in self._scalars.items()
            if classify(namespace, "value") is Action.FAIL
        ]
        found += [
            (namespace, "list", min(first for first, _ in keys.values()))
            for namespace, keys in self._lists.items()
            if classify(namespace, "list") is Action.FAIL
        ]
        return sorted(found)


def _discarded(places: dict[str, dict[str, _Place]], namespace: str, key: str) -> _Place | None:
    keys = places.get(namespace, {})
    place = keys.pop(key, None)
    if place is not None and not keys:
        del places[namespace]
    return place
