"""Refusals: the class of each, and what it carries (section 2.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import refused
from forkproof.makers import SessionMaker
from forkproof.makers.records import assistant_message, custom_entry, message_entry, usage_row
from forkstore.contract import errors
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import UnknownBranch
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueDelete, ValueSet, Write

Call = Callable[[], Awaitable[object]]
APP = value_address("garden.plan")


def _told(text: object) -> bool:
    """A reason or a place: text that says something."""
    return isinstance(text, str) and bool(text.strip())


def _path(path: object) -> bool:
    return path is None or isinstance(path, str)


@dataclass(frozen=True)
class Refusal:
    """A call that has to be refused: what comes before it, its class, and what the class carries."""

    error: type[errors.SessionStoreError]
    arrange: Callable[[SessionMaker], Awaitable[Call]]
    carries: Mapping[str, object] = field(default_factory=dict)


def _of_session(call: Callable[[Session], Awaitable[object]]) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A call on the open session `garden`: a lane `main` over e1 … e4."""

    async def arrange(store: SessionMaker) -> Call:
        subject = await store.linear_session(id="garden")
        return lambda: call(subject.session)

    return arrange


def _of_closed(call: Callable[[Session], Awaitable[object]]) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A call on the closed session `garden`."""

    async def arrange(store: SessionMaker) -> Call:
        subject = await store.linear_session(id="garden")
        await subject.close()
        return lambda: call(subject.session)

    return arrange


def _of_repo(
    call: Callable[[SessionMaker, Any], Awaitable[object]], *, closed: bool = False, deleted: bool = False
) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A call of the repository, with the metadata of the session `garden`: the tree of `bushy`, open, closed or
    deleted.
    """

    async def arrange(store: SessionMaker) -> Call:
        subject = await store.bushy_session(id="garden")
        if closed or deleted:
            await subject.close()
        if deleted:
            await store.repo.delete(subject.metadata)
        return lambda: call(store, subject.metadata)

    return arrange


def _of_closed_repo(call: Callable[[SessionMaker, Any], Awaitable[object]]) -> Callable[[SessionMaker], Awaitable[Call]]:
    async def arrange(store: SessionMaker) -> Call:
        subject = await store.bushy_session(id="garden")
        await store.repo.close()
        return lambda: call(store, subject.metadata)

    return arrange


def _commit(*writes: Write) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A commit on the session `garden`."""
    return _of_session(lambda session: session.mutate(lambda scope: scope.commit(list(writes))))


def _fork_with_row(write: Write) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A tree fork of a session that holds this row."""

    async def arrange(store: SessionMaker) -> Call:
        subject = await store.linear_session()
        await subject.commit(write)
        return lambda: store.repo.fork(subject.metadata, TreeFork())

    return arrange


async def _closed_branch(store: SessionMaker) -> Call:
    subject = await store.linear_session(id="garden")
    branch = await subject.session.create_branch("left", "e1")
    await subject.close()
    return branch.get_tip_id


async def _branch_without_tip_row(store: SessionMaker) -> Call:
    subject = await store.linear_session()
    branch = await subject.session.create_branch("left", "e1")
    await subject.commit(ValueDelete(branch_tip("left")))
    return branch.get_tip_id


async def _second_commit(store: SessionMaker) -> Call:
    scope = await (await store.linear_session()).session.begin_mutation()
    await scope.commit([ValueSet(APP, 1)])
    return lambda: scope.commit([ValueSet(APP, 2)])


async def _ended_scope(store: SessionMaker) -> Call:
    scope = await (await store.linear_session()).session.begin_mutation()
    await scope.end()
    return lambda: scope.get_value(APP)


async def _pending_message(store: SessionMaker) -> Call:
    branch = await (await store.linear_session()).session.branch("main")
    if branch is None:
        raise LookupError("the maker's branch 'main' is missing")
    return lambda: branch.append_message(assistant_message("…", stop_reason="pending"))


async def _wrong_address(store: SessionMaker) -> Call:
    session = (await store.linear_session()).session

    async def build() -> object:
        return await session.get_value(value_address("", "key"))

    return build


async def _wrong_time(store: SessionMaker) -> Call:
    session = (await store.linear_session()).session

    async def generate() -> str:
        return session.id_generator.next(-1)

    return generate


GARDEN = {"session_id": "garden"}
MISSING = {"session_id": "garden", "path": _path}

