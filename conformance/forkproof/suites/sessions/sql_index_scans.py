"""Scans through several segments: stops, cursors and limits on either side of their borders (S-SQL-IDX-02).

The session is built so that the paths of its scans go through four segments, each hanging on a compaction in the one
below. Every answer is compared with `evaluating.walked`, the section on queries in a few lines.
"""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.branch_index import branch_index, chain_of
from forkproof.oracle.database_rows import indexed_entries
from forkproof.suites.sessions.evaluating import NOT_GIVEN, Query, queries, structure, walked
from forkstore.contract.addresses import branch_tip
from forkstore.contract.forks import BranchFork
from forkstore.contract.writes import EntryInsert, ValueSet

NEEDS = ("raw-files", "raw-commit")
SEGMENTS = 4
DEEP = "end"
"""An entry whose path goes through `SEGMENTS` segments."""
ORDERS = {"newest_first": "newest_first", "oldest_first": "oldest_first"}


async def _layered(store: SessionMaker) -> Subject:
    """Layers of a message, a compaction and the entry `n-split`, from which a sibling grows first and then the next
    layer: so the next layer hangs on the compaction, and its segment begins with a copy of `n-split`.
    """
    subject = await store.empty_session()
    parent: str | None = None
    for layer in range(SEGMENTS):
        split = f"{layer}-split"
        path = [
            records.message_entry(f"{layer}-first", parent),
            records.custom_entry(f"{layer}-rain", f"{layer}-first", "weather"),
            records.compaction_entry(f"{layer}-compaction", f"{layer}-rain"),
            records.custom_entry(f"{layer}-note", f"{layer}-compaction", "note", layer),
            records.message_entry(split, f"{layer}-note"),
            records.message_entry(f"{layer}-sibling", split),
        ]
        for entry in path:
            await subject.raw_commit(EntryInsert(entry), ValueSet(branch_tip("log"), entry["id"]))
        parent = split
    await subject.raw_commit(EntryInsert(records.message_entry(DEEP, parent)))
    await subject.commit(ValueSet(branch_tip("main"), DEEP))
    await subject.configure("main")
    stored = indexed_entries(store.databases.session_rows(subject.metadata))
    layers = len(chain_of(branch_index(stored), DEEP))
    expect(layers > SEGMENTS - 1, f"a path of at least {SEGMENTS} segments, to prove anything; it has {layers}")
    return subject


def _ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


async def _expect_answer(subject: Subject, start: str, query: Query) -> None:
    expected = walked(subject.model, start, **query)
    seen = await subject.session.scan_branch(start, **query)
    expect_equal(_ids(seen), _ids(expected), of=f"scan_branch from {start!r} with {query}")
    structures = await subject.session.scan_branch_structure(start, **query)
    told = [structure(entry) for entry in expected]
    expect_equal(structures, told, of=f"scan_branch_structure from {start!r} with {query}")


@case("S-SQL-IDX-02", "S-QRY-06", needs=NEEDS)
@rows("order", ORDERS)
async def every_path_is_walked_through_its_segments(store: SessionMaker, order: str) -> None:
    """From every entry of the session the walk gives the path to the root, whatever segments it goes through, live and
    reopened.

    If this fails, look at: the rows at the base's own sequence; a segment's rows that belong to the base; the asked
    order within segments, and another between them.
    """
    subject = await _layered(store)
    for _ in ("live", "reopened"):
        for start in subject.model.entries:
            await _expect_answer(subject, start, {"order": order})
        await subject.reopen()


@case("S-SQL-IDX-02", "S-QRY-07", "S-QRY-08", needs=NEEDS)
@rows("order", ORDERS)
async def stops_are_found_in_any_segment(store: SessionMaker, order: str) -> None:
    """A stop on either side of a border of segments ends the walk there, by id and by type, filtered out or not; the
    first in the asked order ends it.

    If this fails, look at: a stop that is looked for in the first segment only; segments that are read past the stop;
    a stop among the copied rows.
    """
    subject = await _layered(store)
    path = _ids(walked(subject.model, DEEP))
    stops: list[Query] = [{"stop_at_id": id} for id in [*path, "0-sibling", "no-such-entry"]]
    stops += [{"stop_at_type": kind} for kind in ("compaction", "custom", "message", "no-such-type")]
    stops += [{"stop_at_id": "1-rain", "stop_at_type": "compaction"}]
    filters: tuple[Query, ...] = ({}, {"type": "message"}, {"type": "custom", "custom_type": "note"})
    for stop in stops:
        for chosen in filters:
            await _expect_answer(subject, DEEP, {"order": order, **stop, **chosen})


@case("S-SQL-IDX-02", "S-QRY-09", "S-QRY-10", needs=NEEDS)
@rows("order", ORDERS)
async def cursors_and_limits_reach_over_borders(store: SessionMaker, order: str) -> None:
    """A cursor at, above and below every border, and every limit, give what the section on queries gives; alone, with a
    stop, and with filters.

    If this fails, look at: a limit that is counted anew in each segment; a cursor applied to one segment; a limit that
    ends the walk before its stop is found.
    """
    subject = await _layered(store)
    sequences = [entry["seq"] for entry in walked(subject.model, DEEP)]
    length = len(sequences)
    near = sorted({seq + step for seq in sequences for step in (0, 1)})
    for cursor in (0, *near, 2**62):
        for limit in (NOT_GIVEN, 1, 2, 5):
            query = {"order": order, "cursor": cursor}
            await _expect_answer(subject, DEEP, query if limit is NOT_GIVEN else {**query, "limit": limit})
    for limit in range(length + 2):
        await _expect_answer(subject, DEEP, {"order": order, "limit": limit})
    axes = queries(
        cursor=(NOT_GIVEN, sequences[4], sequences[-3]),
        limit=(NOT_GIVEN, 1, 3),
        stop_at_type=(NOT_GIVEN, "compaction"),
        type=(NOT_GIVEN, "custom", "message"),
    )
    for query in axes:
        await _expect_answer(subject, DEEP, {"order": order, **query})


@case("S-SQL-IDX-02", "S-QRY-09", needs=NEEDS)
@rows("order", ORDERS)
@rows("limit", one=1, three=3, seven=7)
async def pages_go_on_through_the_segments(store: SessionMaker, order: str, limit: int) -> None:
    """Pages that continue from the last sequence give every entry of the path once, in order.

    If this fails, look at: an entry that stands in two segments and is given twice; a page that ends with its segment.
    """
    subject = await _layered(store)
    query: Query = {"order": order, "limit": limit}
    seen: list[str] = []
    while page := await subject.session.scan_branch(DEEP, **query):
        seen += _ids(page)
        query["cursor"] = page[-1]["seq"]
        if len(seen) > len(subject.model.entries):
            break
    expect_equal(seen, _ids(walked(subject.model, DEEP, order=order)), of=f"all pages of {limit}, {order}")


@case("S-SQL-IDX-02", "S-FORK-BR-04", needs=NEEDS)
async def a_fork_takes_its_path_through_the_segments(store: SessionMaker) -> None:
    """A fork of the branch, at its tip and at entries of every segment, takes exactly the path that a scan gives.

    If this fails, look at: a chain that ends at the first base; fork points of a base that are not found on the path.
    """
    subject = await _layered(store)
    await subject.close()
    for point in ("0-first", "0-compaction", "1-split", "2-rain", "3-compaction", "3-note", DEEP):
        for position in ("at", "before"):
            fork = await subject.fork(BranchFork("main", entry_id=point, position=position))
            await fork.check(f"the fork {position} {point!r}")
            await fork.close()
            await store.repo.delete(fork.metadata)
