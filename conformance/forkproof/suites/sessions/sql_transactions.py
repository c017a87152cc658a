"""A commit is one write transaction, and write transactions begin immediately (section 28)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.watched_connections import Transaction
from forkproof.makers import SessionMaker
from forkproof.makers.records import message_entry, usage_row, user_message
from forkproof.suites.sessions.sql_watching import database_writes, expect_none, told
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownParent
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet, Write

PLAN, LOG = value_address("garden.plan"), list_address("garden.log")


def _many() -> list[Write]:
    entries: list[Write] = [
        EntryInsert(message_entry(f"n{number}", f"n{number - 1}" if number else "e4", "x")) for number in range(60)
    ]
    return [*entries, EntryInsert(message_entry("aside", "e2", "a branch")), ValueSet(branch_tip("main"), "n59")]


COMMITS: dict[str, list[Write]] = {
    "entry": [EntryInsert(message_entry("e5", "e4"))],
    "usage-row": [UsageInsert(usage_row("usage-1"))],
    "scalar": [ValueSet(PLAN, 1)],
    "deleted-scalar": [ValueDelete(PLAN)],
    "element": [ListAppend(LOG, 1)],
    "deleted-list": [ListDelete(LOG)],
    "all-kinds": [
        EntryInsert(message_entry("e5", "e4")),
        UsageInsert(usage_row("usage-1", "e5")),
        ValueSet(PLAN, 1),
        ValueDelete(PLAN),
        ListAppend(LOG, 1),
        ListDelete(LOG),
        ListAppend(LOG, 2),
    ],
    "many-entries": _many(),
}


@case("S-SQL-TXN-01", needs=("spy-sql", "raw-commit"))
@rows("writes", COMMITS)
async def a_commit_is_one_write_transaction(store: SessionMaker, writes: list[Write]) -> None:
    """A commit, whatever it writes and however much, is exactly one write transaction: begun immediately, committed,
    and with all of its changes in it.

    If this fails, look at: statistics or sequences written in a transaction of their own; a transaction per write; a
    branch index brought up to date afterwards; a write without a transaction.
    """
    subject = await store.linear_session(4)
    store.sql.forget()
    await subject.raw_commit(*writes)
    _expect_one_write(store, "a commit")
    await subject.check()


async def _append(session: Any) -> None:
    branch = await session.branch("main")
    await branch.append_message(user_message("one more"))


WRITERS: dict[str, Any] = {
    "set-value": lambda session: session.set_value(PLAN, 1),
    "delete-value": lambda session: session.delete_value(PLAN),
    "append-list": lambda session: session.append_list(LOG, 1),
    "delete-list": lambda session: session.delete_list(LOG),
    "set-name": lambda session: session.set_name("the pond"),
    "set-label": lambda session: session.set_label("e1", "start"),
    "create-branch": lambda session: session.create_branch("aside", "e2"),
    "append-message": _append,
    "mutate": lambda session: session.mutate(lambda scope: scope.commit([ValueSet(PLAN, 1), ListAppend(LOG, 1)])),
}


@case("S-SQL-TXN-01")
@rows("write", WRITERS)
async def every_writer_is_one_write_transaction(store: SessionMaker, write: Any) -> None:
    """Every public writer of a session is one commit, and that is one write transaction, begun immediately.

    If this fails, look at: a look at the tip that is kept in a deferred transaction and then written on.
    """
    subject = await store.linear_session(4)
    store.sql.forget()
    await write(subject.session)
    _expect_one_write(store, "a writer of the session")


@case("S-SQL-TXN-01")
async def every_write_transaction_begins_immediately(store: SessionMaker) -> None:
    """Every transaction that writes in a database, of a create, a commit, a refused commit, a fork in both scopes and a
    delete, begins with `BEGIN IMMEDIATE`; nothing is written outside of a transaction, and none is left running.

    If this fails, look at: a schema made outside of a transaction; context managers that begin deferred; a delete of
    several statements without a transaction.
    """
    source = await store.rich_session(id="source")
    refusals: tuple[list[Write], ...] = (
        [EntryInsert(message_entry("tip", None))],
        [EntryInsert(message_entry("new", "no-such-entry"))],
        [ValueSet(PLAN, 1), UsageInsert({"id": "usage-of-nothing"})],
    )
    for writes in refusals:
        with refused(DuplicateId, UnknownParent, InvalidValue):
            await source.commit(*writes)
    for options in (TreeFork(id="tree"), BranchFork("main", id="branch")):
        fork = await source.fork(options)
        await fork.append("main", "in the fork")
        await fork.close()
        await store.repo.delete(fork.metadata)
    await source.close()
    await store.repo.list()
    await store.repo.delete(source.metadata)
    writes_seen = database_writes(store)
    expect(writes_seen, "expected: the write transactions of all of these\nseen:     none")
    expect_none((one for one in writes_seen if one.kind != "immediate"), of="write transactions begun otherwise")
    expect_none(store.sql.open_transactions(), of="transactions that are still running")


READS: dict[str, Any] = {
    "get-entries": lambda session: session.get_entries(["tip", "no-such-entry"]),
    "get-value": lambda session: session.get_value(PLAN),
    "scan-values": lambda session: session.scan_values(value_address("pi.entry.label")),
    "read-list": lambda session: session.read_list(list_address("garden.log", "kept")),
    "scan-branch": lambda session: session.scan_branch("tip"),
    "scan-branch-structure": lambda session: session.scan_branch_structure("tip", order="oldest_first"),
    "scan-entries": lambda session: session.scan_entries(),
    "scan-usage": lambda session: session.scan_usage(),
    "get-stats": lambda session: session.get_stats(),
}


@case("S-SQL-TXN-01")
async def a_read_is_no_write_transaction(store: SessionMaker) -> None:
    """No read of a session begins a write transaction, and none leaves a transaction or a cursor behind it.

    If this fails, look at: reads that share the function of commits; a cursor that is not run to its end, and keeps the
    log from being shortened.
    """
    subject = await store.rich_session()
    asked = 0
    for name, read in READS.items():
        store.sql.forget()
        await read(subject.session)
        asked += len(store.sql.executions())
        _expect_only_read(store.sql.transactions(), name)
        expect_none(store.sql.open_transactions(), of=f"transactions that run after {name}")
        expect_none(store.sql.open_statements(), of=f"cursors that are open after {name}")
    expect(asked, "expected: reads that ask the database\nseen:     no statement")


def _expect_only_read(transactions: list[Transaction], name: str) -> None:
    wrong = [one for one in transactions if one.wrote or one.kind != "deferred"]
    expect_none(wrong, of=f"transactions of {name} that write, or could")


@case("S-SQL-TXN-01", needs=("spy-sql", "raw-commit"))
async def what_a_commit_reads_it_reads_in_its_transaction(store: SessionMaker) -> None:
    """Whatever a commit looks at, its session's row or the ids and parents it is given, it looks at inside its own
    write transaction: so nothing that another connection writes can come between the look and the write.

    If this fails, look at: checks made before the transaction begins; a row that is read to know what to write.
    """
    subject = await store.linear_session(4)
    store.sql.forget()
    await subject.raw_commit(EntryInsert(message_entry("e5", "e4")), UsageInsert(usage_row("usage-1")))
    (transaction,) = database_writes(store)
    selects = store.sql.executions(kind="select")
    expect_none((one for one in selects if one.transaction is not transaction), of="reads outside of the transaction")


def _expect_one_write(store: SessionMaker, of: str) -> None:
    seen = database_writes(store)
    expect(len(seen) == 1, f"{of}\nexpected: exactly one write transaction\nseen:     {told(seen)}")
    (transaction,) = seen
    expect_equal((transaction.kind, transaction.ending), ("immediate", "commit"), of=f"how {of} begins and ends")
    begun = [one for one in store.sql.transactions() if one.kind != "deferred"]
    expect(len(begun) == 1, f"{of}\nexpected: no other transaction that could write\nseen:     {told(begun)}")
