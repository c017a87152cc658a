"""How a fork reads its source: through a connection of its own, in one snapshot, past the writer (sections 19, 32)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import dropwhile
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.own_connections import write_lock
from forkproof.instruments.racing import ended, raced, words
from forkproof.instruments.watched_connections import SqlConnection, Transaction
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.forking import OPEN, forked, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.other_places import new_place
from forkproof.suites.sessions.sql_watching import (
    COPIED,
    database_writes,
    expect_none,
    is_on,
    one_more,
    reader_of,
    reads_of,
    rows_of,
    told,
    wide_session,
)
from forkstore.contract.forks import ForkOptions, TreeFork

TABLES = ("sessions", *COPIED, "branch_entries", "branch_meta", "usage_ledger")
POINTS = {point.replace("_", "-"): point for point in ("boundary_captured", "batch_copied", "before_publish")}
ENTRIES = 30
ROUNDS, PATIENCE = 20, 3_000
MOST_BATCHES = 10


def _writer(store: SessionMaker, source: Subject) -> SqlConnection:
    """The connection through which the open source writes; it may have others that read."""
    found = [one for one in store.sql.open_connections() if is_on(one, source) and one.mode != "read-only"]
    expect_equal(len(found), 1, of="the connections that can write to the database of the one open session")
    return found[0]


@case("S-SQL-FORK-01")
@in_both_scopes
@from_open_and_closed
async def a_fork_reads_through_a_connection_of_its_own(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A fork reads its source, open or closed, through one read-only connection that it opens itself on the real path
    of the database; whatever it reads there it reads in one deferred transaction, the session's row included.

    If this fails, look at: rows read through the open session; a snapshot per batch; the row checked before the
    snapshot begins; a transaction that could write.
    """
    source = await wide_session(store, ENTRIES)
    before = store.sql.open_connections()
    store.sql.forget()
    fork = await forked(source, options, source_is)
    reader = reader_of(store, source)
    expect(reader not in before, "expected: a connection of the fork's own\nseen:     one that was open before")
    expect_equal(reader.given, source.metadata.path, of="the path that the reader was opened on")
    transactions = store.sql.transactions(on=reader)
    expect(len(transactions) == 1, f"expected: one transaction of the reader\nseen:     {told(transactions)}")
    (snapshot,) = transactions
    expect_equal((snapshot.kind, snapshot.wrote), ("deferred", False), of="the reader's transaction: kind, wrote")
    outside = [one for one in reads_of(store, reader, *TABLES) if one.transaction is not snapshot]
    expect_none(outside, of="what the reader reads outside of its transaction")
    checked = reads_of(store, reader, "sessions")
    expect(checked, "expected: the session's row is read in the transaction\nseen:     no statement on it")
    expect(
        rows_of(reads_of(store, reader, "entries")) >= ENTRIES,
        f"expected: all entries come through the reader\nseen:     {told(reads_of(store, reader, 'entries'))}",
    )
    await fork.check()


@case("S-SQL-FORK-01", needs=("spy-sql", "raw-files"))
@from_open_and_closed
async def a_source_named_by_a_link_is_read_on_its_real_path(store: SessionMaker, source_is: str) -> None:
    """A fork by metadata whose path is a link to the database opens its reader on the real path.

    If this fails, look at: a path that is opened as the metadata spell it.
    """
    source = await wide_session(store, ENTRIES)
    model = source.model.fork(TreeFork(), source.id)
    if source_is != OPEN:
        await source.close()
    with new_place() as place:
        link = place / "link.sqlite"
        link.symlink_to(str(source.metadata.path))
        store.sql.forget()
        fork = await store.repo.fork(replace(source.metadata, path=str(link)), TreeFork())
        given = reader_of(store, source).given
        expect_equal(given, source.metadata.path, of="the path that the reader was opened on")
        await store.subject(fork, model).check("the fork of a source that was named by a link")


