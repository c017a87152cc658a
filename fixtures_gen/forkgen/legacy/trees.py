"""Legacy files that open: every record kind, chains that close up over discarded records, opaque data, odd framing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .outcome import LegacyFile, entry, fresh, label_set, lane, name_set, opens, tip
from .records import header, id_of, label, model, record, text_of, thinking, time_of, tools, user, user_message

_LONE = (user(1, None),)
_LONE_ENTRIES = (entry(1, 1, None, "message", message=user_message(1)),)


def trees() -> Iterator[LegacyFile]:
    """Every case of this room."""
    yield opens("header-only", [], [], [tip(None)], "S-V3-14 S-V3-26")
    yield every_kind()
    yield chains()
    yield roots()
    yield custom_data()
    yield opaque_ids()
    yield from framings()
    yield from depths()


def every_kind() -> LegacyFile:
    """Each of the ten kinds once, in one line of descent."""
    records = [
        model(1, None),
        thinking(2, 1),
        tools(3, 2, "read_sensor", "open_valve"),
        user(4, 3),
        record(5, "custom_message", 4, customType="hint", content="use the small saw", display=False),
        record(6, "custom", 5, customType="weather", data={"rain": 2.5}),
        record(7, "compaction", 6, summary="pear pruned", firstKeptEntryId=id_of(4), tokensBefore=540),
        record(8, "branch_summary", 7, fromId=id_of(5), summary="other tree"),
        label(9, 8, 4, label="first cut"),
        record(10, "session_info", 9, name="pruning"),
    ]
    hint = {"role": "custom", "customType": "hint", "content": "use the small saw", "display": False}
    hint["timestamp"] = time_of(5)
    tail = [user_message(4), hint]
    entries = [
        entry(1, 4, None, "message", message=user_message(4)),
        entry(2, 5, 4, "message", message=hint),
        entry(3, 6, 5, "custom", customType="weather", data={"rain": 2.5}),
        entry(4, 7, 6, "compaction", summary="pear pruned", retainedTail=tail, tokensBefore=540, fromHook=False),
        entry(5, 8, 7, "branch_summary", fromId=fresh(5), summary="other tree", fromHook=False),
    ]
    lane_values = lane("o-2", "medium", "read_sensor", "open_valve")
    derived = [name_set("pruning"), label_set(4, "first cut"), tip(8), *lane_values]
    return opens("every-kind", records, entries, derived, "S-V3-08 S-V3-09 S-V3-11 S-V3-13 S-V3-14")


def chains() -> LegacyFile:
    """Runs of discarded records at the root, inside and at the end; branches that leave from a discarded record.

    1 model ── 2 thinking ── 3 user ─┬─ 4 model ── 5 label ─┬─ 6 user ── 7 info
                                     │                      └─ 8 user
                                     └─ 9 tools ── 10 user ── 11 thinking ── 12 label
    """
    records = [
        model(1, None),
        thinking(2, 1),
        user(3, 2),
        model(4, 3, "o-3"),
        label(5, 4, 3, label="here"),
        user(6, 5),
        record(7, "session_info", 6, name="rows"),
        user(8, 5),
        tools(9, 3),
        user(10, 9),
        thinking(11, 10, "high"),
        label(12, 11, 9, label="there"),
    ]
    parents = {3: None, 6: 3, 8: 3, 10: 3}
    entries = [
        entry(seq, number, parent, "message", message=user_message(number))
        for seq, (number, parent) in enumerate(parents.items(), 1)
    ]
    derived = [name_set("rows"), label_set(3, "here"), label_set(3, "there"), tip(10), *lane("o-2", "high")]
    return opens("chains-through-discarded", records, entries, derived, "S-V3-08 S-V3-13 S-V3-14")


def roots() -> LegacyFile:
    """Several roots, one behind discarded records."""
    records = [user(1, None), user(2, None), model(3, None), user(4, 3), user(5, 1)]
    parents = {1: None, 2: None, 4: None, 5: 1}
    entries = [
        entry(seq, number, parent, "message", message=user_message(number))
        for seq, (number, parent) in enumerate(parents.items(), 1)
    ]
    return opens("several-roots", records, entries, [tip(5)], "S-V3-08 S-V3-26")


def custom_data() -> LegacyFile:
    """Custom entries without data, with null, and with numbers and text as other writers leave them."""
    odd: dict[str, Any] = {"a\u2028b": [2**63, -0.0, 1e-7, "\0"], "": None}
    records = [
        record(1, "custom", None, customType="weather"),
        record(2, "custom", 1, customType="weather", data=None),
        record(3, "custom", 2, customType="", data=odd),
        record(4, "custom_message", 3, customType="hint", content=[{"type": "text", "text": "früh"}], display=True),
        record(5, "custom_message", 4, customType="hint", content="", display=True, details={"saw": None}),
    ]
    hint = {"role": "custom", "customType": "hint", "display": True}
    blocks = [{"type": "text", "text": "früh"}]
    entries = [
        entry(1, 1, None, "custom", customType="weather"),
        entry(2, 2, 1, "custom", customType="weather", data=None),
        entry(3, 3, 2, "custom", customType="", data=odd),
        entry(4, 4, 3, "message", message={**hint, "content": blocks, "timestamp": time_of(4)}),
        entry(5, 5, 4, "message", message={**hint, "content": "", "details": {"saw": None}, "timestamp": time_of(5)}),
    ]
    return opens("custom-data", records, entries, [tip(5)], "S-V3-08 S-ENT-05 S-VAL-16")


def opaque_ids() -> LegacyFile:
    """Ids inside opaque data stay the old ones."""
    told = {"role": "branchSummary", "summary": "rows", "fromId": id_of(1), "timestamp": 7}
    records = [
        user(1, None, id_of(1)),
        record(2, "custom", 1, customType=id_of(1), data={id_of(1): id_of(1)}),
        record(3, "message", 2, message=told),
    ]
    entries = [
        entry(1, 1, None, "message", message=user_message(1, id_of(1))),
        entry(2, 2, 1, "custom", customType=id_of(1), data={id_of(1): id_of(1)}),
        entry(3, 3, 2, "message", message=told),
    ]
    return opens("ids-in-opaque-data", records, entries, [tip(3)], "S-V3-08")


def framings() -> Iterator[LegacyFile]:
    """The same message in files that differ in bytes only."""
    whole = text_of(header(), *_LONE)
    torn = text_of(user(2, 1, "水をやる"))
    for cut in range(1, len(torn)):
        yield _lone(f"torn-at-byte-{cut}", whole + torn[:cut], "S-V3-05 S-V3-02")
    yield _lone("torn-nul-run", whole + bytes(4096), "S-V3-05 S-V3-02")
    yield _lone("crlf", whole.replace(b"\n", b"\r\n"), "S-JSONL-FMT-03")
    yield _lone("mark-at-start", b"\xef\xbb\xbf" + whole, "S-JSONL-FMT-13")
    more = header(note=None, branchedFrom="shed-6")
    yield _lone("header-unknown-fields", text_of(more, *_LONE), "S-V3-01")
    backwards = (dict(reversed(item.items())) for item in (header(), *_LONE))
    yield _lone("fields-reversed", text_of(*backwards), "S-JSONL-FMT-08")
    dates = {
        "offset-ahead": "2025-10-09T10:53:20.000+02:00",
        "offset-behind": "2025-10-09T04:23:20.000-04:30",
        "without-fraction": "2025-10-09T08:53:20Z",
        "another-day": "2025-10-08T22:53:20-10:00",
    }
    for name, stamp in dates.items():
        yield _lone(f"header-date-{name}", text_of(header(timestamp=stamp), *_LONE), "S-V3-03")
    shifted = user(1, None) | {"timestamp": "2025-10-09T13:53:21.000+05:00"}
    yield _lone("record-date-offset-ahead", text_of(header(), shifted), "S-V3-09")
    millisecond = text_of(header(timestamp="2025-10-09T08:53:20.123Z"), *_LONE)
    yield _lone("header-date-with-milliseconds", millisecond, "S-V3-03", created_at=time_of(0) + 123)


def _lone(name: str, contents: bytes, clauses: str, **fields: Any) -> LegacyFile:
    return opens(name, _LONE, _LONE_ENTRIES, [tip(1)], clauses, contents=contents, **fields)


def depths() -> Iterator[LegacyFile]:
    """A line of depth 200, its own object counted."""
    data: list[Any] = []
    for _ in range(198):
        data = [data]
    deep = record(1, "custom", None, customType="weather", data=data)
    yield opens("deep", [deep], [entry(1, 1, None, "custom", customType="weather", data=data)], [tip(1)], "S-V3-05")
