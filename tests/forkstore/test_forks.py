"""Fork options and their wire form."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkstore.contract.errors import InvalidForkOptions
from forkstore.contract.forks import (
    BranchFork,
    ForkOptions,
    TreeFork,
    check_fork_options,
    fork_options_from_wire,
    fork_options_to_wire,
)

BRANCH = {"scope": "branch", "branch": "garden"}
TREE = {"scope": "tree"}

OPTIONS = st.builds(
    BranchFork,
    branch=st.text(),
    entry_id=st.none() | st.text(),
    position=st.sampled_from(["at", "before"]),
    id=st.none() | st.text(),
) | st.builds(TreeFork, id=st.none() | st.text())

# Section 13: each refusal of S-FORK-OPT-06, and the field it names.
REFUSED: dict[str, tuple[Any, str]] = {
    "missing scope": ({"branch": "garden"}, "scope"),
    "empty object": ({}, "scope"),
    "unknown scope": (BRANCH | {"scope": "session"}, "scope"),
    "scope in capitals": (BRANCH | {"scope": "Branch"}, "scope"),
    "null scope": (BRANCH | {"scope": None}, "scope"),
    "scope of the wrong type": (BRANCH | {"scope": ["branch"]}, "scope"),
    "missing branch": ({"scope": "branch"}, "branch"),
    "missing branch with an entry": ({"scope": "branch", "entryId": "e1"}, "branch"),
    "unknown key": (BRANCH | {"title": "x"}, "title"),
    "unknown key in tree scope": (TREE | {"title": "x"}, "title"),
    "snake case": (BRANCH | {"entry_id": "e1"}, "entry_id"),
    "a key that is no text": (BRANCH | {5: "x"}, "5"),
    "branch in tree scope": (TREE | {"branch": "garden"}, "branch"),
    "entry in tree scope": (TREE | {"entryId": "e1"}, "entryId"),
    "position in tree scope": (TREE | {"position": "at"}, "position"),
    "null branch": (BRANCH | {"branch": None}, "branch"),
    "null entry": (BRANCH | {"entryId": None}, "entryId"),
    "null position": (BRANCH | {"position": None}, "position"),
    "null id": (BRANCH | {"id": None}, "id"),
    "null id in tree scope": (TREE | {"id": None}, "id"),
    "branch of the wrong type": (BRANCH | {"branch": 1}, "branch"),
    "entry of the wrong type": (BRANCH | {"entryId": 1}, "entry_id"),
    "position of the wrong type": (BRANCH | {"position": 1}, "position"),
    "unknown position": (BRANCH | {"position": "after"}, "position"),
    "id of the wrong type": (BRANCH | {"id": 1}, "id"),
    "id of the wrong type in tree scope": (TREE | {"id": True}, "id"),
    "no object": (None, "options"),
    "a list": (["scope", "tree"], "options"),
    "text": ("tree", "options"),
    "options themselves": (TreeFork(), "options"),
}


@given(OPTIONS)
def test_the_wire_form_gives_equal_options(options: ForkOptions) -> None:
    """S-FORK-OPT-06."""
    wire = fork_options_to_wire(options)
    assert fork_options_from_wire(wire) == options
    assert None not in wire.values()
    assert eval(repr(options), {"BranchFork": BranchFork, "TreeFork": TreeFork}) == options


def test_the_wire_form_is_that_of_the_contract() -> None:
    whole = BranchFork("garden", entry_id="e1", position="before", id="fork")
    assert fork_options_to_wire(whole) == {
        "scope": "branch",
        "branch": "garden",
        "entryId": "e1",
        "position": "before",
        "id": "fork",
    }
    assert fork_options_from_wire(BRANCH) == BranchFork("garden")
    assert fork_options_from_wire(BRANCH | {"branch": ""}) == BranchFork("")
    assert fork_options_to_wire(TreeFork()) == TREE
    assert fork_options_to_wire(TreeFork("fork")) == TREE | {"id": "fork"}
    assert fork_options_from_wire(MappingProxyType(TREE)) == TreeFork()


@pytest.mark.parametrize("row", REFUSED)
def test_every_other_wire_form_is_refused(row: str) -> None:
    """S-FORK-OPT-06."""
    wire, field = REFUSED[row]
    with pytest.raises(InvalidForkOptions) as refusal:
        fork_options_from_wire(wire)
    assert refusal.value.field == field


UNBUILT: Any = BranchFork
ILL: dict[str, tuple[Any, str]] = {
    "none": (None, "options"),
    "wire form": (BRANCH, "options"),
    "class": (TreeFork, "options"),
    "branch": (UNBUILT(None), "branch"),
    "branch number": (UNBUILT(5), "branch"),
    "entry": (UNBUILT("b", entry_id=5), "entry_id"),
    "position": (UNBUILT("b", position="after"), "position"),
    "position none": (UNBUILT("b", position=None), "position"),
    "position list": (UNBUILT("b", position=["at"]), "position"),
    "id": (UNBUILT("b", id=5), "id"),
    "tree id": (TreeFork(5), "id"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("row", ILL)
def test_options_are_judged_when_they_are_used(row: str) -> None:
    """S-FORK-OPT-01, S-FORK-OPT-03, S-FORK-OPT-04: building them above checked nothing."""
    options, field = ILL[row]
    for use in (check_fork_options, fork_options_to_wire):
        with pytest.raises(InvalidForkOptions) as refusal:
            use(options)
        assert refusal.value.field == field


def test_a_branch_fork_names_its_branch() -> None:
    """S-FORK-OPT-02, S-FORK-OPT-05."""
    with pytest.raises(TypeError):
        UNBUILT()
    assert check_fork_options(BranchFork("")) == BranchFork("")
    assert check_fork_options(BranchFork("\ud800\0")) == BranchFork("\ud800\0")
