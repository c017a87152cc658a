"""Databases that somebody else has taken away, replaced or changed: under an open session, and between two lives of a
session (S-SQL-LAY-10, S-REPO-08).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard, tree
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import session_row, side_files
from forkproof.makers.records import user_message
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.calls_by_metadata import CALLS, Call
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.other_places import new_place
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import SessionFileChanged, SessionNotFound, UnsupportedVersion

SQLITE = frozenset({"sqlite"})
PLAN, LOG = value_address("garden.plan"), list_address("garden.log")
Change = Callable[[SessionMaker, Path], object]


def _copy_instead(_: SessionMaker, path: Path) -> None:
    """An equal file takes the place, while the first still stands: it cannot have its inode."""
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    copy.replace(path)


def _made_anew(_: SessionMaker, path: Path) -> None:
    """A new file of equal bytes."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def _good_one_instead(store: SessionMaker, path: Path) -> None:
    """A good database with a session of that id takes the place."""
    for one in (path, *side_files(path)):
        one.unlink(missing_ok=True)
    store.databases.make(path, session_row("walk"))


def _link_instead(_: SessionMaker, path: Path) -> None:
    """A link to a copy takes the place."""
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    path.unlink()
    path.symlink_to("copy")


def _directory_instead(_: SessionMaker, path: Path) -> None:
    path.unlink()
    path.mkdir()


def _emptied_anew(_: SessionMaker, path: Path) -> None:
    path.with_name("copy").write_bytes(b"")
    path.with_name("copy").replace(path)


def _removed_with_side_files(_: SessionMaker, path: Path) -> None:
    for one in (path, *side_files(path)):
        one.unlink(missing_ok=True)


CHANGES: dict[str, Change] = {
    "removed": lambda _, path: path.unlink(),
    "removed-with-its-side-files": _removed_with_side_files,
    "removed-with-its-directory": lambda _, path: shutil.rmtree(path.parent),
    "moved": lambda _, path: path.rename(path.with_name("copy")),
    "an-equal-file-instead": _copy_instead,
    "made-anew-with-equal-bytes": _made_anew,
    "a-good-database-instead": _good_one_instead,
    "an-empty-file-instead": _emptied_anew,
    "a-link-to-a-copy-instead": _link_instead,
    "a-directory-instead": _directory_instead,
}


async def _used(store: SessionMaker) -> Subject:
    subject = await store.create("walk")
    await subject.configure("main")
    await subject.append("main", "früh", id="e1")
    await subject.commit(*all_six("a", "e1"))
    return subject


def _linked(path: Path, place: Path) -> list[Path]:
    """The database and its log under further names, by which they are still found when they are taken away."""
    kept = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        if one.exists():
            kept.append(place / f"kept-{one.name}")
            os.link(one, kept[-1])
    return kept


def _clear(store: SessionMaker, path: Path) -> None:
    """Leaves nothing in the place of a database that no store has to delete."""
    for one in (path, *side_files(path), path.with_name("copy")):
        if one.is_dir() and not one.is_symlink():
            one.rmdir()
        else:
            one.unlink(missing_ok=True)
    store.databases.forget(path)


async def _expect_refused(subject: Subject, refusal: type[Exception], **told: object) -> None:
    for commit in (subject.raw_commit, subject.commit, subject.raw_commit):
        with refused(refusal, **told):
            await commit(*all_six("never"))


@case("S-SQL-LAY-10", needs=("raw-files", "raw-commit"))
@rows("change", CHANGES)
@rows("reopened", created=False, opened_again=True)
async def a_commit_to_a_changed_database_is_refused(store: SessionMaker, change: Change, reopened: bool) -> None:
    """A commit on a session whose database is missing or is another file raises `SessionFileChanged` and writes
    nothing, neither into what stands there now nor into what was taken away, again and again; the session closes.

    If this fails, look at: a connection that writes on into a file that has no name any more; files compared by name,
    by content or by their rows; a database that is made anew; a link that is followed.
    """
    subject = await _used(store)
    if reopened:
        await subject.reopen()
    path = store.path_of(subject)
    with new_place() as place:
        kept = _linked(path, place)
        try:
            change(store, path)
            guard = ByteGuard(path, *kept, of="the database that was open, and what stands in its place")
            guard.allow(*side_files(path))
            reason = lambda seen: isinstance(seen, str) and seen  # noqa: E731 - what the refusal has to carry
            await _expect_refused(subject, SessionFileChanged, path=str(path), reason=reason)
            guard.check()
            await subject.close()
        finally:
            _clear(store, path)


async def _append(subject: Subject) -> object:
    branch: Any = await subject.session.branch("main")
    return await branch.append_message(user_message("and the peas?"))


