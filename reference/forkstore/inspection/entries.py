"""The tree of a file's entries: ids and parents, and nothing else of them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Final

NONE: Final = -1
"""The number of no entry: a root's parent has it."""


class EntryTree:
    """Entries by number, from 0 in the order of the file. A parent always has a smaller number than its children."""

    def __init__(self) -> None:
        self.by_type: Counter[str] = Counter()
        """How many entries there are of each type."""
        self._numbers: dict[str, int] = {}
        self._parents = array("q")

    def __len__(self) -> int:
        return len(self._parents)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._numbers

    def add(self, entry_id: str, parent_id: str | None, entry_type: str) -> bool:
        """Takes a new entry. False when its parent is not there; it is then a root, so that its children have one."""
        parent = NONE if parent_id is None else self._numbers.get(parent_id)
        self._numbers[entry_id] = len(self._parents)
        self._parents.append(NONE if parent is None else parent)
        self.by_type[entry_type] += 1
        return parent is not None

    @property
    def roots(self) -> int:
        """How many entries have no parent."""
        return self._parents.count(NONE)

    def path_lengths(self, tips: Iterable[str | None]) -> list[int]:
        """Per tip the number of entries on its path; 0 for a tip that names no entry."""
        depths = array("q")
        for parent in self._parents:
            depths.append(1 if parent == NONE else depths[parent] + 1)
        return [0 if number == NONE else depths[number] for number in self._numbers_of(tips)]

    def unreachable(self, tips: Iterable[str | None]) -> int:
        """How many entries are on the path of none of the tips."""
        reached = bytearray(len(self._parents))
        for tip in self._numbers_of(tips):
            number = tip
            while number != NONE and not reached[number]:
                reached[number] = 1
                number = self._parents[number]
        return reached.count(0)

    def _numbers_of(self, tips: Iterable[str | None]) -> Iterable[int]:
        return (NONE if tip is None else self._numbers.get(tip, NONE) for tip in tips)
