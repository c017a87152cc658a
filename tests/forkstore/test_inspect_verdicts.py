"""Every damaged and every legacy file of forkgen is judged as opening judges it, in the line that opening names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkgen.damage import Damaged, Verdict, damage
from forkgen.legacy import LegacyFile, legacy_files
from tests.forkgen.good_files import FILES, good_file
from tests.forkstore.inspected import inspected

GOOD = {name: good_file(name) for name in FILES} | {"with nextSeq": good_file("rich", next_seq=500)}
MARK = b"\xef\xbb\xbf"
OPENS = (Verdict.OPENS, Verdict.OPENS_BEFORE)
NOTED = {
    "namespace-pi.op": ["undeclared-namespace"],
    "namespace-pi": ["undeclared-namespace"],
    "namespace-pi.unknown": ["undeclared-namespace"],
    "tip-as-list": ["undeclared-namespace"],
    "sequence-last-possible": ["no-sequence-left"],
}
"""What is noted of variants that open, besides marks and torn tails."""


def errors_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in document["findings"] if finding["severity"] == "error"]


def notes_of(document: dict[str, Any]) -> list[str]:
    return sorted(finding["kind"] for finding in document["findings"] if finding["severity"] == "note")


def faults_of(variant: Damaged, path: Path) -> list[str]:
    """What an inspection of the variant says otherwise than the variant states."""
    contents = b"".join(variant.chunks())
    path.write_bytes(contents)
    document = inspected(path)
    seen: tuple[object, ...]
    if variant.verdict in OPENS:
        noted = [*NOTED.get(variant.name, []), *["torn-tail"] * variant.repaired]
        noted += ["byte-order-mark"] * contents.startswith(MARK)
        stated: tuple[object, ...] = (True, sorted(noted), variant.next_seq, not contents.endswith(b"\n"))
        seen = document["opens"], notes_of(document), document["contents"]["nextSeq"], bool(document["tornTail"])
    elif variant.verdict is Verdict.UNSUPPORTED:
        (error,) = errors_of(document)
        stated = False, "unsupported-version", 1, True
        seen = document["opens"], error["kind"], error["line"], f"version {variant.version} " in error["reason"]
    else:
        error = errors_of(document)[0]
        stated = False, variant.line, variant.cause
        seen = document["opens"], error["line"], error["cause"]
    return [] if seen == stated else [f"{variant.name}: stated {stated}, seen {seen}"]


@pytest.mark.parametrize("name", GOOD)
def test_every_damaged_file_has_its_verdict(name, tmp_path):
    path = tmp_path / "walk.jsonl"
    assert [fault for variant in damage(GOOD[name]) for fault in faults_of(variant, path)] == []


@pytest.mark.parametrize("case", [*legacy_files()], ids=lambda case: case.name)
def test_every_legacy_file_has_its_verdict(case, tmp_path):
    document = inspected(case.write_to(tmp_path))
    assert document["opens"] is (case.verdict is Verdict.OPENS)
    if case.verdict is Verdict.OPENS:
        shows_the_normalization(document, case.in_directory(tmp_path))
        return
    error, *_ = errors_of(document)
    if case.verdict is Verdict.UNSUPPORTED:
        assert error["kind"] == "unsupported-version"
        assert f"version {case.version} " in error["reason"]
    assert case.line in (None, error["line"])
    assert case.named is None or case.named in error["reason"]


def shows_the_normalization(document: dict[str, Any], case: LegacyFile) -> None:
    normalized, contents = case.normalized, document["contents"]
    assert normalized is not None
    assert document["header"] == {
        "id": case.id,
        "cwd": case.cwd,
        "createdAt": case.created_at,
        "parentSessionId": case.parent_session_id,
        "legacyParentSessionPath": case.legacy_parent_session_path,
    }
    assert document["treeFork"] == {"possible": True, "undeclared": []}
    assert contents["nextSeq"] == normalized.next_seq
    assert contents["entries"]["count"] == len(normalized.entries)
    assert contents["entries"]["messages"] == normalized.message_count
    assert contents["entries"]["roots"] == sum(entry["parentId"] is None for entry in normalized.entries)
    assert contents["usage"] == {"rows": 0, "sum": normalized.usage}
    (main,) = contents["branches"]
    tip = next(write["value"] for write in normalized.derived if write["namespace"] == "pi.branch.tip")
    assert main["tip"] == (tip and tip.record)
    assert main["kind"] == ("lane" if normalized.has_complete_lane else "data-only")
    parents = {entry["id"]: entry["parentId"] for entry in normalized.entries}
    on_path = 0
    while tip is not None:
        on_path, tip = on_path + 1, parents[tip]
    assert main["entries"] == on_path
    assert contents["entries"]["unreachable"] == len(parents) - on_path
    current: dict[str, set[object]] = {}
    for write in normalized.derived:
        keys = current.setdefault(write["namespace"], set())
        (keys.add if write["op"] == "set" else keys.discard)(write["key"])
    assert contents["scalars"] == {namespace: len(keys) for namespace, keys in sorted(current.items()) if keys}
