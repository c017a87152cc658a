"""A random tree: many short limbs, several roots, and subtrees that no branch reaches.

    0 ── 1 ── 2 ──── 7 ── 8        limb-0 (configured)
         │    └ 5 ── 6             limb-1 (data-only)
         └ 3 ── 4                  reached by nothing
    9 ── 10 ──── … ── n−1          main

Entries come in commits of 1 to 40, often with parents of the same commit. Main's tip follows each of them, so most of
the time it jumps from limb to limb.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.content import conversation_fields, drawn_configuration, idle_state
from forkgen.plan import Plan, Scalar, Transaction, in_order
from forkgen.tree import Tree
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.writes import ValueSet

_LIMBS = 8


class Bushy(Plan):
    """A random tree: many short limbs, several roots, and subtrees that no branch reaches."""

    name = "bushy"

    def tree(self) -> Tree:
        fork, draw = self.random.split("parents"), self.random.split("conversation")

        def parent(index: int) -> int | None:
            number = fork.at(index)
            if index == 0 or number % 61 == 0:
                return None
            return index - 1 if number % 4 else (number >> 8) % index

        return Tree("bushy-entry-", self.size, parent, lambda index: conversation_fields(draw.child(index), index))

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        sizes, start = self.random.split("commits"), 0
        while start < self.entries.count:
            end = min(start + sizes.between(1, 40), self.entries.count)
            tip = ValueSet(branch_tip(self.home), self.entries.id(end - 1))
            yield [*map(self.insert, range(start, end)), tip]
            start = end
        yield [ValueSet(address, value) for address, value in self._limbs()]

    def scalars(self) -> Iterator[Scalar]:
        return iter(in_order([*self.home_rows(), *self._limbs()]))

    def _limbs(self) -> Iterator[Scalar]:
        draw = self.random.split("limbs")
        for number in range(_LIMBS):
            branch = f"limb-{number}"
            yield branch_tip(branch), self.entries.id(draw.below(self.entries.count))
            if number % 2 == 0:
                yield lane_config(branch), drawn_configuration(draw)
                yield lane_state(branch), idle_state()
