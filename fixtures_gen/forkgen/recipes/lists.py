"""Lists that grew, went and came back.

    garden.lists   long      ● ● ● ● ● … ●           n elements, up to 10,001 of them in the first commit
                   plain     ● ● ●                   beside a scalar of the same namespace and key
                   deleted   ○ ○ ○ ✕
                   reborn    ○ ○ ✕ ● ●               the delete and the new elements in one commit
                   twice     ○ ✕ ○ ○ ✕ ●             each step a commit of its own
                   late      ✕ ●                     deleted before it was there
                   ""        ●                       an empty key
    ● survives · ○ does not · ✕ the list is deleted

The conversation beside them has three entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import json_value, sentence
from forkgen.plan import Elements, Plan, Scalar, Transaction, in_order
from forkgen.tree import Tree
from forkstore.contract.addresses import Address, list_address, value_address
from forkstore.contract.records import Json
from forkstore.contract.writes import ListAppend, ListDelete, ValueSet

NAMESPACE: Final = "garden.lists"
FIRST_COMMIT: Final = 10_001
"""Most elements of the long list's first commit: more than a page of any limit (S-LIST-02, S-TXN-12)."""
_FURTHER: Final = 250


class Lists(Plan):
    """Lists that grew, went and came back; a long one of any length."""

    name = "lists"
    unit = "elements of the long list"
    own_namespaces = (NAMESPACE,)

    def tree(self) -> Tree:
        return self.conversation(3)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        yield [self._add("deleted", index) for index in range(3)]
        yield [self._add("reborn", 0), self._add("reborn", 1)]
        yield [self._add("twice", 0)]
        for some in self._commits():
            yield [self._add("long", index) for index in some]
        yield [*(self._add("plain", index) for index in range(3)), ValueSet(value_address(NAMESPACE, "plain"), "apart")]
        yield [ListDelete(_list("twice"))]
        yield [self._add("twice", 1), self._add("twice", 2)]
        yield [ListDelete(_list("deleted"))]
        yield [ListDelete(_list("twice"))]
        yield [ListDelete(_list("reborn")), self._add("reborn", 2), self._add("reborn", 3)]
        yield [self._add("twice", 3), ListDelete(_list("late")), self._add("late", 0), self._add("", 0)]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), (value_address(NAMESPACE, "plain"), "apart")]))

    def lists(self) -> Iterator[Elements]:
        survivors = {
            "": range(1),
            "late": range(1),
            "long": range(self.size),
            "plain": range(3),
            "reborn": range(2, 4),
            "twice": range(3, 4),
        }
        for key, indexes in survivors.items():
            yield _list(key), (self._element(key, index) for index in indexes)

    def touched_lists(self) -> Iterator[Address]:
        return map(_list, ("", "deleted", "late", "long", "plain", "reborn", "twice"))

    def _commits(self) -> Iterator[range]:
        yield range(min(FIRST_COMMIT, self.size))
        for start in range(FIRST_COMMIT, self.size, _FURTHER):
            yield range(start, min(start + _FURTHER, self.size))

    def _element(self, key: str, index: int) -> Json:
        draw = self.random.split(f"list {key}").child(index)
        return [index, sentence(draw)] if index % 3 else json_value(draw)

    def _add(self, key: str, index: int) -> ListAppend:
        return ListAppend(_list(key), self._element(key, index))


def _list(key: str) -> Address:
    return list_address(NAMESPACE, key)
