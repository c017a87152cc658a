"""A conversation that is compacted, left and taken up again elsewhere: the deepest chain of segments a branch can have.

    segment 0   0 ─ 1 ─ 2 ─ 3 ─ 4                 each segment begins at the third entry of the one before it,
                        │                         with a summary of what it leaves
    segment 1           └ 5 ─ 6 ─ 7 ─ 8 ─ 9
                                  │
    segment 2                     └ 10 ─ …   main

The third entry of a segment is a compaction with a retained tail. Every segment is a branch while it grows; the last
eight still are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import conversation_fields, message, sentence, usage
from forkgen.plan import Plan, Scalar, Transaction, in_order
from forkgen.tree import Tree, numbered
from forkstore.contract.addresses import branch_tip
from forkstore.contract.records import Record
from forkstore.contract.writes import ValueDelete, ValueSet

LENGTH: Final = 5
"""Entries of a segment."""
_KEPT: Final = 8


def _parent(index: int) -> int | None:
    if index == 0:
        return None
    return index - 1 if index % LENGTH else index - 3


class Compacted(Plan):
    """Compactions and branch summaries on the deepest chain of segments a branch can have."""

    name = "compacted"

    def tree(self) -> Tree:
        return Tree("compacted-entry-", self.size, _parent, self._fields)

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        for segment in range(self._segments):
            first = segment * LENGTH
            if segment:
                yield [ValueSet(branch_tip(_branch(segment)), self.entries.id(first - 3))]
            for index in range(first, min(first + LENGTH, self.entries.count)):
                yield [*self.append(index), ValueSet(branch_tip(_branch(segment)), self.entries.id(index))]
            if segment >= _KEPT:
                yield [ValueDelete(branch_tip(_branch(segment - _KEPT)))]

    def scalars(self) -> Iterator[Scalar]:
        kept = range(max(0, self._segments - _KEPT), self._segments)
        last = self.entries.count - 1
        tips = [
            (branch_tip(_branch(segment)), self.entries.id(min(segment * LENGTH + LENGTH - 1, last)))
            for segment in kept
        ]
        return iter(in_order([*self.home_rows(), *tips]))

    @property
    def _segments(self) -> int:
        return -(-self.entries.count // LENGTH)

    def _fields(self, index: int) -> Record:
        draw = self.random.split("conversation").child(index)
        place = index % LENGTH
        if place == 0 and index:
            summary = {
                "type": "branch_summary",
                "fromId": self.entries.id(index - 1),
                "summary": sentence(draw),
                "fromHook": draw.chance(1, 2),
            }
            return summary | {"details": {"read": ["beds.md"]}} if draw.chance(1, 2) else summary
        if place == 2:
            return {
                "type": "compaction",
                "summary": sentence(draw),
                "retainedTail": [message(draw, index + more) for more in range(draw.below(4))],
                "tokensBefore": draw.below(200_000),
                "fromHook": draw.chance(1, 4),
                "usage": usage(draw),
            }
        return conversation_fields(draw, index)


def _branch(segment: int) -> str:
    return numbered("segment-", segment)
