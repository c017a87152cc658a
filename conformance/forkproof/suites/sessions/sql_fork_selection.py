"""How a fork selects: ancestry through the branch index, rows by namespace in SQL, probes for what must fail, and never
more rows in hand than one batch (sections 14, 16, 18 and 32).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.watched_connections import Execution
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import message_entry
from forkproof.suites.sessions.forking import from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.sql_watching import (
    COPIED,
    expect_none,
    forked_by,
    reader_of,
    reads_of,
    rows_of,
    told,
    wide_session,
)
from forkstore.contract.addresses import (
    Address,
    entry_label,
    list_address,
    operation_tool_memo,
    pending_assistant_frames,
    value_address,
)
from forkstore.contract.errors import UndeclaredNamespace
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ListAppend, ListDelete, ValueDelete, ValueSet, Write

PATH = 60
MANY = 80
BATCH = 250
"""The rows of a batch, by default."""
WIDE = 520


def _runs(executions: Iterable[Execution]) -> dict[str, list[Execution]]:
    """The runs of each distinct statement."""
    ordered = sorted(executions, key=lambda one: one.statement.text)
    return {text: list(runs) for text, runs in groupby(ordered, key=lambda one: one.statement.text)}


def _most_first(executions: Iterable[Execution]) -> list[Execution]:
    return sorted(executions, key=lambda one: -one.rows)


@case("S-SQL-FORK-08", needs=("spy-sql",))
@rows("entry", tip=None, older=f"n{PATH // 2}")
async def a_path_comes_from_the_branch_index(store: SessionMaker, entry: str | None) -> None:
    """The entries of a branch fork come by way of `branch_entries`, in order, and not parent by parent: no statement
    runs once for each of them, and no more entries are read than the fork takes.

    If this fails, look at: a walk of parents; the whole tree read and picked from; a recursive query over `parent_id`.
    """
    source = await wide_session(store, PATH)
    await source.insert(*(message_entry(f"aside-{number}", "n1") for number in range(PATH)))
    fork = await forked_by(source, BranchFork("main", entry_id=entry))
    members = len(fork.model.entries)
    reader = reader_of(store, source)
    index = reads_of(store, reader, "branch_entries")
    expect(index, f"expected: the branch index is read\nseen:     {told(reads_of(store, reader, 'entries'))}")
    moving = [one for one in reads_of(store, reader, "entries") if one.rows > 1 or one.changes > 1]
    expect(
        members <= rows_of(moving) <= members + 1,
        f"expected: {members} entries are read, those of the path\nseen:     {rows_of(moving)} by {told(moving)}",
    )
    often = [runs[0] for runs in _runs(reads_of(store, reader, "entries")).values() if len(runs) >= members]
    expect_none(often, of="statements that run once for each entry of the path")
    await fork.check()


@case("S-SQL-FORK-08", needs=("spy-sql",))
async def every_label_is_asked_of_the_branch_index(store: SessionMaker) -> None:
    """Whether a label's entry is a member is asked of `branch_entries`, label by label or in the query of the labels;
    so is whether the fork point lies on the path. The ids of the path are never fetched to be looked up in memory.

    If this fails, look at: a set of the copied ids; a label kept because its entry exists somewhere in the tree.
    """
    source = await wide_session(store, PATH)
    labelled = [f"n{number}" for number in range(0, PATH // 2, 2)]
    await source.insert(*(message_entry(f"aside-{number}", "n1") for number in range(20)))
    await source.commit(
        *(ValueSet(entry_label(id), id) for id in [*labelled, *(f"aside-{number}" for number in range(20))])
    )
    fork = await forked_by(source, BranchFork("main", entry_id=f"n{PATH // 2}"))
    asked = [
        one
        for one in reads_of(store, reader_of(store, source), "branch_entries")
        if "entries" not in one.statement.sources or "scalar_values" in one.statement.sources
    ]
    joined = [one for one in asked if "scalar_values" in one.statement.sources]
    probes = max((len(runs) for runs in _runs(asked).values()), default=0)
    expect(
        joined or probes > len(labelled),
        f"expected: a probe of branch_entries for each of {len(labelled)} labels and for the fork point\n"
        f"seen:     {probes} of one statement: {told(asked)}",
    )
    fetched = [one for one in asked if one.rows > 1 and one not in joined]
    expect_none(fetched, of="ids that are fetched from the branch index")
    await fork.check()


def _dropped(count: int) -> list[Write]:
    """Rows that no fork copies: of operations, pending work and results."""
    writes: list[Write] = []
    for number in range(count):
        writes.append(ValueSet(operation_tool_memo("op-1", "call-1", f"memo-{number}"), number))
        writes.append(ListAppend(pending_assistant_frames("op-1", "response-1"), {"delta": number}))
        writes.append(ListAppend(list_address("pi.op.log", "x"), number))
        writes.append(ValueSet(value_address("pi.result", f"op-{number}"), {"status": "completed"}))
    return writes


def _fetched(store: SessionMaker, source: Subject, table: str) -> list[Execution]:
    return reads_of(store, reader_of(store, source), table)


@case("S-SQL-FORK-09")
@in_both_scopes
async def rows_that_no_fork_copies_are_not_fetched(store: SessionMaker, options: ForkOptions) -> None:
    """Of the scalars and list rows of its source a fork fetches those of the namespaces that its scope copies: not
    those of operations, pending work and results, and in branch scope none of applications and of other lanes.

    If this fails, look at: a filter in Python; a filter for one scope that both use.
    """
    source = await wide_session(store, MANY if isinstance(options, BranchFork) else 5)
    await source.commit(*_dropped(MANY))
    for number in range(20 if isinstance(options, BranchFork) else 0):
        await source.configure(f"lane-{number}")
        await source.set_tip(f"lane-{number}", "n1")
    fork = await forked_by(source, options)
    state = fork.model.state()
    copied = {
        "scalar_values": len(state.scalars),
        "list_values": sum(len(elements) for elements in state.lists.values()),
    }
    for table, kept in copied.items():
        reading = _fetched(store, source, table)
        expect(
            rows_of(reading) <= kept + 20,  # the lane is looked at first, and every reserved namespace is probed
            f"expected: {kept} rows of {table} are fetched, and a few probes\nseen:     {rows_of(reading)}: "
            f"{told(_most_first(reading))}",
        )
    await fork.check()


@case("S-SQL-FORK-09", needs=())
@in_both_scopes
@from_open_and_closed
async def what_is_fetched_passes_the_classifier(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """A row that the filter by namespace lets through is copied only as the classifier says: no label of an entry that
    is not copied, an idle state in place of a busy one, the selected tip in place of the current one.

    If this fails, look at: rows copied straight from the query; a filter that takes the place of the classifier.
    """
    source = await store.rich_session()
    forks = [options]
    if isinstance(options, BranchFork):
        forks += [BranchFork("main", entry_id="fork-point"), BranchFork("left", position="before")]
    if source_is == "closed":
        await source.close()
    for each in forks:
        fork = await source.fork(each)
        await fork.check(f"the fork by {each!r}")


REJECTED: dict[str, Address] = {
    "unknown": value_address("pi.unknown", "k"),
    "exactly-pi": value_address("pi", "k"),
    "pi-dot": value_address("pi."),
    "longer-than-declared": value_address("pi.result.x", "k"),
    "shorter-than-declared": value_address("pi.lane", "k"),
    "last-of-all": value_address("pi.\U0010ffff", "k"),
    "list-unknown": list_address("pi.unknown", "k"),
    "list-exactly-pi": list_address("pi", "k"),
    "list-of-names": list_address("pi.session.name"),
    "list-of-labels": list_address("pi.entry.label", "n1"),
    "list-of-tips": list_address("pi.branch.tip", "main"),
    "list-of-results": list_address("pi.result", "op-1"),
}


@case("S-SQL-FORK-10")
@in_both_scopes
async def what_must_fail_is_found_by_a_probe(store: SessionMaker, options: ForkOptions) -> None:
    """A row in an undeclared namespace, or of the wrong kind, fails the fork in both scopes although no filter reads
    it: a probe for its existence finds it, and its rows are not fetched.

    If this fails, look at: a filter that knows the failing names only; a probe on scalars alone, or in tree scope
    alone; all reserved rows fetched to be classified.
    """
    source = await wide_session(store, 3)
    for name, address in REJECTED.items():
        places = [value_address(address.namespace, f"{address.key}{number}") for number in range(MANY)]
        is_list = address.kind == "list"
        await source.commit(*(ListAppend(address, 1) if is_list else ValueSet(place, 1) for place in places))
        store.sql.forget()
        with refused(UndeclaredNamespace, namespace=address.namespace, kind=address.kind):
            await store.repo.fork(source.metadata, options)
        reading = _fetched(store, source, "list_values" if is_list else "scalar_values")
        expect(reading, f"{name}\nexpected: a probe for rows of {address!r}\nseen:     no statement")
        fetched = rows_of(reading)
        expect(fetched < MANY // 2, f"{name}\nexpected: a probe\nseen:     {fetched} rows: {told(reading)}")
        await source.commit(*([ListDelete(address)] if is_list else [ValueDelete(place) for place in places]))


APPLICATIONS = (
    "PI.x",
    "Pi.lane.state",
    "pI",
    "pi2.events",
    "pip",
    "pi/x",
    "pi-x",
    "pi:x",
    "pi!",
    "p",
    "pj",
    "p%",
    "p_",
)
"""Application namespaces around the reserved ones: in another case, before `pi.`, behind it, and with the wildcards of
`LIKE`.
"""


@case("S-SQL-FORK-11")
@in_both_scopes
@from_open_and_closed
async def namespaces_are_compared_by_code_point(store: SessionMaker, options: ForkOptions, source_is: str) -> None:
    """Scalars and lists in `PI.x`, and in other namespaces that only look reserved, are application rows: a tree fork
    copies them all, a branch fork none, and none of them fails.

    If this fails, look at: `LIKE`, which takes no notice of case; `_` and `%` as wildcards; a range that ends too late;
    a column that is compared without case.
    """
    source = await store.linear_session()
    await source.commit(
        *(ValueSet(value_address(namespace, "k"), namespace) for namespace in APPLICATIONS),
        *(ListAppend(list_address(namespace, "k"), namespace) for namespace in APPLICATIONS),
    )
    if source_is == "closed":
        await source.close()
    fork = await source.fork(options)
    await fork.check()
    seen = [name for name in APPLICATIONS if await fork.session.get_value(value_address(name, "k")) is not None]
    expect_equal(seen, list(APPLICATIONS) if isinstance(options, TreeFork) else [], of="the scalars that are copied")


@case("S-FORK-STR-03")
@in_both_scopes
async def no_more_rows_are_taken_than_one_batch(store: SessionMaker, options: ForkOptions) -> None:
    """A fork never has more rows of entries, scalars or lists taken from cursors, of its source or of its stage, than
    it has written on plus one batch; so nothing is fetched whole.

    If this fails, look at: `fetchall`, `list(cursor)`, or a comprehension over a cursor; a page that is larger than a
    batch; all rows of the stage read before the first is published.
    """
    source = await wide_session(store, WIDE)
    if isinstance(options, BranchFork):
        await source.commit(*(ValueSet(entry_label(f"n{number}"), number) for number in range(WIDE)))
    fork = await forked_by(source, options)
    held = store.sql.most_rows_held()
    asked = {table: most for table, most in held.items() if table not in ("branch_entries", "branch_meta", "sessions")}
    expect(set(asked).intersection(COPIED), f"expected: rows of the source are stepped through\nseen:     {held}")
    too_many = {table: most for table, most in asked.items() if most > BATCH + 1}  # one to see whether there are more
    expect(
        not too_many,
        f"expected: at most {BATCH} rows of a table are taken and not yet written on\nseen:     {too_many}: "
        f"{told(_most_first(store.sql.executions(kind='select'))[:4])}",
    )
    await fork.check()
