"""The closed fork classifier and its driver (clauses that ask for source text or internals)."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import product
from pathlib import Path

import pytest

import forkstore
from forkstore.contract import addresses, policy
from forkstore.contract.errors import EntryNotOnBranch, UndeclaredNamespace
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.policy import (
    Action,
    Fetch,
    ForkDriver,
    ForkRow,
    SelectedBranch,
    classify,
    select_branch,
    to_fetch,
)

PACKAGE = Path(forkstore.__file__).parent
IDLE = b'{"currentOperationId":null,"lastOperationId":null,"inbox":[]}'


@pytest.mark.parametrize(("namespace", "kind"), addresses.BUILT_IN_ADDRESSES)
def test_the_switch_names_every_built_in_address(namespace: str, kind: addresses.Kind) -> None:
    """S-FORK-CLS-10: a built-in namespace without an action would be classified as undeclared."""
    assert classify(namespace, kind) not in (Action.FAIL, Action.APPLICATION)


def test_every_namespace_constant_is_a_built_in_address() -> None:
    """S-FORK-CLS-10: a constant added without an entry in the table would escape the test above."""
    constants = {value for value in vars(addresses).values() if isinstance(value, str) and value.startswith("pi.")}
    assert constants == {namespace for namespace, _ in addresses.BUILT_IN_ADDRESSES}


def test_one_module_holds_the_classification() -> None:
    """S-FORK-CLS-09: outside the address table and the switch nobody spells a reserved namespace."""
    spelled = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("pi.")
    }
    assert spelled == {"contract/addresses.py", "contract/policy.py"}


def test_the_switch_is_closed() -> None:
    """S-FORK-CLS-09: the classifier takes a namespace and a kind, and reads no state that anyone could add to."""
    assert list(inspect.signature(classify).parameters) == ["namespace", "kind"]
    registries = [
        name for name, value in vars(policy).items() if isinstance(value, dict | list | set) and name[0] != "_"
    ]
    assert registries == []


DRIVEN = {"memory": {"fork.py"}, "jsonl": {"selecting.py", "legacy_source.py"}, "sqlite": {"selection.py"}}
BACKENDS = sorted(path.parent.name for path in PACKAGE.glob("*/repo.py"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_backends_classify_through_the_policy_only(backend: str) -> None:
    """S-FORK-CLS-09: each backend's fork goes through the driver, and none decides by an action itself."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / backend).rglob("*.py")}
    assert [name for name, source in sources.items() if re.search(r"\bAction\b|\bclassify\b", source)] == []
    driven = {name for name, source in sources.items() if re.search(r"\bForkDriver\(", source)}
    assert driven == DRIVEN[backend]


def test_there_are_backends_to_look_at() -> None:
    assert set(DRIVEN) == {*BACKENDS}


@pytest.mark.parametrize("kind", ["value", "list"])
@pytest.mark.parametrize("namespace", ["pi", "pi.", "pi.op", "pi.pending", "pi.results", "pi.result.x", "pi.unknown"])
def test_undeclared_namespaces_fail(namespace: str, kind: addresses.Kind) -> None:
    with pytest.raises(UndeclaredNamespace) as refusal:
        ForkDriver(TreeFork(), lambda _: True).take(ForkRow(namespace, "", kind, 1, b"1"))
    assert (refusal.value.namespace, refusal.value.kind) == (namespace, kind)


def rows_of_every_lane() -> list[ForkRow]:
    """Tip, configuration and state of two branches, in sequence."""
    namespaces = (addresses.BRANCH_TIP, addresses.LANE_CONFIG, addresses.LANE_STATE)
    places = product(("left", "right"), namespaces)
    return [ForkRow(namespace, key, "value", seq, b'"x"') for seq, (key, namespace) in enumerate(places, 1)]


def driven(driver: ForkDriver, rows: list[ForkRow]) -> list[ForkRow]:
    return [out for row in rows for out in driver.take(row)] + list(driver.finish())


