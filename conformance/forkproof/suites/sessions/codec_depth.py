"""The depth of a payload (section 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import (
    Record,
    compaction_entry,
    custom_entry,
    message_entry,
    usage,
    usage_row,
    user_message,
)
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

PLAN = value_address("garden.plan")


async def _attempt(subject: Subject, write: Write) -> None:
    """A commit past the model, for what the kit itself must not copy."""
    await subject.session.mutate(lambda scope: scope.commit([write]))


def _lists(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _objects(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def _mixed(depth: int) -> Any:
    value: Any = [1, "text", None]
    for level in range(depth - 1):
        value = [value, {}] if level % 2 else {"a": 0, "b": value, "c": []}
    return value


Shape = Callable[[int], Any]
SHAPES: dict[str, Shape] = {"lists": _lists, "objects": _objects, "mixed": _mixed}


def _tail(payload: Any) -> Record:
    return {**user_message(""), "content": payload}


FIELDS: dict[str, tuple[int, Callable[[Any], Write]]] = {
    "scalar": (0, lambda payload: ValueSet(PLAN, payload)),
    "element": (0, lambda payload: ListAppend(list_address("garden.log"), payload)),
    "data": (0, lambda payload: EntryInsert(custom_entry("deep", "e1", data=payload))),
    "message": (1, lambda payload: EntryInsert(message_entry("deep", "e1", message={"content": payload}))),
    "details": (0, lambda payload: EntryInsert({**compaction_entry("deep", "e1"), "details": payload})),
    "unnamed-field": (0, lambda payload: EntryInsert({**message_entry("deep", "e1"), "xNote": payload})),
    "tail-message": (
        1,
        lambda payload: EntryInsert({**compaction_entry("deep", "e1"), "retainedTail": [_tail(1), _tail(payload)]}),
    ),
    "usage-details": (0, lambda payload: UsageInsert(usage_row("deep", details=payload))),
    "usage-unnamed-field": (0, lambda payload: UsageInsert({**usage_row("deep"), "xNote": payload})),
    "usage-object": (1, lambda payload: UsageInsert(usage_row("deep", usage={**usage(), "xNote": payload}))),
}
"""Payload fields by name: how deep inside its field the payload stands, and the write."""


PAYLOADS: dict[str, tuple[str, Shape]] = {
    **{f"scalar-of-{name}": ("scalar", shape) for name, shape in SHAPES.items()},
    **{name: (name, _mixed) for name in FIELDS},
}
"""Fields and the shapes they are tried with."""


@case("S-VAL-09")
@rows("payload", PAYLOADS)
async def a_payload_of_depth_200_is_stored(store: SessionMaker, payload: tuple[str, Shape]) -> None:
    """A payload of depth 200 is stored and comes back: each field counts on its own, and so does each message of a
    retained tail.

    If this fails, look at: depth counted from the record; a decoder with a lower limit than the encoder.
    """
    field, shape = payload
    inside, write = FIELDS[field]
    subject = await store.linear_session()
    await subject.commit(write(shape(200 - inside)))
    await subject.check_everywhere()


@case("S-VAL-09")
@rows("payload", PAYLOADS)
async def a_payload_of_depth_201_is_refused(store: SessionMaker, payload: tuple[str, Shape]) -> None:
    """A payload of depth 201 is refused with `InvalidValue`, and so is one of 1,000.

    If this fails, look at: an empty array counted as depth 0; the innermost member counted as a level; no check where
    the record leaves room.
    """
    field, shape = payload
    inside, write = FIELDS[field]
    subject = await store.linear_session()
    for depth in (201, 1_000):
        with refused(InvalidValue):
            await _attempt(subject, write(shape(depth - inside)))
    await subject.check_everywhere()


@case("S-VAL-09")
@rows("field", {name: name for name in FIELDS})
async def a_bottomless_payload_is_refused(store: SessionMaker, field: str) -> None:
    """A payload deeper than the interpreter's stack, or one that holds itself, is refused with `InvalidValue`.

    If this fails, look at: a RecursionError that reaches the caller, or a crash of the process.
    """
    _, write = FIELDS[field]
    ring: list[Any] = []
    ring.append({"again": ring})
    subject = await store.linear_session()
    for payload in (write(_lists(10_000)), write(ring)):
        with refused(InvalidValue):
            await _attempt(subject, payload)
    await subject.check()


@case("S-VAL-09")
async def a_payload_without_members_has_no_depth(store: SessionMaker) -> None:
    """Width is no depth: 20,000 members side by side at depth 200 are stored.

    If this fails, look at: brackets counted instead of levels.
    """
    payload: Any = [[] for _ in range(20_000)]
    for _ in range(198):
        payload = [payload]
    subject = await store.create()
    await subject.session.set_value(PLAN, payload)
    await subject.reopen()
    row = await subject.session.get_value(PLAN)
    expect_equal(row and row.value, payload, of="a wide payload")
