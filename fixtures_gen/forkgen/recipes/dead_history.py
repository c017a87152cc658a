"""A session of which nine writes in ten are superseded: a small live state at the end of a long file.

    garden.history   bed:00000000   ○ ○ ○ ○ ○ ○ ○ ○ ○ ●
                     bed:00000001   ○ ○ ○ ○ ○ ○ ○ ○ ○ ●     n writes: every bed is set ten times
                     …
    garden.log       00000000 …     ○ ○ ○ ✕                 a list for every 50 writes, deleted again
                     kept           ● ● ●

Tips are dead history too: the conversation beside it moves to and fro.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import json_value
from forkgen.plan import Elements, Plan, Scalar, Transaction, merged
from forkgen.tree import Tree, numbered
from forkstore.contract.addresses import Address, branch_tip, list_address, value_address
from forkstore.contract.records import Json
from forkstore.contract.writes import ListAppend, ListDelete, ValueSet

BEDS: Final = "garden.history"
LOG: Final = "garden.log"
ROUNDS: Final = 10
_TOGETHER: Final = 50


class DeadHistory(Plan):
    """Nine writes in ten are superseded: overwritten scalars, deleted lists, tips moved to and fro."""

    name = "dead_history"
    unit = "scalar writes"
    own_namespaces = (BEDS, LOG)

    def tree(self) -> Tree:
        return self.conversation(3)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        for number in range(self._commits):
            first = number * _TOGETHER
            writes = range(first, min(first + _TOGETHER, self._writes))
            yield [*map(self._set, writes), *self._lived_and_died(number)]
            yield [ValueSet(branch_tip(self.home), self.entries.id(number % self.entries.count))]
        yield [ListDelete(_log(self._commits - 1))]
        yield [ValueSet(branch_tip(self.home), self.last_id)]
        yield [ListAppend(list_address(LOG, "kept"), value) for value in self._kept()]

    def scalars(self) -> Iterator[Scalar]:
        beds = ((_bed(bed), self._value(bed, ROUNDS - 1)) for bed in range(self._beds))
        return merged(self.home_rows(), beds)

    def lists(self) -> Iterator[Elements]:
        yield list_address(LOG, "kept"), iter(self._kept())

    def touched_lists(self) -> Iterator[Address]:
        yield from map(_log, range(self._commits))
        yield list_address(LOG, "kept")

    @property
    def _beds(self) -> int:
        return max(1, self.size // ROUNDS)

    @property
    def _writes(self) -> int:
        return self._beds * ROUNDS

    @property
    def _commits(self) -> int:
        return -(-self._writes // _TOGETHER)

    def _value(self, bed: int, turn: int) -> Json:
        return json_value(self.random.split(f"round {turn}").child(bed))

    def _set(self, write: int) -> ValueSet:
        turn, bed = divmod(write, self._beds)
        return ValueSet(_bed(bed), self._value(bed, turn))

    def _lived_and_died(self, number: int) -> Transaction:
        """A list begins in a commit and is gone in the next."""
        log = [ListAppend(_log(number), [number, element]) for element in range(3)]
        return [ListDelete(_log(number - 1)), *log] if number else [*log]

    def _kept(self) -> list[Json]:
        draw = self.random.split("kept")
        return [json_value(draw) for _ in range(3)]


def _bed(bed: int) -> Address:
    return value_address(BEDS, numbered("bed:", bed))


def _log(number: int) -> Address:
    return list_address(LOG, numbered("", number))
