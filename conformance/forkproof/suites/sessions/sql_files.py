"""The files of sessions that have a database each: what stands in their way, and what goes with them (S-SQL-LAY-05 and
S-SQL-LAY-07).

In a shared container the same calls are asked for the opposite: files beside the container are in nobody's way, and the
container stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.byteguard import tree
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.fault_scenes import Meanwhile
from forkproof.instruments.file_picture import SIDE_SUFFIXES, FilePicture, picture
from forkproof.instruments.own_connections import connected
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import session_row, side_files
from forkproof.oracle.database_names import database_name
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import BRANCH, NEW, TREE, Attempt, Creates, Forks, Makes
from forkstore.contract.errors import SessionExists, SessionNotFound

Stands = Callable[[SessionMaker, Path], object]

STANDING: dict[str, Stands] = {
    "its-own-session": lambda store, path: store.databases.make(path, session_row(NEW)),
    "another-session": lambda store, path: store.databases.make(path, session_row("somebody")),
    "a-database-without-tables": lambda store, path: store.databases.make(path, schema=False),
    "an-empty-file": lambda store, path: store.databases.plant(path.name, b""),
    "prose": lambda store, path: store.databases.plant(path.name, b"the beans were watered\n"),
    "a-directory": lambda store, path: path.mkdir(),
    "a-link-to-nothing": lambda store, path: path.symlink_to("nothing-there"),
    "a-link-to-a-directory": lambda store, path: path.symlink_to("."),
    "a-link-in-a-circle": lambda store, path: path.symlink_to(path.name),
    "a-pipe": lambda store, path: os.mkfifo(path),
}


MEETINGS: dict[str, tuple[Callable[[], Makes], Stands]] = {
    **{f"create-{name}": (Creates, stands) for name, stands in STANDING.items()},
    "branch-fork-its-own-session": (lambda: Forks(BRANCH, closed=False), STANDING["its-own-session"]),
    "tree-fork-an-empty-file": (lambda: Forks(TREE, closed=True), STANDING["an-empty-file"]),
    "tree-fork-a-link-to-nothing": (lambda: Forks(TREE, closed=False), STANDING["a-link-to-nothing"]),
}
"""Who makes a session, and what stands under its name."""
COMING: dict[str, tuple[Callable[[], Makes], Stands]] = {
    "create-a-session": (Creates, STANDING["its-own-session"]),
    "create-a-link": (Creates, STANDING["a-link-to-nothing"]),
    "branch-fork-a-directory": (lambda: Forks(BRANCH, closed=False), STANDING["a-directory"]),
    "tree-fork-an-empty-file": (lambda: Forks(TREE, closed=True), STANDING["an-empty-file"]),
}


def _clear(store: SessionMaker, path: Path) -> None:
    """Takes away what was put under the name of a session."""
    for one in (path, *side_files(path)):
        if one.is_dir() and not one.is_symlink():
            one.rmdir()
        else:
            one.unlink(missing_ok=True)
    store.databases.forget(path)


def _expect_as_it_was(was: FilePicture, of: str) -> None:
    differences = list(was.differences(picture(was.path)))
    expect(not differences, f"{of}: {was.path.name}\nexpected: as it was\nseen:     {'; '.join(differences)}")


async def _expect_refused(attempt: Attempt) -> None:
    """Breaks the clause unless the call is refused, or, in a shared container, makes the session all the same."""
    if attempt.store.databases.container is None:
        with refused(SessionExists, session_id=NEW):
            await attempt.call()
    else:
        await attempt.call()
        await attempt.accept("a session in a container that has a file of that name beside it")


@case("S-SQL-LAY-05")
@rows("meeting", MEETINGS)
async def a_file_of_the_name_is_in_the_way(store: SessionMaker, meeting: tuple[Callable[[], Makes], Stands]) -> None:
    """When a file of any kind has the name of the database, `create` and `fork` raise `SessionExists`, again and again,
    leave it as it is and leave nothing beside it; once it is gone the id is free. In a shared container such a file is
    in nobody's way, and is left alone.

    If this fails, look at: a connection that opens what it finds; an empty file taken for a new database; a link that
    is followed; a cleanup that removes what it has not made.
    """
    make, stands = meeting
    attempt = await make().arrange(store)
    await (await store.create("beside")).close()
    path = store.databases.directory / database_name(NEW)
    try:
        stands(store, path)
        before, was = set(tree(path.parent).files), picture(path)
        for _ in range(2):
            await _expect_refused(attempt)
            expect_equal(set(tree(path.parent).files), before, of="what stands there after a refused call")
        _expect_as_it_was(was, "what stood in the way")
    finally:
        _clear(store, path)
    await attempt.call()
    await attempt.accept("the session, once the place is free")


@case("S-SQL-LAY-05", needs=("raw-files", "fault-injection"))
@rows("coming", COMING)
async def a_file_that_comes_meanwhile_is_in_the_way(
    store: SessionMaker, coming: tuple[Callable[[], Makes], Stands]
) -> None:
    """When a file of any kind appears under the name of the database while `create` or `fork` works, before any of its
    connections is opened or any of its files removed, the call raises `SessionExists` and leaves the file as it is.

    If this fails, look at: a look whether the name is free, and then a connection that opens what it finds; a rename
    that replaces; a cleanup that removes the destination whoever made it.
    """
    make, stands = coming
    attempt = await make().arrange(store)
    path = store.databases.directory / database_name(NEW)
    await (await store.create("beside")).close()
    stood, put = set(tree(path.parent).files), list[FilePicture]()

    async def comes(_: Hit) -> None:
        if picture(path).kind == "nothing":
            stands(store, path)
            put.append(picture(path))

    async def has_given_way(_: int, hit: Hit, outcome: Stepped) -> None:
        if outcome.kind == "returned":
            attempt.value = outcome.value
            await attempt.accept(f"a session that was made although a file appeared before {hit}")
        else:
            with refused(SessionExists, session_id=NEW):
                raise outcome.error or LookupError(f"cancelled by nobody at {hit}")
            _expect_as_it_was(put[-1], f"what appeared before {hit}")
        left = set(tree(path.parent).files) - stood - {path.name}
        expect_equal(left, set(), of=f"files that are left where one appeared before {hit}")
        _clear(store, path)

    await swept(attempt.call, store.faults, Meanwhile(comes), has_given_way, names={"connect", "delete"})
    expect(put, "expected: a call that works before the session is there\nseen:     none")
    await attempt.accept("the session in whose way nothing stood")


def _left_behind(store: SessionMaker, subject: Subject) -> None:
    """Side files as a killed process leaves them: a log with a commit in it, and its index."""
    path = store.path_of(subject)
    with connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE further (note TEXT)")
        connection.execute("COMMIT")
        kept = {one: one.read_bytes() for one in (path, *side_files(path))}
    for one, data in kept.items():
        one.write_bytes(data)


def _empty_side_files(store: SessionMaker, subject: Subject) -> None:
    for one in side_files(store.path_of(subject)):
        one.write_bytes(b"")


LEFT: dict[str, Callable[[SessionMaker, Subject], object]] = {
    "nothing": lambda store, subject: None,
    "of-a-killed-process": _left_behind,
    "empty-ones": _empty_side_files,
}


@case("S-SQL-LAY-07")
@rows("left", LEFT)
@rows("reader", none=False, a_reader_elsewhere=True)
async def delete_removes_the_database_and_its_side_files(
    store: SessionMaker, left: Callable[[SessionMaker, Subject], object], reader: bool
) -> None:
    """In per-file layout `delete` removes the database and both side files, also those that a killed process has left
    or that somebody is reading, and nothing else: sessions and files whose names begin or end like its own stay. A
    shared container stays.

    If this fails, look at: side files left to SQLite, which keeps them while another connection is open; names found by
    their beginning; a delete that leaves a log for the next session of that id.
    """
    kept = [await store.create(id) for id in ("walk-wal", "walk-", "wal", "walk.sqlite-wal")]
    subject = await store.linear_session(2, id="walk")
    path, shared = store.path_of(subject), store.databases.container
    for one in (*kept, subject):
        await one.close()
    with ExitStack() as held:
        if shared is None:
            left(store, subject)
        if reader:
            list(held.enter_context(connected(path)).execute("SELECT * FROM sessions"))
        await store.repo.delete(subject.metadata)
        stands = [one.name for one in (path, *side_files(path)) if one.exists()]
    expect_equal(stands[:1] if shared else stands, [shared.name] if shared else [], of="what stands after the delete")
    await store.assert_only_known_sessions(*kept)
    await (await store.create("walk")).check("a session of that id that was made afterwards")
    for one in kept:
        await one.open()
        await one.check("a session whose names are like those of the deleted one")


@case("S-SQL-LAY-07")
async def a_deleted_database_is_gone_for_everyone(store: SessionMaker) -> None:
    """After `delete` another repository object neither lists nor opens the session, and makes a new one of its id.

    If this fails, look at: a list that is kept in memory; a database that is renamed instead of removed.
    """
    subject = await store.linear_session(2, id="walk")
    await subject.close()
    other = await store.open_second_repo()
    await store.repo.delete(subject.metadata)
    expect_equal(await other.list(), [], of="the sessions that another repository lists")
    for call in (other.open, other.delete):
        with refused(SessionNotFound, session_id="walk"):
            await call(subject.metadata)
    left = [one.name for one in store.databases.directory.iterdir() if not one.name.endswith(SIDE_SUFFIXES)]
    shared = store.databases.container
    expect_equal(left, [shared.name] if shared else [], of="the files that are left")
    session = await other.create(id="walk")
    again = store.subject(session, SessionModel())
    await again.append("main", "a second life")
    await again.check("the session that was made in its place")
