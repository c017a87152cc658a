"""What the strategies reach, and what they shrink to: all that is promised, and what is small and plain first."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from forkgen.strategies import (
    State,
    addresses,
    fork_options,
    illegal_values,
    invalid_fork_options,
    invalid_transactions,
    json_values,
    keys,
    namespaces,
    session_ids,
    sessions,
    texts,
    transactions,
)
from forkproof.expect import expect_equal
from forkstore.contract.addresses import Address
from forkstore.contract.codec import depth
from forkstore.contract.errors import (
    DataOnlyBranch,
    DuplicateId,
    EntryNotOnBranch,
    InvalidForkOptions,
    InvalidSessionId,
    SessionExists,
    SessionStoreError,
    UndeclaredNamespace,
    UnknownBranch,
    UnknownParent,
)
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write
from tests.forkgen.strategy_subjects import (
    BUSY,
    BUSY_WRITES,
    PLAIN_MESSAGE,
    SOURCE,
    committed,
    reached,
    short,
    smallest,
)

pytestmark = pytest.mark.one_python

CLAUSES = ("S-TXN-01", "S-TXN-10", "S-TXN-11", "S-ENT-01", "S-ENT-02", "S-ENT-08")
CODEC_CLAUSES = ("S-VAL-03", "S-VAL-05", "S-VAL-06", "S-VAL-08", "S-VAL-09")

# ── reach: nothing of what is promised is out of reach ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("plane", range(17))
def test_keys_reach_every_plane(plane: int) -> None:
    assert reached(keys(), lambda key: any(ord(character) >> 16 == plane for character in key)) is not None


@pytest.mark.parametrize(
    "condition",
    [
        lambda key: key == "",
        lambda key: ":" in key,
        lambda key: key == "a\uffffb",
        lambda key: unicodedata.normalize("NFC", key) != key,
    ],
)
def test_keys_reach_what_careless_stores_mix_up(condition: Any) -> None:
    assert reached(keys(), condition) is not None


@pytest.mark.parametrize(
    "condition",
    [
        lambda value: value in (2**63 - 1, -(2**63)) and type(value) is int,
        lambda value: type(value) is float and repr(value) == "-0.0",
        lambda value: type(value) is float and "e" in repr(value),
        lambda value: type(value) is str and "\u2028" in value,
        lambda value: type(value) is str and "\0" in value,
        lambda value: type(value) is str and any(ord(character) > 0xFFFF for character in value),
        lambda value: type(value) is dict and "" in value,
    ],
)
def test_values_reach_what_careless_codecs_lose(condition: Any) -> None:
    assert reached(json_values(), condition) is not None


@pytest.mark.parametrize("clause", CODEC_CLAUSES)
def test_illegal_values_reach_every_clause(clause: str) -> None:
    assert reached(illegal_values(), lambda illegal: illegal.clause == clause).reason


@pytest.mark.parametrize("kind", [EntryInsert, UsageInsert, ValueSet, ValueDelete, ListAppend, ListDelete])
def test_transactions_reach_all_six_writes(kind: type) -> None:
    assert [type(write) for write in reached(transactions(), lambda writes: kind in map(type, writes))]


def test_transactions_reach_deletes_of_what_is_not_there_and_parents_of_the_same_commit() -> None:
    assert reached(transactions(), lambda writes: writes and type(writes[0]) is ValueDelete)

    def nested(writes: list[Write]) -> bool:
        return any(type(write) is EntryInsert and write.entry["parentId"] is not None for write in writes)

    inserts = [write.entry for write in reached(transactions(), nested) if isinstance(write, EntryInsert)]
    assert {entry["parentId"] for entry in inserts} <= {None, *(entry["id"] for entry in inserts)}


def names(record: str, used: str) -> Any:
    """Whether an entry (a row) uses an id again, by itself in its transaction."""
    return lambda refused: [getattr(write, record, {}).get("id") for write in refused.writes] == [used]


@pytest.mark.parametrize(
    "condition",
    [
        *(lambda refused, clause=clause: refused.clause == clause for clause in (*CLAUSES, *CODEC_CLAUSES)),
        *(names(record, used) for record in ("entry", "row") for used in ("e0", "u0")),
        *(lambda refused, place=place: refused.error is DuplicateId and refused.index == place for place in (0, 1)),
        *(lambda refused, id=id: refused.attributes.get("parent_id") == id for id in ("u0", "e3", "e4")),
    ],
)
def test_invalid_transactions_reach_every_fault_and_the_store_refuses_it(condition: Any) -> None:
    async def checked() -> None:
        kept = await committed([BUSY_WRITES])
        await kept.refuse(reached(invalid_transactions(BUSY), condition))
        await kept.check()
        await kept.repo.close()

    asyncio.run(checked())


@pytest.mark.parametrize("clause", ["S-TXN-01", "S-TXN-10", "S-TXN-11", "S-ENT-02", "S-VAL-08"])
def test_invalid_transactions_shrink_to_the_fault(clause: str) -> None:
    refused = smallest(invalid_transactions(BUSY), lambda refused: refused.clause == clause)
    assert len(refused.writes) == 1
    assert refused.index == 0


@pytest.mark.parametrize("parent", ["e0", "u0", "e1"])
def test_unknown_parents_are_the_entry_itself_a_usage_row_or_an_entry_that_comes_later(parent: str) -> None:
    state = State(usage_ids=("u0",))
    refused = reached(invalid_transactions(state), lambda refused: refused.attributes.get("parent_id") == parent)
    assert refused.error is UnknownParent


def test_an_id_is_used_twice_also_within_one_commit() -> None:
    refused = smallest(invalid_transactions(), lambda refused: refused.error is DuplicateId)
    assert refused.index == 1
    assert [write.entry["id"] for write in refused.writes] == ["e0", "e0"]


@pytest.mark.parametrize("max_depth", [0, 1, 3, 200])
def test_values_are_as_deep_as_asked_for(max_depth: int) -> None:
    assert depth(reached(json_values(max_depth), lambda value: depth(value) == max_depth)) == max_depth
    with pytest.raises(NoSuchExample):
        find(json_values(max_depth), lambda value: depth(value) > max_depth, settings=short)


# ── shrinking: small and plain first ─────────────────────────────────────────────────────────────────────────────────


REFUSED = BUSY.after([ListAppend(Address("pi.unknown", "", "list"), 0)])


@pytest.mark.parametrize(
    ("strategy", "condition", "expected"),
    [
        (texts(), lambda _: True, ""),
        (keys(), lambda _: True, ""),
        (namespaces(), lambda _: True, "app"),
        (addresses(), lambda _: True, Address("app", "", "value")),
        (addresses("list"), lambda _: True, Address("app", "", "list")),
        (session_ids(), lambda _: True, "fork"),
        (json_values(), lambda _: True, None),
        (json_values(), lambda value: type(value) is bool, False),
        (json_values(), lambda value: type(value) is int, 0),
        (json_values(), lambda value: type(value) is int and value > 100, 101),
        (json_values(), lambda value: type(value) is float, 0.0),
        (json_values(), lambda value: type(value) is str, ""),
        (json_values(), lambda value: type(value) is list, []),
        (json_values(), lambda value: type(value) is list and value, [None]),
        (json_values(), lambda value: type(value) is dict, {}),
        (json_values(200), lambda value: depth(value) == 5, [{"a": [{"a": [None]}]}]),
        (transactions(), lambda _: True, []),
        (transactions(BUSY), bool, [ValueSet(Address("app", "", "value"), None)]),
        (sessions(), lambda _: True, []),
        (sessions(), any, [[ValueSet(Address("app", "", "value"), None)]]),
        (
            transactions(BUSY),
            lambda writes: any(type(write) is EntryInsert for write in writes),
            [EntryInsert({"id": "e3", "parentId": None, "type": "message", "message": PLAIN_MESSAGE})],
        ),
    ],
)
def test_the_smallest_is_plain(strategy: st.SearchStrategy[Any], condition: Any, expected: Any) -> None:
    expect_equal(smallest(strategy, condition), expected, of="the smallest example")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (lambda _: True, TreeFork()),
        (lambda options: isinstance(options, BranchFork), BranchFork("main")),
        (lambda options: getattr(options, "position", "") == "before", BranchFork("main", None, "before")),
        (lambda options: getattr(options, "entry_id", None) is not None, BranchFork("main", "e1")),
        (lambda options: getattr(options, "branch", "") == "side", BranchFork("side")),
        (lambda options: options.id is not None, TreeFork("fork")),
    ],
)
def test_the_smallest_fork_is_plain(condition: Any, expected: Any) -> None:
    assert smallest(fork_options(BUSY), lambda fork: condition(fork.options)).options == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InvalidForkOptions, None),
        (UnknownBranch, BranchFork("")),
        (DataOnlyBranch, BranchFork("data")),
        (EntryNotOnBranch, BranchFork("main", "e2")),
        (SessionExists, TreeFork("source")),
        (InvalidSessionId, TreeFork("\ud800")),
    ],
)
def test_the_smallest_refused_fork_is_plain(error: type[SessionStoreError], expected: Any) -> None:
    forks = invalid_fork_options(BUSY, taken=[SOURCE])
    assert smallest(forks, lambda fork: fork.error is error).options == expected


def test_a_live_undeclared_row_leaves_only_refusals() -> None:
    assert fork_options(REFUSED).is_empty
    refused = smallest(invalid_fork_options(REFUSED), lambda fork: fork.error is UndeclaredNamespace)
    assert (refused.options, refused.clause) == (TreeFork(), "S-FORK-CLS-05")
    assert refused.attributes == {"namespace": "pi.unknown", "kind": "list"}
    with pytest.raises(NoSuchExample):
        find(
            invalid_fork_options(REFUSED),
            lambda fork: fork.error not in (InvalidForkOptions, UndeclaredNamespace),
            settings=short,
        )


def test_words_and_depths_that_do_not_exist_are_refused_at_once() -> None:
    asked: list[Callable[[Any], object]] = [
        namespaces,
        lambda word: addresses(reserved=word),
        lambda word: sessions(reserved=word),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match="'some', which is none of none, declared, any"):
            ask("some")
    for max_depth in (-1, 201):
        with pytest.raises(ValueError, match=f"max_depth is {max_depth}, which is outside 0 … 200"):
            json_values(max_depth)
