"""Good session files, written by hand: what damage starts from."""

from __future__ import annotations

from forkgen.jsonl import lines
from forkstore.contract.addresses import (
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.records import Record
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

CREATED_AT = 1_760_000_000_123
PLAN, LOG = value_address("garden.plan", "row:3"), list_address("garden.log")


def message(id: str, parent: str | None, text: str) -> EntryInsert:
    content = {"role": "user", "content": text, "timestamp": 1_760_000_001_000}
    return EntryInsert({"id": id, "parentId": parent, "type": "message", "message": content})


def usage(id: str, **fields: object) -> UsageInsert:
    cost = {"input": 0.011, "output": 0.06, "cacheRead": 0.0, "cacheWrite": 0.001, "total": 0.072}
    numbers = {"input": 11, "output": 6, "cacheRead": 5, "cacheWrite": 1, "totalTokens": 23, "cost": cost}
    return UsageInsert({"id": id, "usage": numbers, "adjustment": False, **fields})


def rich() -> list[list[Write]]:
    """Every kind of record, one and several on a line; the last line has several and letters of several bytes."""
    weather: Record = {"id": "e2", "parentId": "e1", "type": "custom", "customType": "weather", "data": {"rain": 2.5}}
    compaction: Record = {"id": "e3", "parentId": "e2", "type": "compaction", "summary": "beans", "retainedTail": []}
    compaction |= {"tokensBefore": 310, "fromHook": False}
    lane = {"model": {"provider": "orchard", "modelId": "o-2"}, "thinkingLevel": "off", "activeToolNames": []}
    return [
        [message("e1", None, "water the beans"), ValueSet(branch_tip("main"), "e1")],
        [EntryInsert(weather)],
        [],
        [EntryInsert(compaction), ValueSet(branch_tip("main"), "e3")],
        [ValueSet(lane_config("main"), lane), ValueSet(lane_state("main"), {"inbox": []})],
        [usage("u1", entryId="e1", details={"by": "hand"})],
        [ValueSet(PLAN, "peas"), ValueSet(PLAN, None)],
        [ValueDelete(PLAN)],
        [ListAppend(LOG, {"bed": "north"})],
        [ListDelete(LOG), ListAppend(LOG, 1), ListAppend(LOG, 1.5)],
        [ValueSet(session_name(), "walk"), ValueSet(entry_label("e1"), "früh")],
        [message("e4", "e1", "水をやる 12345 🌱"), ValueSet(branch_tip("rain"), "e4"), usage("u2")],
    ]


def bare() -> list[list[Write]]:
    return []


def single() -> list[list[Write]]:
    return [[message("only", None, "rake")]]


def values_only() -> list[list[Write]]:
    return [[ValueSet(PLAN, number)] for number in range(5)]


FILES = {"rich": rich, "bare": bare, "single": single, "values only": values_only}


def good_file(name: str, *, next_seq: int | None = None) -> bytes:
    return b"".join(lines(FILES[name](), id="walk-1", cwd="/srv/garden", created_at=CREATED_AT, next_seq=next_seq))
