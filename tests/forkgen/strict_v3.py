"""An independent checker of legacy v3 files, slow and simple, written from section 26.

Normalized ids are shown as `("fresh", old id)`. Every question is asked of the whole list of records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.forkgen.strict_format4 import Refused as RefusedHeader
from tests.forkgen.strict_format4 import check_header
from tests.forkgen.strict_json import NotStrict, depth, parse

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)")
ABSENT = object()
TEXT = (str,)
FURTHER: dict[str, dict[str, tuple[type, ...]]] = {
    "message": {"message": (dict,)},
    "custom": {"customType": TEXT},
    "custom_message": {"customType": TEXT, "content": (str, list), "display": (bool,)},
    "branch_summary": {"fromId": TEXT, "summary": TEXT},
    "compaction": {"summary": TEXT, "tokensBefore": (int, float)},
    "model_change": {"provider": TEXT, "modelId": TEXT},
    "thinking_level_change": {"thinkingLevel": TEXT},
    "active_tools_change": {"activeToolNames": (list,)},
    "session_info": {},
    "label": {"targetId": TEXT},
}
OPTIONAL = {"session_info": "name", "label": "label"}
RETAINED = ("message", "custom", "custom_message", "branch_summary", "compaction")
NUMBERS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
COSTS = ("input", "output", "cacheRead", "cacheWrite", "total")


class Corrupt(Exception):
    """In a line, or for a record whose line the contract does not fix."""

    def __init__(self, line: int | None = None, named: str | None = None) -> None:
        super().__init__(line, named)
        self.line = line
        self.named = named


@dataclass
class Finding:
    verdict: str
    line: int | None = None
    named: str | None = None
    version: str | None = None
    header: dict[str, Any] = field(default_factory=dict)
    created_at: int | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)
    derived: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)


def examine(data: bytes) -> Finding:
    """Reads a v3 file as a right store does."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1]
    try:
        header = read_header(lines)
        if header.get("version") != 3:
            return Finding("unsupported", version=str(header.get("version", 1)))
        records = [read_record(number, line) for number, line in enumerate(lines[1:], 2)]
        check_graph(records)
        return normalize(header, records)
    except Corrupt as fault:
        return Finding("corrupt", line=fault.line, named=fault.named)


def read_header(lines: list[bytes]) -> dict[str, Any]:
    try:
        header = parse(lines[0]) if lines else None
    except NotStrict:
        header = None
    if type(header) is not dict or header.get("type") != "session":
        raise Corrupt(1)
    if "version" in header and type(header["version"]) is not int:
        raise Corrupt(1)
    if header.get("version") != 3:
        return header
    texts = [header.get("id"), header.get("cwd"), header.get("parentSession", "")]
    if any(type(text) is not str for text in texts) or milliseconds(header.get("timestamp")) is None:
        raise Corrupt(1)
    return header


def milliseconds(stamp: Any) -> int | None:
    if type(stamp) is not str or not DATE.fullmatch(stamp):
        return None
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000)
    except ValueError:
        return None


def read_record(number: int, line: bytes) -> dict[str, Any]:
    try:
        record = parse(line)
    except NotStrict:
        raise Corrupt(number) from None
    if type(record) is not dict or depth(record) > 200:
        raise Corrupt(number)
    kind = record.get("type")
    if type(kind) is not str or kind not in FURTHER:
        raise Corrupt(number)
    if type(record.get("id")) is not str or milliseconds(record.get("timestamp")) is None:
        raise Corrupt(number)
    if record.get("parentId", ABSENT) is not None and type(record.get("parentId")) is not str:
        raise Corrupt(number)
    for name, types in FURTHER[kind].items():
        if type(record.get(name, ABSENT)) not in types:
            raise Corrupt(number)
    if kind in OPTIONAL and type(record.get(OPTIONAL[kind], "")) is not str:
        raise Corrupt(number)
    return record


def check_graph(records: list[dict[str, Any]]) -> None:
    for index, record in enumerate(records):
        earlier = [other["id"] for other in records[:index]]
        if record["id"] in earlier or (record["parentId"] is not None and record["parentId"] not in earlier):
            raise Corrupt(index + 2)
    ids = {record["id"] for record in records}
    for record in records:
        if record["type"] == "branch_summary" and record["fromId"] != "root" and record["fromId"] not in ids:
            raise Corrupt
        if record["type"] == "label" and record["targetId"] not in ids:
            raise Corrupt


