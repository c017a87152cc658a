"""A full reading of a live session through the public interface, and what all of its read paths must agree on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from forkproof.expect import ClauseBroken, expect_equal
from forkproof.oracle.model import Placed, SessionModel
from forkproof.oracle.state import Location, LogicalState, Record, without_seq
from forkstore.contract.addresses import list_address, value_address

BUILT_IN_NAMESPACES = (
    "pi.branch.tip",
    "pi.lane.config",
    "pi.lane.state",
    "pi.result",
    "pi.op.meta",
    "pi.op.state",
    "pi.op.tool_args",
    "pi.op.tool_memo",
    "pi.op.preparation",
    "pi.pending.entry",
    "pi.pending.tool_output",
    "pi.session.name",
    "pi.entry.label",
)
PAGE = 10_000
COMPARED_IN_FULL = 600
"""Up to this many entries `get_entries` is asked for all of them; above, for some at even distances."""


async def read_state(
    session: Any, locations: Collection[Location] = (), model: SessionModel | None = None
) -> LogicalState:
    """Reads everything a session shows: all entries, the scalars of every namespace known from `locations` or built
    in, the lists at `locations`, the ledger and the statistics.

    Raises `ClauseBroken` when read paths disagree, when sequences do not rise, or differ from those that `model` was
    given.
    """
    entries = await session.scan_entries()
    _expect_rising(entries, "scan_entries")
    await _expect_entries_agree(session, entries)
    scalars = await _read_scalars(session, locations, model)
    await _expect_paths_agree(session, entries, scalars)
    ledger = await session.scan_usage()
    _expect_rising(ledger, "scan_usage")
    if model is not None:
        _expect_known_sequences(entries, model.entries, "entry")
        _expect_known_sequences(ledger, model.ledger, "usage row")
    stats = await session.get_stats()
    return LogicalState(
        parent_session_id=session.metadata.parent_session_id,
        entries=[without_seq(entry) for entry in entries],
        scalars=scalars,
        lists=await _read_lists(session, locations, model),
        ledger=[without_seq(row) for row in ledger],
        message_count=stats.message_count,
        usage=stats.usage,
    )


async def _read_scalars(session: Any, locations: Iterable[Location], model: SessionModel | None) -> dict[Location, Any]:
    known = model.scalars if model is not None else {}
    found: dict[Location, Any] = {}
    for namespace in sorted({*BUILT_IN_NAMESPACES, *(namespace for namespace, _ in locations)}):
        for row in await session.scan_values(value_address(namespace)):
            location = (row.address.namespace, row.address.key)
            found[location] = row.value
            _expect_known_sequence(row.seq, known.get(location), f"the scalar at {location!r}")
    for namespace, key in sorted(locations):
        row = await session.get_value(value_address(namespace, key))
        expect_equal(
            None if row is None else [row.value],
            [found[namespace, key]] if (namespace, key) in found else None,
            of=f"get_value against scan_values at {(namespace, key)!r}",
        )
    return found


async def _read_lists(
    session: Any, locations: Iterable[Location], model: SessionModel | None
) -> dict[Location, list[Any]]:
    found = {}
    for location in sorted(locations):
        elements = await _whole_list(session, location)
        _expect_rising([{"seq": element.seq} for element in elements], f"read_list at {location!r}")
        placed = model.lists.get(location, []) if model is not None else []
        for element, known in zip(elements, placed, strict=False):
            _expect_known_sequence(element.seq, known, f"an element of the list at {location!r}")
        if elements:
            found[location] = [element.value for element in elements]
    return found


async def _whole_list(session: Any, location: Location) -> list[Any]:
    elements: list[Any] = []
    while True:
        cursor = elements[-1].seq if elements else None
        page = await session.read_list(list_address(*location), limit=PAGE, cursor=cursor)
        elements += page
        if len(page) < PAGE:
            return elements


async def _expect_entries_agree(session: Any, entries: list[Record]) -> None:
    ids = [entry["id"] for entry in entries]
    expect_equal(_ids(await session.scan_entries(order="desc")), ids[::-1], of="scan_entries, newest first")
    expect_equal(_ids(await session.find_entries()), ids[::-1], of="find_entries against scan_entries")
    step = max(1, len(entries) // COMPARED_IN_FULL)
    asked = {entry["id"]: entry for entry in entries[::step]}
    expect_equal(await session.get_entries(list(asked)), asked, of="get_entries against scan_entries")


async def _expect_paths_agree(session: Any, entries: list[Record], scalars: dict[Location, Any]) -> None:
    parents = {entry["id"]: entry["parentId"] for entry in entries}
    tips = [value for (namespace, _), value in scalars.items() if namespace == "pi.branch.tip"]
    for tip in sorted({tip for tip in tips if isinstance(tip, str) and tip in parents}):
        path: list[str] = []
        at: str | None = tip
        while at is not None:
            path.append(at)
            at = parents.get(at)
        expect_equal(_ids(await session.scan_branch(tip)), path, of=f"scan_branch from {tip!r}")


def _ids(entries: Iterable[Record]) -> list[str]:
    return [entry["id"] for entry in entries]


def _expect_rising(rows: Iterable[Record], of: str) -> None:
    last = 0
    for row in rows:
        seq = row.get("seq")
        if type(seq) is not int or seq <= last:
            raise ClauseBroken(f"{of}\nexpected: sequences that rise, above {last}\nseen:     {seq!r} in {_short(row)}")
        last = seq


def _expect_known_sequences(rows: Iterable[Record], placed: dict[str, Placed], what: str) -> None:
    for row in rows:
        _expect_known_sequence(row["seq"], placed.get(row["id"]), f"the {what} {row['id']!r}")


def _expect_known_sequence(seq: int, known: Placed | None, of: str) -> None:
    if known is not None and known.seq is not None and known.seq != seq:
        raise ClauseBroken(f"the sequence of {of}\nexpected: {known.seq}, as its commit gave it\nseen:     {seq}")


def _short(row: Record) -> str:
    return f"{row.get('id', 'an element')!r}"