def test_the_driver_streams_a_branch() -> None:
    """S-FORK-CLS-11: rows go through one at a time, and come out at their place, projected."""
    driver = ForkDriver(SelectedBranch("right", "e1"), {"e1"}.__contains__)
    rows = [
        *rows_of_every_lane(),
        ForkRow(addresses.ENTRY_LABEL, "e1", "value", 7, b'"in"'),
        ForkRow(addresses.ENTRY_LABEL, "e2", "value", 8, b'"out"'),
        ForkRow("app", "", "list", 9, b"1"),
    ]
    assert driven(driver, rows) == [
        ForkRow(addresses.BRANCH_TIP, "right", "value", 4, b'"e1"'),
        ForkRow(addresses.LANE_CONFIG, "right", "value", 5, b'"x"'),
        ForkRow(addresses.LANE_STATE, "right", "value", 6, IDLE),
        ForkRow(addresses.ENTRY_LABEL, "e1", "value", 7, b'"in"'),
    ]


def test_the_driver_gives_what_no_row_gave_at_its_finish() -> None:
    """S-FORK-CLS-11: a backend that leaves the lane rows out of its stream still gets tip and idle state, once."""
    driver = ForkDriver(SelectedBranch("main", None), lambda _: False)
    assert driven(driver, []) == [
        ForkRow(addresses.BRANCH_TIP, "main", "value", 0, b"null"),
        ForkRow(addresses.LANE_STATE, "main", "value", 0, IDLE),
    ]
    assert driver.finish() == ()


def test_the_driver_streams_a_tree() -> None:
    rows = [*rows_of_every_lane(), ForkRow("app", "k", "value", 7, b"2.50")]
    idle = [row._replace(text=IDLE) if row.namespace == addresses.LANE_STATE else row for row in rows]
    assert driven(ForkDriver(TreeFork(), lambda _: True), rows) == idle


@pytest.mark.parametrize(
    ("options", "tip", "selected"),
    [
        (BranchFork("main"), "c", "c"),
        (BranchFork("main", "c"), "c", "c"),
        (BranchFork("main", "a"), "c", "a"),
        (BranchFork("main", "b", "before"), "c", "a"),
        (BranchFork("main", position="before"), "c", "b"),
        (BranchFork("main", "a", "before"), "c", None),
        (BranchFork("main"), None, None),
        (BranchFork("main", position="before"), None, None),
        (BranchFork("main"), "ghost", "ghost"),
        (BranchFork("main", position="before"), "ghost", None),
        (BranchFork("main"), 42, 42),
    ],
)
def test_the_selected_tip(options: BranchFork, tip: object, selected: object) -> None:
    parents = {"c": "b", "b": "a", "a": None}
    path = {"c": "ba", "b": "a"}
    found = select_branch(
        options,
        tip,
        lambda entry_id, below: entry_id in path.get(str(below), ""),
        lambda entry_id: parents.get(str(entry_id)),
    )
    assert found == SelectedBranch("main", selected)


@pytest.mark.parametrize("tip", ["b", None, "ghost"])
def test_a_fork_point_off_the_path_is_refused(tip: str | None) -> None:
    with pytest.raises(EntryNotOnBranch):
        select_branch(BranchFork("main", "c"), tip, lambda *_: False, lambda _: None)


NAMESPACES = [*addresses.BUILT_IN_ADDRESSES, ("garden", "value"), ("garden", "list"), ("pi.op.x", "list")]


@pytest.mark.parametrize("of_branch", [True, False])
@pytest.mark.parametrize(("namespace", "kind"), NAMESPACES)
def test_what_is_to_be_fetched_is_what_the_driver_would_copy(
    namespace: str, kind: addresses.Kind, of_branch: bool
) -> None:
    def copied(key: str) -> bool:
        selection = SelectedBranch("limb", "e1") if of_branch else TreeFork()
        return bool(ForkDriver(selection, lambda _: True).take(ForkRow(namespace, key, kind, 1, b"null")))

    due = Fetch.EVERYTHING if copied("trunk") else Fetch.ROW_OF_BRANCH if copied("limb") else Fetch.NOTHING
    assert to_fetch(namespace, kind, of_branch=of_branch) is due


@pytest.mark.parametrize("of_branch", [True, False])
def test_what_is_undeclared_is_refused_before_it_is_fetched(of_branch: bool) -> None:
    with pytest.raises(UndeclaredNamespace):
        to_fetch("pi.unknown", "value", of_branch=of_branch)


def test_the_reserved_ranges_hold_what_is_reserved() -> None:
    names = ["", "o", "pi", "pi!", "pi-x", "pi.", "pi.x", "pi.\U0010ffff", "pi/", "pi/x", "pi0", "pia", "PI.x", "pj"]
    ranges = addresses.RESERVED_RANGES
    assert [any(start <= name < end for start, end in ranges) for name in names] == [
        addresses.is_reserved(name) for name in names
    ]
