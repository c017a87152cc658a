"""The measured session of appendix A, to the letter; the seed changes nothing.

    benchmark-entry-00000000 ── 00000001 ── 00000002 ── … ── n−1   main
    └──────── commits of 250 ────────┘                       + configuration, idle state

Repositories that hold it run on the clock CLOCK.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.content import MESSAGE_TIME, lane_configuration, message_fields
from forkgen.plan import Plan, Scalar, Transaction, lane_rows, lane_writes
from forkgen.tree import Tree, chain, numbered
from forkstore.contract.addresses import branch_tip
from forkstore.contract.records import Record
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet

CLOCK: Final = 1_700_000_000_000
"""What the clock of a measured repository shows, Unix milliseconds."""
SEEDING: Final = 250
"""Entries of one seeding commit."""
PREFIX: Final = "benchmark-entry-"
_TEXT_LENGTH: Final = 256
_LOOKUPS: Final = 100


class Benchmark(Plan):
    """The measured session of appendix A: linear, 256 characters an entry, commits of 250."""

    name = "benchmark"

    def tree(self) -> Tree:
        return Tree(PREFIX, self.size, chain, _fields)

    def transactions(self) -> Iterator[Transaction]:
        for start in range(0, self.size, SEEDING):
            yield list(_inserts(start, min(start + SEEDING, self.size)))
        yield lane_writes(self.home, self.last_id, _configuration())

    def scalars(self) -> Iterator[Scalar]:
        return iter(lane_rows(self.home, self.last_id, _configuration()))


def lookup_ids(entries: int) -> list[str]:
    """The 100 ids that a lookup scenario asks for, of a session of so many entries."""
    return [numbered(PREFIX, k * (entries - 1) // (_LOOKUPS - 1)) for k in range(_LOOKUPS)]


def session_id(index: int) -> str:
    """The id of a measured session: a source is 0, its fork 1, a catalog counts from 0."""
    return numbered("benchmark-session-", index)


def mixed_append(entries: int = 1_000, branch: str = "main") -> Transaction:
    """The mixed append on a session of so many entries: the next entry, the tip, and a usage row."""
    entry_id = numbered(PREFIX, entries)
    return [
        *_inserts(entries, entries + 1),
        ValueSet(branch_tip(branch), entry_id),
        UsageInsert({"id": numbered("benchmark-usage-", entries), "usage": _usage(), "adjustment": False}),
    ]


def _inserts(start: int, end: int) -> Iterator[EntryInsert]:
    """The writes that `Plan.insert` gives one by one, in fewer steps: this is what measurements pay for."""
    parent = numbered(PREFIX, start - 1) if start else None
    for index in range(start, end):
        entry_id = f"benchmark-entry-{index:08d}"
        block = {"type": "text", "text": f"{entry_id}:".ljust(256, "x")}
        body = {"role": "user", "content": [block], "timestamp": MESSAGE_TIME}
        yield EntryInsert({"id": entry_id, "parentId": parent, "type": "message", "message": body})
        parent = entry_id


def _fields(index: int) -> Record:
    text = f"{numbered(PREFIX, index)}:".ljust(_TEXT_LENGTH, "x")
    block = {"type": "text", "text": text}
    return message_fields({"role": "user", "content": [block], "timestamp": MESSAGE_TIME})


def _configuration() -> Record:
    return lane_configuration("benchmark", "benchmark")


def _usage() -> Record:
    return {
        "input": 1_000,
        "output": 250,
        "cacheRead": 500,
        "cacheWrite": 0,
        "totalTokens": 1_250,
        "cost": {"input": 0.003, "output": 0.00375, "cacheRead": 0.00015, "cacheWrite": 0, "total": 0.0069},
    }
