"""Listing databases: which rows are reported, what is left out, and that nothing is touched (S-SQL-LAY-06, S-REPO-11,
S-REPO-13).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.instruments.byteguard import tree
from forkproof.instruments.clocks import START
from forkproof.instruments.own_connections import connected, write_lock
from forkproof.makers import SessionMaker
from forkproof.makers.raw_databases import session_row, side_files
from forkproof.oracle.database_names import database_name
from forkproof.suites.sessions.other_places import new_place, store_at
from forkstore.contract.forks import BranchFork, TreeFork

SQLITE = frozenset({"sqlite"})


def _planted(store: SessionMaker, *rows: dict[str, object], name: str = "walk.sqlite") -> Path:
    """A database of the kit's own with these rows, in the place of the container or in one of that name."""
    return store.databases.make(store.databases.container or store.databases.directory / name, *rows)


@case("S-SQL-LAY-06")
async def every_row_of_a_database_is_listed(store: SessionMaker) -> None:
    """`list` reports every session row of storage version 1, also several of one database, and of a database that no
    store has made; rows of other versions are left out.

    If this fails, look at: one session a file; the id taken from the file's name; a version that is not asked for.
    """
    path = _planted(
        store,
        session_row("walk", created_at=START),
        session_row("a/b", created_at=START + 1, parent_session_id="walk"),
        session_row("", created_at=START + 2),
        session_row("next", storage_version=2),
        session_row("former", storage_version=0),
        session_row("greatest", storage_version=2**53 - 1),
    )
    listed = [(one.id, one.created_at, one.parent_session_id, one.path) for one in await store.list()]
    expected = [("", START + 2, None), ("a/b", START + 1, "walk"), ("walk", START, None)]
    expect_equal(listed, [(*one, str(path)) for one in expected], of="the sessions that are listed")
    versions = {metadata.storage_version for metadata in await store.list()}
    expect_equal(versions, {1}, of="the storage versions that are listed")


@case("S-SQL-LAY-06")
async def every_database_of_the_layout_is_listed(store: SessionMaker) -> None:
    """Sessions of the store, open and closed, are listed with those in databases that were put beside them, whatever
    their names; in a shared container only those in the container are.

    If this fails, look at: a list of what this repository has made; a name that must be that of the session.
    """
    mine = await store.linear_session(1, id="mine")
    closed = await store.create("closed")
    await closed.close()
    directory = store.databases.directory
    for number, name in enumerate((database_name("beside"), "misnamed.sqlite", "two words #1.sqlite")):
        store.databases.make(directory / name, session_row(f"beside-{number}"))
    beside = [] if store.databases.container else ["beside-0", "beside-1", "beside-2"]
    expect_equal(await store.listed_ids(), sorted(["mine", "closed", *beside]), of="the sessions that are listed")
    await store.check_each(mine, closed)


def _made(path: Path, *statements: str) -> None:
    """A database with what the statements make, in one file."""
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def _damaged(path: Path) -> None:
    """A database with a good header, and nothing good behind it."""
    _made(path, "CREATE TABLE sessions (id TEXT, storage_version INTEGER)")
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


UNRECOGNISED: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "prose": lambda path: path.write_bytes(b"the beans were watered\n" * 200),
    "nul-bytes": lambda path: path.write_bytes(bytes(8_192)),
    "a-header-alone": lambda path: path.write_bytes(b"SQLite format 3\x00"),
    "damaged": _damaged,
    "no-tables": lambda path: _made(path, "PRAGMA user_version = 1"),
    "other-tables": lambda path: _made(path, "CREATE TABLE entries (id TEXT)"),
    "a-table-of-that-name": lambda path: _made(
        path, "CREATE TABLE sessions (id TEXT, title TEXT)", "INSERT INTO sessions VALUES ('odd', 'not ours')"
    ),
    "a-directory": lambda path: path.mkdir(),
    "a-link-to-nothing": lambda path: path.symlink_to("nothing-there"),
    "a-link-in-a-circle": lambda path: path.symlink_to(path.name),
}
"""What has the name of a database, and is none of the store's."""


@case("S-SQL-LAY-06")
@rows("put", UNRECOGNISED)
async def what_is_no_database_is_left_out(store: SessionMaker, put: Callable[[Path], object]) -> None:
    """A file that is no database, or lacks the table, is left out without an error, and the databases beside it are
    listed; a container of that kind has no sessions.

    If this fails, look at: an error of one database that ends the listing; a table that is made to be read; an error
    class of SQLite that was not thought of.
    """
    container = store.databases.container
    if container is None:
        good = await store.linear_session(1, id="good")
        await good.close()
    path = store.databases.plant(container.name if container else "odd.sqlite", b"")
    path.unlink()
    try:
        put(path)
        before = tree(path.parent)
        expected = [] if container else ["good"]
        for _ in range(2):
            expect_equal(await store.listed_ids(), expected, of="the sessions that are listed")
        before.check("the directory, after it was listed")
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()


NOT_LISTED = {
    "draft": "lost.sqlite.0123456789abcdef.tmp",
    "stage": ".fork-stage-0123456789abcdef.tmp",
    "backup": "lost.sqlite.bak",
    "editor": "lost.sqlite~",
    "capitals": "lost.SQLITE",
    "other-extension": "lost.db",
    "no-extension": "lost",
    "in-a-directory": "more/lost.sqlite",
    "in-a-directory-named-like-one": "more.sqlite/lost.sqlite",
}


