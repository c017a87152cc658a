"""What the suites with an SQL spy share: whose connection is whose in a fork, and how a run of statements is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forkproof.expect import ClauseBroken, expect_equal
from forkproof.instruments.watched_connections import Execution, SqlConnection, Transaction
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import custom_entry, message_entry
from forkproof.oracle.model import SessionModel
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.forks import ForkOptions
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

COPIED = ("entries", "scalar_values", "list_values")
"""The tables that a fork reads rows of."""
SHOWN = 8


def is_stage(connection: SqlConnection) -> bool:
    """Whether the connection is one to the stage of a fork (section 32)."""
    name = Path(connection.path).name
    return name.startswith(".fork-stage-") and name.endswith(".tmp")


def is_on(connection: SqlConnection, subject: Subject) -> bool:
    """Whether the connection is one to the session's database."""
    return connection.path == subject.metadata.path


def database_writes(store: SessionMaker) -> list[Transaction]:
    """The write transactions on databases of sessions since the spy forgot; a stage is none."""
    return [one for one in store.sql.transactions(wrote=True) if not is_stage(one.connection)]


def reader_of(store: SessionMaker, source: Subject) -> SqlConnection:
    """The one connection through which a fork has read the rows of its source. Breaks the clause unless there is one,
    and unless it was opened for reading. What a commit looks at inside its write transaction is no reading of a fork.
    """
    read = [one for one in store.sql.executions() if one.statement.sources.intersection(COPIED)]
    of_forks = [one for one in read if one.transaction is None or one.transaction.kind == "deferred"]
    readers = {one.connection: None for one in of_forks if is_on(one.connection, source)}
    expect_equal([one.mode for one in readers], ["read-only"], of="the modes of connections that read source rows")
    return next(iter(readers))


def reads_of(store: SessionMaker, reader: SqlConnection, *tables: str) -> list[Execution]:
    """What ran on the reader and takes rows of one of the tables, in order."""
    return [one for one in store.sql.executions(on=reader) if one.statement.sources.intersection(tables)]


def rows_of(executions: Iterable[Execution]) -> int:
    """The rows that they gave, or moved by themselves."""
    return sum(max(one.rows, one.changes) for one in executions)


def told(things: Iterable[object]) -> str:
    """Transactions, statements or connections, one a line; the first few of many."""
    lines = [str(one) for one in things]
    left = len(lines) - SHOWN
    return "\n          ".join(lines[:SHOWN] + ([f"… and {left} more"] if left > 0 else [])) or "none"


def expect_none(things: Iterable[object], of: str) -> None:
    """Breaks the clause when there are any."""
    found = list(things)
    if found:
        raise ClauseBroken(f"{of}\nexpected: none\nseen:     {told(found)}")


async def wide_session(store: SessionMaker, rows: int, *, id: str | None = None) -> Subject:
    """A lane `main` over a chain of that many entries, every tenth a custom one, and as many application scalars and
    list elements; in three commits.
    """
    subject = await store.create(id)
    await subject.insert(*(_entry(number) for number in range(rows)))
    await subject.commit(*(ValueSet(value_address("garden.plan", f"row:{number}"), number) for number in range(rows)))
    await subject.commit(*(ListAppend(list_address("garden.log", "beds"), number) for number in range(rows)))
    await subject.set_tip("main", f"n{rows - 1}" if rows else None)
    await subject.configure("main")
    return subject


def _entry(number: int) -> dict[str, object]:
    parent = f"n{number - 1}" if number else None
    if number % 10 == 9:
        return custom_entry(f"n{number}", parent, data={"number": number})
    return message_entry(f"n{number}", parent, f"message {number}")


def one_more(number: int, parent: str) -> list[Write]:
    """The writes of a commit that moves the tip of `main` on."""
    return [
        EntryInsert(message_entry(f"more-{number}", parent, "later")),
        ValueSet(branch_tip("main"), f"more-{number}"),
    ]


async def forked_by(source: Subject, options: ForkOptions) -> Subject:
    """The fork of the source as it is now; the spy has seen that call only."""
    model: SessionModel = source.model.fork(options, source.id)
    source.store.sql.forget()
    return source.store.subject(await source.store.repo.fork(source.metadata, options), model)
