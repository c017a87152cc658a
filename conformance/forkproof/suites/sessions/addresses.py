"""Addresses: what names a location, and what keeps locations apart (section 4)."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.addresses import (
    Address,
    Kind,
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    operation_tool_args,
    pending_assistant_frames,
    session_name,
    value_address,
)
from forkstore.contract.errors import InvalidAddress
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet, Write

BUILDERS: dict[str, Callable[..., Address]] = {"value": value_address, "list": list_address}

BAD_TEXT: dict[str, Any] = {
    "null": None,
    "number": 1,
    "bytes": b"garden",
    "list": ["garden"],
    "nul": "gar\0den",
    "nul-alone": "\0",
    "high-surrogate": "gar\ud800den",
    "low-surrogate": "\udfff",
}

ODD_TEXT: dict[str, str] = {
    "blank": " ",
    "blank-before": " beds",
    "blank-behind": "beds ",
    "upper": "BEDS",
    "colon": "beds:",
    "slash": "../beds",
    "dot": ".",
    "percent": "be%ds_*",
    "quotes": "'\"`",
    "newline": "beds\n",
    "tab": "\t",
    "control": "\x01\x7f\x1f",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "ligature": "ﬁg",
    "sharp-s": "straße",
    "dotless": "b\u0131tk\u0131",
    "emoji": "🌱",
    "last-of-plane": "\uffff",
    "private-use": "\ue000",
    "line-separator": "\u2028",
    "byte-order-mark": "\ufeffbeds",
    "word": "null",
    "number": "1",
    "fraction": "1.0",
    "long": "ü" * 20_000,
}
"""Texts that some store somewhere trims, folds, normalizes, escapes or cuts."""


@case("S-ADDR-01")
@rows("text", BAD_TEXT)
@rows("field", namespace="namespace", key="key")
@rows("kind", value="value", list="list")
async def an_address_of_bad_text_cannot_be_built(store: SessionMaker, text: Any, field: str, kind: Kind) -> None:
    """A namespace or key that is no string, or holds U+0000 or a lone surrogate, raises `InvalidAddress`; nothing is
    looked up.

    If this fails, look at: a check in one of the constructors only; keys turned into text.
    """
    subject = await store.lists_session()
    parts = {"namespace": "garden.log", "key": "kept", field: text}
    with refused(InvalidAddress, field=field):
        BUILDERS[kind](**parts)
    with refused(InvalidAddress, field=field):
        Address(**parts, kind=kind)
    await subject.check()


@case("S-ADDR-01")
@rows("kind", value="value", list="list")
async def an_address_without_a_namespace_cannot_be_built(store: SessionMaker, kind: str) -> None:
    """An empty namespace raises `InvalidAddress`, whatever the key.

    If this fails, look at: an empty namespace taken for "all".
    """
    subject = await store.lists_session()
    for key in ("", "kept"):
        with refused(InvalidAddress, field="namespace"):
            BUILDERS[kind]("", key)
    await subject.check()


@case("S-ADDR-02")
@rows("text", {**ODD_TEXT, "empty": ""})
async def a_key_is_taken_as_it_is(store: SessionMaker, text: str) -> None:
    """Any key names a location of its own and comes back exactly, also after reopening and in a fork.

    If this fails, look at: trimming, case folding, normalization; a limit of the index; the empty key taken for none.
    """
    subject = await store.linear_session()
    await subject.commit(ValueSet(value_address("garden.beds", text), 1))
    await subject.commit(ListAppend(list_address("garden.beds", text), 2))
    rows = await subject.session.scan_values(value_address("garden.beds", text))
    expect_equal([row.address.key for row in rows], [text], of="the keys that a scan finds")
    fork = await subject.fork(TreeFork())
    await fork.check()
    await fork.close()
    await subject.check_everywhere()


@case("S-ADDR-02")
@rows("text", ODD_TEXT)
async def a_namespace_is_taken_as_it_is(store: SessionMaker, text: str) -> None:
    """Any namespace but the empty one names locations of its own, also after reopening and in a fork.

    If this fails, look at: namespaces used as names of tables, files or directories; the same foldings as for keys.
    """
    subject = await store.linear_session()
    await subject.commit(ValueSet(value_address(text, "k"), 1), ListAppend(list_address(text, "k"), 2))
    fork = await subject.fork(TreeFork())
    await fork.check()
    await fork.close()
    await subject.check_everywhere()


@case("S-ADDR-02")
async def texts_that_look_alike_are_different(store: SessionMaker) -> None:
    """Keys and namespaces that differ in any code point live side by side, scalars and lists alike.

    If this fails, look at: a collation without case or accents; joined texts that collide (`a` + `:b`, `a:` + `b`).
    """
    subject = await store.create()
    texts = [*ODD_TEXT.values(), "beds", "Beds", "straSSe", "STRASSE", "fig", "cafe", "CAFÉ", "bitki", "01", "nul"]
    for text in texts:
        await subject.commit(
            ValueSet(value_address("garden", text), text),
            ValueSet(value_address(text, "garden"), ["namespace", text]),
            ListAppend(list_address("garden", text), text),
            ListAppend(list_address(text, "garden"), ["namespace", text]),
        )
    joints = [
        ("a", ":b"),
        ("a:", "b"),
        ("a.b", "c"),
        ("a", "b.c"),
        ("a/b", "c"),
        ("a", "b/c"),
        ("ab", "c"),
        ("a", "bc"),
    ]
    await subject.commit(*(ValueSet(value_address(*parts), list(parts)) for parts in joints))
    await subject.check_everywhere()


def _joined(text: str) -> str:
    """An equal text that is another object."""
    return "".join(list(text))


TWINS: dict[str, tuple[Address, Address]] = {
    "other-text-objects": (
        value_address("garden.plan", "beds"),
        value_address(_joined("garden.plan"), _joined("beds")),
    ),
    "by-keyword": (value_address("garden.plan", "beds"), value_address(key="beds", namespace="garden.plan")),
    "default-key": (value_address("garden.plan"), value_address("garden.plan", "")),
    "class-itself": (value_address("garden.plan", "k"), Address("garden.plan", "k", "value")),
    "copied": (value_address("garden.plan", "k"), copy.deepcopy(value_address("garden.plan", "k"))),
    "pickled": (value_address("garden.plan", "k"), pickle.loads(pickle.dumps(value_address("garden.plan", "k")))),  # noqa: S301 - the case's own bytes
    "tip": (branch_tip("main"), value_address("pi.branch.tip", "main")),
    "configuration": (lane_config("main"), value_address("pi.lane.config", "main")),
    "state": (lane_state("main"), value_address("pi.lane.state", "main")),
    "label": (entry_label("e1"), value_address("pi.entry.label", "e1")),
    "name": (session_name(), value_address("pi.session.name")),
    "arguments": (operation_tool_args("op", 0, 1), value_address("pi.op.tool_args", "op:0:1")),
    "arguments-as-text": (operation_tool_args("op", "0", "1"), operation_tool_args("op", 0, 1)),
}


@case("S-ADDR-03")
@rows("twins", TWINS)
async def equal_addresses_name_one_location(store: SessionMaker, twins: tuple[Address, Address]) -> None:
    """Addresses with equal parts name one scalar, whichever way they were built: one sets, the other reads, replaces
    and deletes.

    If this fails, look at: locations kept by the address object; a namespace's own table for built-in addresses.
    """
    one, other = twins
    subject = await store.create()
    await subject.commit(ValueSet(one, "first"))
    row = await subject.session.get_value(other)
    expect_equal(row and row.value, "first", of="what the twin reads")
    await subject.commit(ValueSet(other, "second"))
    row = await subject.session.get_value(one)
    expect_equal(row and (row.value, row.address == other), ("second", True), of="what the first reads after the twin")
    await subject.commit(ValueDelete(one))
    await subject.check_everywhere()


@case("S-ADDR-03")
async def equal_list_addresses_name_one_list(store: SessionMaker) -> None:
    """List addresses with equal parts name one list, whichever way they were built.

    If this fails, look at: a list per address object.
    """
    subject = await store.create()
    twins = (
        pending_assistant_frames("op", "e1"),
        list_address("pi.pending.assistant_frame", "op:e1"),
        Address(_joined("pi.pending.assistant_frame"), _joined("op:e1"), "list"),
    )
    await subject.commit(*(ListAppend(address, number) for number, address in enumerate(twins)))
    for address in twins:
        elements = await subject.session.read_list(address)
        expect_equal([element.value for element in elements], [0, 1, 2], of=f"the list at {address!r}")
    await subject.check_everywhere()


SCALAR, LIST = value_address("garden.log", "kept"), list_address("garden.log", "kept")
BOTH: list[Write] = [ValueSet(SCALAR, "scalar"), ListAppend(LIST, 1), ListAppend(LIST, 2)]


async def _fork_and_go_on(subject: Subject) -> None:
    fork = await subject.fork(TreeFork())
    await fork.check()
    await fork.commit(ValueDelete(SCALAR))
    await fork.check()
    await fork.close()


NEIGHBOURS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "set": lambda subject: subject.commit(ValueSet(SCALAR, ["another"])),
    "set-null": lambda subject: subject.commit(ValueSet(SCALAR, None)),
    "delete": lambda subject: subject.commit(ValueDelete(SCALAR)),
    "append": lambda subject: subject.commit(ListAppend(LIST, 3)),
    "delete-list": lambda subject: subject.commit(ListDelete(LIST)),
    "delete-list-and-append": lambda subject: subject.commit(ListDelete(LIST), ListAppend(LIST, 3)),
    "all-at-once": lambda subject: subject.commit(ValueDelete(SCALAR), *BOTH, ListDelete(LIST), ValueSet(SCALAR, 4)),
    "read": lambda subject: subject.session.read_list(LIST, limit=1),
    "fork": _fork_and_go_on,
}


@case("S-ADDR-04")
@rows("operation", NEIGHBOURS)
async def a_scalar_and_a_list_at_one_place_are_separate(
    store: SessionMaker, operation: Callable[[Subject], Awaitable[object]]
) -> None:
    """What is done to the scalar at a namespace and key leaves the list there alone, and the other way round.

    If this fails, look at: one table without the kind in its key; a delete of "everything at the key"; a fork that
    takes only one of two rows.
    """
    subject = await store.linear_session()
    await subject.commit(*BOTH)
    await operation(subject)
    await subject.check_everywhere()


@case("S-ADDR-04")
async def the_one_kind_does_not_show_through_the_other(store: SessionMaker) -> None:
    """Where only a list is, no scalar is found, and where only a scalar is, the list is empty.

    If this fails, look at: a list stored as a scalar that holds an array.
    """
    subject = await store.linear_session()
    await subject.commit(ListAppend(LIST, 1), ValueSet(value_address("garden.log", "scalar"), [1, 2]))
    await subject.check()
    expect_equal(await subject.session.get_value(SCALAR), None, of="the scalar beside the list")
    elements = await subject.session.read_list(list_address("garden.log", "scalar"))
    expect_equal(elements, [], of="the list beside the scalar")
    await subject.check_everywhere()
