"""Damage to the header: fields that are missing, ill-typed, null or unknown, other versions, bytes (section 22.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

from forkstore.contract.records import Json, Record

from .changes import Raw, appended, line_changed, one_after_the_other, record_text, replaced_by
from .framing import NUL_RUN
from .making import Workbench
from .variant import Change, Damaged

_NO_STRING: dict[str, Json] = {"number": 7, "null": None, "boolean": True, "array": ["x"], "object": {}}
_NO_INTEGER: dict[str, Json] = {
    "string": "1",
    "null": None,
    "boolean": True,
    "fraction": 1.5,
    "whole-fraction": Raw("1.0"),
    "exponent": Raw("1e3"),
    "above-2-53": 2**53,
    "negative": -1,
    "array": [1],
}
_ILL_TYPED: dict[str, dict[str, Json]] = {
    "v": {name: value for name, value in _NO_INTEGER.items() if name not in ("above-2-53", "negative")},
    "kind": {**_NO_STRING, "other": "entry", "upper-case": "Header"},
    "id": _NO_STRING,
    "storageVersion": {**{name: value for name, value in _NO_INTEGER.items() if name != "above-2-53"}, "zero": 0},
    "createdAt": _NO_INTEGER,
    "cwd": _NO_STRING,
    "parentSessionId": _NO_STRING,
    "legacyParentSessionPath": _NO_STRING,
    "nextSeq": {**_NO_INTEGER, "zero": 0},
}
_REQUIRED = ("v", "kind", "id", "storageVersion", "createdAt", "cwd")
_CLAUSES = ["S-JSONL-FMT-05", "S-JSONL-FMT-06"]


def headers(bench: Workbench) -> Iterator[Damaged]:
    """Every variant of line 1."""
    for name in _REQUIRED:
        yield bench.corrupt(f"header-without-{_dashed(name)}", 1, _header_changed(partial(_without, name)), _CLAUSES)
    for name, values in _ILL_TYPED.items():
        for fault, value in values.items():
            changed = _header_changed(partial(_with, {name: value}))
            yield bench.corrupt(f"header-{_dashed(name)}-{fault}", 1, changed, _CLAUSES)
    yield from _versions(bench)
    yield from _accepted(bench)
    yield from _not_understood(bench)


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def _without(name: str, header: Record) -> Record:
    return {field: value for field, value in header.items() if field != name}


def _with(fields: Record, header: Record) -> Record:
    return header | fields


def _header_changed(change: Callable[[Record], Record]) -> Change:
    return line_changed(1, lambda line: record_text(change(json.loads(line))) + b"\n")


def _versions(bench: Workbench) -> Iterator[Damaged]:
    for version in (3, 5, 99):
        changed = _header_changed(partial(_with, {"v": version}))
        yield bench.unsupported(f"header-v-{version}", str(version), changed, ["S-V3-04"])
    second = _header_changed(partial(_with, {"storageVersion": 2}))
    yield bench.unsupported("header-storage-version-2", "2", second, ["S-REPO-08"])
    torn = one_after_the_other(second, appended(record_text(bench.value())[:-1]))
    yield bench.unsupported("header-storage-version-2-torn-tail", "2", torn, ["S-REPO-08", "S-JSONL-TAIL-03"])


def _accepted(bench: Workbench) -> Iterator[Damaged]:
    more = {"note": None, "seal": [1, {"v": 5}], "": 0}
    yield bench.opens("header-unknown-fields", _header_changed(partial(_with, more)), ["S-JSONL-FMT-05"])
    yield bench.opens("header-fields-reversed", _header_changed(_reversed), ["S-JSONL-FMT-08"])
    doubled = line_changed(1, lambda line: line.replace(b"{", b'{"v":3,"cwd":null,', 1))
    yield bench.opens("header-doubled-fields", doubled, ["S-VAL-15"])
    ahead = bench.survey.next_seq + 1_000_000
    yield bench.opens(
        "header-next-seq-ahead",
        _header_changed(partial(_with, {"nextSeq": ahead})),
        ["S-JSONL-FMT-12"],
        next_seq=ahead,
    )
    behind = _header_changed(partial(_with, {"nextSeq": 1}))
    last = bench.survey.last_seq + 1
    yield bench.opens("header-next-seq-behind", behind, ["S-JSONL-FMT-12"], next_seq=last)
    lineage = {"parentSessionId": "walk-0", "legacyParentSessionPath": "/srv/garden/old.jsonl"}
    yield bench.opens("header-with-parents", _header_changed(partial(_with, lineage)), ["S-JSONL-FMT-05"])


def _reversed(header: Record) -> Record:
    return dict(reversed(header.items()))


def _not_understood(bench: Workbench) -> Iterator[Damaged]:
    changed_lines: dict[str, Callable[[bytes], bytes]] = {
        "header-flipped-byte-structure": lambda line: b"z" + line[1:],
        "header-flipped-byte-utf8": lambda line: line[:1] + bytes([line[1] | 0x80]) + line[2:],
        "header-in-array": lambda line: b"[" + line[:-1] + b"]\n",
        "header-as-string": lambda line: record_text({"": line.decode()})[4:-1] + b"\n",
        "header-behind-blank-line": lambda line: b"\n" + line,
        "header-nul-run-before": lambda line: NUL_RUN + line,
        "header-nul-run-behind": lambda line: line[:-1] + NUL_RUN + b"\n",
        "header-nul-run-instead": lambda line: bytes(len(line) - 1) + b"\n",
        "header-lost-last-byte": lambda line: line.rstrip()[:-1] + b"\n",
        "header-lost": lambda _line: b"",
        "header-lf-lost": lambda line: line[:-1],
        "header-trailing-comma": lambda line: line.rstrip()[:-1] + b",}\n",
        "header-single-quotes": lambda line: line.replace(b'"', b"'"),
    }
    for name, change in changed_lines.items():
        yield bench.corrupt(name, 1, line_changed(1, change), ["S-JSONL-FMT-06"])
    for name, octets in {
        "one-newline": b"\n",
        "one-nul": b"\0",
        "nul-file": NUL_RUN,
        "nul-line": NUL_RUN + b"\n",
        "only-mark": b"\xef\xbb\xbf",
        "only-mark-and-newline": b"\xef\xbb\xbf\n",
        "empty-object": b"{}\n",
        "null-line": b"null\n",
    }.items():
        yield bench.corrupt(name, 1, replaced_by(octets), ["S-JSONL-FMT-06"])
    torn = one_after_the_other(line_changed(1, lambda line: b"z" + line[1:]), appended(b'{"kind":'))
    yield bench.corrupt("header-flipped-byte-torn-tail", 1, torn, ["S-JSONL-FMT-06", "S-JSONL-TAIL-03"])
