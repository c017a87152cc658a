"""Thousands of branches on one stem.

    stem 0 ─┬─ 1   branch-00000000   configured
            ├─ 2   branch-00000001   data-only
            ├─ 3   branch-00000002   configured
            ┆
            └─ n   branch-…          and main at the stem

Each of the n branches has an entry of its own; every second one is a lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from forkgen.content import drawn_configuration, idle_state, message, message_fields
from forkgen.plan import Plan, Scalar, Transaction, in_groups, lane_rows, merged
from forkgen.tree import Tree, numbered
from forkstore.contract.addresses import Address, branch_tip, lane_config, lane_state
from forkstore.contract.records import Record
from forkstore.contract.writes import ValueSet


class Wide(Plan):
    """Thousands of branches on one stem."""

    name = "wide"
    unit = "branches beside the home lane"

    def tree(self) -> Tree:
        draw = self.random.split("conversation")
        return Tree(
            "wide-entry-",
            1 + self.size,
            lambda index: 0 if index else None,
            lambda index: message_fields(message(draw.child(index), index)),
        )

    def transactions(self) -> Iterator[Transaction]:
        yield [*self.open_home(), *self.append(0)]
        yield from in_groups(map(self._grown, range(self.size)), 40)

    def scalars(self) -> Iterator[Scalar]:
        return merged(
            lane_rows(self.home, self.entries.id(0)),
            ((_branch(number, branch_tip), self.entries.id(1 + number)) for number in range(self.size)),
            ((_branch(number, lane_config), self._config(number)) for number in range(0, self.size, 2)),
            ((_branch(number, lane_state), idle_state()) for number in range(0, self.size, 2)),
        )

    def _grown(self, number: int) -> Transaction:
        """A branch with its entry."""
        tip = ValueSet(_branch(number, branch_tip), self.entries.id(1 + number))
        if number % 2:
            return [self.insert(1 + number), tip]
        config = ValueSet(_branch(number, lane_config), self._config(number))
        return [self.insert(1 + number), config, ValueSet(_branch(number, lane_state), idle_state()), tip]

    def _config(self, number: int) -> Record:
        return drawn_configuration(self.random.split("lanes").child(number))


def _branch(number: int, address: Callable[[str], Address]) -> Address:
    return address(numbered("branch-", number))
