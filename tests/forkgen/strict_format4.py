"""An independent checker of session files of format 4, slow and simple, written from sections 22 and 23.

It holds the whole file and every value, and asks one question per line of the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.forkgen.strict_json import NotStrict, depth, is_clean_text, is_integer, parse

MARK = b"\xef\xbb\xbf"
DEEPEST = 210


@dataclass
class State:
    """What an open session shows: section 21, and the sequence that comes next."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    usage: list[dict[str, Any]] = field(default_factory=list)
    scalars: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    lists: dict[tuple[str, str], list[tuple[int, Any]]] = field(default_factory=dict)


@dataclass
class Finding:
    """What a right `open` does with the bytes: `verdict` is opens, corrupt or unsupported."""

    verdict: str
    line: int | None = None
    cause: str | None = None
    version: str | None = None
    state: State = field(default_factory=State)
    next_seq: int | None = None
    after: bytes = b""
    complete_lines: int = 0


class Refused(Exception):
    def __init__(self, cause: str | None = None) -> None:
        super().__init__(cause)
        self.cause = cause


def require(condition: bool) -> None:
    if not condition:
        raise Refused


def examine(data: bytes) -> Finding:
    """Reads a file as a right store does."""
    body = data.removeprefix(MARK)
    *lines, tail = body.split(b"\n")
    try:
        require(bool(lines))
        header = parse(lines[0])
        version = other_version(header)
        if version is not None:
            return Finding("unsupported", version=version, after=data)
        check_header(header)
    except (Refused, NotStrict):
        return Finding("corrupt", line=1, after=data)
    replay = Replay()
    for number, line in enumerate(lines[1:], 2):
        try:
            replay.line(line)
        except NotStrict:
            return Finding("corrupt", line=number, after=data)
        except Refused as refusal:
            return Finding("corrupt", line=number, cause=refusal.cause, after=data)
    next_seq = max(replay.last_seq + 1, header.get("nextSeq", 1), 1)
    after = body[: len(body) - len(tail)] if tail else data
    return Finding("opens", state=replay.state, next_seq=next_seq, after=after, complete_lines=len(lines))


def other_version(header: Any) -> str | None:
    if type(header) is not dict:
        return None
    if header.get("kind") == "header" and type(header.get("v")) is int and header["v"] != 4:
        return str(header["v"])
    if header.get("kind") == "header" and header.get("v") == 4 and is_integer(header.get("storageVersion"), 1):
        return None if header["storageVersion"] == 1 else str(header["storageVersion"])
    return None


def check_header(header: Any) -> None:
    require(type(header) is dict)
    require(is_integer(header.get("v"), 4) and header["v"] == 4)
    require(header.get("kind") == "header")
    require(type(header.get("id")) is str)
    require(is_integer(header.get("storageVersion"), 1))
    require(is_integer(header.get("createdAt"), 0))
    require(type(header.get("cwd")) is str)
    for name in ("parentSessionId", "legacyParentSessionPath"):
        require(name not in header or type(header[name]) is str)
    require("nextSeq" not in header or is_integer(header["nextSeq"], 1))


class Replay:
    """Applies line after line; raises at the first breach."""

    def __init__(self) -> None:
        self.state = State()
        self.last_seq = 0
        self.entry_ids: set[str] = set()
        self.usage_ids: set[str] = set()

    def line(self, line: bytes) -> None:
        value = parse(line)
        require(type(value) in (dict, list))
        for record in value if type(value) is list else [value]:
            require(type(record) is dict)
            self.record(record)

    def record(self, record: dict[str, Any]) -> None:
        kind = record.get("kind")
        if type(kind) is not str or kind not in ("entry", "usage", "value", "list"):
            raise Refused
        require(is_integer(record.get("seq"), 1))
        {"entry": check_entry, "usage": check_usage_row, "value": check_value, "list": check_list}[kind](record)
        require(record["seq"] > self.last_seq)
        self.last_seq = record["seq"]
        {"entry": self.entry, "usage": self.usage_row, "value": self.value, "list": self.list}[kind](record)

    def entry(self, record: dict[str, Any]) -> None:
        if record["id"] in self.entry_ids | self.usage_ids:
            raise Refused("DuplicateId")
        if record["parentId"] is not None and record["parentId"] not in self.entry_ids:
            raise Refused("UnknownParent")
        self.entry_ids.add(record["id"])
        self.state.entries.append(without_kind(record))

    def usage_row(self, record: dict[str, Any]) -> None:
        if record["id"] in self.entry_ids | self.usage_ids:
            raise Refused("DuplicateId")
        self.usage_ids.add(record["id"])
        self.state.usage.append(without_kind(record))

    def value(self, record: dict[str, Any]) -> None:
        place = (record["namespace"], record["key"])
        if record["op"] == "set":
            self.state.scalars[place] = (record["seq"], record["value"])
        else:
            self.state.scalars.pop(place, None)

    def list(self, record: dict[str, Any]) -> None:
        place = (record["namespace"], record["key"])
        if record["op"] == "append":
            self.state.lists.setdefault(place, []).append((record["seq"], record["value"]))
        else:
            self.state.lists.pop(place, None)


def without_kind(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "kind"}


def check_entry(record: dict[str, Any]) -> None:
    require(is_clean_text(record.get("id")))
    require(is_clean_text(record.get("type")))
    require("parentId" in record)
    require(record["parentId"] is None or is_clean_text(record["parentId"]))
    require(is_integer(record.get("timestamp"), 0))
    if record["type"] == "custom":
        require(is_clean_text(record.get("customType")))
    else:
        require("customType" not in record)
    for name, value in record.items():
        if name == "retainedTail" and type(value) is list and record["type"] == "compaction":
            require(all(depth(message) <= DEEPEST for message in value))
        else:
            require(depth(value) <= DEEPEST)


def check_usage_row(record: dict[str, Any]) -> None:
    require(is_clean_text(record.get("id")))
    require("entryId" not in record or is_clean_text(record["entryId"]))
    require(type(record.get("adjustment")) is bool)
    usage = record.get("usage")
    if type(usage) is not dict:
        raise Refused
    for name in ("input", "output", "cacheRead", "cacheWrite", "totalTokens"):
        require(type(usage.get(name)) in (int, float))
    for name in ("cacheWrite1h", "reasoning"):
        require(name not in usage or type(usage[name]) in (int, float))
    cost = usage.get("cost")
    if type(cost) is not dict:
        raise Refused
    for name in ("input", "output", "cacheRead", "cacheWrite", "total"):
        require(type(cost.get(name)) in (int, float))
    require(all(depth(value) <= DEEPEST for value in record.values()))


def check_value(record: dict[str, Any]) -> None:
    require(record.get("op") in ("set", "delete"))
    check_address(record, "set")


def check_list(record: dict[str, Any]) -> None:
    require(record.get("op") in ("append", "delete"))
    check_address(record, "append")


def check_address(record: dict[str, Any], giving: str) -> None:
    for name in ("namespace", "key"):
        require(is_clean_text(record.get(name)))
        require("\0" not in record[name])
    require(record["namespace"] != "")
    if record["op"] == giving:
        require("value" in record)
        require(depth(record["value"]) <= DEEPEST)