@case("S-SQL-FORK-02", needs=("spy-sql", "probe"))
@in_both_scopes
async def the_boundary_is_a_begin_and_one_read(store: SessionMaker, options: ForkOptions) -> None:
    """When the boundary of an open source is captured the reader has begun a deferred transaction and taken one trivial
    read in it, one row at most, and has read nothing yet of entries, rows or the branch index.

    If this fails, look at: the selection made inside the job in the source's queue; a transaction that begins without a
    read, and so without a snapshot.
    """
    source = await wide_session(store, ENTRIES)
    before = store.sql.open_connections()
    store.sql.forget()
    seen: list[Any] = []

    async def look() -> None:
        opened = [one for one in store.sql.open_connections() if one not in before]
        readers = [one for one in opened if one.mode == "read-only" and is_on(one, source)]
        seen.extend(store.sql.executions(on=reader) for reader in readers)

    store.probe.run("boundary_captured", look)
    await source.fork(options)
    expect_equal(len(seen), 1, of="the number of readers when the boundary is captured")
    begun = list(dropwhile(lambda one: one.statement.kind == "pragma", seen[0]))
    kinds = [one.statement.kind for one in begun[:2]]
    is_begun = kinds in (["begin", "select"], ["begin", "pragma"])  # `PRAGMA schema_version` is a read, too
    expect(is_begun, f"expected: BEGIN, then one read\nseen:     {told(begun)}")
    expect_equal(begun[0].statement.begins, "deferred", of="how the reader's transaction begins")
    expect(begun[1].rows <= 1, f"expected: a trivial read, of one row at most\nseen:     {begun[1]}")
    early = [one for one in begun if one.statement.sources.intersection(TABLES[1:])]
    expect_none(early, of="what the reader has read of its source when the boundary is captured")


@case("S-SQL-FORK-02", needs=("spy-sql", "raw-commit"))
@in_both_scopes
async def the_reader_opens_while_the_queue_is_busy(store: SessionMaker, options: ForkOptions) -> None:
    """The reader opens without waiting for the source's queue, where a commit still runs; its snapshot begins after
    that commit, and before the next one in the queue begins.

    If this fails, look at: a connection that is opened inside the job; a snapshot that begins past the queue; a job
    that is put into the queue late.
    """
    source = await wide_session(store, ENTRIES)
    writer, tip = _writer(store, source), source.model.tip("main")
    store.sql.forget()
    with write_lock(source.metadata.path or ""):
        first = asyncio.ensure_future(source.session.storage.commit(one_more(1, tip or "")))
        forking = asyncio.ensure_future(store.repo.fork(source.metadata, options))
        second = asyncio.ensure_future(source.session.storage.commit(one_more(2, "more-1")))
        await _reader_stands(store, source, first)
        released = store.sql.moment()
    endings = [await ended(one) for one in (first, forking, second)]
    expect_equal(words(endings), ["returned"] * 3, of="a commit, the fork behind it, and a commit behind that")
    before, after = store.sql.transactions(on=writer)
    reader = reader_of(store, source)
    (snapshot,) = store.sql.transactions(on=reader)
    inside = [one for one in store.sql.executions(on=reader) if one.transaction is snapshot]
    read = next(one for one in inside if one.statement.kind != "begin")
    expect(
        reader.opened < released,
        "expected: the reader is opened while a commit before it waits for the write lock\nseen:     only behind it",
    )
    moments = {"commit": before.ended or 0, "begin": snapshot.begun, "read": read.begun, "next commit": after.begun}
    expect_equal(sorted(moments, key=lambda name: moments[name]), list(moments), of="the order of the boundary's steps")


async def _reader_stands(store: SessionMaker, source: Subject, commit: asyncio.Future[Any]) -> None:
    """Waits until a reader has been open for some rounds with nothing to do, or until it can be expected no more. A
    connection that looks whether the destination is free has its work at once.
    """
    idle = 0
    for _ in range(PATIENCE):
        await asyncio.to_thread(int)  # the threads of the store get their turns
        open_ones = [one for one in store.sql.open_connections() if one.mode == "read-only" and is_on(one, source)]
        idle = idle + 1 if any(not store.sql.executions(on=one) for one in open_ones) else 0
        if idle == ROUNDS or commit.done():
            break


@case("S-SQL-FORK-03", needs=("spy-sql", "probe", "raw-commit"))
@in_both_scopes
async def the_writer_of_the_source_is_left_alone(store: SessionMaker, options: ForkOptions) -> None:
    """A fork runs no statement on the connection of its open source, so no transaction either; and a commit to the
    source completes after every batch while the fork copies, and is not in it.

    If this fails, look at: the boundary taken with a transaction on the writer; rows read through the session; a queue
    that is held until the copy is done.
    """
    source = await wide_session(store, ENTRIES)
    writer, model = _writer(store, source), source.model.fork(options, source.id)
    store.sql.forget()
    await (await source.fork(options)).close()
    expect_none(store.sql.executions(on=writer), of="statements of a fork on the source's own connection")
    tips = ["more-0", "more-1", "more-2"]

    async def commit() -> None:
        number = 3 - len(tips)
        parent = source.model.tip("main") or ""
        tips.pop()
        await source.raw_commit(*one_more(number, parent))

    for _ in tips:
        store.probe.run("batch_copied", commit)
    batches = store.probe.count("batch_copied")
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    expect(store.probe.count("batch_copied") > batches, "expected: batches of the fork\nseen:     none")
    await fork.check("the fork, whose source took commits while it was copied")
    await source.check()