class Conversation:
    """The records by id, and the questions that normalizing asks of them."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.records = records
        self.by_id = {record["id"]: record for record in records}

    def mapping(self, id: str | None) -> tuple[str, str] | None:
        while id is not None and self.by_id[id]["type"] not in RETAINED:
            id = self.by_id[id]["parentId"]
        return None if id is None else ("fresh", id)

    def path(self, id: str | None) -> list[dict[str, Any]]:
        """From a record up to its root."""
        found = []
        while id is not None:
            found.append(self.by_id[id])
            id = self.by_id[id]["parentId"]
        return found

    def origin(self, from_id: str) -> tuple[str, str] | None:
        return None if from_id == "root" else self.mapping(from_id)

    def tail(self, compaction: dict[str, Any]) -> list[Any]:
        walk = []
        for record in self.path(compaction["parentId"]):
            walk.append(record)
            if record["id"] == compaction.get("firstKeptEntryId"):
                return [said for kept in reversed(walk) for said in self.contribution(kept)]
        raise Corrupt(named=compaction["id"])

    def contribution(self, record: dict[str, Any]) -> list[Any]:
        timestamp = milliseconds(record["timestamp"])
        match record["type"]:
            case "message":
                return [record["message"]]
            case "custom_message":
                return [custom_message(record)]
            case "branch_summary" if record["summary"]:
                told = {"role": "branchSummary", "summary": record["summary"], "fromId": self.origin(record["fromId"])}
                return [told | {"timestamp": timestamp}]
            case "compaction":
                told = {"role": "compactionSummary", "summary": record["summary"]}
                return [told | {"tokensBefore": record["tokensBefore"], "timestamp": timestamp}]
        return []

    def payload(self, record: dict[str, Any]) -> dict[str, Any]:
        kept = ("details", "usage", "fromHook")
        match record["type"]:
            case "message":
                return {"type": "message", "message": record["message"]}
            case "custom_message":
                return {"type": "message", "message": custom_message(record)}
            case "custom":
                return {"type": "custom"} | chosen(record, "customType", "data")
            case "branch_summary":
                told = {"type": "branch_summary", "fromId": self.origin(record["fromId"]), "fromHook": False}
                return told | chosen(record, "summary", *kept)
        own: dict[str, Any] = {"type": "compaction", "retainedTail": self.tail(record), "fromHook": False}
        return own | chosen(record, "summary", "tokensBefore", *kept)


def custom_message(record: dict[str, Any]) -> dict[str, Any]:
    fields = chosen(record, "customType", "content", "details", "display")
    return {"role": "custom", **fields, "timestamp": milliseconds(record["timestamp"])}


def chosen(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: record[name] for name in names if name in record}


def normalize(header: dict[str, Any], records: list[dict[str, Any]]) -> Finding:
    told = Conversation(records)
    found = Finding("opens", header=header, created_at=milliseconds(header["timestamp"]))
    for record in records:
        if record["type"] in RETAINED:
            place = {"id": ("fresh", record["id"]), "parentId": told.mapping(record["parentId"])}
            numbers = {"seq": len(found.entries) + 1, "timestamp": milliseconds(record["timestamp"])}
            found.entries.append(place | numbers | told.payload(record))
    for write in derived(told):
        seq = len(found.entries) + len(found.derived) + 1
        found.derived.append({"kind": "value", **write, "seq": seq})
    found.usage = usage_of(records)
    return found


def derived(told: Conversation) -> list[dict[str, Any]]:
    writes = []
    names = [record.get("name", "") for record in told.records if record["type"] == "session_info"]
    if names and names[-1]:
        writes.append(a_set("pi.session.name", "", names[-1]))
    for record in told.records:
        if record["type"] == "label" and told.mapping(record["targetId"]) is not None:
            target, text = told.mapping(record["targetId"]), record.get("label", "")
            delete = {"op": "delete", "namespace": "pi.entry.label", "key": target}
            writes.append(a_set("pi.entry.label", target, text) if text else delete)
    last = told.records[-1]["id"] if told.records else None
    writes.append(a_set("pi.branch.tip", "main", told.mapping(last)))
    path = told.path(last)
    model, thinking, tools = (
        next((record for record in path if record["type"] == kind), None)
        for kind in ("model_change", "thinking_level_change", "active_tools_change")
    )
    if model and thinking:
        config = {
            "model": chosen(model, "provider", "modelId"),
            "thinkingLevel": thinking["thinkingLevel"],
            "activeToolNames": tools["activeToolNames"] if tools else [],
        }
        writes.append(a_set("pi.lane.config", "main", config))
        idle: dict[str, Any] = {"currentOperationId": None, "lastOperationId": None, "inbox": []}
        writes.append(a_set("pi.lane.state", "main", idle))
    return writes


def a_set(namespace: str, key: Any, value: Any) -> dict[str, Any]:
    return {"op": "set", "namespace": namespace, "key": key, "value": value}


def usage_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    spent = []
    for record in records:
        if record["type"] == "message" and record["message"].get("role") in ("assistant", "toolResult"):
            spent.append(record["message"].get("usage", {}))
        if record["type"] in ("compaction", "branch_summary"):
            spent.append(record.get("usage", {}))
    total: dict[str, Any] = {name: sum(usage.get(name, 0) for usage in spent) for name in NUMBERS}
    total["cost"] = {name: sum(usage.get("cost", {}).get(name, 0) for usage in spent) for name in COSTS}
    for name in ("cacheWrite1h", "reasoning"):
        if any(name in usage for usage in spent):
            total[name] = sum(usage.get(name, 0) for usage in spent)
    return total


def parent_id(path: Path) -> str | None:
    """The id in the header of a named parent file, or None where there is no readable one within 64 KiB."""
    try:
        with path.open("rb") as file:
            line, lf, _ = file.read(64 * 1024).partition(b"\n")
    except OSError:
        return None
    if not lf:
        return None
    try:
        header = parse(line)
        check_header(header)
    except (NotStrict, RefusedHeader):
        try:
            header = read_header([line])
        except Corrupt:
            return None
        if header.get("version") != 3:
            return None
    found = header["id"]
    return found if type(found) is str else None
