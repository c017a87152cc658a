"""When and how a payload is refused: in the first step of the commit, with its place (section 6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, refused
from forkproof.instruments.stepping import Stepped, stepped
from forkproof.makers import SessionMaker
from forkproof.makers.records import custom_entry, message_entry, usage, usage_row, user_message
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

PLAN = value_address("garden.plan")
LOG = list_address("garden.log")
BAD: dict[str, Any] = {"class": {1, 2}, "number": float("nan"), "integer": 2**63, "letter": "\ud800"}

INVALID: dict[str, tuple[Write, tuple[str, ...]]] = {
    "scalar-member": (ValueSet(PLAN, {"soil": [0, {"humus": {1}}]}), ("soil", "humus")),
    "scalar-index": (ValueSet(PLAN, {"soil": [0, 0, 0, 0, 0, 0, 0, 0, 0, {1}]}), ("soil", "9")),
    "scalar-letter": (ValueSet(PLAN, {"soil": {"humus": "\ud800"}}), ("soil", "humus")),
    "scalar-integer": (ValueSet(PLAN, {"soil": {"humus": 2**63}}), ("soil", "humus")),
    "element-member": (ListAppend(LOG, {"soil": {"humus": float("nan")}}), ("soil", "humus")),
    "entry-message": (
        EntryInsert(message_entry("new", None, message={**user_message(""), "content": [{"humus": b""}]})),
        ("message", "content", "humus"),
    ),
    "entry-data": (EntryInsert(custom_entry("new", None, data={"humus": (1,)})), ("data", "humus")),
    "entry-id": (EntryInsert({**message_entry("new", None), "id": 5}), ("id",)),
    "entry-parent": (EntryInsert({**message_entry("new", None), "parentId": 5}), ("parentId",)),
    "entry-type": (EntryInsert({**message_entry("new", None), "type": "humus"}), ("type",)),
    "entry-custom-type": (EntryInsert({**custom_entry("new", None), "customType": 5}), ("customType",)),
    "entry-seq": (EntryInsert({**message_entry("new", None), "seq": 5}), ("seq",)),
    "entry-timestamp": (EntryInsert({**message_entry("new", None), "timestamp": 5}), ("timestamp",)),
    "row-details": (UsageInsert(usage_row("new", details={"humus": ...})), ("details", "humus")),
    "row-number": (UsageInsert(usage_row("new", usage={**usage(), "output": True})), ("usage", "output")),
    "row-cost": (
        UsageInsert(usage_row("new", usage={**usage(), "cost": {**usage()["cost"], "total": "1"}})),
        ("usage", "cost", "total"),
    ),
    "row-entry": (UsageInsert({**usage_row("new"), "entryId": 5}), ("entryId",)),
    "row-adjustment": (UsageInsert({**usage_row("new"), "adjustment": 1}), ("adjustment",)),
}
"""Writes that cannot be stored, and the names that lead to the place."""


def _valid(count: int) -> list[Write]:
    return [ListAppend(LOG, number) for number in range(count)]


def _expect_at_once(outcome: Stepped) -> None:
    seen = f"{outcome.kind} {outcome.error!r} after {outcome.suspensions} suspensions"
    at_once = outcome.suspensions == 0 and isinstance(outcome.error, InvalidValue)
    expect(at_once, f"expected: InvalidValue in the first step of the commit\nseen:     {seen}")


@case("S-VAL-10")
@rows("invalid", INVALID)
async def a_payload_is_refused_in_the_first_step(store: SessionMaker, invalid: tuple[Write, tuple[str, ...]]) -> None:
    """`InvalidValue` is raised in the first step of the commit, also when other commits are queued; nothing of the
    commit is written, and those before and behind it are.

    If this fails, look at: values encoded when the commit's turn has come; the first writes written before the last
    is checked; a turn in the queue taken by a commit that is refused.
    """
    write, _ = invalid
    subject = await store.linear_session()
    storage = subject.session.storage
    before, behind = _valid(500), _valid(3)
    first = asyncio.create_task(storage.commit(before))
    await asyncio.sleep(0)
    outcome = await stepped(lambda: storage.commit([*_valid(2), write, *_valid(2)]))
    last = asyncio.create_task(storage.commit(behind))
    subject.follow(await first, *before)
    subject.follow(await last, *behind)
    _expect_at_once(outcome)
    await subject.check_everywhere()


@case("S-VAL-10", needs=())
@rows("invalid", INVALID)
async def a_scope_refuses_a_payload_in_the_first_step(
    store: SessionMaker, invalid: tuple[Write, tuple[str, ...]]
) -> None:
    """The commit of a mutation scope raises `InvalidValue` in its first step, too.

    If this fails, look at: a scope that hands its writes on before they are checked.
    """
    write, _ = invalid
    subject = await store.linear_session()
    scope = await subject.session.begin_mutation()
    outcome = await stepped(lambda: scope.commit([*_valid(2), write]))
    await scope.end()
    _expect_at_once(outcome)
    await subject.check_everywhere()


async def _where(store: SessionMaker, index: int, write: Write) -> str:
    """Where the refusal of a commit says the fault is, with the faulty write at `index` of 40."""
    subject = await store.create()
    writes: list[Write] = [ValueSet(PLAN, "fine")] * 40
    writes[index] = write
    with refused(InvalidValue) as told:
        await subject.session.mutate(lambda scope: scope.commit(writes))
    return str(told.error.where)


@case("S-VAL-10", needs=())
@rows("invalid", INVALID)
async def a_refusal_names_the_place(store: SessionMaker, invalid: tuple[Write, tuple[str, ...]]) -> None:
    """The `where` of a refusal names the place inside the write: the fields and members that lead to it.

    If this fails, look at: the place of the outermost value only; the encoder's own message.
    """
    write, names = invalid
    where = await _where(store, 30, write)
    missing = [name for name in names if name not in where]
    expect(not missing, f"expected: `where` names {', '.join(names)}\nseen:     {where!r}")


@case("S-VAL-10", needs=())
@rows("kind", scalar=lambda bad: ValueSet(PLAN, bad), element=lambda bad: ListAppend(LOG, bad))
@rows("bad", BAD)
@rows("index", first=0, second=1, thirtieth=30)
async def a_refusal_names_the_write(store: SessionMaker, kind: Callable[[Any], Write], bad: Any, index: int) -> None:
    """The `where` of a refusal names the write by its number in the commit, for a payload without members as well.

    If this fails, look at: the number of the first write in every refusal; an empty place.
    """
    where = await _where(store, index, kind(bad))
    numbers = {int(digits) for digits in re.findall(r"\d+", where)}
    expect(numbers & {index, index + 1}, f"expected: `where` names write {index}\nseen:     {where!r}")
