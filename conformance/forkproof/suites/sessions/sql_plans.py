"""The plans with which the queries of section 31 run: read as SQLite explains them, when they run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.sql_plans import PRIMARY_KEY, Access
from forkproof.instruments.watched_connections import Execution
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import compaction_entry, message_entry
from forkproof.suites.sessions.forking import in_both_scopes
from forkproof.suites.sessions.sql_watching import (
    expect_none,
    forked_by,
    reader_of,
    reads_of,
    rows_of,
    told,
    wide_session,
)
from forkstore.contract.addresses import branch_tip, entry_label, list_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

PATH = 40
both_orders = rows("order", newest_first="newest_first", oldest_first="oldest_first")
with_and_without_payload = rows("read", payload="scan_branch", structure="scan_branch_structure")


def _of(executions: Iterable[Execution], table: str) -> list[tuple[Execution, Access]]:
    """Every access of a table, with the run that it belongs to. Breaks the clause where a plan could not be had."""
    found = list(executions)
    expect_none((one for one in found if one.plan is None), of="statements that SQLite did not explain")
    return [(one, access) for one in found if one.plan is not None for access in one.plan.of(table)]


def _expect_by(executions: Iterable[Execution], table: str, index: str, *terms: str, covering: bool = False) -> None:
    """Breaks the clause unless the table is reached, always as a search by that index that fixes these columns, and
    nothing is sorted aside.
    """
    found = list(executions)
    accesses = _of(found, table)
    how = f"a search of {table} by {'covering ' if covering else ''}{index} ({', '.join(terms)})"
    expect(accesses, f"expected: {how}\nseen:     {told(found)}")
    for one, access in accesses:
        right = access.way == "search" and access.index == index and (access.covering or not covering)
        fixed = right and {f"{term}=?" for term in terms} <= set(access.terms.split(" AND "))
        expect(fixed, f"{one.statement}\nexpected: {how}\nseen:     {one.plan}")
    _expect_no_temporary(found)


def _expect_no_temporary(executions: Iterable[Execution]) -> None:
    for one in executions:
        if one.plan is not None and one.plan.temporary:
            expect(False, f"{one.statement}\nexpected: no temporary B-tree\nseen:     {one.plan}")


def _expect_no_scan(executions: Iterable[Execution]) -> None:
    for one in executions:
        scans = [] if one.plan is None else [access for access in one.plan.accesses if access.way == "scan"]
        expect(not scans, f"{one.statement}\nexpected: no scan\nseen:     {one.plan}")


def _scanning(store: SessionMaker, since: int) -> list[Execution]:
    """The statements that give the rows of a branch scan: not those that find its segments or its stop."""
    found = store.sql.executions(kind="select", since=since)
    return [
        one
        for one in found
        if "entries" in one.statement.sources
        or ("branch_entries" in one.statement.sources and "branch_meta" not in one.statement.sources and one.rows > 1)
    ]


async def _branch_of_segments(store: SessionMaker) -> Subject:
    """A lane whose path runs through three segments, the lower two of which end at a compaction."""
    subject = await wide_session(store, PATH)
    tip = f"n{PATH - 1}"
    for part in ("first", "second"):
        await subject.insert(compaction_entry(f"{part}-compaction", tip), message_entry(f"{part}-aside", tip))
        more = [message_entry(f"{part}-{n}", f"{part}-{n - 1}" if n else f"{part}-compaction") for n in range(5)]
        await subject.insert(*more, message_entry(f"{part}-leaf", f"{part}-2"))
        tip = f"{part}-leaf"
    await subject.set_tip("main", tip)
    return subject


@case("S-SQL-PLAN-01")
@with_and_without_payload
@both_orders
async def a_branch_scan_runs_along_the_index(store: SessionMaker, read: str, order: Any) -> None:
    """A branch scan, with and without payload, in both orders, with a limit, a cursor and stops, takes `branch_entries`
    by the covering index `ix_be_seq` and `entries` by primary key: no temporary B-tree, no scan.

    If this fails, look at: a walk of parents; an order that the index does not give; columns that the index does not
    cover.
    """
    subject = await _branch_of_segments(store)
    tip = subject.model.tip("main")
    scan = getattr(subject.session, read)
    for query in ({}, {"limit": 7}, {"cursor": PATH}, {"stop_at_id": "n3"}, {"stop_at_type": "compaction"}):
        since = store.sql.forget()
        found = await scan(tip, order=order, **query)
        expect(len(found) > 1, f"expected: entries of the path\nseen:     {len(found)} by {query!r}")
        scanning = _scanning(store, since)
        _expect_by(scanning, "branch_entries", "ix_be_seq", "session_id", "branch_id", covering=True)
        _expect_by(scanning, "entries", PRIMARY_KEY, "session_id", "id")
        _expect_no_scan(scanning)


@case("S-SQL-PLAN-01")
@with_and_without_payload
@both_orders
async def a_filtered_branch_scan_runs_along_its_type(store: SessionMaker, read: str, order: Any) -> None:
    """A branch scan that filters by type takes `branch_entries` by the covering index `ix_be_type` and `entries` by
    primary key: no temporary B-tree.

    If this fails, look at: a filter behind a scan of the whole path; an index that is chosen by chance.
    """
    subject = await _branch_of_segments(store)
    tip = subject.model.tip("main")
    for query in ({"type": "message"}, {"type": "custom", "custom_type": "note"}, {"type": "message", "limit": 3}):
        since = store.sql.forget()
        await getattr(subject.session, read)(tip, order=order, **query)
        scanning = _scanning(store, since)
        _expect_by(scanning, "branch_entries", "ix_be_type", "branch_id", "entry_type", covering=True)
        _expect_by(scanning, "entries", PRIMARY_KEY, "session_id", "id")


@case("S-SQL-PLAN-01")
@rows("order", asc="asc", desc="desc")
@rows("cursor", without=None, within=150)
async def a_list_page_is_read_by_primary_key(store: SessionMaker, order: Any, cursor: int | None) -> None:
    """A page of a list, in both orders, with and without a cursor, takes `list_values` by primary key: no temporary
    B-tree, no scan.

    If this fails, look at: an order by another column; a cursor that is an offset.
    """
    subject = await wide_session(store, 60)
    since = store.sql.forget()
    page = await subject.session.read_list(list_address("garden.log", "beds"), order=order, cursor=cursor, limit=9)
    expect_equal(len(page), 9, of="the number of elements on the page")
    reading = store.sql.executions(table="list_values", since=since)
    _expect_by(reading, "list_values", PRIMARY_KEY, "session_id", "namespace", "key")
    _expect_no_scan(reading)


@case("S-SQL-PLAN-01")
async def entries_of_a_tree_fork_come_in_sequence_order(store: SessionMaker) -> None:
    """The entries of a tree fork come from the index `ix_entry_seq`, in its order: no temporary B-tree.

    If this fails, look at: entries sorted after they were read; a walk of the tree; pages that each start at the
    beginning.
    """
    source = await _branch_of_segments(store)
    await forked_by(source, TreeFork())
    moving = [one for one in reads_of(store, reader_of(store, source), "entries") if rows_of([one]) > 1]
    expect_equal(rows_of(moving) >= len(source.model.entries), True, of="whether all entries were read in this way")
    _expect_by(moving, "entries", "ix_entry_seq", "session_id")


@case("S-SQL-PLAN-01")
@in_both_scopes
async def rows_of_a_fork_come_by_primary_key(store: SessionMaker, options: ForkOptions) -> None:
    """Whatever a fork asks of the scalars and list rows of its source it asks by primary key, and no temporary B-tree
    is built on the source.

    If this fails, look at: rows ordered by sequence; a namespace filter that the key cannot serve; a filter by key
    alone.
    """
    source = await store.rich_session()
    await forked_by(source, options)
    reader = reader_of(store, source)
    for table in ("scalar_values", "list_values"):
        _expect_by(reads_of(store, reader, table), table, PRIMARY_KEY, "session_id")
    _expect_no_temporary(reads_of(store, reader, "entries", "scalar_values", "list_values"))


@case("S-SQL-PLAN-01")
@rows("entry", tip=None, older="n30")
async def membership_is_asked_by_primary_key(store: SessionMaker, entry: str | None) -> None:
    """Whether an entry is on the path, asked for every label and for the fork point, is asked of `branch_entries` by
    primary key.

    If this fails, look at: a probe that reads the segment from its start; a set of ids that is filled first.
    """
    source = await wide_session(store, PATH)
    labelled = [f"n{number}" for number in range(0, 30, 2)]
    await source.commit(*(ValueSet(entry_label(id), id) for id in labelled))
    await forked_by(source, BranchFork("main", entry_id=entry))
    asked = reads_of(store, reader_of(store, source), "branch_entries")
    counts: dict[str, list[Execution]] = {}
    for one in asked:
        counts.setdefault(one.statement.text, []).append(one)
    probes = [
        one
        for runs in counts.values()
        for one in runs
        if len(runs) >= len(labelled) or "scalar_values" in one.statement.sources
    ]
    expect(probes, f"expected: a probe of branch_entries for every label\nseen:     {told(asked)}")
    _expect_by(probes, "branch_entries", PRIMARY_KEY, "session_id", "branch_id", "entry_id")


@case("S-SQL-PLAN-01")
@in_both_scopes
async def undeclared_namespaces_are_probed_by_range(store: SessionMaker, options: ForkOptions) -> None:
    """The probes for undeclared namespaces, on scalars and on lists, search by primary key with a range on `namespace`.

    If this fails, look at: `LIKE`, or a function of the namespace; all namespaces read and looked at outside of SQL.
    """
    source = await store.linear_session()
    await source.commit(ValueSet(branch_tip("aside"), None))
    await forked_by(source, options)
    reader = reader_of(store, source)
    for table in ("scalar_values", "list_values"):
        probes = [
            access
            for _, access in _of(reads_of(store, reader, table), table)
            if "namespace>?" in access.terms or "namespace<?" in access.terms
        ]
        expect(probes, f"expected: a probe of {table} by range\nseen:     {told(reads_of(store, reader, table))}")
        wrong = [access for access in probes if access.way != "search" or access.index != PRIMARY_KEY]
        expect_none(wrong, of=f"probes of {table} that do not search by primary key")
        unbounded = [
            one for one, access in _of(reads_of(store, reader, table), table) if "namespace" not in access.terms
        ]
        expect_none(unbounded, of=f"statements on {table} without a bound on the namespace")
