"""JSON text that somebody else put into the rows of a database: the places where it can stand, and how it is read back.

A session has one row of each kind, written by the store; then the text in them is replaced, past the store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from forkproof.expect import expect
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.raw_databases import SESSION_COLUMN, path_of
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.store import Session, SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet

PLAN, LOG = value_address("garden.plan", "beds"), list_address("garden.log", "beds")
SOUND: Final = "sound"
"""What the rows beside the replaced ones hold."""


@dataclass(frozen=True)
class Spot:
    """A place in a row: the text stands in `column` of the row that `where` chooses, inside of `form` at `@`.

    `keys` are what an error must name besides the table; `reads` are the reads that meet the row.
    """

    table: str
    column: str
    where: str
    keys: tuple[str, ...]
    read: Callable[[Session], Awaitable[Any]]
    reads: tuple[Callable[[Session], Awaitable[object]], ...]
    form: str = "@"

    def plant(self, store: SessionMaker, of: SessionMetadata, text: str | bytes) -> None:
        """Puts the text there; bytes become text that may be no UTF-8."""
        data = text if isinstance(text, bytes) else self.form.replace("@", text).encode("utf-8", "surrogatepass")
        owner = SESSION_COLUMN[self.table]
        sql = f"UPDATE {self.table} SET {self.column} = CAST(? AS TEXT) WHERE {owner} = ? AND {self.where}"  # noqa: S608
        store.databases.change(path_of(of), (sql, (data, of.id)))

    def stored(self, store: SessionMaker, of: SessionMetadata) -> bytes:
        """The bytes that stand there. Breaks the clause when there is no such row."""
        owner = SESSION_COLUMN[self.table]
        sql = f"SELECT CAST({self.column} AS BLOB) FROM {self.table} WHERE {owner} = ? AND {self.where}"  # noqa: S608
        found: list[tuple[bytes]] = store.databases.rows(path_of(of), sql, of.id)
        expect(found, f"a row of {self.table} where {self.where}\nexpected: one in the session\nseen:     none")
        return found[0][0]


async def _entry(session: Session, id: str, field: str) -> Any:
    return (await session.get_entry(id) or {}).get(field, "no such field")


async def _usage(session: Session, field: str) -> Any:
    return next(row.get(field, "no such field") for row in await session.scan_usage() if row["id"] == "spent")


async def _value(session: Session) -> Any:
    row = await session.get_value(PLAN)
    return "nothing there" if row is None else row.value


async def _element(session: Session) -> Any:
    elements = await session.read_list(LOG)
    return elements[0].value if len(elements) == 1 else f"{len(elements)} elements"


def _spot_of_entry(id: str, field: str, form: str) -> Spot:
    return Spot(
        "entries",
        "payload",
        f"id = '{id}'",
        (id,),
        lambda session: _entry(session, id, field),
        (
            lambda session: session.get_entries(["e1", id]),
            lambda session: session.scan_entries(),
            lambda session: session.find_entries(type="message" if field == "message" else "custom"),
            lambda session: session.scan_branch("last"),
            lambda session: session.scan_branch("last", order="oldest_first"),
        ),
        form,
    )


SPOTS: dict[str, Spot] = {
    "message": _spot_of_entry("said", "message", '{"message":@}'),
    "data": _spot_of_entry("noted", "data", '{"data":@}'),
    "unknown-field": _spot_of_entry("odd", "further", '{"data":0,"further":@}'),
    "scalar": Spot(
        "scalar_values",
        "value",
        "namespace = 'garden.plan' AND key = 'beds'",
        ("garden.plan", "beds"),
        _value,
        (lambda session: session.get_value(PLAN), lambda session: session.scan_values(value_address("garden.plan"))),
    ),
    "element": Spot(
        "list_values",
        "value",
        "namespace = 'garden.log' AND key = 'beds'",
        ("garden.log", "beds"),
        _element,
        (lambda session: session.read_list(LOG), lambda session: session.read_list(LOG, order="desc", limit=1)),
    ),
    "usage-details": Spot(
        "usage_ledger",
        "details",
        "id = 'spent'",
        ("spent",),
        lambda session: _usage(session, "details"),
        (lambda session: session.scan_usage(), lambda session: session.scan_usage(order="desc")),
    ),
}
"""Every place that a payload can stand in."""

USAGE: Final = Spot(
    "usage_ledger",
    "usage",
    "id = 'spent'",
    ("spent",),
    lambda session: _usage(session, "usage"),
    (lambda session: session.scan_usage(),),
)
"""The usage object of a ledger row, whose parts the store knows."""


async def planted(store: SessionMaker, id: str | None = None) -> Subject:
    """A lane `main` over e1, said, noted, odd and last; a scalar, an element and a usage row; and sound rows."""
    subject = await store.empty_session(id)
    entries = (
        records.message_entry("e1", None),
        records.message_entry("said", "e1", message={"role": "user"}),
        records.custom_entry("noted", "said", "weather", 0),
        {**records.custom_entry("odd", "noted", "weather", 0), "further": 0},
        records.message_entry("last", "odd"),
    )
    for entry in entries:
        await subject.append("main", entry=entry)
    await subject.configure("main")
    await subject.raw_commit(
        EntryInsert(records.custom_entry("beside", "e1", data=SOUND)),
        ValueSet(PLAN, 0),
        ValueSet(value_address("garden.beside", "beds"), SOUND),
        ListAppend(LOG, 0),
        ListAppend(list_address("garden.log", "beside"), SOUND),
        UsageInsert(records.usage_row("spent", details=0)),
    )
    return subject


async def sound_rows(session: Session) -> dict[str, Any]:
    """What the rows show that nobody replaces."""
    row = await session.get_value(value_address("garden.beside", "beds"))
    elements = await session.read_list(list_address("garden.log", "beside"))
    return {
        "entry": await _entry(session, "beside", "data"),
        "scalar": None if row is None else row.value,
        "elements": [element.value for element in elements],
        "path": [entry["id"] for entry in await session.scan_branch("e1")],
    }


SOUND_ROWS: Final = {"entry": SOUND, "scalar": SOUND, "elements": [SOUND], "path": ["e1"]}
"""`sound_rows` of a right store."""


def place_of(subject: Subject) -> Path:
    """The database of a subject."""
    return path_of(subject.metadata)
