"""The entries of a generated session, as functions of their index: an id, a parent, the rest. None is kept.

Index order is commit order, and a parent's index is smaller than its child's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Protocol

from forkstore.contract.records import Record

from .content import DIGITS

# No session has so many entries that an index would be longer.
_LEADING_DIGITS: Final = re.compile("[0-9]{1,18}")


class Entries(Protocol):
    """The entries of a session, by index 0 … count−1."""

    @property
    def count(self) -> int: ...
    def id(self, index: int) -> str: ...
    def parent(self, index: int) -> int | None: ...
    def new_entry(self, index: int) -> Record: ...
    def index_of(self, entry_id: str) -> int | None: ...


def numbered(prefix: str, index: int) -> str:
    """An id or key that sorts by its index.

    >>> numbered("bed-", 7)
    'bed-00000007'
    """
    return f"{prefix}{index:0{DIGITS}d}"


@dataclass(frozen=True)
class Tree:
    """Entries with ids of one form: the prefix, the index, and what `suffix` adds, which must not begin with a digit.

    `parent_of` gives the index of an entry's parent or None for a root, `fields_of` its type and payload.
    """

    prefix: str
    count: int
    parent_of: Callable[[int], int | None]
    fields_of: Callable[[int], Record]
    suffix: Callable[[int], str] | None = None

    def id(self, index: int) -> str:
        """The id of an entry."""
        entry_id = numbered(self.prefix, index)
        return entry_id if self.suffix is None else entry_id + self.suffix(index)

    def parent(self, index: int) -> int | None:
        """The index of an entry's parent; None for a root."""
        return self.parent_of(index)

    def new_entry(self, index: int) -> Record:
        """The new entry, a fresh object."""
        parent = self.parent_of(index)
        return {
            "id": self.id(index),
            "parentId": None if parent is None else self.id(parent),
            **self.fields_of(index),
        }

    def index_of(self, entry_id: str) -> int | None:
        """The index of the entry with this id; None if there is none."""
        digits = _LEADING_DIGITS.match(entry_id, len(self.prefix))
        index = self.count if digits is None else int(digits[0])
        return index if index < self.count and self.id(index) == entry_id else None


class Forest:
    """The entries of several trees, one tree after the other."""

    def __init__(self, trees: Sequence[Entries]) -> None:
        self._trees = trees
        self._starts = [0, *accumulate(tree.count for tree in trees)]

    @property
    def count(self) -> int:
        """The number of entries of all trees."""
        return self._starts[-1]

    def _place(self, index: int) -> tuple[Entries, int]:
        which = bisect_right(self._starts, index) - 1
        return self._trees[which], self._starts[which]

    def id(self, index: int) -> str:
        """The id of an entry."""
        tree, start = self._place(index)
        return tree.id(index - start)

    def parent(self, index: int) -> int | None:
        """The index of an entry's parent; None for a root."""
        tree, start = self._place(index)
        parent = tree.parent(index - start)
        return None if parent is None else parent + start

    def new_entry(self, index: int) -> Record:
        """The new entry, a fresh object."""
        tree, start = self._place(index)
        return tree.new_entry(index - start)

    def index_of(self, entry_id: str) -> int | None:
        """The index of the entry with this id; None if there is none."""
        for tree, start in zip(self._trees, self._starts, strict=False):
            index = tree.index_of(entry_id)
            if index is not None:
                return index + start
        return None


def chain(index: int) -> int | None:
    """The parents of one linear branch."""
    return index - 1 if index else None


def ancestry(entries: Entries, index: int | None) -> Iterator[int]:
    """An entry and its ancestors, newest first; nothing for None."""
    while index is not None:
        yield index
        index = entries.parent(index)


class Members:
    """The indexes of an entry and its ancestors, rising: one byte for each entry of the source, whatever it holds."""

    def __init__(self, entries: Entries, tip: int | None) -> None:
        self._flags = bytearray(0 if tip is None else tip + 1)
        self._count = 0
        for index in ancestry(entries, tip):
            self._flags[index] = 1
            self._count += 1

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and 0 <= index < len(self._flags) and bool(self._flags[index])

    def __iter__(self) -> Iterator[int]:
        index = self._flags.find(1)
        while index >= 0:
            yield index
            index = self._flags.find(1, index + 1)

    def __len__(self) -> int:
        return self._count