SESSION_ROWS = {
    "create-onto-open": Refusal(
        errors.SessionExists, _of_repo(lambda store, _: store.repo.create(id="garden", **store.create_options)), GARDEN
    ),
    "create-onto-closed": Refusal(
        errors.SessionExists,
        _of_repo(lambda store, _: store.repo.create(id="garden", **store.create_options), closed=True),
        GARDEN,
    ),
    "fork-onto-itself": Refusal(
        errors.SessionExists, _of_repo(lambda store, garden: store.repo.fork(garden, TreeFork(id="garden"))), GARDEN
    ),
    "open-deleted": Refusal(
        errors.SessionNotFound, _of_repo(lambda store, garden: store.repo.open(garden), deleted=True), MISSING
    ),
    "delete-deleted": Refusal(
        errors.SessionNotFound, _of_repo(lambda store, garden: store.repo.delete(garden), deleted=True), MISSING
    ),
    "fork-deleted": Refusal(
        errors.SessionNotFound, _of_repo(lambda store, garden: store.repo.fork(garden, TreeFork()), deleted=True), MISSING
    ),
    "open-open": Refusal(errors.SessionInUse, _of_repo(lambda store, garden: store.repo.open(garden)), GARDEN),
    "delete-open": Refusal(errors.SessionInUse, _of_repo(lambda store, garden: store.repo.delete(garden)), GARDEN),
    "read-closed": Refusal(errors.SessionClosed, _of_closed(lambda session: session.get_entry("e1")), GARDEN),
    "write-closed": Refusal(errors.SessionClosed, _of_closed(lambda session: session.set_value(APP, 1)), GARDEN),
    "scope-closed": Refusal(errors.SessionClosed, _of_closed(lambda session: session.begin_mutation()), GARDEN),
    "storage-closed": Refusal(errors.SessionClosed, _of_closed(lambda session: session.storage.get_stats()), GARDEN),
    "branch-closed": Refusal(errors.SessionClosed, _closed_branch, GARDEN),
    "create-in-closed-repo": Refusal(
        errors.RepoClosed, _of_closed_repo(lambda store, _: store.repo.create(**store.create_options))
    ),
    "open-in-closed-repo": Refusal(errors.RepoClosed, _of_closed_repo(lambda store, garden: store.repo.open(garden))),
    "list-in-closed-repo": Refusal(errors.RepoClosed, _of_closed_repo(lambda store, _: store.repo.list())),
    "delete-in-closed-repo": Refusal(
        errors.RepoClosed, _of_closed_repo(lambda store, garden: store.repo.delete(garden))
    ),
    "fork-in-closed-repo": Refusal(
        errors.RepoClosed, _of_closed_repo(lambda store, garden: store.repo.fork(garden, TreeFork()))
    ),
    "id-is-a-number": Refusal(
        errors.InvalidSessionId,
        _of_repo(lambda store, _: store.repo.create(id=5, **store.create_options)),  # type: ignore[arg-type]
        {"session_id": 5, "reason": _told},
    ),
    "fork-id-too-long": Refusal(
        errors.InvalidSessionId,
        _of_repo(lambda store, garden: store.repo.fork(garden, TreeFork(id="x" * 201))),
        {"session_id": "x" * 201, "reason": _told},
    ),
    "empty-cwd": Refusal(
        errors.InvalidArgument,
        _of_repo(lambda store, _: store.repo.create(**{**store.create_options, "cwd": ""})),
        {"field": "cwd", "reason": _told},
    ),
    "time-below-zero": Refusal(errors.InvalidArgument, _wrong_time, {"field": "timestamp_ms", "reason": _told}),
}

CONTENT_ROWS = {
    "entry-id-used": Refusal(errors.DuplicateId, _commit(EntryInsert(message_entry("e1", None))), {"id": "e1"}),
    "usage-id-used": Refusal(errors.DuplicateId, _commit(UsageInsert(usage_row("e2"))), {"id": "e2"}),
    "unknown-parent": Refusal(
        errors.UnknownParent,
        _commit(EntryInsert(custom_entry("new", "nobody"))),
        {"entry_id": "new", "parent_id": "nobody"},
    ),
    "walk-from-nowhere": Refusal(
        errors.UnknownEntry, _of_session(lambda session: session.scan_branch("nobody")), {"entry_id": "nobody"}
    ),
    "branch-at-nowhere": Refusal(
        errors.UnknownEntry, _of_session(lambda session: session.create_branch("left", "nobody")), {"entry_id": "nobody"}
    ),
    "branch-lost-its-tip": Refusal(errors.UnknownBranch, _branch_without_tip_row, {"name": "left"}),
    "branch-exists": Refusal(
        errors.BranchExists, _of_session(lambda session: session.create_branch("main", "e1")), {"name": "main"}
    ),
    "branch-name-empty": Refusal(
        errors.InvalidBranchName,
        _of_session(lambda session: session.create_branch("", "e1")),
        {"name": "", "reason": _told},
    ),
    "value-not-json": Refusal(
        errors.InvalidValue, _of_session(lambda session: session.set_value(APP, {1, 2})), {"where": _told, "reason": _told}
    ),
    "entry-without-type": Refusal(
        errors.InvalidValue, _commit(EntryInsert({"id": "x", "parentId": None})), {"where": _told, "reason": _told}
    ),
    "limit-below-zero": Refusal(
        errors.InvalidQuery, _of_session(lambda session: session.scan_entries(limit=-1)), {"field": "limit", "reason": _told}
    ),
    "namespace-empty": Refusal(errors.InvalidAddress, _wrong_address, {"field": "namespace", "reason": _told}),
    "pending-message": Refusal(errors.PendingMessage, _pending_message),
    "second-commit": Refusal(errors.CommitAlreadyAttempted, _second_commit),
    "scope-ended": Refusal(errors.ScopeEnded, _ended_scope),
}

