"""Legacy files through both passes, against the outcomes that are written down for them and an independent checker."""

from __future__ import annotations

import random
from typing import Any

import pytest

from forkgen.legacy import Verdict, legacy_files
from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.jsonl.format import read_line
from forkstore.jsonl.records import StoredEntry
from tests.forkgen.strict_json import parse
from tests.forkgen.strict_v3 import RETAINED, Finding, examine
from tests.forkstore.jsonl.legacy_reading import Reading, decoded, read_legacy, shown

from .legacy_trees import random_tree

CASES = {case.name: case for case in legacy_files()}
OPEN = [name for name, case in CASES.items() if case.verdict is Verdict.OPENS]
CORRUPT = [name for name, case in CASES.items() if case.verdict is Verdict.CORRUPT]
UNSUPPORTED = [name for name, case in CASES.items() if case.verdict is Verdict.UNSUPPORTED]
RICH = ["every-kind", "tail-of-every-kind", "branch-summaries", "imported-usage", "chains-through-discarded"]


def entries_of(reading: Reading) -> list[Any]:
    records = [decoded(entry.text) for entry in reading.entries]
    assert all(record.pop("kind") == "entry" for record in records)
    return records


def derived_of(reading: Reading) -> list[Any]:
    return [decoded(text) for text in reading.upgraded()[len(reading.entries) :]]


@pytest.mark.parametrize("name", OPEN)
def test_a_file_that_opens_is_normalized_as_stated(name: str) -> None:
    case = CASES[name]
    assert case.normalized is not None
    reading = read_legacy(case.contents)
    index = reading.index
    stated = case.normalized.filled([entry.id for entry in index.entries])
    assert shown(entries_of(reading)) == shown(stated.entries)
    assert shown(derived_of(reading)) == shown(stated.derived)
    assert shown(index.usage) == shown(stated.usage)
    assert (index.message_count, index.next_seq) == (stated.message_count, stated.next_seq)
    assert index.has_lane is stated.has_complete_lane
    assert index.tip == next(row["value"] for row in stated.derived if row["namespace"] == "pi.branch.tip")
    assert (reading.header.id, reading.header.cwd, reading.header.created_at) == (case.id, case.cwd, case.created_at)


@pytest.mark.parametrize("name", OPEN)
def test_both_passes_and_the_reader_of_format_4_see_the_same_structure(name: str) -> None:
    reading = read_legacy(CASES[name].contents)
    assert [(entry.id, entry.parent_id, entry.seq, entry.type, entry.timestamp) for entry in reading.index.entries] == [
        (entry.id, entry.parent_id, entry.seq, entry.type, entry.timestamp) for entry in reading.entries
    ]
    for entry in reading.entries:
        [stored] = read_line(entry.text)
        assert isinstance(stored, StoredEntry)
        assert (stored.id, stored.parent_id, stored.seq, stored.type, stored.timestamp) == (
            (entry.id, entry.parent_id, entry.seq, entry.type, entry.timestamp)
        )
        assert (stored.custom_type if stored.type == "custom" else None) == entry.custom_type
    assert reading.index.derived == [write for write, _ in reading.derived]


@pytest.mark.parametrize("name", CORRUPT)
def test_a_corrupt_file_is_refused_in_its_line(name: str) -> None:
    case = CASES[name]
    with pytest.raises(CorruptSession) as refusal:
        read_legacy(case.contents)
    assert refusal.value.line == case.line
    assert (case.named or "") in refusal.value.reason


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_another_version_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnsupportedVersion) as refusal:
        read_legacy(CASES[name].contents)
    assert str(refusal.value.version) == CASES[name].version


def test_the_first_case_of_each_verdict_is_there() -> None:
    assert min(len(OPEN), len(CORRUPT)) > 100
    assert len(UNSUPPORTED) == 8


def found_in(contents: bytes) -> tuple[Finding, Finding]:
    """What the independent checker finds, and what the two passes give, in the checker's words."""
    expected = examine(contents)
    try:
        reading = read_legacy(contents)
    except CorruptSession as refusal:
        return expected, Finding("corrupt", line=refusal.line, named=expected.named and named_in(refusal, expected))
    lines = [parse(line) for line in contents.split(b"\n")[1:-1]]
    retained = [record["id"] for record in lines if record["type"] in RETAINED]
    old = {entry.id: ("fresh", name) for entry, name in zip(reading.index.entries, retained, strict=True)}
    entries, derived = ([with_old_ids(row, old) for row in rows(reading)] for rows in (entries_of, derived_of))
    seen = Finding("opens", header=expected.header, created_at=reading.header.created_at, usage=reading.index.usage)
    seen.entries, seen.derived = entries, derived
    return expected, seen


def named_in(refusal: CorruptSession, expected: Finding) -> str | None:
    return expected.named if repr(expected.named) in refusal.reason else None


def with_old_ids(value: Any, old: dict[str, tuple[str, str]]) -> Any:
    if isinstance(value, dict):
        return {name: with_old_ids(member, old) for name, member in value.items()}
    if isinstance(value, list):
        return [with_old_ids(member, old) for member in value]
    return old.get(value, value) if isinstance(value, str) else value


def told(finding: Finding) -> Any:
    return [shown(part) for part in vars(finding).values()]


@pytest.mark.parametrize("name", RICH)
def test_a_file_cut_at_any_byte_is_read_up_to_its_last_whole_line(name: str) -> None:
    contents = CASES[name].contents
    cuts = range(contents.index(b"\n") + 1, len(contents) + 1)
    assert [cut for cut in cuts if len({repr(told(side)) for side in found_in(contents[:cut])}) > 1] == []


@pytest.mark.parametrize("name", RICH)
def test_a_file_with_one_line_lost_doubled_or_moved_gets_the_verdict_of_the_checker(name: str) -> None:
    header, *lines = CASES[name].contents.splitlines(keepends=True)
    variants = []
    for at in range(len(lines)):
        before, line, behind = lines[:at], lines[at], lines[at + 1 :]
        variants += [
            [*before, *behind],
            [*before, line, line, *behind],
            [*before, *behind, line],
            [line, *before, *behind],
        ]
    sides = [found_in(header + b"".join(variant)) for variant in variants]
    assert [at for at, (expected, seen) in enumerate(sides) if expected.verdict != seen.verdict] == []
    opened = [(expected, seen) for expected, seen in sides if expected.verdict == "opens"]
    assert [told(expected) for expected, _ in opened] == [told(seen) for _, seen in opened]


@pytest.mark.parametrize("seed", range(150))
def test_a_random_tree_is_normalized_as_the_checker_says(seed: int) -> None:
    expected, seen = found_in(random_tree(random.Random(seed), size=30))
    assert expected.verdict == "opens"
    assert told(seen) == told(expected)