@case("S-SQL-FORK-12")
@in_both_scopes
@from_open_and_closed
async def the_source_is_released_before_the_destination_begins(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """The reader's transaction has ended, and the reader is closed, before the transaction on the destination begins.

    If this fails, look at: a reader that is closed in a `finally` around the publishing; rows copied straight from the
    source into the destination.
    """
    source = await wide_session(store, ENTRIES)
    store.sql.forget()
    fork = await forked(source, options, source_is)
    reader = reader_of(store, source)
    (snapshot,) = store.sql.transactions(on=reader)
    writes = database_writes(store)
    expect(writes, "expected: a write transaction of the destination\nseen:     none")
    begun = writes[0].begun
    expect(
        snapshot.ended is not None and snapshot.ended < begun,
        f"expected: the source transaction ends before the destination's begins\nseen:     {snapshot}, {writes[0]}",
    )
    expect(
        reader.closed is not None and reader.closed < begun,
        f"expected: the reader is closed before the destination's transaction begins\nseen:     {reader}, {writes[0]}",
    )
    await fork.check()


@case("S-FORK-ORD-10", needs=("spy-sql", "probe"), kinds=("sqlite",))
@in_both_scopes
@from_open_and_closed
async def the_snapshot_is_there_when_the_boundary_is_told(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """When `boundary_captured` is awaited the reader's snapshot is taken: its transaction runs and has read; nothing
    has been copied, and no statement runs on the source's own connection.

    If this fails, look at: a callback before the first read; a `BEGIN` alone, which takes no snapshot.
    """
    source = await wide_session(store, ENTRIES)
    if source_is != OPEN:
        await source.close()
    model = source.model.fork(options, source.id)
    store.sql.forget()
    seen: list[tuple[list[Any], list[Any]]] = []

    async def look() -> None:
        running = [one for one in store.sql.open_transactions() if is_on(one.connection, source)]
        reads = [one for one in store.sql.executions(kind="select") if one.transaction in running]
        seen.append((running, [one for one in reads if one.ended is not None]))

    store.probe.run("boundary_captured", look)
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    expect_equal(len(seen), 1, of="how often the boundary was told")
    running, reads = seen[0]
    expect(len(running) == 1, f"expected: the snapshot of the reader runs\nseen:     {told(running)}")
    expect(reads, "expected: a read in the snapshot, which fixes it\nseen:     none")
    expect_none((one for one in reads if rows_of([one]) > 1), of="rows that were read before the boundary was told")
    await fork.check()


@case("S-FORK-ORD-13", needs=("spy-sql", "probe", "raw-commit"), kinds=("sqlite",))
@in_both_scopes
@rows("point", POINTS)
async def no_write_transaction_runs_in_a_callback(store: SessionMaker, options: ForkOptions, point: str) -> None:
    """While a callback is awaited no transaction runs but the reader's snapshot, which only reads, and which has ended
    by `before_publish`; commits to the source and to another session complete.

    If this fails, look at: a stage that is written in one transaction for all batches; a destination that is begun
    early.
    """
    source, other = await wide_session(store, ENTRIES), await store.linear_session()
    tips = {subject: subject.model.tip("main") or "" for subject in (source, other)}
    store.sql.forget()
    seen: list[list[Transaction]] = []

    async def look() -> None:
        seen.append(store.sql.open_transactions())
        commits = [subject.session.storage.commit(one_more(len(seen), tips[subject])) for subject in tips]
        expect_equal(words(await raced(*commits)), ["returned"] * 2, of=f"commits to two sessions inside {point}")
        tips.update(dict.fromkeys(tips, f"more-{len(seen)}"))

    for _ in range(MOST_BATCHES):
        store.probe.run(point, look)
    await source.fork(options)
    expect(seen, f"expected: {point} is awaited\nseen:     it is not")
    running = [transaction for found in seen for transaction in found]
    writing = [one for one in running if one.wrote or one.kind != "deferred"]
    expect_none(writing, of=f"transactions that write, or could, inside {point}")
    if point == "before_publish":
        expect_none(running, of="transactions that run when the source should be released")
