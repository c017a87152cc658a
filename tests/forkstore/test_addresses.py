"""Addresses are taken as they are, and the built-in ones are exactly those of the contract."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forkstore
from forkstore.contract import addresses
from forkstore.contract.addresses import Address, is_reserved, list_address, value_address
from forkstore.contract.errors import InvalidAddress

# Section 4.1, row by row: how an address is built, and what it is.
BUILT_IN: dict[str, tuple[Address, Address]] = {
    "branch_tip": (forkstore.branch_tip("b"), Address("pi.branch.tip", "b", "value")),
    "lane_config": (forkstore.lane_config("b"), Address("pi.lane.config", "b", "value")),
    "lane_state": (forkstore.lane_state("b"), Address("pi.lane.state", "b", "value")),
    "operation_result": (forkstore.operation_result("o"), Address("pi.result", "o", "value")),
    "operation_meta": (forkstore.operation_meta("o"), Address("pi.op.meta", "o", "value")),
    "operation_state": (forkstore.operation_state("o"), Address("pi.op.state", "o", "value")),
    "operation_tool_args": (forkstore.operation_tool_args("o", 2, 0), Address("pi.op.tool_args", "o:2:0", "value")),
    "operation_tool_memo": (forkstore.operation_tool_memo("o", "i", "n"), Address("pi.op.tool_memo", "o:i:n", "value")),
    "operation_preparation": (forkstore.operation_preparation("o", "t"), Address("pi.op.preparation", "o:t", "value")),
    "pending_entry": (forkstore.pending_entry("e"), Address("pi.pending.entry", "e", "value")),
    "pending_tool_output": (
        forkstore.pending_tool_output("o", "i"),
        Address("pi.pending.tool_output", "o:i", "value"),
    ),
    "pending_assistant_frames": (
        forkstore.pending_assistant_frames("o", "r"),
        Address("pi.pending.assistant_frame", "o:r", "list"),
    ),
    "session_name": (forkstore.session_name(), Address("pi.session.name", "", "value")),
    "entry_label": (forkstore.entry_label("e"), Address("pi.entry.label", "e", "value")),
}
PREFIXES: dict[str, list[tuple[Address, Address]]] = {
    "branch_tip_prefix": [(forkstore.branch_tip_prefix(), Address("pi.branch.tip", "", "value"))],
    "operation_tool_args_prefix": [
        (forkstore.operation_tool_args_prefix("o"), Address("pi.op.tool_args", "o:", "value")),
        (forkstore.operation_tool_args_prefix("o", 2), Address("pi.op.tool_args", "o:2:", "value")),
        (forkstore.operation_tool_args_prefix("o", step="s"), Address("pi.op.tool_args", "o:s:", "value")),
    ],
    "operation_tool_memo_prefix": [
        (forkstore.operation_tool_memo_prefix("o"), Address("pi.op.tool_memo", "o:", "value")),
        (forkstore.operation_tool_memo_prefix("o", invocation="i"), Address("pi.op.tool_memo", "o:i:", "value")),
    ],
    "operation_preparation_prefix": [
        (forkstore.operation_preparation_prefix("o"), Address("pi.op.preparation", "o:", "value"))
    ],
    "pending_tool_output_prefix": [
        (forkstore.pending_tool_output_prefix("o"), Address("pi.pending.tool_output", "o:", "value"))
    ],
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_address_is_that_of_the_table(name: str) -> None:
    built, expected = BUILT_IN[name]
    assert built == expected


@pytest.mark.parametrize("name", PREFIXES)
def test_a_scan_prefix_is_that_of_the_contract(name: str) -> None:
    assert all(built == expected for built, expected in PREFIXES[name])


def test_built_in_addresses_and_prefixes_are_exactly_those_of_the_contract() -> None:
    """S-ADDR-07, both ways: the table of the package is the contract's, and no constructor goes beyond it."""
    assert len(addresses.BUILT_IN_ADDRESSES) == 14
    assert list(addresses.BUILT_IN_ADDRESSES) == [(address.namespace, address.kind) for _, address in BUILT_IN.values()]
    constructors = {
        name
        for name, value in vars(addresses).items()
        if callable(value) and getattr(value, "__module__", "") == addresses.__name__ and not name.startswith("_")
    }
    general = {"Address", "is_reserved", "list_address", "value_address"}
    assert constructors == {*BUILT_IN, *PREFIXES} | general
    assert {name for name in forkstore.__all__ if name in constructors} == constructors - {"is_reserved"}


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "empty namespace": ("", "k", "namespace"),
    "namespace of no text": (None, "k", "namespace"),
    "bytes": (b"app", "k", "namespace"),
    "number": (7, "k", "namespace"),
    "subclass of str": (type("Name", (str,), {})("app"), "k", "namespace"),
    "U+0000 in the namespace": ("a\0b", "k", "namespace"),
    "lone surrogate in the namespace": ("a\ud800", "k", "namespace"),
    "key of no text": ("app", None, "key"),
    "number as key": ("app", 7, "key"),
    "U+0000 in the key": ("app", "\0", "key"),
    "lone surrogate in the key": ("app", "\udfff", "key"),
}


@pytest.mark.parametrize("build", [value_address, list_address])
@pytest.mark.parametrize("row", REFUSED)
def test_what_no_address_can_hold_is_refused(row: str, build: Callable[..., Address]) -> None:
    """S-ADDR-01."""
    namespace, key, field = REFUSED[row]
    with pytest.raises(InvalidAddress) as refusal:
        build(namespace, key)
    assert refusal.value.field == field


def test_an_address_has_one_of_two_kinds() -> None:
    kind: Any = "set"
    with pytest.raises(InvalidAddress):
        Address("app", "", kind)


@pytest.mark.parametrize("part", [1.5, True, None])
def test_the_parts_of_a_compound_key_are_text_or_whole_numbers(part: Any) -> None:
    with pytest.raises(InvalidAddress):
        forkstore.operation_tool_args("o", part, 0)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
def test_namespace_and_key_are_taken_as_they_are(namespace: str, key: str) -> None:
    """S-ADDR-02, S-ADDR-03."""
    for build, kind in ((value_address, "value"), (list_address, "list")):
        address = build(namespace, key)
        assert (address.namespace, address.key, address.kind) == (namespace, key, kind)
        again = pickle.loads(pickle.dumps(address))
        assert again == address
        assert hash(again) == hash(address)
        assert eval(repr(address), {"Address": Address}) == address
    assert value_address(namespace, key) != list_address(namespace, key)


@pytest.mark.parametrize("namespace", ["pi", "pi.", "pi.x", "pi.branch.tip"])
def test_reserved_namespaces(namespace: str) -> None:
    """S-ADDR-05, S-ADDR-06."""
    assert is_reserved(namespace)
    assert value_address(namespace).namespace == namespace


@pytest.mark.parametrize("namespace", ["pi2", "pi2.events", "pip", "pip.x", "PI", "PI.x", "pi/x", "pi:x", " pi"])
def test_application_namespaces(namespace: str) -> None:
    """S-ADDR-05."""
    assert not is_reserved(namespace)
