"""Branches in every condition that their three rows can be in.

    0 ── 1 ── 2 ── 3 ── … ── n−1   main
              └ 4                  and of each of these one or more, at any entry:

    plain         tip, configuration, idle state     moved-back    the tip stood at the end and went back
    busy          an open operation, a full inbox    reconfigured  the configuration was replaced twice
    empty         a null tip, configured             dangling      a tip that names no entry, configured
    data          a tip alone                        stateless     a tip and a configuration
    empty-data    a null tip alone                   tipless       a configuration and a state
    removed       was configured, is gone

There is one of each for every hundred entries, but never more than twenty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import busy_state, conversation_fields, drawn_configuration, idle_state
from forkgen.plan import Plan, Scalar, Transaction, in_order, lane_removal, lane_rows, lane_writes
from forkgen.random import Generator
from forkgen.tree import Tree
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.writes import ValueDelete, ValueSet

CONDITIONS: Final = (
    "plain",
    "busy",
    "empty",
    "data",
    "empty-data",
    "moved-back",
    "reconfigured",
    "dangling",
    "stateless",
    "tipless",
    "removed",
)
_MOST: Final = 20


def _with_stubs(index: int) -> int | None:
    """A chain with a side arm of one entry at every fifth place."""
    if index == 0:
        return None
    return max(0, index - 3) if index % 5 == 4 else index - (2 if index % 5 == 0 else 1)


class Lanes(Plan):
    """Branches in every condition that their three rows can be in."""

    name = "lanes"

    def tree(self) -> Tree:
        draw = self.random.split("conversation")
        return Tree("lanes-entry-", self.size, _with_stubs, lambda index: conversation_fields(draw.child(index), index))

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
        for number in range(self._copies):
            for condition in CONDITIONS:
                yield from self._history(condition, number)
                rows = self._rows(condition, number)
                if rows:
                    yield [ValueSet(address, value) for address, value in rows]

    def scalars(self) -> Iterator[Scalar]:
        copies = range(self._copies)
        rows = (row for number in copies for condition in CONDITIONS for row in self._rows(condition, number))
        return iter(in_order([*self.home_rows(), *rows]))

    @property
    def _copies(self) -> int:
        return min(_MOST, 1 + self.size // 100)

    def _draw(self, condition: str, number: int) -> Generator:
        return self.random.split(f"{condition}-{number}")

    def _history(self, condition: str, number: int) -> Iterator[Transaction]:
        """What happened to the lane before its last commit."""
        branch, draw = f"{condition}-{number}", self._draw(condition, number).split("history")
        match condition:
            case "moved-back":
                yield lane_writes(branch, self.last_id)
            case "reconfigured":
                yield lane_writes(branch, None, drawn_configuration(draw))
                yield [ValueSet(lane_config(branch), drawn_configuration(draw))]
            case "stateless":
                yield [*lane_writes(branch, None), ValueDelete(lane_state(branch))]
            case "tipless":
                yield [ValueSet(branch_tip(branch), self.last_id), ValueDelete(branch_tip(branch))]
            case "removed":
                yield lane_writes(branch, self.last_id, drawn_configuration(draw))
                yield lane_removal(branch)

    def _rows(self, condition: str, number: int) -> list[Scalar]:
        """The rows of the lane at the end."""
        branch, draw = f"{condition}-{number}", self._draw(condition, number)
        older = self.entries.id(draw.below(self.entries.count))
        config, state = drawn_configuration(draw), idle_state()
        match condition:
            case "removed":
                return []
            case "busy":
                waiting = [f"{branch}-waiting-{place}" for place in range(1 + draw.below(5))]
                state = busy_state(f"{branch}-operation", None, waiting)
        tip = {"empty": None, "empty-data": None, "dangling": f"{branch}-nowhere"}.get(condition, older)
        rows = lane_rows(branch, tip, config, state)
        shown = {"data": rows[:1], "empty-data": rows[:1], "stateless": rows[:2], "tipless": rows[1:]}
        return shown.get(condition, rows)
