"""The structural index: what replay would hold, as an independent checker of session files finds it (section 25)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from forkgen import RECIPES, recipe
from forkgen.damage import Damaged, damage
from forkgen.jsonl import lines
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import CorruptSession, InvalidValue
from forkstore.contract.records import ABSENT, Json, zero_usage
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write
from forkstore.jsonl.index import NONE, ODD_TIP, StructuralIndex
from tests.forkgen.good_files import CREATED_AT, FILES, good_file
from tests.forkgen.strict_format4 import Finding, examine
from tests.forkgen.strict_json import parse

GOOD = {name: good_file(name) for name in FILES}
KIBIBYTE = 1024


def session(transactions: Sequence[Sequence[Write]] | Any) -> bytes:
    return b"".join(lines(transactions, id="walk-1", cwd="/srv/garden", created_at=CREATED_AT))


def indexed(data: bytes, **options: Any) -> StructuralIndex:
    """The index of a file whose header is right."""
    index = StructuralIndex("walk.jsonl", **options)
    for number, line in enumerate(data.split(b"\n")[1:-1], 2):
        index.take(line, number)
    return index


def records_of(data: bytes) -> list[Any]:
    """All records of a good file, in order: the record of an ordinal stands at its place."""
    values = [parse(line) for line in data.split(b"\n")[1:-1]]
    return [record for value in values for record in (value if isinstance(value, list) else [value])]


def current(data: bytes) -> dict[str, Any]:
    """All that the index of a file says, its ordinals followed to the records."""
    index, records = indexed(data), records_of(data)
    assert [index.number_of(entry_id) for entry_id in index.entries] == list(range(len(index.entries)))
    ids = [*index.entries]
    scalars, lists = {}, {}
    for namespace, keys in index.scalars.items():
        for key, (ordinal, seq) in keys.items():
            assert records[ordinal]["seq"] == seq
            scalars[namespace, key] = seq, records[ordinal]["value"]
    for namespace, places in index.lists.items():
        for key, ordinals in places.items():
            lists[namespace, key] = [(records[ordinal]["seq"], records[ordinal]["value"]) for ordinal in ordinals]
    return {
        "entries": [records[ordinal]["id"] for ordinal in index.ordinals],
        "numbered": ids,
        "parents": [None if number == NONE else ids[number] for number in index.parents],
        "scalars": sorted(scalars.items()),
        "lists": sorted(lists.items()),
        "last": index.last_seq,
    }


def as_found(found: Finding, data: bytes) -> dict[str, Any]:
    """The same, as the checker sees it."""
    ids = [entry["id"] for entry in found.state.entries]
    return {
        "entries": ids,
        "numbered": ids,
        "parents": [entry["parentId"] for entry in found.state.entries],
        "scalars": sorted(found.state.scalars.items()),
        "lists": sorted(found.state.lists.items()),
        "last": max((record["seq"] for record in records_of(data)), default=0),
    }


def fault_of(variant: Damaged) -> str | None:
    """How the index differs from the checker on a damaged file."""
    data = b"".join(variant.chunks())
    found = examine(data)
    if found.verdict == "opens":
        # The repr tells 1, 1.0 and True apart.
        return None if repr(current(data)) == repr(as_found(found, data)) else f"{variant.name}: another state"
    try:
        indexed(data)
    except CorruptSession as refusal:
        cause = type(refusal.__cause__).__name__
        seen = refusal.line, cause if cause in ("DuplicateId", "UnknownParent") else None
        return None if seen == (found.line, found.cause) else f"{variant.name}: {seen}"
    return f"{variant.name}: not refused"


def concerns_the_index(variant: Damaged) -> bool:
    found = examine(b"".join(variant.chunks()))
    return found.verdict == "opens" or (found.verdict == "corrupt" and found.line != 1)


# ── what it holds ──


@pytest.mark.parametrize("name", GOOD)
def test_the_index_of_a_good_file_is_what_the_checker_finds(name: str) -> None:
    assert current(GOOD[name]) == as_found(examine(GOOD[name]), GOOD[name])


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("seed", "size"), [(0, 1), (3, 40)])
def test_the_index_of_a_recipe_is_what_the_checker_finds(name: str, seed: int, size: int) -> None:
    data = session(recipe(name)(seed, min(size, 3) if name == "giant" else size))
    assert repr(current(data)) == repr(as_found(examine(data), data))


@pytest.mark.one_python
@pytest.mark.parametrize("name", GOOD)
def test_the_index_refuses_what_the_checker_refuses_in_the_same_line_for_the_same_cause(name: str) -> None:
    variants = [variant for variant in damage(GOOD[name]) if concerns_the_index(variant)]
    assert len(variants) > 100
    assert [fault for variant in variants if (fault := fault_of(variant))] == []


def chain(*ids: str, parent: str | None = None) -> list[Write]:
    parents = [parent, *ids]
    return [
        EntryInsert({"id": id, "parentId": parents[place], "type": "message", "message": {}})
        for place, id in enumerate(ids)
    ]


LONG = tuple("abcdefghijkl")
"""The ids of a line that is long enough to be looked at as a whole."""
CHAINS: dict[str, list[list[Write]]] = {
    "one": [chain(*LONG)],
    "continued": [chain(*LONG), chain(*"mnopqrstuvw", parent="l"), chain("x", parent="w")],
    "from-the-middle": [chain(*LONG), chain(*"mnopqrstuvw", parent="c")],
    "two-roots": [chain(*LONG), chain(*"mnopqrstuvw")],
    "bushy-line": [[*chain(*"abcdef"), *chain(*"ghijkl", parent="c")]],
    "with-a-row": [[*chain(*LONG), ValueSet(branch_tip("main"), "l")], chain(*"mnopqrstuvw", parent="l")],
    "after-usage": [[UsageInsert({"id": "u", "usage": zero_usage(), "adjustment": False})], chain(*LONG)],
}


@pytest.mark.parametrize("name", CHAINS)
def test_long_lines_of_entries_are_folded_like_all_others(name: str) -> None:
    data = session(CHAINS[name])
    assert examine(data).verdict == "opens"
    assert current(data) == as_found(examine(data), data)


BROKEN_CHAINS: dict[str, list[list[Write]]] = {
    "twice-in-the-line": [chain(*LONG, "c", "m")],
    "twice-in-a-row": [chain("a", "a", *LONG[1:])],
    "known-from-before": [chain(*LONG), chain(*"mnopqr", "b", *"stuv", parent="l")],
    "all-known-from-before": [chain(*LONG), chain(*LONG)],
    "known-from-usage": [[UsageInsert({"id": "f", "usage": zero_usage(), "adjustment": False})], chain(*LONG)],
    "unknown-first-parent": [chain(*LONG, parent="nobody")],
    "parent-is-usage": [
        [UsageInsert({"id": "u", "usage": zero_usage(), "adjustment": False})],
        chain(*LONG, parent="u"),
    ],
}


@pytest.mark.parametrize("name", BROKEN_CHAINS)
def test_a_fault_in_a_long_line_of_entries_is_found(name: str) -> None:
    data = session(BROKEN_CHAINS[name])
    found = examine(data)
    assert found.cause in ("DuplicateId", "UnknownParent")
    with pytest.raises(CorruptSession) as refusal:
        indexed(data)
    assert (refusal.value.path, refusal.value.line) == ("walk.jsonl", found.line)
    assert type(refusal.value.__cause__).__name__ == found.cause
    assert str(refusal.value.__cause__) in refusal.value.reason


@pytest.mark.parametrize(("ids", "duplicate"), [("abcdefghcij", "c"), ("abcdefghijkb", "b"), ("aabcdefghi", "a")])
def test_the_duplicate_in_a_long_line_is_named(ids: str, duplicate: str) -> None:
    with pytest.raises(CorruptSession, match=f"'{duplicate}'"):
        indexed(session([chain(*ids)]))
    with pytest.raises(CorruptSession, match=f"'{duplicate}'"):
        indexed(session([chain("x", duplicate), chain(*dict.fromkeys(ids), parent="x")]))


@pytest.mark.parametrize("seq", [1, 12, 11, 0])
def test_sequences_that_do_not_rise_in_a_long_line_are_found(seq: int) -> None:
    data = session([chain(*LONG)]).replace(b'"seq":12,', b'"seq":%d,' % seq)
    found = examine(data)
    assert found.verdict == ("opens" if seq == 12 else "corrupt")
    if seq == 12:
        assert current(data) == as_found(found, data)
    else:
        with pytest.raises(CorruptSession):
            indexed(data)


@pytest.mark.parametrize("last", [12, 13, 900])
def test_a_long_line_must_begin_above_the_line_before(last: int) -> None:
    data = session([chain(*LONG), chain(*"mnopqrstuvw", parent="l")]).replace(b'"seq":12,', b'"seq":%d,' % last)
    found = examine(data)
    assert found.line == (None if last == 12 else 3)
    if last != 12:
        with pytest.raises(CorruptSession) as refusal:
            indexed(data)
        assert refusal.value.line == 3


def test_a_ledger_that_cannot_be_summed_is_corruption_in_its_line() -> None:
    usage = zero_usage() | {"input": 2**62}
    rows: list[list[Write]] = [[UsageInsert({"id": id, "usage": usage, "adjustment": False})] for id in "uvw"]
    indexed(session(rows[:1]))
    with pytest.raises(CorruptSession) as refusal:
        indexed(session(rows))
    assert refusal.value.line == 3
    assert isinstance(refusal.value.__cause__, InvalidValue)


# ── the tip of a branch ──


@pytest.mark.parametrize(
    ("text", "tip"),
    [
        (b'"e1"', "e1"),
        (b"null", None),
        (rb'"\ud800"', "\ud800"),
        (b"7", ODD_TIP),
        (b'{"id":"e1"}', ODD_TIP),
        (b"[1e400]".replace(b"1e400", b"1" * 400), ODD_TIP),
    ],
    ids=["entry", "null", "surrogate", "number", "object", "large"],
)
def test_the_tip_of_the_branch_is_known(text: bytes, tip: Json) -> None:
    data = session([[ValueSet(branch_tip("main"), "@")], [ValueSet(branch_tip("other"), "elsewhere")]])
    assert indexed(data.replace(b'"@"', text), branch="main").tip == tip
    assert indexed(data.replace(b'"@"', text), branch="third").tip is ABSENT
    assert indexed(data.replace(b'"@"', text)).tip is ABSENT


def test_the_tip_is_that_of_the_last_write() -> None:
    writes: list[list[Write]] = [[ValueSet(branch_tip("main"), "e1")], [ValueDelete(branch_tip("main"))]]
    assert indexed(session(writes), branch="main").tip is ABSENT
    assert indexed(session([*writes, [ValueSet(branch_tip("main"), "e2")]]), branch="main").tip == "e2"
    with_value = session(writes).replace(b'"key":"main"}', b'"key":"main","value":"e3"}')
    assert indexed(with_value, branch="main").tip is ABSENT


# ── paths ──


def test_paths_lead_from_an_entry_to_its_root() -> None:
    index = indexed(session([chain(*"abc"), chain(*"de", parent="b")]))
    names = [*index.entries]
    assert [names[number] for number in index.path("e")] == ["e", "d", "b", "a"]
    assert [[*index.path(nowhere)] for nowhere in ("nobody", None, 7, ODD_TIP)] == [[], [], [], []]
    assert [index.parent_of(id) for id in ("e", "d", "a", "nobody", None)] == ["d", "b", None, None, None]


# ── the boundary ──


@pytest.mark.parametrize("boundary", range(2, 14))
def test_a_transaction_on_both_sides_of_the_boundary_is_corruption_in_its_line(boundary: int) -> None:
    data = session([chain("a"), chain(*"bcde", parent="a"), chain(*"fghijklm", parent="e")])
    line = {2: None, 3: 3, 4: 3, 5: 3, 6: None}.get(boundary, 4)
    if line is None:
        indexed(data, boundary=boundary)
        return
    with pytest.raises(CorruptSession) as refusal:
        indexed(data, boundary=boundary)
    assert refusal.value.line == line


# ── memory ──


def held(transactions: Sequence[Sequence[Write]]) -> int:
    """The bytes that the index of a session holds."""
    rows = session(transactions).split(b"\n")[1:-1]
    with MemoryMeter() as meter:
        index = StructuralIndex("walk.jsonl")
        for number, line in enumerate(rows, 2):
            index.take(line, number)
    assert index.last_seq
    return meter.held


MANY: dict[str, list[Sequence[Write]]] = {
    "chain": [chain(*(f"{number:024}" for number in range(20_000)))],
    "entries": [chain(f"{number:024}") for number in range(20_000)],
    "scalars": [[ValueSet(value_address("garden.plan", f"{number:024}"), 1)] for number in range(20_000)],
    "lists": [[ListAppend(list_address("garden.plan", f"{number:024}"), 1)] for number in range(20_000)],
    "elements": [[ListAppend(list_address("garden.plan"), 1)] for number in range(20_000)],
}


@pytest.mark.parametrize("name", MANY)
def test_the_index_holds_at_most_400_bytes_for_an_entry_an_address_or_an_element(name: str) -> None:
    assert held(MANY[name]) <= 20_000 * 400


def test_namespaces_of_their_own_stay_below_a_kibibyte() -> None:
    writes: list[list[Write]] = [[ValueSet(value_address(f"n{number}", "k"), 1)] for number in range(5_000)]
    writes += [[ListAppend(list_address(f"n{number}", "k"), 1)] for number in range(5_000)]
    assert held(writes) <= 10_000 * KIBIBYTE


def test_dead_rows_and_payloads_take_nothing() -> None:
    dead: list[Sequence[Write]] = [[ValueSet(value_address("garden.plan"), "x" * 500)] for _ in range(5_000)]
    dead += [[ListAppend(list_address("garden.log"), "x" * 500)] for _ in range(5_000)]
    for number in range(500):
        value, elements = value_address(f"n{number}"), list_address(f"n{number}")
        dead += [[ValueSet(value, 1), ListAppend(elements, 1)], [ValueDelete(value), ListDelete(elements)]]
    assert held([*dead, [ListDelete(list_address("garden.log"))]]) <= 32 * KIBIBYTE
