"""A session whose file someone else has taken away, replaced or changed while it is open (S-JSONL-FMT-16)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkgen.legacy import legacy_files
from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.byteguard import tree
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.file_changes import (
    CHANGES,
    PLAN,
    Change,
    changed,
    created,
    expect_refused_commits,
    kept_aside,
    used,
)
from forkstore.contract.addresses import list_address
from forkstore.contract.errors import SessionFileChanged
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import ValueSet

LOG = list_address("garden.log")
Made = Callable[[SessionMaker], Awaitable[Subject]]


async def _reopened(store: SessionMaker) -> Subject:
    subject = await used(store)
    await subject.reopen()
    return subject


async def _committed_after_reopening(store: SessionMaker) -> Subject:
    subject = await _reopened(store)
    await subject.append("main", "again")
    return subject


async def _forked(store: SessionMaker) -> Subject:
    source = await used(store)
    fork = await source.fork(TreeFork())
    await source.close()
    return fork


async def _repaired(store: SessionMaker) -> Subject:
    subject = await store.torn_tail_session()
    await subject.open()
    return subject


async def _legacy(store: SessionMaker) -> Subject:
    """A legacy v3 session that is not upgraded yet: its first commit would write the whole file anew."""
    (found,) = (one for one in legacy_files() if one.name == "lineage-missing")
    return await store.legacy_session(found).open()


async def _upgraded(store: SessionMaker) -> Subject:
    subject = await _legacy(store)
    await subject.session.set_name("upgraded")
    return store.subject(subject.session, model_of_records(lines_of(store.path_of(subject)).records))


STATES: dict[str, Made] = {
    "created": created,
    "used": used,
    "reopened": _reopened,
    "committed-after-reopening": _committed_after_reopening,
    "forked": _forked,
    "repaired": _repaired,
    "legacy": _legacy,
    "upgraded": _upgraded,
}


@case("S-JSONL-FMT-16", needs=("raw-files", "raw-commit"))
@rows("change", CHANGES)
@rows("state", STATES)
async def a_commit_to_a_changed_file_is_refused(store: SessionMaker, change: Change, state: Made) -> None:
    """A commit on a session whose file is missing, is another file, or has another size than the store left it with
    raises `SessionFileChanged` and writes nothing, again and again; reads show the session as it was, and it closes.

    If this fails, look at: a size taken from the file instead of remembered; a file that the append makes anew; an
    upgrade that replaces whatever stands there; files compared by content or name.
    """
    subject = await state(store)
    with changed(subject, change):
        await expect_refused_commits(subject, "not what the store left")
        before = tree(store.root)
        await subject.close()
        before.check("the tree of files, after the session was closed")


DOORS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "storage": lambda subject: subject.session.storage.commit(all_six("b")),
    "scope": lambda subject: subject.session.mutate(lambda scope: scope.commit(all_six("b"))),
    "set-value": lambda subject: subject.session.set_value(PLAN, 1),
    "delete-value": lambda subject: subject.session.delete_value(PLAN),
    "append-list": lambda subject: subject.session.append_list(LOG, 1),
    "delete-list": lambda subject: subject.session.delete_list(LOG),
    "set-name": lambda subject: subject.session.set_name("früh"),
    "set-label": lambda subject: subject.session.set_label("e1", None),
    "create-branch": lambda subject: subject.session.create_branch("side", None),
    "append-message": lambda subject: subject.append_message("main", records.user_message("früh")),
}


@case("S-JSONL-FMT-16", needs=("raw-files", "raw-commit"))
@rows("door", DOORS)
@rows("change", {name: CHANGES[name] for name in ("removed", "an-equal-file-instead", "grown-by-a-line")})
async def every_writer_is_refused(
    store: SessionMaker, door: Callable[[Subject], Awaitable[object]], change: Change
) -> None:
    """Every writer of a session and its branches is refused when the file is not what the store left, and the line of
    mutations goes on.

    If this fails, look at: a check that one way of committing makes.
    """
    subject = await used(store)
    with changed(subject, change):
        for _ in range(2):
            with refused(SessionFileChanged):
                await door(subject)
        await subject.check("the session after the refused call")
        await subject.close()


@case("S-JSONL-FMT-16", needs=("raw-files", "raw-commit"))
@rows(
    "change", {name: CHANGES[name] for name in ("moved", "an-equal-file-instead", "grown-by-a-line", "cut-by-one-byte")}
)
async def a_file_that_is_put_right_does_not_help(store: SessionMaker, change: Change) -> None:
    """When a commit was refused, all later ones are, also when the very file stands there again as the store left it;
    closed and opened again, the session goes on.

    If this fails, look at: a check that forgets what it has seen; a size that is remembered anew.
    """
    subject = await used(store)
    with kept_aside(store.path_of(subject)) as put_right, changed(subject, change):
        with refused(SessionFileChanged):
            await subject.commit(ValueSet(PLAN, "never"))
        data = put_right()
        with refused(SessionFileChanged):
            await subject.commit(ValueSet(PLAN, "never"))
        await subject.check("the session whose file was put right")
        expect_equal(store.path_of(subject).read_bytes(), data, of="the file that was put right")
        await subject.reopen()
        await subject.append("main", "and on")
        await subject.check_everywhere()
        await subject.close()
