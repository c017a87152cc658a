"""Behind a fault an inspection goes on, and what only follows from the fault is told once or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forkgen.legacy.records import header, id_of, label, model, record, text_of, user
from forkgen.legacy.summaries import compaction
from forkstore.contract.records import Record, zero_usage
from tests.forkgen.good_files import good_file
from tests.forkstore.inspected import HEADER, file_of, inspected, run


def entry(seq: int, parent: int | None, **fields: Any) -> Record:
    """Entry number `seq` in format 4."""
    own: Record = {"kind": "entry", "id": f"e{seq}", "parentId": None if parent is None else f"e{parent}"}
    return own | {"type": "message", "message": {}, "seq": seq, "timestamp": 0} | fields


def value(seq: int, namespace: str, key: str, value: Any) -> Record:
    return {"kind": "value", "op": "set", "seq": seq, "namespace": namespace, "key": key, "value": value}


def usage(seq: int, **numbers: Any) -> Record:
    return {"kind": "usage", "id": f"u{seq}", "seq": seq, "usage": zero_usage() | numbers, "adjustment": False}


def of(directory: Path, *lines: object, header: bytes = HEADER) -> dict[str, Any]:
    """The document of a file in format 4; a line is bytes, a record or several."""
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return inspected(file_of(directory, *texts, header=header))


def legacy(directory: Path, *lines: Record | bytes) -> dict[str, Any]:
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return inspected(file_of(directory, *texts, header=text_of(header())))


def told(document: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(finding["kind"], finding["line"]) for finding in document["findings"]]


CHAIN = [entry(seq, seq - 1 if seq > 1 else None) for seq in range(1, 10)]


def test_a_broken_line_costs_one_line_more(tmp_path):
    document = of(tmp_path, *CHAIN[:3], b"{broken", *CHAIN[4:])
    assert told(document) == [("line", 5), ("unknown-parent", 6)]
    assert "it may have stood in a line that could not be read" in document["findings"][1]["reason"]
    assert document["contents"]["entries"] == {
        "count": 8, "messages": 8, "byType": {"message": 8}, "roots": 2, "unreachable": 8,
    }  # fmt: skip


def test_a_missing_parent_is_missed_once(tmp_path):
    document = of(tmp_path, entry(1, None), entry(2, 7), entry(3, 7), entry(4, 2), entry(5, 8))
    assert told(document) == [("unknown-parent", 3), ("unknown-parent", 6)]
    assert document["findings"][0] == {
        "severity": "error",
        "kind": "unknown-parent",
        "line": 3,
        "reason": "entry 'e2' names the unknown parent 'e7'",
        "cause": "UnknownParent",
    }


def test_one_sequence_too_high_costs_one_line(tmp_path):
    document = of(tmp_path, CHAIN[0], entry(500, 1), *CHAIN[2:6])
    assert told(document) == [("sequence", 4)]
    assert document["contents"]["nextSeq"] == 501


def test_one_sequence_too_low_costs_one_line(tmp_path):
    assert told(of(tmp_path, *CHAIN[:5], value(2, "garden.plan", "row", 1), *CHAIN[5:])) == [("sequence", 7)]


def test_a_line_has_one_error(tmp_path):
    line = [entry(1, 9), entry(1, 8), usage(1), entry(2, 7)]
    document = of(tmp_path, line, entry(3, 2))
    assert told(document) == [("unknown-parent", 2)]
    assert document["contents"]["records"]["count"] == 5


def test_findings_are_bounded_and_counted(tmp_path):
    path = tmp_path / "walk.jsonl"
    path.write_bytes(good_file("rich") * 30)
    document = inspected(path)
    # Of each copy its header, the sequence that starts again, and four lines with ids that are taken.
    assert document["errors"] == 29 * 6
    assert len(document["findings"]) == 100
    assert document["omitted"] == document["errors"] + document["notes"] - 100
    code, out, _ = run("inspect", path)
    assert (code, out.splitlines()[-1]) == (1, f"  and {document['omitted']} more")


def test_lines_are_judged_behind_a_broken_header_that_says_its_format(tmp_path):
    document = of(tmp_path, CHAIN[0], b"{broken", header=HEADER.replace(b"createdAt", b"madeAt"))
    assert told(document) == [("header", 1), ("line", 3)]
    assert (document["format"], document["header"]) == (4, None)
    assert document["contents"]["entries"]["count"] == 1
    assert document["treeFork"]["possible"] is False


@pytest.mark.parametrize(
    "first",
    [b"not JSON", b"[4]", b"{}", b'{"kind":"header","v":"4"}', b'{"type":"session","version":"3"}', b"{]", b"7"],
)
def test_nothing_is_judged_behind_a_line_that_says_no_format(tmp_path, first):
    document = of(tmp_path, b"{broken", header=first + b"\n")
    assert told(document) == [("header", 1)]
    assert (document["header"], document["contents"]) == (None, None)


def test_a_sum_that_no_ledger_can_hold(tmp_path):
    most = 2**63 - 1
    document = of(tmp_path, usage(1, input=most), usage(2, input=1), usage(3, output=5))
    assert [(finding["kind"], finding["line"], finding["cause"]) for finding in document["findings"]] == [
        ("usage-sum", 3, "InvalidValue")
    ]
    assert document["contents"]["usage"] == {"rows": 3, "sum": zero_usage() | {"input": most, "output": 5}}


def test_a_long_id_does_not_make_a_long_finding(tmp_path):
    document = of(tmp_path, entry(1, None, id="x" * 100_000), entry(2, None, id="x" * 100_000))
    (finding,) = document["findings"]
    assert finding["kind"] == "duplicate-id"
    assert len(finding["reason"]) == 400


# ── what opens and is worth a note ───────────────────────────────────────────────────────────────────────────────────


def test_tips_that_lead_nowhere(tmp_path):
    document = of(
        tmp_path,
        entry(1, None),
        value(2, "pi.branch.tip", "lost", "e9"),
        [value(3, "pi.branch.tip", "odd", {"x": 1}), value(4, "pi.branch.tip", "number", 4)],
        [value(5, "pi.branch.tip", "moved", "e9"), value(6, "pi.branch.tip", "moved", "e1")],
        [value(7, "pi.branch.tip", "empty", None), value(8, "pi.branch.tip", "gone", "e9")],
        {"kind": "value", "op": "delete", "seq": 9, "namespace": "pi.branch.tip", "key": "gone"},
    )
    assert told(document) == [("tip", 3), ("tip", 4), ("tip", 4)]
    assert {branch["name"]: (branch["tip"], branch["entries"]) for branch in document["contents"]["branches"]} == {
        "lost": ("e9", 0),
        "odd": (None, 0),
        "number": (None, 0),
        "moved": ("e1", 1),
        "empty": (None, 0),
    }
    assert document["opens"]


def test_labels_and_namespaces_are_noted_where_they_stand(tmp_path):
    document = of(
        tmp_path,
        value(1, "pi.entry.label", "e9", "a"),
        value(2, "pi.unknown", "b", 1),
        value(3, "pi.unknown", "a", 1),
        {"kind": "list", "op": "append", "seq": 4, "namespace": "pi.result", "key": "", "value": 1},
    )
    assert told(document) == [("label", 2), ("undeclared-namespace", 3), ("undeclared-namespace", 5)]
    undeclared = [{"namespace": "pi.result", "kind": "list"}, {"namespace": "pi.unknown", "kind": "value"}]
    assert document["treeFork"] == {"possible": False, "undeclared": undeclared}
    _, out, _ = run("inspect", tmp_path / "walk.jsonl")
    assert "no, for no fork rule is declared for list rows in pi.result, value rows in pi.unknown" in out


def test_a_delete_is_a_delete_whatever_else_it_carries(tmp_path):
    odd = value(2, "pi.branch.tip", "main", "e9") | {"op": "delete"}
    document = of(tmp_path, value(1, "pi.branch.tip", "main", None), odd)
    assert (told(document), document["contents"]["branches"]) == ([], [])


# ── legacy ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_broken_legacy_line_costs_one_line_more(tmp_path):
    lines = [user(1, None), user(2, 1), b"{broken", *(user(number, number - 1) for number in range(4, 9))]
    document = legacy(tmp_path, *lines)
    assert told(document) == [("line", 4), ("unknown-parent", 5)]
    assert "it may have stood" in document["findings"][1]["reason"]
    assert document["contents"]["entries"]["count"] == 7


def test_a_tail_is_not_judged_where_its_path_is_lost(tmp_path):
    lost = legacy(tmp_path, user(1, None), b"{broken", user(3, 2), compaction(4, 3, 1), compaction(5, 4, 2))
    assert told(lost) == [("line", 3), ("unknown-parent", 4)]
    assert told(legacy(tmp_path, user(1, None), user(2, None), compaction(3, 2, 1))) == [("retained-tail", 4)]
    assert told(legacy(tmp_path, compaction(1, None, 1))) == [("retained-tail", 2)]


def test_references_to_nothing_are_told_once_in_their_lines(tmp_path):
    document = legacy(
        tmp_path,
        user(1, None),
        label(2, 1, 9, label="a"),
        label(3, 2, 9, label="b"),
        record(4, "branch_summary", 3, fromId=id_of(8), summary=""),
        label(5, 4, 6, label="c"),
        user(6, 5),
    )
    assert told(document) == [("reference", 3), ("reference", 5)]
    assert document["contents"]["scalars"]["pi.entry.label"] == 1


def test_a_legacy_id_used_twice_keeps_its_first_record(tmp_path):
    document = legacy(tmp_path, user(1, None), model(1, None), user(2, 1))
    assert told(document) == [("duplicate-id", 3)]
    assert document["contents"]["records"]["count"] == 2


def test_a_broken_legacy_header_does_not_hide_the_lines(tmp_path):
    broken = text_of(header()).replace(b"2025-10-09", b"2025-13-09")
    document = inspected(file_of(tmp_path, b"{broken", header=broken))
    assert told(document) == [("header", 1), ("line", 2)]
    assert (document["format"], document["storageVersion"]) == (3, 1)
