"""How a fork is staged and published: bounded batches, then the whole destination in one transaction (section 32)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.watched_connections import Execution, Transaction
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import compaction_entry, message_entry
from forkproof.suites.sessions.forking import forked, from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.sql_watching import (
    COPIED,
    database_writes,
    expect_none,
    forked_by,
    reader_of,
    reads_of,
    rows_of,
    told,
    wide_session,
)
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

ROWS = 250
BYTES = 1_048_576
"""The bounds of a batch, by default."""


async def _branching_session(store: SessionMaker) -> Subject:
    """Entries with a compaction and siblings, scalars and lists: something for each table of a destination."""
    source = await wide_session(store, 20)
    await source.insert(compaction_entry("compaction", "n19"), message_entry("aside", "n3"))
    await source.insert(message_entry("left", "compaction"), message_entry("right", "compaction"))
    await source.set_tip("main", "left")
    return source


def _changes(store: SessionMaker, transaction: Transaction, *tables: str) -> list[Execution]:
    """The statements of a transaction that change one of the tables."""
    found = [one for one in store.sql.executions() if one.transaction is transaction and one.statement.target]
    return [one for one in found if one.statement.target is not None and one.statement.target.name in tables]


def _expect_one_transaction(store: SessionMaker, of: str) -> Transaction:
    writes = database_writes(store)
    expect(len(writes) == 1, f"{of}\nexpected: one write transaction of the destination\nseen:     {told(writes)}")
    (transaction,) = writes
    expect_equal((transaction.kind, transaction.ending), ("immediate", "commit"), of=f"{of}: how it begins and ends")
    return transaction


@case("S-SQL-FORK-13")
@in_both_scopes
@from_open_and_closed
async def a_destination_is_written_in_one_transaction(
    store: SessionMaker, options: ForkOptions, source_is: str
) -> None:
    """A fork writes its whole destination in one immediate transaction: session row, entries, branch index, scalars and
    lists; it writes to no other database but its stage.

    If this fails, look at: the session row, or the message count, in a transaction of its own; a transaction per batch;
    a schema that is made beforehand.
    """
    source = await _branching_session(store)
    store.sql.forget()
    fork = await forked(source, options, source_is)
    transaction = _expect_one_transaction(store, "the fork")
    expected = {"sessions", "entries", "branch_entries", "branch_meta", "scalar_values"}
    expected |= {"list_values"} if isinstance(options, TreeFork) else set()
    missing = sorted(expected - transaction.changed)
    expect_none(missing, of="tables of the destination that its transaction does not write")
    await fork.check()


@case("S-SQL-FORK-13")
async def an_empty_destination_is_written_in_one_transaction(store: SessionMaker) -> None:
    """A fork that copies nothing writes its session row in one immediate transaction.

    If this fails, look at: a create in place of a publishing, with transactions of its own.
    """
    source = await store.empty_session()
    fork = await forked_by(source, TreeFork())
    transaction = _expect_one_transaction(store, "the fork of an empty session")
    expect("sessions" in transaction.changed, f"expected: it writes the session row\nseen:     {transaction}")
    await fork.check()


@case("S-SQL-FORK-13")
@in_both_scopes
async def a_destination_is_written_in_order(store: SessionMaker, options: ForkOptions) -> None:
    """In that transaction the session row comes first; then the entries, with their part of the branch index; then the
    scalars and lists.

    If this fails, look at: a session row that is written last, when everything is known; rows published before their
    entries.
    """
    source = await _branching_session(store)
    await forked_by(source, options)
    transaction = _expect_one_transaction(store, "the fork")
    sessions, *_ = _changes(store, transaction, "sessions")
    data = _changes(store, transaction, "entries", "branch_entries", "branch_meta", "scalar_values", "list_values")
    early = [one for one in data if one.begun < sessions.begun]
    expect_none(early, of="what is written before the session row")
    values = _changes(store, transaction, "scalar_values", "list_values")
    first = min(one.begun for one in values)
    late = [
        one for one in _changes(store, transaction, "entries", "branch_entries", "branch_meta") if one.begun > first
    ]
    expect_none(late, of="entries and index rows that are written behind the first scalar or list row")


@case("S-SQL-FORK-13", needs=("spy-sql", "raw-files"))
@in_both_scopes
async def a_destination_keeps_the_order_and_counts_its_messages(store: SessionMaker, options: ForkOptions) -> None:
    """The entries of the destination stand in the order of the source, its index is complete, and its row says how many
    messages it holds and the next sequence.

    If this fails, look at: entries published by id; a message count taken from the source.
    """
    source = await _branching_session(store)
    fork = await forked_by(source, options)
    stored = sorted(store.databases.session_rows(fork.metadata).entries, key=lambda row: row["seq"])
    expect_equal([row["id"] for row in stored], list(fork.model.entries), of="the ids of the entries, by sequence")
    row = store.databases.session_rows(fork.metadata).session
    messages = sum(entry["type"] == "message" for entry in fork.model.state().entries)
    expect_equal(row["message_count"], messages, of="the message count in the session's row")
    store.databases.check_index(fork.metadata)
    result = await fork.commit(ValueSet(value_address("garden.plan"), 1))
    expect_equal(result.first_seq, row["next_seq"], of="the first sequence that is given in the fork")


async def _heavy_session(store: SessionMaker, size: int, count: int) -> Subject:
    """A lane over that many entries of that many bytes, and as many scalars and elements as large."""
    source = await store.create()
    text = "x" * size
    for number in range(count):
        parent = f"n{number - 1}" if number else None
        writes: list[Write] = [EntryInsert(message_entry(f"n{number}", parent, text))]
        writes.append(ValueSet(value_address("garden.plan", f"row:{number}"), text))
        writes.append(ListAppend(list_address("garden.log", "beds"), text))
        await source.commit(*writes)
    await source.set_tip("main", f"n{count - 1}")
    await source.configure("main")
    return source


async def _counts(source: Subject, options: ForkOptions) -> list[int]:
    """The counts of the batches of a fork."""
    before = len(source.store.probe.calls)
    fork = await source.fork(options)
    await fork.check()
    await fork.close()
    return [count or 0 for point, count in source.store.probe.calls[before:] if point == "batch_copied"]


@case("S-SQL-FORK-07")
@in_both_scopes
async def a_batch_holds_250_rows_by_default(store: SessionMaker, options: ForkOptions) -> None:
    """A batch holds at most 250 rows where nothing else is asked for: as it is told to the probe, and as its rows are
    taken from the source.

    If this fails, look at: a batch that is written in pieces and told as a whole; a count of commits in place of rows.
    """
    source = await wide_session(store, 2 * ROWS + 20)
    model = source.model.fork(options, source.id)
    taken: list[int] = []

    async def look() -> None:
        reads = reads_of(store, reader_of(store, source), *COPIED)
        taken.append(rows_of(one for one in reads if one.rows > 1 or one.changes > 1))

    _at_every_batch(store, look)
    store.sql.forget()
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    counts = [count or 0 for point, count in store.probe.calls if point == "batch_copied"]
    expect_none((count for count in counts if count > ROWS), of="counts of batches above 250 rows")
    steps = [after - before for before, after in zip([0, *taken], taken, strict=False)]
    at_once = [step for step in steps if step > ROWS + 1]  # one to see whether there are more
    expect_none(at_once, of="numbers of source rows that were taken for one batch, above 250")
    await fork.check()


def _at_every_batch(store: SessionMaker, look: Callable[[], Awaitable[object]], batches: int = 50) -> None:
    for _ in range(batches):
        store.probe.run("batch_copied", look)


@case("S-SQL-FORK-07", needs=("probe",))
async def a_batch_holds_a_mebibyte_by_default(store: SessionMaker) -> None:
    """A batch of more than one row holds at most 1,048,576 bytes of text where nothing else is asked for: of rows of
    300 KiB at most three, and of rows of 600 KiB one.

    If this fails, look at: rows counted and bytes forgotten; bytes of entries alone; a row that no longer fits and is
    taken all the same.
    """
    for size, at_most in ((300 * 1024, 3), (600 * 1024, 1)):
        source = await _heavy_session(store, size, 3)
        for options, large in ((TreeFork(), 9), (BranchFork("main"), 3)):
            counts = await _counts(source, options)
            needed = -(-large // at_most)
            expect(
                len(counts) >= needed,
                f"{large} rows of {size:,} bytes, {options!r}\nexpected: at least {needed} batches, each of at most "
                f"{at_most} such rows\nseen:     {counts}",
            )
        await source.close()
        await store.repo.delete(source.metadata)


BOUNDS: dict[str, tuple[int, int]] = {
    "one-row": (1, BYTES),
    "seven-rows": (7, BYTES),
    "few-bytes": (ROWS, 1),
    "two-kibibytes": (ROWS, 2_048),
    "both": (5, 2_048),
}
"""`stage_batch_rows` and `stage_batch_bytes`."""


@case("S-SQL-FORK-07", needs=("probe", "staging-dir"))
@in_both_scopes
@rows("bounds", BOUNDS)
async def a_batch_keeps_the_bounds_it_is_given(
    store: SessionMaker, options: ForkOptions, bounds: tuple[int, int]
) -> None:
    """A batch holds at most `stage_batch_rows` rows and, unless it is a single row, at most `stage_batch_bytes` bytes
    of text; the fork is the same.

    If this fails, look at: an option that is not passed on; a bound that is passed by the row that reaches it; a single
    large row that never fits.
    """
    await store.reopen_repo(stage_batch_rows=bounds[0], stage_batch_bytes=bounds[1])
    size = 700
    source = await _heavy_session(store, size, 12)
    counts = await _counts(source, options)
    expect_none((count for count in counts if count > bounds[0]), of=f"counts of batches above {bounds[0]} rows")
    large, small = (36, 3) if isinstance(options, TreeFork) else (12, 3)
    expect_equal(sum(counts), large + small, of="the sum of the counts")
    most = max(1, min(bounds[0], bounds[1] // size))
    needed = -(-large // most)
    expect(
        len(counts) >= needed,
        f"{large} rows of at least {size} bytes, at most {bounds[1]} bytes a batch\n"
        f"expected: at least {needed} batches\nseen:     {counts}",
    )
