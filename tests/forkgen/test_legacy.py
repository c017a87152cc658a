"""Legacy files, judged by a checker that knows nothing of how their outcomes were written down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forkgen.legacy import VERSION_ONE, Fresh, LegacyFile, Verdict, legacy_files, version_three, version_two
from forkstore.contract.records import zero_usage
from tests.forkgen.strict_v3 import Finding, examine, parent_id

CASES = {case.name: case for case in legacy_files()}
OPEN = [name for name, case in CASES.items() if case.verdict is Verdict.OPENS]


def shown(value: Any) -> Any:
    """A value with fresh ids as the checker shows them."""
    if isinstance(value, Fresh):
        return ("fresh", value.record)
    if isinstance(value, dict):
        return {name: shown(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [shown(member) for member in value]
    return value


def sorted_members(value: Any) -> Any:
    """A value whose repr does not depend on the order of members, but on the kind of every number."""
    if isinstance(value, dict):
        return sorted((name, sorted_members(member)) for name, member in value.items())
    return [sorted_members(member) for member in value] if isinstance(value, list) else value


def fault_of(case: LegacyFile) -> str | None:
    found = examine(case.contents)
    seen = (found.verdict, found.line, found.named, found.version)
    stated = (case.verdict.value, case.line, case.named, case.version)
    if seen != stated:
        return f"{case.name}: stated {stated}, seen {seen}"
    return normalization_fault(case, found) if found.verdict == "opens" else None


def normalization_fault(case: LegacyFile, found: Finding) -> str | None:
    normalized = case.normalized
    assert normalized is not None
    for part, stated, seen in (
        ("entries", normalized.entries, found.entries),
        ("derived values", normalized.derived, found.derived),
        ("usage", normalized.usage, found.usage),
        ("metadata", [case.id, case.cwd, case.created_at], [*map(found.header.get, ("id", "cwd")), found.created_at]),
    ):
        stated_text, seen_text = repr(sorted_members(shown(stated))), repr(sorted_members(seen))
        if stated_text != seen_text:
            return f"{case.name}: {part}\n stated {stated_text}\n seen   {seen_text}"
    return None


def test_an_independent_checker_agrees_with_every_outcome() -> None:
    assert [fault for case in CASES.values() if (fault := fault_of(case))] == []


def test_the_checker_can_disagree() -> None:
    case = CASES["tail-of-every-kind"]
    normalized = case.normalized
    assert normalized is not None
    *others, last = normalized.entries
    shorter = {**last, "retainedTail": last["retainedTail"][1:]}
    assert fault_of(replace(case, normalized=replace(normalized, entries=(*others, shorter))))
    assert fault_of(replace(case, normalized=replace(normalized, derived=normalized.derived[1:])))
    assert fault_of(replace(case, normalized=replace(normalized, usage=zero_usage())))
    assert fault_of(replace(case, created_at=0))
    assert fault_of(replace(CASES["line-blank"], line=7))
    assert fault_of(replace(CASES["first-kept-itself"], named=None))


def test_names_are_unique() -> None:
    assert len(CASES) == sum(1 for _ in legacy_files())


def test_every_clause_about_a_v3_file_by_itself_has_a_case() -> None:
    seen = {clause for case in CASES.values() for clause in case.clauses}
    by_themselves = {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 26}
    assert {f"S-V3-{number:02}" for number in by_themselves} - seen == set()


def test_every_kind_of_record_is_in_a_file_that_opens() -> None:
    kinds = ["message", "custom", "custom_message", "branch_summary", "compaction", "model_change"]
    kinds += ["thinking_level_change", "active_tools_change", "session_info", "label"]
    contents = CASES["every-kind"].contents
    assert [kind for kind in kinds if contents.count(b'"type":"%b"' % kind.encode()) != 1] == []


@pytest.mark.parametrize("name", OPEN)
def test_fresh_ids_can_be_filled_in(name: str) -> None:
    normalized = CASES[name].normalized
    assert normalized is not None
    ids = [f"id-{index}" for index in range(len(normalized.entries))]
    filled = normalized.filled(ids)
    assert [entry["id"] for entry in filled.entries] == ids
    assert "Fresh" not in repr(filled)
    assert (filled.next_seq, filled.message_count) == (normalized.next_seq, normalized.message_count)
    with pytest.raises(ValueError, match="zip"):
        normalized.filled([*ids, "one more"])


def test_filling_in_leaves_opaque_data_alone() -> None:
    normalized = CASES["ids-in-opaque-data"].normalized
    assert normalized is not None
    filled = normalized.filled(["a", "b", "c"])
    assert filled.entries[1]["data"] == {"0b10c001": "0b10c001"}
    assert filled.entries[2]["message"]["fromId"] == "0b10c001"
    assert filled.derived[0]["value"] == "c"


def test_lanes_are_complete_where_the_file_has_both_changes_on_the_path() -> None:
    complete = {name for name in OPEN if (found := CASES[name].normalized) and found.has_complete_lane}
    assert {"lane-complete", "lane-behind-the-last-entry", "tip-null-lane-complete", "every-kind"} <= complete
    assert complete.isdisjoint({"lane-without-model", "lane-off-the-path", "header-only", "several-roots"})


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("lineage-")])
def test_a_parent_is_known_by_its_header_or_by_its_path(name: str, tmp_path: Path) -> None:
    case = CASES[name].in_directory(tmp_path)
    path = CASES[name].write_to(tmp_path)
    assert path.read_bytes() == case.contents
    named = examine(case.contents).header["parentSession"]
    found = parent_id(Path(named))
    assert (case.parent_session_id, case.legacy_parent_session_path) == (found, None if found else named)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        {path.name, *(companion for companion, _ in case.companions)}
    )


def test_the_last_line_is_torn_at_every_byte() -> None:
    torn = [CASES[f"torn-at-byte-{cut}"] for cut in range(1, sum(name.startswith("torn-at-byte-") for name in CASES))]
    assert [len(case.contents) for case in torn] == list(
        range(len(torn[0].contents), len(torn[0].contents) + len(torn))
    )
    assert {case.verdict for case in torn} == {Verdict.OPENS}


def test_version_two_differs_from_version_three_by_its_header_and_one_role() -> None:
    two, three = list(version_two()), list(version_three(VERSION_ONE))
    assert [index for index, (old, new) in enumerate(zip(two, three, strict=True)) if old != new] == [0, 4]
    assert (two[4]["message"]["role"], three[4]["message"]["role"]) == ("hookMessage", "custom")


def test_the_step_from_version_one_names_every_record() -> None:
    header, *records = version_three(VERSION_ONE)
    assert header["version"] == 3
    assert [record["parentId"] for record in records] == [None, *(record["id"] for record in records[:-1])]
    assert len({record["id"] for record in records}) == len(records)
    assert all(len(record["id"]) == 8 and int(record["id"], 16) for record in records)
    assert records[5]["firstKeptEntryId"] == records[3]["id"]
    assert "firstKeptEntryIndex" not in records[5]
