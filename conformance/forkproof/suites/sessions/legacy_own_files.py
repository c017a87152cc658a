"""Legacy v3 files that the suites add to those of `forkgen.legacy`, written down in the same way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from forkgen.legacy import LegacyFile
from forkgen.legacy.outcome import entry, fresh, label_set, lane, name_set, opens, tip
from forkgen.legacy.records import (
    assistant_message,
    date,
    header,
    id_of,
    label,
    model,
    record,
    text_of,
    thinking,
    time_of,
    tools,
    user,
    user_message,
)
from forkgen.legacy.summaries import compacted, compaction
from forkproof.oracle.ledger import COSTS

Record = dict[str, Any]


def usage(fed: float, grown: float, total: float, cost: float = 0) -> Record:
    """A usage object with numbers in three places, and a cost in one."""
    numbers = {"input": fed, "output": grown, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
    return {**numbers, "cost": {**dict.fromkeys(COSTS, 0), "output": cost}}


def rich() -> LegacyFile:
    """A lane with a side branch, and everything that a fork must keep apart.

    1 model ── 2 thinking ── 3 user ── 4 answer ─┬─ 5 user ── 6 answer
                                                 └─ 7 summary of 6 ── 8 label on 5 ── 9 label on 4 ─┐
    ┌───────────────────────────────────────────────────────────────────────────────────────────────┘
    └─ 10 hint ── 11 compaction from 4 ── 12 name ── 13 user ── 14 tools ── 15 custom
    """
    answer, aside = assistant_message(4, usage(3, 1, 4, 0.5)), assistant_message(6, usage(10, 20, 30, 0.25))
    hint = {"role": "custom", "customType": "hint", "content": [], "details": id_of(4), "display": True}
    hint["timestamp"] = time_of(10)
    records = [
        model(1, None),
        thinking(2, 1),
        user(3, 2),
        record(4, "message", 3, message=answer),
        user(5, 4, "and the apple?"),
        record(6, "message", 5, message=aside),
        record(7, "branch_summary", 4, fromId=id_of(6), summary="the apple", details=id_of(6)),
        label(8, 7, 5, label="aside"),
        label(9, 8, 4, label="answer"),
        record(10, "custom_message", 9, customType="hint", content=[], display=True, details=id_of(4)),
        compaction(11, 10, 4, details={id_of(4): [id_of(6)]}),
        record(12, "session_info", 11, name="pruning — früh"),
        user(13, 12, id_of(3)),
        tools(14, 13, "saw"),
        record(15, "custom", 14, customType="weather", data={"rain": 2.5, "of": id_of(3)}),
    ]
    told = {"role": "branchSummary", "summary": "the apple", "fromId": fresh(6), "timestamp": time_of(7)}
    entries = [
        entry(1, 3, None, "message", message=user_message(3)),
        entry(2, 4, 3, "message", message=answer),
        entry(3, 5, 4, "message", message=user_message(5, "and the apple?")),
        entry(4, 6, 5, "message", message=aside),
        entry(5, 7, 4, "branch_summary", fromId=fresh(6), summary="the apple", fromHook=False, details=id_of(6)),
        entry(6, 10, 7, "message", message=hint),
        compacted(7, 11, 10, [answer, told, hint], details={id_of(4): [id_of(6)]}),
        entry(8, 13, 11, "message", message=user_message(13, id_of(3))),
        entry(9, 15, 13, "custom", customType="weather", data={"rain": 2.5, "of": id_of(3)}),
    ]
    derived = [name_set("pruning — früh"), label_set(5, "aside"), label_set(4, "answer"), tip(15)]
    lane_values = lane("o-2", "medium", "saw")
    return opens("rich-lane", records, entries, [*derived, *lane_values], "S-V3-26", usage(13, 21, 34, 0.75))


RICH: Final = rich()


def opaque() -> LegacyFile:
    """Old ids in every field that is opaque, and members that only stores of format 4 know."""
    old, own = id_of(1), {"details": {"id": id_of(1), "of": [id_of(1)]}, "fromHook": False}
    hint = {"customType": old, "content": [{"type": "text", "text": old}], "details": old, "display": False}
    odd = {"role": "odd", "id": old, "parentId": None, "seq": 7, "kind": "entry"}
    told = {"summary": old, "tokensBefore": 1.5}
    records = [
        user(1, None, old),
        record(2, "custom_message", 1, **hint),
        record(3, "branch_summary", 2, fromId=old, summary=old, **own),
        record(4, "compaction", 3, firstKeptEntryId=id_of(3), **told, **own),
        record(5, "message", 4, message=odd),
        record(6, "custom", 5, customType="c", data={"parentId": old, "retainedTail": [old]}),
    ]
    said = {"role": "branchSummary", "summary": old, "fromId": fresh(1), "timestamp": time_of(3)}
    entries = [
        entry(1, 1, None, "message", message=user_message(1, old)),
        entry(2, 2, 1, "message", message={"role": "custom", **hint, "timestamp": time_of(2)}),
        entry(3, 3, 2, "branch_summary", fromId=fresh(1), summary=old, **own),
        entry(4, 4, 3, "compaction", retainedTail=[said], **told, **own),
        entry(5, 5, 4, "message", message=odd),
        entry(6, 6, 5, "custom", customType="c", data={"parentId": old, "retainedTail": [old]}),
    ]
    return opens("opaque-fields", records, entries, [tip(6)], "S-V3-08")


def odd_values() -> LegacyFile:
    """Payload that is valid JSON, and that no commit would take: half letters, and integers of many digits."""
    half, many = "\ud83d", 10**40
    message = {"role": "user", "content": half, half: many, "timestamp": 0}
    own = {"details": {half: [many, -many, half]}}
    records = [
        record(1, "message", None, message=message),
        compaction(2, 1, 1, **own) | {"summary": half},
        record(3, "custom", 2, customType="weather", data=own),
    ]
    entries = [
        entry(1, 1, None, "message", message=message),
        compacted(2, 2, 1, [message], **own) | {"summary": half},
        entry(3, 3, 2, "custom", customType="weather", data=own),
    ]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (header(), *records))
    return opens("odd-values", [], entries, [tip(3)], "S-V3-08", contents=lines)


def lone(name: str, first: Record, **fields: Any) -> LegacyFile:
    """A file with one question under the given header."""
    return opens(
        name,
        [],
        [entry(1, 1, None, "message", message=user_message(1))],
        [tip(1)],
        "S-V3-03",
        contents=text_of(first, user(1, None)),
        **fields,
    )


def timed(name: str, dates: Sequence[tuple[str, int]]) -> LegacyFile:
    """A chain of questions, each with a date as it stands in the file and the time that it is."""
    records = [user(number, number - 1 or None) | {"timestamp": date} for number, (date, _) in enumerate(dates, 1)]
    entries = [
        entry(number, number, number - 1 or None, "message", message=user_message(number)) | {"timestamp": time}
        for number, (_, time) in enumerate(dates, 1)
    ]
    return opens(name, records, entries, [tip(len(dates))], "S-V3-09")


def long_chain(count: int, text: str) -> LegacyFile:
    """A lane over a chain of `count` questions, each of them long."""
    first, second = model(count + 1, None), thinking(count + 2, count + 1)
    records = [user(number, number - 1 or count + 2, text) for number in range(1, count + 1)]
    entries = [
        entry(number, number, number - 1 or None, "message", message=user_message(number, text))
        for number in range(1, count + 1)
    ]
    return opens("long-chain", [first, second, *records], entries, [tip(count), *lane()], "S-V3-27")


FALLING: Final = timed("times-that-fall", [(date(9_000), 9_000), (date(8_000), 8_000), (date(0), 0)])
"""Records whose times go back from one to the next."""
