"""Refusals of content, queries, branches, scopes and forks: the class of each, and what it carries (section 2.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import refused
from forkproof.makers import SessionMaker
from forkproof.makers.records import assistant_message, custom_entry, message_entry, usage_row
from forkproof.suites.sessions.errors import Refusal, of_repo, of_session, told
from forkstore.contract import errors
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import UnknownBranch
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueDelete, ValueSet, Write

APP = value_address("garden.plan")
Call = Callable[[], Awaitable[object]]


def _commit(*writes: Write) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A commit on the session `garden`."""
    return of_session(lambda session: session.mutate(lambda scope: scope.commit(list(writes))))


def _fork_with_row(write: Write) -> Callable[[SessionMaker], Awaitable[Call]]:
    """A tree fork of a session that holds this row."""

    async def arrange(store: SessionMaker) -> Call:
        subject = await store.linear_session()
        await subject.commit(write)
        return lambda: store.repo.fork(subject.metadata, TreeFork())

    return arrange


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


CONTENT_ROWS = {
    "entry-id-used": Refusal(errors.DuplicateId, _commit(EntryInsert(message_entry("e1", None))), {"id": "e1"}),
    "usage-id-used": Refusal(errors.DuplicateId, _commit(UsageInsert(usage_row("e2"))), {"id": "e2"}),
    "unknown-parent": Refusal(
        errors.UnknownParent,
        _commit(EntryInsert(custom_entry("new", "nobody"))),
        {"entry_id": "new", "parent_id": "nobody"},
    ),
    "walk-from-nowhere": Refusal(
        errors.UnknownEntry, of_session(lambda session: session.scan_branch("nobody")), {"entry_id": "nobody"}
    ),
    "branch-at-nowhere": Refusal(
        errors.UnknownEntry, of_session(lambda session: session.create_branch("left", "nobody")), {"entry_id": "nobody"}
    ),
    "branch-lost-its-tip": Refusal(errors.UnknownBranch, _branch_without_tip_row, {"name": "left"}),
    "branch-exists": Refusal(
        errors.BranchExists, of_session(lambda session: session.create_branch("main", "e1")), {"name": "main"}
    ),
    "branch-name-empty": Refusal(
        errors.InvalidBranchName,
        of_session(lambda session: session.create_branch("", "e1")),
        {"name": "", "reason": told},
    ),
    "value-not-json": Refusal(
        errors.InvalidValue, of_session(lambda session: session.set_value(APP, {1, 2})), {"where": told, "reason": told}
    ),
    "entry-without-type": Refusal(
        errors.InvalidValue, _commit(EntryInsert({"id": "x", "parentId": None})), {"where": told, "reason": told}
    ),
    "limit-below-zero": Refusal(
        errors.InvalidQuery,
        of_session(lambda session: session.scan_entries(limit=-1)),
        {"field": "limit", "reason": told},
    ),
    "namespace-empty": Refusal(errors.InvalidAddress, _wrong_address, {"field": "namespace", "reason": told}),
    "pending-message": Refusal(errors.PendingMessage, _pending_message),
    "second-commit": Refusal(errors.CommitAlreadyAttempted, _second_commit),
    "scope-ended": Refusal(errors.ScopeEnded, _ended_scope),
}

FORK_ROWS = {
    "options-missing": Refusal(
        errors.InvalidForkOptions,
        of_repo(lambda store, garden: store.repo.fork(garden, None)),  # type: ignore[arg-type]
        {"field": told, "reason": told},
    ),
    "position-unknown": Refusal(
        errors.InvalidForkOptions,
        of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("main", position="after"))),  # type: ignore[arg-type]
        {"field": "position", "reason": told},
    ),
    "branch-unknown": Refusal(
        errors.UnknownBranch,
        of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("nobody"))),
        {"name": "nobody"},
    ),
    "branch-only-data": Refusal(
        errors.DataOnlyBranch,
        of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("right"))),
        {"name": "right"},
    ),
    "entry-off-the-branch": Refusal(
        errors.EntryNotOnBranch,
        of_repo(lambda store, garden: store.repo.fork(garden, BranchFork("main", entry_id="left"))),
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
