"""Application scalars with every history, at every kind of key.

    garden.scalars   bed:00000000 … n−1   set, overwritten, deleted, recreated, null, only deleted, all at once
    garden.keys      ""  ":"  "a:b:c"  "\\u2028"  "é" composed and decomposed  one letter of each Unicode plane
    pi2.events, pip.x, PI.x, pi/x, pi:x, pi-x     names that only look reserved

The conversation beside them has three entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import json_value
from forkgen.plan import Plan, Scalar, Transaction, in_groups, in_order, merged
from forkgen.tree import Tree, numbered
from forkstore.contract.addresses import Address, value_address
from forkstore.contract.records import Json
from forkstore.contract.writes import ValueDelete, ValueSet

BEDS: Final = "garden.scalars"
KEYS: Final = "garden.keys"
LOOK_ALIKES: Final = ("pi2.events", "pip.x", "PI.x", "pi/x", "pi:x", "pi-x")
PLANES: Final = tuple(chr(plane << 16 | 0x0416) for plane in range(17))
"""A code point of each Unicode plane, unassigned and private ones included."""
ODD_KEYS: Final = ("", " ", ":", "::", "a:b:c", "a:b", "\u007f", "\u2028", "\ufeff", "\u00e9", "e\u0301", *PLANES)


class Scalars(Plan):
    """Application scalars with every history, at every kind of key."""

    name = "scalars"
    unit = "addresses"
    own_namespaces = (BEDS, KEYS, *LOOK_ALIKES)

    def tree(self) -> Tree:
        return self.conversation(3)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        odd: Transaction = [ValueSet(address, value) for address, value in self._odd()]
        yield odd[::-1]
        for history in (self._first, self._second, self._third):
            yield from in_groups(map(history, range(self.size)), 25)

    def scalars(self) -> Iterator[Scalar]:
        beds = ((_bed(index), value) for index in range(self.size) for value in self._last(index))
        return merged(in_order([*self.home_rows(), *self._odd()]), beds)

    def _fate(self, index: int) -> int:
        return self.random.split("fates").at(index) % 8

    def _value(self, index: int, revision: int) -> Json:
        return json_value(self.random.split(f"value {revision}").child(index))

    def _last(self, index: int) -> list[Json]:
        """The value at the end, if there is one."""
        match self._fate(index):
            case 0:
                return [self._value(index, 1)]
            case 1:
                return [self._value(index, 2)]
            case 3 | 6:
                return [self._value(index, 3)]
            case 4:
                return [None]
        return []

    def _first(self, index: int) -> Transaction:
        if self._fate(index) == 5:
            return [ValueDelete(_bed(index))]
        return [ValueSet(_bed(index), self._value(index, 1))]

    def _second(self, index: int) -> Transaction:
        match self._fate(index):
            case 1:
                return [ValueSet(_bed(index), self._value(index, 2))]
            case 2 | 3:
                return [ValueDelete(_bed(index))]
            case 4:
                return [ValueSet(_bed(index), None)]
            case 7:
                return [ValueSet(_bed(index), self._value(index, 2)), ValueDelete(_bed(index))]
        return []

    def _third(self, index: int) -> Transaction:
        match self._fate(index):
            case 3:
                return [ValueSet(_bed(index), self._value(index, 3))]
            case 6:
                between = self._value(index, 2)
                last = ValueSet(_bed(index), self._value(index, 3))
                return [ValueSet(_bed(index), between), ValueDelete(_bed(index)), last]
        return []

    def _odd(self) -> list[Scalar]:
        """Odd keys and odd namespaces."""
        draw = self.random.split("odd")
        addresses = [value_address(KEYS, key) for key in ODD_KEYS]
        addresses += [value_address(namespace, key) for namespace in LOOK_ALIKES for key in ("", "a")]
        return [(address, json_value(draw)) for address in addresses]


def _bed(index: int) -> Address:
    return value_address(BEDS, numbered("bed:", index))