@case("S-SQL-LAY-06")
@rows("name", NOT_LISTED)
async def other_names_are_not_looked_at(store: SessionMaker, name: str) -> None:
    """A good database under a name that is none of section 29.1, or in a directory further down, is not listed.

    If this fails, look at: a walk through the whole tree; names compared without case; stages that are listed.
    """
    good = await store.linear_session(1, id="good")
    store.databases.make(store.databases.directory / name, session_row("lost"))
    await store.assert_only_known_sessions(good)
    fork = await good.fork(TreeFork(id="fork"))
    await store.assert_only_known_sessions(good, fork)


@case("S-SQL-LAY-06")
async def a_session_that_stands_in_its_log_is_listed(store: SessionMaker) -> None:
    """A database whose session stands in the write-ahead log alone, as a killed process leaves it, is listed, and so
    is one that another connection is writing to.

    If this fails, look at: a database opened as unchangeable, past its log; a list that waits for a lock.
    """
    path = store.databases.container or store.databases.place("walk")
    with new_place() as place:
        async with store_at(store, place) as other:
            await other.create("walk")
            source = other.databases.place("walk")
            kept = {one.name: one.read_bytes() for one in (source, *side_files(source)) if one.exists()}
    store.databases.plant(path.name, kept.pop(path.name))
    for name, data in kept.items():
        path.with_name(name).write_bytes(data)
    expect_equal(await store.listed_ids(), ["walk"], of="the sessions that are listed, one in a log")
    with write_lock(path) as connection:
        connection.execute("DELETE FROM sessions")
        expect_equal(await store.listed_ids(), ["walk"], of="the sessions that are listed while somebody writes")


@case("S-REPO-13", kinds=SQLITE)
async def listing_databases_changes_and_makes_nothing(store: SessionMaker) -> None:
    """`list` changes no byte and makes nothing but side files, whatever stands there: sessions open and closed,
    databases with a rollback journal, files that are none.

    If this fails, look at: a schema made wherever it is missing; a journal mode that is switched to be read; a file
    that is created because it was opened.
    """
    directory = store.databases.directory
    opened, closed = await store.linear_session(1, id="opened"), await store.linear_session(1, id="closed")
    await closed.close()
    with connected(store.databases.make(directory / "journal.sqlite", session_row("journal"))) as connection:
        connection.pragma("journal_mode", "delete")
    store.databases.make(directory / "bare.sqlite", schema=False)
    store.databases.plant("prose.sqlite", b"the beans were watered\n")
    store.databases.plant("empty.sqlite", b"")
    before = tree(directory)
    further = [] if store.databases.container else ["journal"]
    for _ in range(2):
        expect_equal(await store.listed_ids(), sorted(["closed", "opened", *further]), of="the sessions listed")
        before.check("the directory of the databases, after it was listed")
    await store.check_each(opened, closed)


@case("S-REPO-13", kinds=SQLITE)
@rows("stands", nothing=(), the_directory_above=("garden",), an_empty_directory=("garden", "sessions"))
async def a_missing_directory_is_an_empty_list(store: SessionMaker, stands: tuple[str, ...]) -> None:
    """A directory or a container that is missing gives an empty list, and stays missing; so does a directory in whose
    place a file stands.

    If this fails, look at: an error of the system that is passed on; a directory made by the constructor.
    """
    with new_place() as place:
        async with store_at(store, place / "garden") as other:
            directory = other.databases.directory
            if len(stands) == 2:
                directory.mkdir(parents=True)
            elif stands:
                (place / "garden").mkdir()
                directory.write_bytes(b"a file where the directory should be")
            before = tree(place)
            for _ in range(2):
                expect_equal(await other.repo.list(), [], of="the list of a store in which nothing is")
                before.check("what stands in the place of the store")


@case("S-REPO-11", needs=("raw-files",), kinds=SQLITE)
async def every_session_of_every_database_is_listed_once(store: SessionMaker) -> None:
    """Sessions that are open, closed, forked, forked from a fork, opened again, or made by another repository object
    are each listed once, by either repository, whatever another connection is doing; deleted ones are not.

    If this fails, look at: open sessions added to what the databases say; a list per connection; a database passed over
    because it is in use.
    """
    opened = await store.linear_session(2, id="opened")
    closed = await store.linear_session(1, id="closed")
    await closed.close()
    fork = await closed.fork(TreeFork(id="fork"))
    branch = await fork.fork(BranchFork("main", id="branch"))
    await branch.reopen()
    deleted = await store.create("deleted")
    await deleted.close()
    await store.repo.delete(deleted.metadata)
    other = await store.open_second_repo()
    theirs = await other.create(id="theirs")
    expected = sorted(["opened", "closed", "fork", "branch", "theirs"])
    for repo in (store.repo, other):
        with write_lock(store.path_of(opened)):
            listed = sorted(metadata.id for metadata in await repo.list())
        expect_equal(listed, expected, of="the sessions that are listed")
    await theirs.close()
    await store.check_each(opened, closed, fork, branch)


@case("S-REPO-11", needs=("raw-files",), kinds=SQLITE)
async def hundreds_of_sessions_are_listed(store: SessionMaker) -> None:
    """300 sessions, in databases of their own or in the container, are listed, each once.

    If this fails, look at: a page that is not continued; every database opened before the first is closed.
    """
    ids = [f"walk-{number:03}" for number in range(300)]
    if store.databases.container is None:
        first = store.databases.make(store.databases.place(ids[0]), session_row(ids[0]))
        data = first.read_bytes()
        for id in ids[1:]:
            planted = store.databases.plant(database_name(id), data)
            store.databases.change(planted, ("UPDATE sessions SET id = ?", (id,)))
    else:
        store.databases.make(store.databases.container, *(session_row(id) for id in ids))
    expect_equal(await store.listed_ids(), ids, of="the sessions that are listed")
