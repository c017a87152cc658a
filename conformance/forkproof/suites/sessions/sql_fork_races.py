"""What happens to a source while it is forked (S-FORK-ORD-04, S-FORK-ORD-08)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.own_connections import connected
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import path_of, side_files
from forkproof.suites.sessions.fork_ordering import turn
from forkproof.suites.sessions.forking import CLOSED, OPEN, in_both_scopes
from forkproof.suites.sessions.sql_watching import wide_session
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

ROWS = 12
"""Rows of each kind in a source; with bounds of five rows it takes several batches."""


@case("S-FORK-ORD-04", kinds=("sqlite",))
@in_both_scopes
async def commits_complete_after_every_batch(store: SessionMaker, options: ForkOptions) -> None:
    """Commits to an open source complete at the boundary and after each batch while the fork goes on copying; all of
    them are absent from it, and a later fork holds them.

    If this fails, look at: a cursor that reads on in a new snapshot; a snapshot that begins with the first batch; rows
    of several kinds read at several times.
    """
    await store.reopen_repo(stage_batch_rows=5)
    source = await wide_session(store, ROWS)
    model = source.model.fork(options, source.id)
    model.look_at([("garden.plan", ""), ("garden.log", ""), ("pi.session.name", "")])
    made: list[str] = []

    async def commit() -> None:
        await source.raw_commit(*turn(len(made), source.model.tip("main")))
        made.append(source.model.tip("main") or "")

    for point in ("boundary_captured", "batch_copied", "batch_copied", "batch_copied"):
        store.probe.run(point, commit)
    fork = store.subject(await store.repo.fork(source.metadata, options), model)
    expect_equal(len(made), 4, of="how many commits were made while the fork was copying")
    await fork.check("the fork, without the commits behind its boundary")
    await source.check("the source, with them")
    later = await source.fork(options)
    await later.check("a fork that was started after the commits")


async def _delete_by_another_store(store: SessionMaker, source: Subject) -> None:
    repo = await store.open_second_repo()
    await repo.delete(source.metadata)


async def _lose_its_rows(store: SessionMaker, source: Subject) -> None:
    for table in ("sessions", "entries", "scalar_values", "list_values", "branch_entries", "branch_meta"):
        store.databases.remove_rows(source.metadata, table)


async def _get_other_rows(store: SessionMaker, source: Subject) -> None:
    """Another process makes the same session anew, with another payload in every row."""
    path = path_of(source.metadata)
    store.databases.change(
        path,
        ("UPDATE entries SET payload = replace(payload, 'message', 'lettuce') WHERE session_id = ?", (source.id,)),
        ("UPDATE list_values SET value = value + 100 WHERE session_id = ?", (source.id,)),
        (
            "UPDATE scalar_values SET value = value + 100 WHERE session_id = ? AND namespace = 'garden.plan'",
            (source.id,),
        ),
    )


async def _lose_its_file(store: SessionMaker, source: Subject) -> None:
    store.databases.remove(path_of(source.metadata))


async def _be_replaced(store: SessionMaker, source: Subject) -> None:
    """A database of the same session with other payloads takes the place of the first."""
    path = path_of(source.metadata)
    other = _changed_copy(store, path)
    store.databases.remove(path)
    os.replace(other, path)  # noqa: PTH105


async def _be_replaced_by_less(store: SessionMaker, source: Subject) -> None:
    """A database without that session takes the place of the first."""
    path = path_of(source.metadata)
    store.databases.remove(path)
    store.databases.make(path)


def _changed_copy(store: SessionMaker, path: Path) -> Path:
    copy = path.with_name("copy.tmp")
    with connected(path) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    store.databases.change(copy, "UPDATE entries SET payload = replace(payload, 'message', 'lettuce')")
    for side_file in side_files(copy):
        side_file.unlink(missing_ok=True)
    return copy


@dataclass(frozen=True)
class Event:
    """Something that happens to a source; `to_open` tells whether it can happen to one that the store has open."""

    make: Callable[[SessionMaker, Subject], Awaitable[None]]
    to_open: bool = True


EVENTS: Mapping[str, Event] = {
    "deleted": Event(_delete_by_another_store, to_open=False),
    "rows-removed": Event(_lose_its_rows),
    "rows-rewritten": Event(_get_other_rows),
    "file-removed": Event(_lose_its_file),
    "file-replaced": Event(_be_replaced),
    "file-replaced-by-an-empty-one": Event(_be_replaced_by_less),
}
MOMENTS: Mapping[str, tuple[str, str]] = {
    "open-boundary": (OPEN, "boundary_captured"),
    "open-batch": (OPEN, "batch_copied"),
    "closed-boundary": (CLOSED, "boundary_captured"),
    "closed-batch": (CLOSED, "batch_copied"),
    "closed-publish": (CLOSED, "before_publish"),
}
SCOPES: tuple[ForkOptions, ...] = (TreeFork(id="fork"), BranchFork("main", id="fork"))
HAPPENINGS = [
    (what, when) for what, event in EVENTS.items() for when in MOMENTS if event.to_open or MOMENTS[when][0] == CLOSED
]


@case("S-FORK-ORD-08", kinds=("sqlite",))
@rows("happening", {"-".join(one): (*one, SCOPES[place % 2]) for place, one in enumerate(HAPPENINGS)})
async def a_database_that_goes_away_is_never_mixed(
    store: SessionMaker, happening: tuple[str, str, ForkOptions]
) -> None:
    """When the source is deleted, replaced or rewritten by another process while it is forked, the fork either holds
    the state at its boundary or fails with `SessionFileChanged` or `SessionNotFound`, and then leaves nothing.

    If this fails, look at: a snapshot for each batch; a source that is opened again by its name; entries of one content
    beside the rows of another; a failure that is told as corruption.
    """
    what, when, options = happening
    source_is, point = MOMENTS[when]
    await store.reopen_repo(stage_batch_rows=5)
    source = await wide_session(store, ROWS, id="source")
    model = source.model.fork(options, source.id)
    if source_is == CLOSED:
        await source.close()

    async def act() -> None:
        await EVENTS[what].make(store, source)

    store.probe.run(point, act)
    ending = await ended(store.repo.fork(source.metadata, options))
    expect(store.probe.count(point) > 0, f"expected: the fork comes to {point}\nseen:     {ending.error!r}")
    if ending.error is None:
        await store.subject(ending.value, model).check("the fork of a source that went away meanwhile")
        return
    refusals = ("SessionFileChanged", "SessionNotFound")
    expect(ending.word in refusals, f"expected: {' or '.join(refusals)}, or the fork\nseen:     {ending.error!r}")
    await (await store.create("fork")).check("a session with the id of the failed fork")


@case("S-FORK-ORD-08", kinds=("sqlite",), needs=("raw-files",))
@rows("what", removed=_lose_its_file, replaced=_be_replaced, replaced_by_an_empty_one=_be_replaced_by_less)
async def an_open_source_without_its_file_is_told(
    store: SessionMaker, what: Callable[[SessionMaker, Subject], Awaitable[None]]
) -> None:
    """A fork of an open session whose database was removed or replaced before the call raises `SessionFileChanged` or
    `SessionNotFound`, however often it is asked for, and leaves nothing.

    If this fails, look at: a reader on a file that is not the one of the open session; a missing database told as a
    failed call.
    """
    source = await wide_session(store, ROWS, id="source")
    await what(store, source)
    path = path_of(source.metadata)
    before = sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
    for options in SCOPES:
        ending = await ended(store.repo.fork(source.metadata, options))
        expect(
            ending.word in ("SessionFileChanged", "SessionNotFound"),
            f"expected: SessionFileChanged or SessionNotFound\nseen:     {ending.error!r}",
        )
    after = sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
    kept = [name for name in after if not name.endswith(("-wal", "-shm"))]
    expect_equal(kept, [name for name in before if not name.endswith(("-wal", "-shm"))], of="the files beside it")
