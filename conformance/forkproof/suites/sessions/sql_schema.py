"""What a database is made of: its tables, indexes and triggers, and the row of a new session (section 27)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect_equal
from forkproof.instruments.own_connections import connected
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import path_of, session_row
from forkproof.oracle.database_schema import SCHEMA, Schema, statements
from forkproof.oracle.ledger import zero_usage
from forkstore.contract.forks import BranchFork, TreeFork

LEASE = "CREATE TABLE writer_lease (session_id TEXT PRIMARY KEY, owner TEXT)"


def _place(subject: Subject) -> Path:
    return path_of(subject.metadata)


def _expect_schema(store: SessionMaker, path: Path, of: str) -> None:
    seen = store.databases.schema(path)
    for part in ("tables", "indexes", "triggers"):
        expect_equal(getattr(seen, part), getattr(SCHEMA, part), of=f"the {part} of {of}")


@case("S-SQL-SCH-01")
async def a_created_database_has_the_schema_of_the_contract(store: SessionMaker) -> None:
    """The database of a created session, and that of a fork in either scope, has exactly the tables, indexes and
    triggers of section 27.1: columns, types, keys and uniqueness included; use of the session adds none.

    If this fails, look at: an index for a query of the store's own; a table that keeps a rowid; a column that may be
    null; a stage's table left in the destination.
    """
    source = await store.rich_session()
    _expect_schema(store, _place(source), "the database of a session")
    for options in (TreeFork(), BranchFork("main")):
        fork = await source.fork(options)
        _expect_schema(store, _place(fork), f"the database of the fork by {options!r}")
    await source.reopen()
    await source.append("main", "after reopening")
    _expect_schema(store, _place(source), "the database of a reopened session")


INVALID: dict[str, str] = {
    "unknown-parent": "INSERT INTO entries VALUES ('@', 'new', 'nobody', 90, 'message', NULL, 0, '{}')",
    "parent-of-another-session": "INSERT INTO entries VALUES ('other', 'new', 'e1', 90, 'message', NULL, 0, '{}')",
    "entry-named-like-a-usage-row": "INSERT INTO entries VALUES ('@', 'u1', NULL, 90, 'message', NULL, 0, '{}')",
    "usage-row-named-like-an-entry": "INSERT INTO usage_ledger VALUES ('@', 'e1', 90, NULL, 0, '{}', NULL)",
}
VALID: tuple[str, ...] = (
    "INSERT INTO entries VALUES ('@', 'root', NULL, 90, 'message', NULL, 0, '{}')",
    "INSERT INTO entries VALUES ('@', 'child', 'root', 91, 'message', NULL, 0, '{}')",
    "INSERT INTO usage_ledger VALUES ('@', 'spent', 92, 'nobody', 0, '{}', NULL)",
    "INSERT INTO entries VALUES ('other', 'u1', NULL, 1, 'message', NULL, 0, '{}')",
    "INSERT INTO usage_ledger VALUES ('other', 'e1', 2, NULL, 0, '{}', NULL)",
)


@case("S-SQL-SCH-01")
async def the_triggers_abort_what_the_contract_names(store: SessionMaker) -> None:
    """The triggers abort an entry whose parent is not in its session, an entry that is named like a usage row of its
    session, and a usage row that is named like an entry of it; rows that are valid pass, in other sessions too.

    If this fails, look at: a trigger that does not look at the session; one that stands on the wrong table; a trigger
    that asks for the entry of a usage row.
    """
    subject = await store.linear_session(1)
    await subject.spend("u1")
    with connected(_place(subject)) as connection:
        for name, statement in INVALID.items():
            if not _is_aborted(connection, statement.replace("@", subject.id)):
                raise ClauseBroken(f"the insert {name}\nexpected: aborted by a trigger\nseen:     the row was inserted")
        connection.execute("BEGIN IMMEDIATE")
        for statement in VALID:
            if _is_aborted(connection, statement.replace("@", subject.id)):
                raise ClauseBroken(f"{statement}\nexpected: the row is inserted\nseen:     it was aborted")
        connection.execute("ROLLBACK")
    await subject.check()


def _is_aborted(connection: apsw.Connection, statement: str) -> bool:
    try:
        connection.execute(statement)
    except apsw.ConstraintError:
        return True
    return False


@case("S-SQL-SCH-01")
async def each_part_is_made_only_if_it_is_missing(store: SessionMaker) -> None:
    """A container that lacks parts of the schema gets them with the next session; what stands there stays as it is, its
    rows included.

    If this fails, look at: the schema made only in an empty file; a part that is dropped and made again.
    """
    container = store.databases.container
    if container is None:
        # One database a session: none is made where one stands, so nothing can be missing.
        await store.empty_session()
        return
    first = await store.rich_session("first")
    await first.close()
    names = [f"INDEX {name}" for name in SCHEMA.indexes] + [f"TRIGGER {name}" for name in SCHEMA.triggers]
    for number, name in enumerate(names):
        store.databases.change(container, f"DROP {name}")
        await (await store.create(f"after-{number}")).close()
        _expect_schema(store, container, f"the container that had lost its {name}")
    store.databases.change(container, "DROP INDEX ix_usage_seq", "CREATE INDEX ix_usage_seq ON usage_ledger (seq)")
    before = store.databases.picture(container)
    await store.create("last")
    expect_equal(store.databases.picture(container, without=["last"]), before, of="the rows of the other sessions")
    columns = store.databases.schema(container).indexes["ix_usage_seq"].columns
    expect_equal(columns, ("seq",), of="an index of that name that stood there")
    await first.open()
    await first.check()


@case("S-SQL-SCH-01")
async def an_unfinished_schema_is_finished(store: SessionMaker) -> None:
    """A container with the first tables only, as a process leaves it that is killed between two statements, gets the
    rest with the next session, and its sessions are kept.

    If this fails, look at: a schema that is taken for whole when one table stands.
    """
    databases = store.databases
    if databases.container is None:
        await store.empty_session()
        return
    databases.make(databases.container, schema=False)
    first = next(iter(statements()))
    databases.change(databases.container, first)
    databases.insert_rows(databases.container, "sessions", session_row("kept"))
    expect_equal(list(databases.schema(databases.container).tables), ["sessions"], of="the tables that stand")
    await store.create("new")
    _expect_schema(store, databases.container, "the container that was finished")
    expect_equal(await store.listed_ids(), ["kept", "new"], of="the sessions of the container")


@case("S-SQL-SCH-02")
@rows("options", {"plain": {}, "parent": {"parent_session_id": "früh"}, "odd-id": {"id": "a/b 水"}})
async def a_new_session_is_one_row(store: SessionMaker, options: dict[str, Any]) -> None:
    """A new session is one row in `sessions`, with message count 0, the zero usage object and next sequence 1, and no
    row in any other table; so is a fork of an empty session.

    If this fails, look at: a branch made with the session; usage that is null or an empty object; metadata that is an
    empty text.
    """
    subject = await store.create(**options)
    fork = await subject.fork(TreeFork())
    for one in (subject, fork):
        found = store.databases.session_rows(one.metadata)
        expected = {
            **session_row(one.id, created_at=one.metadata.created_at),
            "parent_session_id": one.metadata.parent_session_id,
        }
        seen = found.session
        expect_equal(json.loads(seen["usage_payload"]), zero_usage(), of="usage_payload of a new session", ordered=True)
        expect_equal(seen, expected, of="the row of a new session")
        others = {name: len(getattr(found, name)) for name in SCHEMA.tables if name != "sessions"}
        expect_equal(others, dict.fromkeys(others, 0), of="the numbers of other rows of a new session")


@case("S-SQL-SCH-06")
async def a_further_table_is_ignored_and_kept(store: SessionMaker) -> None:
    """A table in the database that the contract does not know stays with its rows, and keeps no call from working:
    listing, opening, commits, forks in both scopes, closing, and the deletion of another session of the container.

    If this fails, look at: a schema that is compared as a whole; a delete that runs over all tables.
    """
    subject, other = await store.rich_session(), await store.linear_session(2)
    await subject.close()
    path = _place(subject)
    lease = ("INSERT INTO writer_lease VALUES (?, ?), (?, ?)", (subject.id, "früh", other.id, "spät"))
    store.databases.change(path, LEASE, lease)
    store.databases.change(path, "CREATE VIEW leases AS SELECT owner FROM writer_lease")
    await store.assert_only_known_sessions(subject, other)
    await subject.open()
    await subject.append("main", "beside a further table")
    forks = [await subject.fork(options) for options in (TreeFork(), BranchFork("main"))]
    await other.close()
    await store.repo.delete(other.metadata)
    await store.check_each(subject, *forks)
    expect_equal(_further(store.databases.schema(path)), ["writer_lease"], of="the further tables")
    owners = store.databases.rows(path, "SELECT session_id, owner FROM writer_lease ORDER BY owner")
    expect_equal(owners, [(subject.id, "früh"), (other.id, "spät")], of="the rows of the further table")


def _further(schema: Schema) -> list[str]:
    return sorted(schema.tables.keys() - SCHEMA.tables.keys())
