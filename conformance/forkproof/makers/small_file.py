"""A small good session file with everything in it that damage can strike: the kit's own, written by no store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen.jsonl import lines
from forkproof.instruments.clocks import START
from forkproof.makers import records
from forkstore.contract.addresses import (
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

ID: Final = "small"
CWD: Final = "/srv/garden"
_PLAN, _LOG = value_address("garden.plan", "row:3"), list_address("garden.log")


def small_file(*, id: str = ID, cwd: str = CWD, created_at: int = START) -> bytes:
    """The file: a lane `main`, every kind of record, lines of one and of several, and a last line of several with
    letters of several bytes and a fraction.
    """
    return b"".join(lines(_transactions(), id=id, cwd=cwd, created_at=created_at))


def _transactions() -> Iterator[list[Write]]:
    yield [EntryInsert(records.message_entry("e1", None, "water the beans")), ValueSet(branch_tip("main"), "e1")]
    yield [EntryInsert(records.custom_entry("e2", "e1", data={"rain": 2.5, "none": None}))]
    yield [EntryInsert(records.compaction_entry("e3", "e2")), ValueSet(branch_tip("main"), "e3")]
    yield [
        ValueSet(lane_config("main"), records.lane_configuration()),
        ValueSet(lane_state("main"), records.busy_lane_state()),
    ]
    yield [UsageInsert(records.usage_row("u1", "e1", details={"by": "hand"}))]
    yield [ValueSet(_PLAN, "peas"), ValueSet(_PLAN, None)]
    yield [ValueDelete(_PLAN)]
    yield [ListAppend(_LOG, {"bed": "north"})]
    yield [ListDelete(_LOG), ListAppend(_LOG, 1), ListAppend(_LOG, 1.5)]
    yield [ValueSet(session_name(), "Garten"), ValueSet(entry_label("e1"), "früh")]
    yield [
        EntryInsert(records.message_entry("e4", "e1", "水をやる 🌱")),
        ValueSet(branch_tip("rain"), "e4"),
        UsageInsert(records.usage_row("u2")),
        ListAppend(_LOG, -12.625),
    ]
