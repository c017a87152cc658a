"""The oracle: its own rules hold for themselves, and its reading notices every kind of lie."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.expect import ClauseBroken
from forkproof.oracle.classifier import ForkRefused
from forkproof.oracle.ledger import summed, zero_usage
from forkproof.oracle.model import SessionModel
from forkproof.oracle.reading import read_state
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import branch_tip, entry_label, lane_config, lane_state, list_address, value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.records import SessionStats
from forkstore.contract.store import ListElement, ValueRow
from forkstore.contract.writes import (
    CommitResult,
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
)

IDLE: dict[str, object] = {"currentOperationId": None, "lastOperationId": None, "inbox": []}


def applied(*writes, model=None):
    model = model or SessionModel()
    first = model.next_seq or 1
    result = CommitResult(first, list(range(first, first + len(writes))), 7, SessionStats(0, {}))
    model.apply(writes, result)
    return model


def entry(id, parent=None, **fields):
    return EntryInsert({"id": id, "parentId": parent, "type": "message", "message": {"role": "user"}, **fields})


def tree():
    """a ─ b ─ c, a ─ d; lane main at c, data-only branch side at d."""
    return applied(
        entry("a"),
        entry("b", "a"),
        entry("c", "b"),
        entry("d", "a"),
        ValueSet(branch_tip("main"), "c"),
        ValueSet(lane_config("main"), {"x": 1}),
        ValueSet(lane_state("main"), {"busy": True}),
        ValueSet(branch_tip("side"), "d"),
        ValueSet(entry_label("b"), "on the path"),
        ValueSet(entry_label("d"), "beside"),
        ValueSet(entry_label("nobody"), "of nothing"),
        ValueSet(value_address("app"), None),
        ListAppend(list_address("app"), 1),
        ListAppend(list_address("pi.pending.assistant_frame", "op:e"), {}),
        ValueSet(value_address("pi.result", "op"), {}),
    )


def test_writes_take_effect_in_order():
    a, b = value_address("app"), list_address("app")
    model = applied(ValueSet(a, 1), ValueSet(a, 2), ListAppend(b, 1), ListDelete(b), ListAppend(b, 2), ListAppend(b, 3))
    state = model.state()
    assert (state.scalars, state.lists) == ({("app", ""): 2}, {("app", ""): [2, 3]})
    assert model.next_seq == 7
    applied(ValueDelete(a), ListDelete(b), ValueDelete(value_address("never")), model=model)
    assert (model.state().scalars, model.state().lists, model.next_seq) == ({}, {}, 10)


def test_the_model_keeps_no_reference_to_what_it_was_given():
    value, record = {"a": [1]}, {"id": "a", "parentId": None, "type": "custom", "customType": "x", "data": [1]}
    model = applied(ValueSet(value_address("app"), value), EntryInsert(record))
    value["a"].append(2)
    record["data"].append(2)
    assert model.value(value_address("app")) == {"a": [1]}
    assert model.entry("a")["data"] == [1]


def test_entries_carry_time_and_sequence():
    assert tree().entry("b") == {
        "id": "b",
        "parentId": "a",
        "type": "message",
        "message": {"role": "user"},
        "timestamp": 7,
        "seq": 2,
    }


def test_a_result_that_numbers_too_few_writes_breaks_the_clause():
    with pytest.raises(ClauseBroken):
        SessionModel().apply([entry("a")], CommitResult(1, [], 7, SessionStats(0, {})))


@pytest.mark.parametrize(
    ("options", "entries", "tip"),
    [
        (BranchFork("main"), ["a", "b", "c"], "c"),
        (BranchFork("main", entry_id="b"), ["a", "b"], "b"),
        (BranchFork("main", position="before"), ["a", "b"], "b"),
        (BranchFork("main", entry_id="a", position="before"), [], None),
    ],
)
def test_a_branch_fork_takes_the_path(options, entries, tip):
    state = tree().fork(options, "source").state()
    assert [one["id"] for one in state.entries] == entries
    labels = {("pi.entry.label", "b"): "on the path"} if "b" in entries else {}
    lane = {("pi.branch.tip", "main"): tip, ("pi.lane.config", "main"): {"x": 1}, ("pi.lane.state", "main"): IDLE}
    assert state.scalars == {**lane, **labels}
    assert (state.lists, state.ledger, state.usage) == ({}, [], zero_usage())
    assert (state.message_count, state.parent_session_id) == (len(entries), "source")


def test_a_tree_fork_takes_what_is_not_work():
    state = tree().fork(TreeFork(), "source").state()
    assert [one["id"] for one in state.entries] == ["a", "b", "c", "d"]
    assert state.scalars == {
        ("pi.branch.tip", "main"): "c",
        ("pi.lane.config", "main"): {"x": 1},
        ("pi.lane.state", "main"): IDLE,
        ("pi.branch.tip", "side"): "d",
        ("pi.entry.label", "b"): "on the path",
        ("pi.entry.label", "d"): "beside",
        ("app", ""): None,
    }
    assert state.lists == {("app", ""): [1]}


def test_a_fork_looks_where_its_source_was_written():
    fork = tree().fork(BranchFork("main"), "source")
    assert ("app", "") in fork.touched
    assert fork.next_seq is None


@pytest.mark.parametrize(
    ("options", "refusal", "attributes"),
    [
        (BranchFork("none"), "UnknownBranch", {"name": "none"}),
        (BranchFork("side"), "DataOnlyBranch", {"name": "side"}),
        (BranchFork("main", entry_id="d"), "EntryNotOnBranch", {"entry_id": "d", "branch": "main"}),
    ],
)
def test_refusals_of_branch_forks(options, refusal, attributes):
    with pytest.raises(ForkRefused) as refused:
        tree().fork(options, "source")
    assert (refused.value.refusal, refused.value.attributes) == (refusal, attributes)


FAILING = ("pi", "pi.", "pi.unknown", "pi.op", "pi.pending", "pi.results", "pi.result.x", "pi.session", "pi.lane")
APPLICATION = ("pi2.events", "pip.x", "PI.x", "pi/x", "pi:x", "pi-x", "p")
SCALARS_ONLY = ("pi.session.name", "pi.entry.label", "pi.branch.tip", "pi.lane.config", "pi.lane.state", "pi.result")


@pytest.mark.parametrize("options", [TreeFork(), BranchFork("main")])
@pytest.mark.parametrize("namespace", FAILING + APPLICATION + SCALARS_ONLY + ("pi.op.x", "pi.pending.x"))
@pytest.mark.parametrize("kind", ["value", "list"])
def test_the_table_of_namespaces(namespace, kind, options):
    address = value_address(namespace, "k") if kind == "value" else list_address(namespace, "k")
    write = ValueSet(address, 1) if kind == "value" else ListAppend(address, 1)
    model = applied(write, model=tree())
    if namespace in FAILING or (namespace in SCALARS_ONLY and kind == "list"):
        with pytest.raises(ForkRefused, match=f"namespace={namespace!r}, kind={kind!r}"):
            model.fork(options, "source")
        applied(ValueDelete(address) if kind == "value" else ListDelete(address), model=model)
    model.fork(options, "source")


NUMBERS = st.integers(-1000, 1000)
USAGE = st.fixed_dictionaries(
    dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), NUMBERS)
    | {"cost": st.fixed_dictionaries(dict.fromkeys(zero_usage()["cost"], NUMBERS))},
    optional={"reasoning": NUMBERS, "cacheWrite1h": NUMBERS},
)


@given(st.lists(USAGE))
def test_the_ledger_is_summed_field_by_field(rows):
    total = summed({"usage": row} for row in rows)
    assert total["input"] == sum(row["input"] for row in rows)
    assert total["cost"]["total"] == sum(row["cost"]["total"] for row in rows)
    assert ("reasoning" in total) == any("reasoning" in row for row in rows)
    assert list(total)[:6] == list(zero_usage())


def test_rows_of_the_ledger_count_for_the_statistics():
    usage = {**zero_usage(), "input": 3, "reasoning": 2}
    model = applied(UsageInsert({"id": "u", "usage": usage, "adjustment": False}), entry("a"))
    state = model.state()
    assert (state.usage["input"], state.usage["reasoning"], state.message_count) == (3, 2, 1)
    assert state.ledger == [{"id": "u", "usage": usage, "adjustment": False}]


WRITES = [
    entry("a"),
    entry("b", "a"),
    ValueSet(branch_tip("main"), "b"),
    ValueSet(value_address("app"), {"k": 1}),
    ListAppend(list_address("app"), "x"),
    ListAppend(list_address("app"), "y"),
]


async def _session():
    session = await MemorySessionRepo().create(id="s")

    async def attempt(scope):
        return await scope.commit(list(WRITES))

    model = SessionModel()
    model.apply(WRITES, await session.mutate(attempt))
    return session, model


def test_a_true_session_reads_as_its_model():
    async def run():
        session, model = await _session()
        return await read_state(session, model.touched, model), model.state()

    seen, expected = asyncio.run(run())
    assert seen == expected


async def _swapped(session, read):
    rows = await read()
    return rows[::-1]


async def _renumbered_value(session, read):
    return [ValueRow(row.address, row.value, row.seq + 1) for row in await read()]


async def _lost_value(session, read):
    return []


async def _repeated_element(session, read):
    elements = await read()
    return elements + elements[-1:]


async def _renumbered_elements(session, read):
    return [ListElement(element.seq + 10, element.value) for element in await read()]


LIES = [
    ("scan_entries", _swapped),
    ("scan_branch", _swapped),
    ("find_entries", _swapped),
    ("scan_values", _renumbered_value),
    ("scan_values", _lost_value),
    ("read_list", _repeated_element),
    ("read_list", _renumbered_elements),
]


@pytest.mark.parametrize(("method", "lie"), LIES, ids=[f"{method}{lie.__name__}" for method, lie in LIES])
def test_a_read_path_that_disagrees_breaks_the_clause(method, lie):
    class Liar:
        def __init__(self, session):
            self.session = session

        def __getattr__(self, name):
            read = getattr(self.session, name)
            if name != method:
                return read

            async def lying(*args, **kwargs):
                return await lie(self.session, lambda: read(*args, **kwargs))

            return lying

    async def run():
        session, model = await _session()
        return await read_state(Liar(session), model.touched, model)

    with pytest.raises(ClauseBroken):
        asyncio.run(run())