FORK_ROWS = {
    "options-missing": Refusal(
        errors.InvalidForkOptions,
        _of_repo(lambda store, garden: store.repo.fork(garden, None)),  # type: ignore[arg-type]
        {"field": _told, "reason": _told},
    ),
    "position-unknown": Refusal(
        errors.InvalidForkOptions,
        _of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("main", position="after"))),
        {"field": "position", "reason": _told},
    ),
    "branch-unknown": Refusal(
        errors.UnknownBranch,
        _of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("nobody"))),
        {"name": "nobody"},
    ),
    "branch-only-data": Refusal(
        errors.DataOnlyBranch,
        _of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("right"))),
        {"name": "right"},
    ),
    "entry-off-the-branch": Refusal(
        errors.EntryNotOnBranch,
        _of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("main", entry_id="left"))),
        {"entry_id": "left", "branch": "main"},
    ),
    "undeclared-value": Refusal(
        errors.UndeclaredNamespace,
        _fork_with_row(ValueSet(value_address("pi.new", "k"), 1)),
        {"namespace": "pi.new", "kind": "value"},
    ),
    "undeclared-list": Refusal(
        errors.UndeclaredNamespace,
        _fork_with_row(ListAppend(list_address("pi", "k"), 1)),
        {"namespace": "pi", "kind": "list"},
    ),
}


@case("S-ERR-01")
@rows("refusal", SESSION_ROWS)
async def a_refused_session_is_told_by_class_and_attributes(store: SessionMaker, refusal: Refusal) -> None:
    """A refusal of the repository, or of a session that is closed, has the class that the contract names, and carries
    what was refused.

    If this fails, look at: a KeyError or a database's error that reaches the caller; one class for "missing" and "in
    use"; attributes that are left out, or hold the message instead of the value.
    """
    call = await refusal.arrange(store)
    with refused(refusal.error, **refusal.carries):
        await call()


@case("S-ERR-01")
@rows("refusal", CONTENT_ROWS)
async def refused_content_is_told_by_class_and_attributes(store: SessionMaker, refusal: Refusal) -> None:
    """A refused write, query, branch or scope has the class that the contract names, and carries what was refused.

    If this fails, look at: a constraint of the database that reaches the caller; ids of the wrong record in the
    attributes; ValueError or TypeError in place of the contract's class.
    """
    call = await refusal.arrange(store)
    with refused(refusal.error, **refusal.carries):
        await call()


@case("S-ERR-01")
@rows("refusal", FORK_ROWS)
async def a_refused_fork_is_told_by_class_and_attributes(store: SessionMaker, refusal: Refusal) -> None:
    """A refused fork has the class that the contract names, and carries what was refused.

    If this fails, look at: one general error for all rejections; a check that the first write of the destination makes.
    """
    call = await refusal.arrange(store)
    with refused(refusal.error, **refusal.carries):
        await call()


@case("S-ERR-01")
@rows("name", never_made="nobody", state_alone="state-only", odd_name="")
async def an_unknown_branch_is_the_first_thing_told(store: SessionMaker, name: str) -> None:
    """`UnknownBranch` comes before `DataOnlyBranch` and `EntryNotOnBranch` when their conditions hold at once.

    If this fails, look at: the lane's rows checked before the tip; the entry looked up first.
    """
    source = await store.lanes_session()
    with refused(UnknownBranch, name=name):
        await store.repo.fork(source.metadata, BranchFork(name, entry_id="no-such-entry"))
    await store.assert_only_known_sessions(source)
