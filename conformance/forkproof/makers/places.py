"""The places where a caller's payload can stand: how it is written there, and how it is read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from forkproof.makers import records
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

NAMESPACE = "garden.bed"


@dataclass(frozen=True)
class Place:
    """One place. `write(value, id)` puts a payload there under a name of the case's own, `read(session, id)` gets it.

    >>> await subject.commit(PLACES["data"].write({"rain": 2.5}, "monday"))
    >>> await PLACES["data"].read(subject.session, "monday")
    {'rain': 2.5}
    """

    write: Callable[[Any, str], Write]
    read: Callable[[Session, str], Awaitable[Any]]


async def _scalar(session: Session, id: str) -> Any:
    row = await session.get_value(value_address(NAMESPACE, id))
    return "nothing there" if row is None else row.value


async def _element(session: Session, id: str) -> Any:
    elements = await session.read_list(list_address(NAMESPACE, id))
    return elements[0].value if len(elements) == 1 else f"{len(elements)} elements"


async def _message(session: Session, id: str) -> Any:
    return (await _entry(session, id)).get("message", {}).get("content", "no message")


async def _data(session: Session, id: str) -> Any:
    return (await _entry(session, id)).get("data", "no data")


async def _entry(session: Session, id: str) -> records.Record:
    return await session.get_entry(id) or {}


async def _usage_details(session: Session, id: str) -> Any:
    found = [row for row in await session.scan_usage() if row["id"] == id]
    return found[0].get("details", "no details") if len(found) == 1 else f"{len(found)} rows"


def _message_write(value: Any, id: str) -> Write:
    return EntryInsert(records.message_entry(id, None, message={**records.user_message(""), "content": value}))


PLACES: dict[str, Place] = {
    "scalar": Place(lambda value, id: ValueSet(value_address(NAMESPACE, id), value), _scalar),
    "element": Place(lambda value, id: ListAppend(list_address(NAMESPACE, id), value), _element),
    "message": Place(_message_write, _message),
    "data": Place(lambda value, id: EntryInsert(records.custom_entry(id, None, data=value)), _data),
    "usage-details": Place(lambda value, id: UsageInsert(records.usage_row(id, details=value)), _usage_details),
}
"""Every place by name. The content of a message stands one level deeper than the others."""
