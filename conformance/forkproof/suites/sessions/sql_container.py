"""Many sessions in one database, and many processes on it (S-SQL-LAY-08, S-SQL-LAY-09, S-SQL-LAY-12, S-SQL-TXN-02,
S-SQL-TXN-04). Sessions that have a database each are asked the same, with fewer processes.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import apsw

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.fault_scenes import Watched
from forkproof.instruments.live_writer import LiveWriter
from forkproof.instruments.own_connections import can_write_at_once, connected
from forkproof.instruments.racing import raced, words
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.raw_databases import session_row
from forkproof.oracle.database_schema import SCHEMA
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.other_places import new_place, store_at
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import CorruptSession, StoreIOError, UnknownParent
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueSet

LOG = list_address("garden.log")
ROUNDS = 5
PATIENTLY = 16
"""So many locks a store has asked for by when it has tried to switch, was refused, and has begun to wait."""
TABLES = {name.replace("_", "-"): name for name in SCHEMA.tables}
NEIGHBOURS = ("walk-1", "WALK", "walk%", "%", "wal_", "walk ", "")
"""Ids that a careless condition takes for `walk`."""


async def _filled(store: SessionMaker, id: str) -> Subject:
    """A session with rows in all seven tables."""
    subject = await store.create(id)
    await subject.configure("main")
    await subject.append("main", id, id="e1")
    await subject.commit(*all_six("a", "e1"))
    return subject


@case("S-SQL-LAY-08")
async def delete_removes_the_rows_of_one_session(store: SessionMaker) -> None:
    """`delete` removes the rows of the session from all seven tables and no other row; in per-file layout every other
    database keeps all its rows.

    If this fails, look at: a table that was forgotten; a condition with LIKE, or without a session; a foreign key.
    """
    kept = [await _filled(store, id) for id in NEIGHBOURS]
    doomed = await _filled(store, "walk")
    place = store.databases.place("walk")
    held = {table: len(getattr(store.databases.session_rows(doomed.metadata), table)) for table in TABLES.values()}
    expect_equal([table for table, count in held.items() if not count], [], of="tables without a row of the session")
    pictured = {store.databases.place(subject.id): None for subject in kept}
    before = {path: store.databases.picture(path, without=["walk"]) for path in pictured}
    await doomed.close()
    await store.repo.delete(doomed.metadata)
    for path, rows_before in before.items():
        expect_equal(store.databases.picture(path), rows_before, of=f"all rows of {path.name} after the delete")
    expect_equal(place.exists(), store.databases.container is not None, of="whether a database of that name stands")
    await store.assert_only_known_sessions(*kept)
    for subject in kept:
        await subject.check("a session whose id a careless condition takes for that of the deleted one")


@case("S-SQL-LAY-08")
@rows("table", TABLES)
async def a_delete_that_fails_midway_removes_nothing(store: SessionMaker, table: str) -> None:
    """When rows of one table cannot be removed, `delete` in a shared container fails and no row of any table is
    gone; once they can be, the session goes.

    If this fails, look at: a transaction per table; an error that is passed over; a commit on the way out.
    """
    subject, beside = await _filled(store, "walk"), await _filled(store, "beside")
    path = store.path_of(subject)
    await subject.close()
    stop = f"CREATE TRIGGER stop BEFORE DELETE ON {table} BEGIN SELECT RAISE(ABORT, 'not now'); END"
    store.databases.change(path, stop)
    if store.databases.container is not None:
        before = store.databases.picture(path)
        for _ in range(2):
            with refused(StoreIOError, CorruptSession, path=str(path)):
                await store.repo.delete(subject.metadata)
            expect_equal(store.databases.picture(path), before, of="all rows after a delete that failed")
        store.databases.change(path, "DROP TRIGGER stop")
        expect(can_write_at_once(path), "expected: another connection can write at once\nseen:     the lock is held")
    await store.repo.delete(subject.metadata)
    await store.assert_only_known_sessions(beside)
    await beside.append("main", "as before")
    await beside.check_everywhere()


@case("S-SQL-LAY-09", needs=("raw-commit",))
async def sessions_never_meet(store: SessionMaker) -> None:
    """Sessions with equal entry ids, usage ids, branch names, scalar addresses and list addresses hold each its own:
    what is written, deleted, moved, labelled, scanned or forked in one shows in no other.

    If this fails, look at: a condition without the session; an index of branches by name; a list deleted by address
    alone; statistics of all sessions.
    """
    subjects = [await _filled(store, id) for id in ("a", "b", "A")]
    a, b, c = subjects
    await a.append("main", "only in a", id="e2")
    await a.commit(ListDelete(list_address("garden.log", "beds")), ValueSet(value_address("garden.plan", "beds"), 1))
    await b.insert(records.custom_entry("e2", None))
    await b.commit(UsageInsert(records.usage_row("u2", "e2")), ListAppend(LOG, "only in b"))
    await b.set_tip("main", None)
    await c.append("main", "only in A", id="e2")
    await c.commit(ValueSet(branch_tip("from-commit"), "e2"))
    for subject in subjects:
        await subject.check(f"the session {subject.id!r} beside others of equal content")
    forks = [await subject.fork(TreeFork(id=f"fork-{subject.id}")) for subject in subjects]
    forks.append(await c.fork(BranchFork("main", id="branch")))
    await forks[0].append("main", "only in the fork", id="e3")
    await store.check_each(*subjects, *forks)
    await store.repo.delete(b.metadata)
    await forks[1].close()
    await store.repo.delete(forks[1].metadata)
    await store.check_each(a, c, forks[0], *forks[2:])


@case("S-SQL-LAY-09", needs=("raw-commit",))
async def equal_ids_are_refused_in_one_session_only(store: SessionMaker) -> None:
    """An entry may have the id that a usage row has in another session, and the parent that exists in another session
    alone is unknown here.

    If this fails, look at: a trigger that looks at all sessions; a key without the session.
    """
    a, b = await store.create("a"), await store.create("b")
    await a.commit(EntryInsert(records.message_entry("one", None)), UsageInsert(records.usage_row("two")))
    await b.commit(EntryInsert(records.message_entry("two", None)), UsageInsert(records.usage_row("one")))
    for subject, parent in ((a, "two"), (b, "one")):
        with refused(UnknownParent, entry_id="three", parent_id=parent):
            await subject.raw_commit(EntryInsert(records.message_entry("three", parent)))
    await store.check_each(a, b)


@case("S-SQL-TXN-02", needs=("raw-files", "raw-commit"))
@rows("table", {name: table for name, table in TABLES.items() if table != "sessions"})
async def a_commit_that_fails_midway_lets_the_lock_go(store: SessionMaker, table: str) -> None:
    """When a commit of many rows fails at one of them, the call fails, no row of it is there, and another
    connection can write at once; so can the session, once nothing is in the way.

    If this fails, look at: a transaction that is left open by an error; a rollback that is only done for some errors.
    """
    subject = await _filled(store, "walk")
    path = store.path_of(subject)
    event = "DELETE" if table == "list_values" else "INSERT"
    store.databases.change(path, f"CREATE TRIGGER stop BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, ''); END")
    before = store.databases.picture(path)
    for _ in range(2):
        with refused(StoreIOError, CorruptSession, path=str(path)):
            await subject.raw_commit(ListAppend(LOG, 1), *all_six("b", "e1"))
        expect(can_write_at_once(path), "expected: another connection can write at once\nseen:     the lock is held")
        expect_equal(store.databases.picture(path), before, of="all rows after a commit that failed")
    store.databases.change(path, "DROP TRIGGER stop")
    await subject.raw_commit(*all_six("b", "e1"))
    await subject.check_everywhere()


@case("S-SQL-TXN-04", "S-SQL-LAY-12", needs=("raw-files",))
async def eight_processes_commit_at_once(store: SessionMaker) -> None:
    """Eight processes that make one container at once, and then each 100 commits to a session of their own in it, all
    succeed, and every commit is there. Where each session has a database of its own, two processes are asked.

    If this fails, look at: a transaction that begins as a reader and becomes a writer; a busy time-out that is missing
    on one connection; a lock that is given back late.
    """
    count, commits = (8, 100) if store.databases.container is not None else (2, 20)
    with new_place() as place:
        async with store_at(store, place) as other, AsyncExitStack() as running:
            started = (running.enter_async_context(LiveWriter.started(other.harness)) for _ in range(count))
            writers = await asyncio.gather(*started)
            made = await asyncio.gather(*(writer.create(f"walk-{n}") for n, writer in enumerate(writers)))
            await asyncio.gather(*(writer.commit_often(commits) for writer in writers))
            expect_equal(await other.listed_ids(), [one.id for one in made], of="the sessions that are listed")
            for metadata in made:
                live = other.databases.session_rows(metadata).list_values
                values = [(row["seq"], json.loads(row["value"])) for row in live]
                expect_equal(values, [(n + 1, n) for n in range(commits)], of=f"what {metadata.id} has committed")


@case("S-SQL-LAY-12", needs=("raw-files",))
@rows("stands", nothing=False, the_directory=True)
async def a_container_is_made_by_several_at_once(store: SessionMaker, stands: bool) -> None:
    """When several repository objects open or create one container for the first time at once, each with connections of
    its own, all of them succeed, in one new place after the other; where each session has a database of its own, they
    make its directory at once. (The processes of S-SQL-TXN-04 do it too.)

    If this fails, look at: tables made if they are missing, outside of the transaction; a directory that must not be
    there yet; a new container that is taken away by whoever did not make it.
    """
    with new_place() as place:
        for number in range(ROUNDS):
            async with AsyncExitStack() as opened:
                stores = [await opened.enter_async_context(store_at(store, place / str(number))) for _ in range(4)]
                if stands:
                    stores[0].databases.directory.mkdir(parents=True)
                ids = [f"walk-{n}" for n in range(len(stores))]
                endings = await raced(*(one.repo.create(id=id) for one, id in zip(stores, ids, strict=True)))
                expect_equal(words(endings), ["returned"] * len(stores), of="how the first creates of a store ended")
                for one in stores:
                    expect_equal(await one.listed_ids(), ids, of="the sessions that each of them lists")
                for one, ending in zip(stores, endings, strict=True):
                    subject = one.subject(ending.value, SessionModel())
                    await subject.append("main", subject.id)
                    await subject.check("a session of a store that several have made")


@case("S-SQL-LAY-12", needs=("raw-files",))
async def a_container_is_opened_by_several_at_once(store: SessionMaker) -> None:
    """When several repository objects each open a session of a container that has a rollback journal, and whose first
    users they are, all of them succeed; where each session has a database of its own, each opens one of that kind.

    If this fails, look at: a change of the journal mode that only those try who create; one that is refused at once.
    """
    with new_place() as place:
        async with AsyncExitStack() as opened:
            stores = [await opened.enter_async_context(store_at(store, place)) for _ in range(4)]
            places: dict[Path, list[str]] = {}
            for n in range(len(stores)):
                places.setdefault(stores[0].databases.place(f"walk-{n}"), []).append(f"walk-{n}")
            for path, ids in places.items():
                with connected(stores[0].databases.make(path, *map(session_row, ids))) as connection:
                    connection.pragma("journal_mode", "delete")
            known = [SessionMetadata(id=id, created_at=0, path=str(path)) for path, ids in places.items() for id in ids]
            endings = await raced(*(one.repo.open(each) for one, each in zip(stores, known, strict=True)))
            expect_equal(words(endings), ["returned"] * len(stores), of="how the first opens of a store ended")
            for one, ending in zip(stores, endings, strict=True):
                subject = one.subject(ending.value, SessionModel())
                await subject.append("main", subject.id)
                await subject.check("a session that several have opened with its neighbours")


@case("S-SQL-LAY-12", needs=("raw-files", "fault-injection"))
async def a_container_is_opened_while_somebody_is_about_to_write(store: SessionMaker) -> None:
    """A container that has a rollback journal, and in which somebody is about to write, is opened all the same by
    whoever opens it as the first: the switch to the write-ahead log waits for him.

    If this fails, look at: a change of the journal mode, which does not wait for a lock by itself.
    """
    container = store.databases.container
    if container is None:
        await (await store.create("walk")).check("a session with a database of its own")
        return
    connection = apsw.Connection(str(store.databases.make(container, session_row("beside"))))
    connection.pragma("journal_mode", "delete")
    connection.execute("BEGIN IMMEDIATE")
    locks = 0

    def look(_: Hit, moment: str) -> None:
        nonlocal locks
        locks += moment == "before"
        if locks >= PATIENTLY and connection.in_transaction:
            connection.execute("ROLLBACK")

    store.faults.arm(Watched(look), names={"lock"}, paths=f"*{container.name}")
    try:
        created = await store.create("walk")
    finally:
        store.faults.disarm()
        connection.close()
    await created.append("main", "written")
    await created.check_everywhere()
