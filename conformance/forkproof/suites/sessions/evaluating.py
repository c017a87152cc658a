"""Section 8 in a few lines: what every query must give, worked out from the model; and the session it is asked of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.oracle.model import SessionModel

Query = dict[str, Any]
Record = dict[str, Any]

NOT_GIVEN = "not given"
"""The place of a parameter on an axis that stands for leaving it out."""

PATH = ("root", "trunk", "fork-point", "tip", "compaction", "rain", "note", "summary", "more-rain", "answer")
"""The path of the branch `main` of `walk_session`, oldest first."""


async def walk_session(store: SessionMaker) -> Subject:
    """The tree of `bushy_session`, with `main` grown by entries of every type (`PATH`); siblings and spending between
    them, so that sequences have gaps.
    """
    subject = await store.bushy_session()
    grown = (
        made.compaction_entry("compaction", None),
        made.custom_entry("rain", None, "weather", {"mm": 2.5}),
        made.custom_entry("note", None, "note"),
        made.branch_summary_entry("summary", None, "left-leaf"),
        made.custom_entry("more-rain", None, "weather", None),
        made.message_entry("answer", None, message=made.assistant_message("watered")),
    )
    for entry in grown:
        await subject.append("main", entry=entry)
        await subject.insert(made.custom_entry(f"beside-{entry['id']}", str(entry["id"]), "weather"))
        await subject.spend(f"spent-{entry['id']}", str(entry["id"]))
    return subject


def queries(**axes: Sequence[Any]) -> Iterator[Query]:
    """Every combination of the values on the axes; `NOT_GIVEN` leaves its parameter out."""
    for values in product(*axes.values()):
        yield {name: value for name, value in zip(axes, values, strict=True) if value is not NOT_GIVEN}


def walked(model: SessionModel, start: str, **query: Any) -> list[Record]:
    """What `scan_branch(start, **query)` must give: the path, in the asked order, cut after the stop entry, filtered,
    from the cursor on, up to the limit.
    """
    path = [model.entry(entry["id"]) for entry in model.path(start)]
    newest_first = query.get("order", "newest_first") == "newest_first"
    cut = []
    for entry in path if newest_first else reversed(path):
        cut.append(entry)
        if entry["id"] == query.get("stop_at_id") or entry["type"] == query.get("stop_at_type"):
            break
    return _page(cut, newest_first, query)


def found(model: SessionModel, **query: Any) -> list[Record]:
    """What `session.find_entries(**query)` must give."""
    newest_first = query.get("order", "desc") == "desc"
    entries = [model.entry(id) for id in model.entries]
    return _page(reversed(entries) if newest_first else entries, newest_first, query)


def scanned(rows: Sequence[Record], **query: Any) -> list[Record]:
    """What `scan_entries(**query)` or `scan_usage(**query)` must give, of all rows by sequence."""
    lowest, highest = query.get("from_seq"), query.get("to_seq")
    within = [
        row for row in rows if (lowest is None or row["seq"] >= lowest) and (highest is None or row["seq"] <= highest)
    ]
    ordered = within if query.get("order", "asc") == "asc" else within[::-1]
    return _page(ordered, False, {**query, "cursor": None})


def structure(entry: Record) -> Record:
    """The structure of an entry (section 3.1)."""
    names = ("id", "parentId", "seq", "timestamp", "type", "customType")
    return {name: entry[name] for name in names if name in entry}


def _page(entries: Any, newest_first: bool, query: Query) -> list[Record]:
    kind, custom, cursor = query.get("type"), query.get("custom_type"), query.get("cursor")
    kept = [
        entry
        for entry in entries
        if (kind is None or entry["type"] == kind)
        and (custom is None or entry.get("customType") == custom)
        and (cursor is None or (entry["seq"] < cursor if newest_first else entry["seq"] > cursor))
    ]
    return kept[: query.get("limit")]
