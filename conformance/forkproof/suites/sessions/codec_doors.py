"""One codec behind every door: a payload is accepted, refused and given back the same everywhere (section 6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker
from forkproof.makers.places import PLACES
from forkproof.makers.records import user_message
from forkproof.suites.sessions.codec import JSON, NOT_JSON
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.store import Session

Door = Callable[[Session, Any], Awaitable[Any]]
"""Puts a payload into a session by one of its own writers, and gives what is then read back."""


async def _by_set_value(session: Session, value: Any) -> Any:
    await session.set_value(value_address("garden.door"), value)
    row = await session.get_value(value_address("garden.door"))
    return row and row.value


async def _by_append_list(session: Session, value: Any) -> Any:
    await session.append_list(list_address("garden.door"), value)
    return (await session.read_list(list_address("garden.door"), order="desc", limit=1))[0].value


async def _by_append_message(session: Session, value: Any) -> Any:
    branch = await session.branch("main") or await session.create_branch("main", None)
    id = await branch.append_message({**user_message(""), "content": value})
    return ((await session.get_entry(id)) or {})["message"]["content"]


async def _by_append_custom_entry(session: Session, value: Any) -> Any:
    branch = await session.branch("main") or await session.create_branch("main", None)
    id = await branch.append_custom_entry("door", value)
    return ((await session.get_entry(id)) or {})["data"]


def _by_place(name: str) -> Door:
    async def write_and_read(session: Session, value: Any) -> Any:
        id = session.id_generator.next()
        await session.mutate(lambda scope: scope.commit([PLACES[name].write(value, id)]))
        return await PLACES[name].read(session, id)

    return write_and_read


DOORS: dict[str, Door] = {
    "set-value": _by_set_value,
    "append-list": _by_append_list,
    "append-message": _by_append_message,
    "append-custom-entry": _by_append_custom_entry,
    **{f"commit-{name}": _by_place(name) for name in PLACES},
}
REFUSED: dict[str, Any] = {
    **NOT_JSON,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "integer-too-large": 2**63,
    "integer-too-small": -(2**63) - 1,
    "integer-of-5000-digits": 10**5_000,
    "lone-surrogate": "a\ud800",
    "lone-surrogate-name": {"a\udfff": 1},
}


@case("S-VAL-12")
@rows("door", DOORS)
async def a_payload_is_accepted_at_every_door(store: SessionMaker, door: Door) -> None:
    """What one place takes every place takes, by every writer, and gives back the same.

    If this fails, look at: a second codec for list elements or messages; a memory backend that copies instead of
    encoding.
    """
    subject = await store.create()
    for name, value in JSON.items():
        expect_equal(await door(subject.session, value), value, of=f"the payload {name}", ordered=True)


@case("S-VAL-12")
@rows("door", DOORS)
async def a_payload_is_refused_at_every_door(store: SessionMaker, door: Door) -> None:
    """What one place refuses every place refuses, by every writer, with `InvalidValue`; the session goes on.

    If this fails, look at: checks in one writer only; values checked when they are read.
    """
    subject = await store.create()
    await door(subject.session, "before")
    for name, value in REFUSED.items():
        with refused(InvalidValue) as told:
            await door(subject.session, {"a": [value]})
        expect_equal(type(told.error).__name__, "InvalidValue", of=f"the refusal of {name}")
    expect_equal(await door(subject.session, "after"), "after", of="a payload after the refusals")
