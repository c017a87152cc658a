"""Where databases lie: real paths, missing directories, odd paths, names in memory (S-SQL-LAY-02 to -04 and -11,
S-REPO-09).
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.harness import Seams
from forkproof.instruments.byteguard import ByteGuard, tree
from forkproof.instruments.kill import harness_target
from forkproof.makers import SessionMaker
from forkproof.oracle.database_names import database_name
from forkproof.suites.sessions.calls_by_metadata import CALLS, OPEN_AND_DELETE, Call
from forkproof.suites.sessions.other_places import new_place, store_at
from forkproof.targets import find_target
from forkstore.contract.errors import ForeignSession, InvalidArgument, SessionInUse, SessionNotFound
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata

SQLITE = frozenset({"sqlite"})


def _list(store: SessionMaker, _: SessionMetadata) -> Awaitable[object]:
    return store.repo.list()


@case("S-SQL-LAY-02", needs=("raw-files",))
async def the_path_is_the_real_path_of_the_database(store: SessionMaker) -> None:
    """In a store that is reached through a link, the metadata of a created, forked, opened and listed session gives the
    real path of its database.

    If this fails, look at: a path as it was given; a path made real before the directory stands; a list that joins the
    directory as it was given.
    """
    with new_place() as place:
        (place / "real").mkdir()
        (place / "link").symlink_to("real")
        async with store_at(store, place / "link") as other:
            created = await other.linear_session(2, id="walk")
            fork = await created.fork(TreeFork(id="fork"))
            expected = {one.id: str(_real_place(place / "real", other, one.id)) for one in (created, fork)}
            expect_equal(
                {one.id: one.metadata.path for one in (created, fork)}, expected, of="the paths of new sessions"
            )
            listed = {metadata.id: metadata.path for metadata in await other.list()}
            expect_equal(listed, expected, of="the paths of the sessions that are listed")
            await created.reopen()
            expect_equal(created.session.metadata.path, expected["walk"], of="the path of an opened session")
            await other.check_each(created, fork)


def _real_place(directory: Path, store: SessionMaker, id: str) -> Path:
    """Where the database of a session lies, when the harness of its store stands in that directory by its real path."""
    within = store.databases.directory.relative_to(store.harness.directory)
    shared = store.databases.container
    return directory / within / (database_name(id) if shared is None else shared.name)


@case("S-SQL-LAY-02", needs=("raw-files",))
async def a_session_is_found_by_path_and_id(store: SessionMaker) -> None:
    """The real path and the id find a session, whatever else its metadata say: other times, versions and parents change
    nothing, and a link to the database is as good as its path. An open session is neither opened again nor deleted by
    any of them.

    If this fails, look at: sessions kept by the path as it is written; metadata compared whole.
    """
    subject = await store.linear_session(2, id="walk")
    path = store.path_of(subject)
    with new_place() as place:
        link = place / path.name
        link.symlink_to(path)
        for known in (
            replace(subject.metadata, path=str(link)),
            replace(subject.metadata, created_at=0, storage_version=7, parent_session_id="nobody"),
        ):
            await subject.close()
            subject.session = await store.repo.open(known)
            expect_equal(subject.session.metadata, subject.metadata, of="the metadata of the opened session")
            for call in OPEN_AND_DELETE.values():
                for spelled in (subject.metadata, replace(subject.metadata, path=str(link)), known):
                    with refused(SessionInUse, session_id="walk"):
                        await call(store, spelled)
            await subject.check("the session that was opened")
            fork = await store.repo.fork(known, TreeFork(id="fork"))
            await store.subject(fork, subject.model.fork(TreeFork(), subject.id)).check("its fork")
            await fork.close()
            await store.repo.delete(fork.metadata)
        await subject.close()
        await store.repo.delete(replace(subject.metadata, path=str(link), created_at=1))
    await store.assert_only_known_sessions()


@case("S-SQL-LAY-02", needs=("raw-files",))
async def one_id_in_two_stores_is_two_sessions(store: SessionMaker) -> None:
    """Sessions of one id in two stores live side by side: each is open, written and listed in its own, and each is
    refused by the other.

    If this fails, look at: open sessions kept by their id alone, for all repositories of a process.
    """
    mine = await store.linear_session(1, id="walk")
    with new_place() as place:
        async with store_at(store, place) as other:
            theirs = await other.linear_session(3, id="walk")
            await mine.append("main", "mine")
            await theirs.append("main", "theirs")
            for maker, subject, foreign in ((store, mine, theirs), (other, theirs, mine)):
                await maker.assert_only_known_sessions(subject)
                for call in OPEN_AND_DELETE.values():
                    with refused(ForeignSession, session_id="walk", field="path"):
                        await call(maker, foreign.metadata)
                await subject.check_everywhere()


@case("S-REPO-09", needs=("raw-files",), kinds=SQLITE)
@rows("call", OPEN_AND_DELETE)
@rows("place", elsewhere="elsewhere", beside="beside", behind_a_link="behind-a-link", missing="missing")
async def a_database_in_another_place_is_foreign(store: SessionMaker, call: Call, place: str) -> None:
    """`open` and `delete` of metadata whose path, with links followed, is not where the repository keeps that session
    raise `ForeignSession`, whether or not a good database lies there; it stays, and so does the session.

    If this fails, look at: a path that is trusted; a link that is compared by its own name; a database of another name
    in the right directory; a file that must exist before its place is judged.
    """
    subject = await store.linear_session(id="walk")
    await subject.close()
    original = store.path_of(subject)
    with new_place() as elsewhere:
        copy = original.with_name("copy.sqlite") if place == "beside" else elsewhere / original.name
        link = original.with_name("link.sqlite")
        try:
            if place != "missing":
                copy.write_bytes(original.read_bytes())
            if place == "behind-a-link":
                link.symlink_to(copy)
            path = link if place == "behind-a-link" else copy
            guard = ByteGuard(copy, original, of="the copy and the original")
            with guard, refused(ForeignSession, field="path", session_id="walk"):
                await call(store, replace(subject.metadata, path=str(path)))
        finally:
            for made in (copy, link):
                made.unlink(missing_ok=True)
    await subject.open()
    await subject.check_everywhere()


@case("S-SQL-LAY-03")
@rows("call", {"list": _list, **CALLS})
@rows("stands", nothing=False, an_empty_directory=True)
async def looking_for_a_session_makes_nothing(store: SessionMaker, call: Call, stands: bool) -> None:
    """`list`, `open`, `delete` and `fork` of a session that is not there make no database and no directory, whether the
    directory of the store stands or not.

    If this fails, look at: a directory made by the constructor, or to be looked into; a connection that creates; a
    destination that is made before the source is found, and stays.
    """
    with new_place() as place:
        async with store_at(store, place / "garden") as other:
            path = other.databases.container or other.databases.directory / database_name("walk")
            if stands:
                path.parent.mkdir(parents=True)
            before = tree(place)
            if call is _list:
                expect_equal(await other.repo.list(), [], of="the list of a store in which nothing is")
            else:
                with refused(SessionNotFound, session_id="walk"):
                    await call(other, SessionMetadata(id="walk", created_at=0, path=str(path)))
            before.check("what stands where the session was looked for")


@case("S-SQL-LAY-03")
@rows("fork", create=False, fork=True)
async def the_missing_directory_is_made(store: SessionMaker, fork: bool) -> None:
    """`create` and `fork` make the directory of the databases, or that of the container, when it is missing.

    If this fails, look at: a directory that `create` makes and `fork` does not.
    """
    source = await store.linear_session(2, id="source")
    with new_place() as place:
        (place / "garden").mkdir()
        async with store_at(store, place / "garden") as other:
            expect_equal(list((place / "garden").iterdir()), [], of="what stands there before the first session")
            if fork:
                session = await other.repo.fork(source.metadata, TreeFork(id="walk"))
                subject = other.subject(session, source.model.fork(TreeFork(), "source"))
            else:
                subject = await other.create("walk")
            await subject.check_everywhere()
            await other.assert_only_known_sessions(subject)


@case("S-SQL-LAY-03")
async def looking_at_sessions_makes_nothing(store: SessionMaker) -> None:
    """`list`, `open`, a read, and `delete` of sessions that are there make no file beside the databases, side files
    apart, and nor does the source side of a fork.

    If this fails, look at: a journal, a lock or a cache beside the database; a stage in the source's directory.
    """
    source = await store.linear_session(2, id="source")
    await source.close()
    before = tree(store.databases.directory)
    await store.listed_ids()
    await source.open()
    await source.check("the session that was opened")
    await source.close()
    with new_place() as place:
        async with store_at(store, place) as other:
            await (await other.repo.fork(source.metadata, TreeFork(id="fork"))).close()
    before.check("the directory of the source, after it was listed, opened and forked elsewhere")
    await store.repo.delete(source.metadata)
    left = sorted(tree(store.databases.directory).files.keys() - before.files.keys())
    expect_equal(left, [], of="files that are new after the session was deleted")


PATHS = {
    "percent": "100% of %41 %2F %",
    "hash": "bed #1#",
    "question-mark": "what? really?",
    "query": "beds?mode=memory&cache=shared",
    "uri": "file:beds",
    "blanks": " a  b ",
    "letters": "süß 水 e\u0301 🌱",
    "quotes": 'it\'s "a" `bed`; --',
    "in-memory": ":memory:",
}


@case("S-SQL-LAY-04", needs=("raw-files",))
@rows("name", PATHS)
async def odd_paths_work_in_every_mode(store: SessionMaker, name: str) -> None:
    """In a directory whose name holds `%`, `#`, `?`, blanks, quotes or letters of any alphabet, sessions are created,
    written, listed, opened, forked open and closed, and deleted, and the databases lie in that very directory.

    If this fails, look at: paths opened as URIs; a path that is quoted for one mode and not for another; an ATTACH
    that is put together from text.
    """
    with new_place() as place:
        async with store_at(store, place / name) as other:
            subject = await other.linear_session(3, id="walk")
            path = other.path_of(subject)
            expect(path.is_file(), f"expected: a database at {path}\nseen:     none")
            expect_equal([one.name for one in place.iterdir()], [name], of="what stands beside the directory")
            await other.assert_only_known_sessions(subject)
            forks = [await subject.fork(TreeFork(id="of-open"))]
            await subject.close()
            forks.append(await subject.fork(BranchFork("main", id="of-closed")))
            await subject.open()
            await other.check_each(subject, *forks)
            for each in (subject, *forks):
                await other.repo.delete(each.metadata)
            await other.assert_only_known_sessions()


IN_MEMORY = {"memory": ":memory:", "nothing": ""}


@case("S-SQL-LAY-11", needs=())
@rows("name", IN_MEMORY)
async def a_database_in_memory_is_refused(store: SessionMaker, name: str) -> None:
    """A container that is named as SQLite names a database in memory, or a nameless one, is refused with
    `InvalidArgument` before anything is made; a store of one database a session, in a directory of such a name, has
    its databases on disk.

    If this fails, look at: a name passed on to SQLite as it is; a name made absolute before it is looked at.
    """
    with new_place() as place:
        harness: Any = find_target(harness_target(store.harness)).make(place)
        if store.databases.container is None:
            async with store_at(store, place / ":memory:") as other:
                subject = await other.create("walk")
                await other.check_each(subject)
                expect(other.path_of(subject).is_file(), "expected: a database on disk\nseen:     none")
            return
        harness.database_path = name
        before = tree(place)
        # Inside of the place: a store that takes the name for a file makes it in the working directory.
        with chdir(place), refused(InvalidArgument, field="database_path"):
            repo = await harness.open_repo(Seams())
            await repo.create(id="walk")
        before.check("what stands where the container was refused")
        await store.assert_only_known_sessions()
