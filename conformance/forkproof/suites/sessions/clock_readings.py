"""Readings of the clock: one per commit, create and fork (section 3.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import message_entry, user_message
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import CallbackScope
from forkstore.contract.writes import EntryInsert, ValueSet, Write

SCOPES = {"branch": BranchFork("main"), "tree": TreeFork()}
APP = value_address("garden.plan")
LOG = list_address("garden.log")


async def _by_scope(subject: Subject, *writes: Write) -> object:
    async def commit(scope: CallbackScope) -> object:
        return await scope.commit(list(writes))

    return await subject.session.mutate(commit)


async def _append_message(subject: Subject) -> object:
    branch = await subject.session.branch("main")
    return None if branch is None else await branch.append_message(user_message("once"))


async def _append_custom_entry(subject: Subject) -> object:
    branch = await subject.session.branch("main")
    return None if branch is None else await branch.append_custom_entry("weather")


COMMITS: dict[str, Callable[[Subject], Awaitable[object]]] = {
    "one-write": lambda subject: _by_scope(subject, ValueSet(APP, 1)),
    "many-entries": lambda subject: _by_scope(
        subject, *(EntryInsert(message_entry(f"m{number}", None)) for number in range(50))
    ),
    "nothing": _by_scope,
    "set-value": lambda subject: subject.session.set_value(APP, 1),
    "delete-value": lambda subject: subject.session.delete_value(APP),
    "append-list": lambda subject: subject.session.append_list(LOG, 1),
    "delete-list": lambda subject: subject.session.delete_list(LOG),
    "set-name": lambda subject: subject.session.set_name("beans"),
    "set-label": lambda subject: subject.session.set_label("e1", "start"),
    "create-branch": lambda subject: subject.session.create_branch("left", "e1"),
    "append-message": _append_message,
    "append-custom-entry": _append_custom_entry,
}


@case("S-ENT-15")
@rows("commit", COMMITS)
async def a_commit_reads_the_clock_once(store: SessionMaker, commit: Callable[[Subject], Awaitable[object]]) -> None:
    """A commit reads the clock exactly once, whichever call makes it, and its entries carry that reading.

    If this fails, look at: a reading per entry; the id generator or the metadata reading the same clock.
    """
    subject = await store.linear_session()
    store.clock.advance(1_000)
    before = store.clock.readings
    await commit(subject)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one commit")
    for entry in (await subject.session.scan_entries())[4:]:
        expect_equal(entry["timestamp"], store.clock.at, of="the timestamp of the new entry")


@case("S-ENT-15")
@rows("id", given="garden", generated=None)
async def a_create_reads_the_clock_once(store: SessionMaker, id: str | None) -> None:
    """A create reads the clock exactly once, with a given and with a generated id.

    If this fails, look at: one reading for the id and another for `created_at`; a first commit made on creation.
    """
    before = store.clock.readings
    subject = await store.create(id)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one create")
    expect_equal(subject.metadata.created_at, store.clock.at, of="created_at")


@case("S-ENT-15")
@rows("options", SCOPES)
@rows("id", given="copy", generated=None)
@rows("closes", open_source=False, closed_source=True)
async def a_fork_reads_the_clock_once(store: SessionMaker, options: ForkOptions, id: str | None, closes: bool) -> None:
    """A fork reads the clock exactly once, however much it copies, from an open and from a closed source.

    If this fails, look at: the destination written by commits of its own; a second reading when it is opened.
    """
    source = await store.rich_session()
    if closes:
        await source.close()
    store.clock.advance(1_000)
    before = store.clock.readings
    chosen = BranchFork("main", id=id) if isinstance(options, BranchFork) else TreeFork(id=id)
    fork = await store.repo.fork(source.metadata, chosen)
    expect_equal(store.clock.readings - before, 1, of="readings of the clock in one fork")
    expect_equal(fork.metadata.created_at, store.clock.at, of="created_at of the fork")
