"""Legacy files that no store opens: a wrong record at line 6 of an otherwise good file, or a reference into nothing.

Where the contract fixes no line (S-V3-10, S-V3-12) the case has none; where it asks for a name, the case has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkgen.verdict import Verdict
from forkstore.contract.records import Record

from .outcome import LegacyFile
from .records import header, id_of, label, model, record, text_of, thinking, time_of, user
from .summaries import compaction

_BEFORE = text_of(header(), model(1, None), thinking(2, 1), user(3, 2), user(4, 3))
_BEHIND = text_of(user(6, 4))
_LINE = 6

BAD_DATES: dict[str, Any] = {
    "number": time_of(5),
    "null": None,
    "empty": "",
    "prose": "last autumn",
    "without-zone": "2025-10-09T08:53:25.000",
    "without-time": "2025-10-09",
    "month-13": "2025-13-09T08:53:25.000Z",
    "hour-25": "2025-10-09T25:53:25.000Z",
    "day-30-of-february": "2025-02-30T08:53:25.000Z",
}


def refused() -> Iterator[LegacyFile]:
    """Every case of this room."""
    yield from _lines()
    yield from _structural_fields()
    yield from _further_fields()
    yield from _graph()
    yield from _references()


def _corrupt(name: str, line: bytes, clauses: str) -> LegacyFile:
    return LegacyFile(name, Verdict.CORRUPT, _BEFORE + line + b"\n" + _BEHIND, tuple(clauses.split()), line=_LINE)


def _corrupt_record(name: str, wrong: Record, clauses: str) -> LegacyFile:
    return _corrupt(name, text_of(wrong)[:-1], clauses)


def _lines() -> Iterator[LegacyFile]:
    good = text_of(user(5, 4))[:-1]
    deep = b"[" * 201 + b"]" * 201
    for name, line in {
        "line-blank": b"",
        "line-of-spaces": b" \t\r",
        "line-prose": b"prune the pear",
        "line-null": b"null",
        "line-number": b"7",
        "line-array": b"[" + good + b"]",
        "line-empty-array": b"[]",
        "line-cut": good[:-1],
        "line-doubled": good + good,
        "line-behind-mark": b"\xef\xbb\xbf" + good,
        "line-nul-run": bytes(4096),
        "line-behind-nul-run": bytes(4096) + good,
        "line-flipped-byte": b"z" + good[1:],
        "line-malformed-utf8": good.replace(b"pear", b"p\xffar"),
        "line-raw-control": good.replace(b"pear", b"p\x01ar"),
        "line-not-a-number": good.replace(b'"prune the pear"', b"NaN"),
        "line-too-deep": good.replace(b'"prune the pear"', deep),
        "line-of-format-4": b'{"kind":"value","op":"delete","seq":1,"namespace":"n","key":""}',
    }.items():
        yield _corrupt(name, line, "S-V3-05")
    last = _BEFORE + good[:-1] + b"\n"
    yield LegacyFile("last-line-broken", Verdict.CORRUPT, last, ("S-V3-05", "S-JSONL-TAIL-06"), line=_LINE)


def _structural_fields() -> Iterator[LegacyFile]:
    good = user(5, 4)
    for name in ("type", "id", "parentId", "timestamp"):
        missing = {field: value for field, value in good.items() if field != name}
        yield _corrupt_record(f"record-without-{_dashed(name)}", missing, "S-V3-05 S-V3-06")
        yield _corrupt_record(f"record-{_dashed(name)}-number", good | {name: 7}, "S-V3-05 S-V3-06")
        yield _corrupt_record(f"record-{_dashed(name)}-object", good | {name: {}}, "S-V3-05 S-V3-06")
    for name in ("type", "id"):
        yield _corrupt_record(f"record-{name}-null", good | {name: None}, "S-V3-05 S-V3-06")
    for name, stamp in BAD_DATES.items():
        yield _corrupt_record(f"record-date-{name}", good | {"timestamp": stamp}, "S-V3-06")
    for name in ("note", "Message", "", "header"):
        yield _corrupt_record(f"record-type-unknown-{name or 'empty'}", good | {"type": name}, "S-V3-05")
    yield _corrupt_record("record-second-header", header(parentId=None), "S-V3-05")


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def _further_fields() -> Iterator[LegacyFile]:
    """A further field of section 26.1 that is missing, or of a type that its use rules out."""
    summary = {"summary": "a", "firstKeptEntryId": id_of(3), "tokensBefore": 5}
    kinds: dict[str, dict[str, Any]] = {
        "message": {"message": {"role": "user", "content": "x", "timestamp": 0}},
        "custom": {"customType": "weather"},
        "custom_message": {"customType": "hint", "content": "x", "display": True},
        "branch_summary": {"fromId": id_of(3), "summary": "a"},
        "compaction": summary,
        "model_change": {"provider": "orchard", "modelId": "o-2"},
        "thinking_level_change": {"thinkingLevel": "off"},
        "active_tools_change": {"activeToolNames": ["saw"]},
        "label": {"targetId": id_of(3), "label": "a"},
    }
    for kind, fields in kinds.items():
        for name in fields:
            if (kind, name) == ("label", "label"):
                continue
            rest = {field: value for field, value in fields.items() if field != name}
            missing = record(5, kind, 4, **rest)
            case = f"{kind.replace('_', '-')}-without-{_dashed(name)}"
            if name == "firstKeptEntryId":
                yield _dangling(case, missing, "S-V3-12", named=id_of(5))
            else:
                yield _corrupt_record(case, missing, "S-V3-05")
    ill_typed: dict[str, tuple[str, dict[str, Any]]] = {
        "message-text": ("message", {"message": "x"}),
        "custom-type-number": ("custom", {"customType": 7}),
        "compaction-tokens-text": ("compaction", {"tokensBefore": "5"}),
        "compaction-summary-number": ("compaction", {"summary": 5}),
        "branch-summary-from-number": ("branch_summary", {"fromId": 5}),
        "model-number": ("model_change", {"modelId": 2}),
        "thinking-number": ("thinking_level_change", {"thinkingLevel": 2}),
        "tools-text": ("active_tools_change", {"activeToolNames": "saw"}),
        "label-number": ("label", {"label": 5}),
        "label-target-number": ("label", {"targetId": 5}),
    }
    for case, (kind, wrong) in ill_typed.items():
        yield _corrupt_record(f"ill-typed-{case}", record(5, kind, 4, **(kinds[kind] | wrong)), "S-V3-05")
    yield _corrupt_record("ill-typed-name-number", record(5, "session_info", 4, name=5), "S-V3-05")


def _graph() -> Iterator[LegacyFile]:
    clauses = "S-V3-06"
    yield _corrupt_record("id-of-retained-record", user(5, 4) | {"id": id_of(3)}, clauses)
    yield _corrupt_record("id-of-discarded-record", user(5, 4) | {"id": id_of(1)}, clauses)
    yield _corrupt_record("id-again-on-discarded-record", model(5, 4) | {"id": id_of(4)}, clauses)
    yield _corrupt_record("record-twice", user(4, 3), clauses)
    yield _corrupt_record("parent-unknown", user(5, 99), clauses)
    yield _corrupt_record("parent-unknown-of-discarded-record", model(5, 99), clauses)
    yield _corrupt_record("parent-self", user(5, 5), clauses)
    yield _corrupt_record("parent-later", user(5, 6), clauses)
    yield _corrupt_record("parent-is-the-session", user(5, 4) | {"parentId": "shed-7"}, clauses)
    yield _corrupt_record("parent-empty", user(5, 4) | {"parentId": ""}, clauses)


def _dangling(name: str, wrong: Record, clauses: str, named: str | None = None) -> LegacyFile:
    contents = _BEFORE + text_of(wrong) + _BEHIND
    return LegacyFile(name, Verdict.CORRUPT, contents, tuple(clauses.split()), named=named)


def _references() -> Iterator[LegacyFile]:
    yield _dangling("from-id-unknown", record(5, "branch_summary", 4, fromId=id_of(99), summary="a"), "S-V3-10")
    yield _dangling("from-id-empty", record(5, "branch_summary", 4, fromId="", summary="a"), "S-V3-10")
    capital = record(5, "branch_summary", 4, fromId="Root", summary="a")
    yield _dangling("from-id-root-in-capitals", capital, "S-V3-10")
    yield _dangling("label-target-unknown", label(5, 4, 99, label="a"), "S-V3-10")
    yield _dangling("label-target-unknown-cleared", label(5, 4, 99), "S-V3-10")
    yield _dangling("label-target-root", label(5, 4, 3) | {"targetId": "root"}, "S-V3-10")
    for name, kept in {"unknown": 99, "itself": 5, "child": 6}.items():
        yield _dangling(f"first-kept-{name}", compaction(5, 4, kept), "S-V3-12", named=id_of(5))
    yield _dangling("first-kept-off-the-path", compaction(5, 2, 3), "S-V3-12", named=id_of(5))
    yield _dangling("first-kept-of-root-compaction", compaction(5, None, 3), "S-V3-12", named=id_of(5))
    empty = compaction(5, 4, 3) | {"firstKeptEntryId": ""}
    yield _dangling("first-kept-empty", empty, "S-V3-12", named=id_of(5))
