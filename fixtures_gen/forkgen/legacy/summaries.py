"""Legacy files that open: compactions with their retained tails, branch summaries, and the imported usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkstore.contract.records import Record

from .outcome import LegacyFile, entry, fresh, opens, tip
from .records import assistant_message, id_of, label, model, record, time_of, user, user_message

_TAILS = "S-V3-11 S-V3-12"


def summaries() -> Iterator[LegacyFile]:
    """Every case of this room."""
    yield every_contribution()
    yield path_not_file_order()
    yield from first_kept_records()
    yield branch_summaries()
    yield imported_usage()
    yield no_usage()


def compaction(number: int, parent: int | None, kept: int, **fields: Any) -> Record:
    """Record `number`: a compaction that keeps from record `kept` on."""
    kept_id = id_of(kept)
    own = {"summary": f"summary {number}", "firstKeptEntryId": kept_id, "tokensBefore": 100 * number}
    return record(number, "compaction", parent, **own, **fields)


def compacted(seq: int, number: int, parent: int | None, tail: list[Record], **fields: Any) -> Record:
    """The entry that `compaction` becomes."""
    own = {"summary": f"summary {number}", "retainedTail": tail, "tokensBefore": 100 * number, "fromHook": False}
    return entry(seq, number, parent, "compaction", **(own | fields))


def compaction_summary(number: int) -> Record:
    """What a compaction on the walk contributes."""
    return {
        "role": "compactionSummary",
        "summary": f"summary {number}",
        "tokensBefore": 100 * number,
        "timestamp": time_of(number),
    }


def every_contribution() -> LegacyFile:
    """A tail over records of every kind, a compaction and two summaries among them."""
    hook = {"details": {"files": ["bed.md"]}, "fromHook": True, "usage": {"input": 1, "output": 2}}
    records = [
        user(1, None, "left out"),
        user(2, 1),
        record(3, "custom_message", 2, customType="hint", content="saw", display=True, details=[1]),
        record(4, "custom", 3, customType="weather", data=1),
        compaction(5, 4, 2),
        record(6, "branch_summary", 5, fromId=id_of(4), summary="other tree"),
        record(7, "branch_summary", 6, fromId="root", summary="from the root"),
        record(8, "branch_summary", 7, fromId=id_of(2), summary=""),
        model(9, 8),
        label(10, 9, 2, label=""),
        compaction(11, 10, 2, **hook),
    ]
    hint = {"role": "custom", "customType": "hint", "content": "saw", "details": [1], "display": True}
    hint["timestamp"] = time_of(3)
    kept = [user_message(2), hint]
    told = {"role": "branchSummary", "summary": "other tree", "fromId": fresh(4), "timestamp": time_of(6)}
    rooted = {"role": "branchSummary", "summary": "from the root", "fromId": None, "timestamp": time_of(7)}
    entries = [
        entry(1, 1, None, "message", message=user_message(1, "left out")),
        entry(2, 2, 1, "message", message=user_message(2)),
        entry(3, 3, 2, "message", message=hint),
        entry(4, 4, 3, "custom", customType="weather", data=1),
        compacted(5, 5, 4, kept),
        entry(6, 6, 5, "branch_summary", fromId=fresh(4), summary="other tree", fromHook=False),
        entry(7, 7, 6, "branch_summary", fromId=None, summary="from the root", fromHook=False),
        entry(8, 8, 7, "branch_summary", fromId=fresh(2), summary="", fromHook=False),
        compacted(9, 11, 8, [*kept, compaction_summary(5), told, rooted], **hook),
    ]
    cleared = {"kind": "value", "op": "delete", "namespace": "pi.entry.label", "key": fresh(2)}
    usage = _usage(1, 2, 0, 0, 0)
    return opens("tail-of-every-kind", records, entries, [cleared, tip(11)], _TAILS, usage)


def path_not_file_order() -> LegacyFile:
    """Two branches whose records alternate in the file; each tail follows its own.

    1 ─┬─ 2 ── 4 ── 6 compaction, keeps from 2
       └─ 3 ── 5 ── 7 compaction, keeps from 1
    """
    records = [user(1, None), user(2, 1), user(3, 1), user(4, 2), user(5, 3), compaction(6, 4, 2), compaction(7, 5, 1)]
    parents = {1: None, 2: 1, 3: 1, 4: 2, 5: 3}
    entries = [
        entry(seq, number, parent, "message", message=user_message(number))
        for seq, (number, parent) in enumerate(parents.items(), 1)
    ]
    entries.append(compacted(6, 6, 4, [user_message(2), user_message(4)]))
    entries.append(compacted(7, 7, 5, [user_message(1), user_message(3), user_message(5)]))
    return opens("tail-on-the-path", records, entries, [tip(7)], _TAILS)


def first_kept_records() -> Iterator[LegacyFile]:
    """Tails that begin at records of any kind: the parent itself, a discarded one, one without contribution."""
    first = entry(1, 1, None, "message", message=user_message(1))
    records = [user(1, None), compaction(2, 1, 1)]
    yield opens("tail-of-the-parent", records, [first, compacted(2, 2, 1, [user_message(1)])], [tip(2)], _TAILS)
    records = [user(1, None), model(2, 1), compaction(3, 2, 2)]
    yield opens("tail-from-discarded-record", records, [first, compacted(2, 3, 1, [])], [tip(3)], _TAILS)
    records = [model(1, None), compaction(2, 1, 1)]
    yield opens("tail-from-null", records, [compacted(1, 2, None, [])], [tip(2)], _TAILS)
    records = [user(1, None), model(2, 1), user(3, 2), compaction(4, 3, 2)]
    entries = [first, entry(2, 3, 1, "message", message=user_message(3)), compacted(3, 4, 3, [user_message(3)])]
    yield opens("tail-from-discarded-record-on", records, entries, [tip(4)], _TAILS)
    records = [user(1, None), compaction(2, 1, 1), compaction(3, 2, 2)]
    entries = [first, compacted(2, 2, 1, [user_message(1)]), compacted(3, 3, 2, [compaction_summary(2)])]
    yield opens("tail-from-compaction", records, entries, [tip(3)], _TAILS)


def branch_summaries() -> LegacyFile:
    """Origins: the root, a discarded record, one that maps to null, a later one, the summary itself."""
    spent = {"usage": _usage(3, 0, 0, 0, 3), "details": None, "fromHook": True}
    records = [
        model(1, None),
        user(2, 1),
        model(3, 2),
        record(4, "branch_summary", 2, fromId="root", summary="a"),
        record(5, "branch_summary", 4, fromId=id_of(3), summary="b", **spent),
        record(6, "branch_summary", 5, fromId=id_of(1), summary="c", fromHook=False),
        record(7, "branch_summary", 6, fromId=id_of(9), summary="d"),
        record(8, "branch_summary", None, fromId=id_of(8), summary="e"),
        user(9, 8),
    ]
    plain = {"fromHook": False}
    entries = [
        entry(1, 2, None, "message", message=user_message(2)),
        entry(2, 4, 2, "branch_summary", fromId=None, summary="a", **plain),
        entry(3, 5, 4, "branch_summary", fromId=fresh(2), summary="b", **spent),
        entry(4, 6, 5, "branch_summary", fromId=None, summary="c", **plain),
        entry(5, 7, 6, "branch_summary", fromId=fresh(9), summary="d", **plain),
        entry(6, 8, None, "branch_summary", fromId=fresh(8), summary="e", **plain),
        entry(7, 9, 8, "message", message=user_message(9)),
    ]
    usage = _usage(3, 0, 0, 0, 3)
    return opens("branch-summaries", records, entries, [tip(9)], "S-V3-08 S-V3-10", usage)


def _usage(fed: int, grown: int, read: int, kept: int, total: int, **optional: Any) -> Record:
    cost = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0)
    numbers = {"input": fed, "output": grown, "cacheRead": read, "cacheWrite": kept, "totalTokens": total}
    return numbers | {"cost": cost} | optional


def imported_usage() -> LegacyFile:
    """Spending on and off the path, of four kinds of records, with numbers missing; two kinds that do not count.

    The fractions are such that every order of adding gives the same sum.
    """
    whole = _usage(10, 20, 30, 40, 100)
    costly = whole | {"cost": {"input": 0.5, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.75}}
    result: Record = {"role": "toolResult", "toolCallId": "c", "toolName": "saw", "content": [], "isError": False}
    result |= {"usage": {"input": 1, "cost": {"total": 0.125}, "reasoning": 7}, "timestamp": 0}
    uncounted = user_message(6) | {"usage": whole}
    records = [
        record(1, "message", None, message=assistant_message(1, costly)),
        record(2, "message", 1, message=result),
        compaction(3, 2, 1, usage={"output": 2}),
        record(4, "branch_summary", 1, fromId=id_of(3), summary="a", usage={"cacheWrite1h": 5, "cacheWrite": 5}),
        record(5, "custom", 4, customType="weather", data={"usage": whole}),
        record(6, "message", 5, message=uncounted),
        record(7, "custom_message", 6, customType="hint", content="", display=False, details={"usage": whole}),
    ]
    hint = {"role": "custom", "customType": "hint", "content": "", "display": False, "details": {"usage": whole}}
    entries = [
        entry(1, 1, None, "message", message=assistant_message(1, costly)),
        entry(2, 2, 1, "message", message=result),
        compacted(3, 3, 2, [assistant_message(1, costly), result], usage={"output": 2}),
        entry(4, 4, 1, "branch_summary", fromId=fresh(3), summary="a", fromHook=False),
        entry(5, 5, 4, "custom", customType="weather", data={"usage": whole}),
        entry(6, 6, 5, "message", message=uncounted),
        entry(7, 7, 6, "message", message=hint | {"timestamp": time_of(7)}),
    ]
    entries[3]["usage"] = {"cacheWrite1h": 5, "cacheWrite": 5}
    total = _usage(11, 22, 30, 45, 100, cacheWrite1h=5, reasoning=7)
    total["cost"] = {"input": 0.5, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.875}
    return opens("imported-usage", records, entries, [tip(7)], "S-V3-15 S-V3-16", total)


def no_usage() -> LegacyFile:
    """Assistant messages without any usage."""
    message = {"role": "assistant", "content": [], "stopReason": "stop", "timestamp": 0}
    records = [record(1, "message", None, message=message)]
    return opens("usage-absent", records, [entry(1, 1, None, "message", message=message)], [tip(1)], "S-V3-16")
