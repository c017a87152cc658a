"""Refusals of sessions and repositories: the class of each, and what it carries (section 2.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import refused
from forkproof.makers import SessionMaker
from forkstore.contract import errors
from forkstore.contract.addresses import value_address
from forkstore.contract.forks import TreeFork
from forkstore.contract.store import Session

Call = Callable[[], Awaitable[object]]
APP = value_address("garden.plan")


def told(text: object) -> bool:
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


def of_session(call: Callable[[Session], Awaitable[object]]) -> Callable[[SessionMaker], Awaitable[Call]]:
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


def of_repo(
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


def _of_closed_repo(
    call: Callable[[SessionMaker, Any], Awaitable[object]],
) -> Callable[[SessionMaker], Awaitable[Call]]:
    async def arrange(store: SessionMaker) -> Call:
        subject = await store.bushy_session(id="garden")
        await store.repo.close()
        return lambda: call(store, subject.metadata)

    return arrange


async def _closed_branch(store: SessionMaker) -> Call:
    subject = await store.linear_session(id="garden")
    branch = await subject.session.create_branch("left", "e1")
    await subject.close()
    return branch.get_tip_id


async def _wrong_time(store: SessionMaker) -> Call:
    session = (await store.linear_session()).session

    async def generate() -> str:
        return session.id_generator.next(-1)

    return generate


GARDEN = {"session_id": "garden"}
MISSING = {"session_id": "garden", "path": _path}

SESSION_ROWS = {
    "create-onto-open": Refusal(
        errors.SessionExists, of_repo(lambda store, _: store.repo.create(id="garden", **store.create_options)), GARDEN
    ),
    "create-onto-closed": Refusal(
        errors.SessionExists,
        of_repo(lambda store, _: store.repo.create(id="garden", **store.create_options), closed=True),
        GARDEN,
    ),
    "fork-onto-itself": Refusal(
        errors.SessionExists, of_repo(lambda store, garden: store.repo.fork(garden, TreeFork(id="garden"))), GARDEN
    ),
    "open-deleted": Refusal(
        errors.SessionNotFound, of_repo(lambda store, garden: store.repo.open(garden), deleted=True), MISSING
    ),
    "delete-deleted": Refusal(
        errors.SessionNotFound, of_repo(lambda store, garden: store.repo.delete(garden), deleted=True), MISSING
    ),
    "fork-deleted": Refusal(
        errors.SessionNotFound,
        of_repo(lambda store, garden: store.repo.fork(garden, TreeFork()), deleted=True),
        MISSING,
    ),
    "open-open": Refusal(errors.SessionInUse, of_repo(lambda store, garden: store.repo.open(garden)), GARDEN),
    "delete-open": Refusal(errors.SessionInUse, of_repo(lambda store, garden: store.repo.delete(garden)), GARDEN),
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
        of_repo(lambda store, _: store.repo.create(id=5, **store.create_options)),  # type: ignore[arg-type]
        {"session_id": 5, "reason": told},
    ),
    "fork-id-too-long": Refusal(
        errors.InvalidSessionId,
        of_repo(lambda store, garden: store.repo.fork(garden, TreeFork(id="x" * 201))),
        {"session_id": "x" * 201, "reason": told},
    ),
    "empty-cwd": Refusal(
        errors.InvalidArgument,
        of_repo(lambda store, _: store.repo.create(**{**store.create_options, "cwd": ""})),
        {"field": "cwd", "reason": told},
    ),
    "time-below-zero": Refusal(errors.InvalidArgument, _wrong_time, {"field": "timestamp_ms", "reason": told}),
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