DOORS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "storage": lambda subject: subject.session.storage.commit(all_six("never")),
    "scope": lambda subject: subject.session.mutate(lambda scope: scope.commit(all_six("never"))),
    "set-value": lambda subject: subject.session.set_value(PLAN, 1),
    "append-list": lambda subject: subject.session.append_list(LOG, 1),
    "delete-list": lambda subject: subject.session.delete_list(LOG),
    "set-name": lambda subject: subject.session.set_name("the pond"),
    "set-label": lambda subject: subject.session.set_label("e1", "the pond"),
    "create-branch": lambda subject: subject.session.create_branch("left", "e1"),
    "append-message": _append,
}


@case("S-SQL-LAY-10", needs=("raw-files", "raw-commit"))
@rows("door", DOORS)
async def a_commit_without_a_session_row_is_refused(
    store: SessionMaker, door: Callable[[Subject], Awaitable[object]]
) -> None:
    """A commit on a session whose row is gone raises `SessionNotFound`, through every call that commits, and writes no
    row of any table; other sessions of the database take commits as before.

    If this fails, look at: a row that is looked at when the session is opened, and never again; an update that changes
    no row and is taken for a success; a row that is made anew.
    """
    subject, beside = await _used(store), await store.linear_session(1, id="beside")
    path = store.path_of(subject)
    store.databases.remove_rows(subject.metadata, "sessions")
    before = store.databases.picture(path)
    for _ in range(2):
        with refused(SessionNotFound, session_id="walk", path=str(path)):
            await door(subject)
        expect_equal(store.databases.picture(path), before, of="all rows of the database, after a refused commit")
    await beside.append("main", "as before")
    await beside.check("another session of the store")
    await subject.close()


@case("S-SQL-LAY-10", needs=("raw-files", "raw-commit"))
@rows("again", deleted=False, deleted_and_made_again=True)
async def a_session_that_another_store_object_deleted_takes_no_commit(store: SessionMaker, again: bool) -> None:
    """A commit on a session that another repository object has deleted is refused: in per-file layout with
    `SessionFileChanged`, also when the other has made a new session of that id, in a shared container with
    `SessionNotFound`. Nothing comes back, and the other's session is as it made it.

    If this fails, look at: an upsert; a file that is made by the next write; an id that stands for the file.
    """
    subject = await _used(store)
    other: Any = await store.open_second_repo()
    await other.delete(subject.metadata)
    shared = store.databases.container is not None
    refusal = SessionNotFound if shared else SessionFileChanged
    if again and not shared:
        theirs = store.subject(await other.create(id="walk"), SessionModel())
        await theirs.append("main", "theirs")
        await _expect_refused(subject, refusal, path=subject.metadata.path)
        await subject.close()
        await theirs.check("the session that the other has made")
        await theirs.close()
        subject = theirs
    else:
        before = set(tree(store.databases.directory).files)
        await _expect_refused(subject, refusal, path=subject.metadata.path)
        await subject.close()
        expect_equal(set(tree(store.databases.directory).files), before, of="what stands there")
        expect_equal(await store.listed_ids(), [], of="the sessions that are listed")
    made = await store.create("afterwards")
    await store.check_each(made)


@case("S-REPO-08", needs=("raw-files",), kinds=SQLITE)
@rows("version", two=2, zero=0, negative=-1, ninety_nine=99, greatest=2**53 - 1)
@rows("call", CALLS)
async def another_storage_version_of_a_database_is_refused(store: SessionMaker, version: int, call: Call) -> None:
    """`open`, `delete` and `fork` of a session whose storage version is not 1 raise `UnsupportedVersion` and leave
    every byte of its database; it is not listed, and other sessions of the store are as before.

    If this fails, look at: a version that is compared with "greater than"; a delete that does not look; a fork that
    reads on; a version that is written when the session is opened.
    """
    subject, beside = await store.linear_session(2, id="walk"), await store.linear_session(1, id="beside")
    await beside.close()
    await subject.close()
    path = store.path_of(subject)
    store.databases.change_session(subject.metadata, "sessions", {"storage_version": version})
    guard = ByteGuard(path, root=store.databases.directory, of="the database of another storage version")
    guard.allow(*side_files(path), *side_files(store.path_of(beside)))
    for _ in range(2):
        with refused(UnsupportedVersion, path=str(path), version=lambda seen: str(seen) == str(version)):
            await call(store, subject.metadata)
        guard.check()
    expect_equal(await store.listed_ids(), ["beside"], of="the sessions that are listed")
    await beside.open()
    await beside.check("another session of the store")
    created = await store.create("fork")
    await created.check("a session with the id of the refused fork")
