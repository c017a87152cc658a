"""Forks that the contract refuses (section 20.1): the source that each of them needs, its options and the refusal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.makers.maker import SessionMaker
from forkproof.makers.subject import Subject
from forkstore.contract.addresses import lane_config, lane_state, list_address, value_address
from forkstore.contract.errors import (
    DataOnlyBranch,
    EntryNotOnBranch,
    InvalidForkOptions,
    InvalidSessionId,
    SessionExists,
    SessionStoreError,
    UndeclaredNamespace,
    UnknownBranch,
)
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ListAppend, ValueDelete, ValueSet, Write

Arrange = Callable[[Subject], Awaitable[object]]


@dataclass(frozen=True)
class Rejection:
    """A fork that is refused with `error` and the attributes `told`, once `arrange` has prepared its source."""

    options: Any
    error: type[SessionStoreError]
    told: Mapping[str, object] = field(default_factory=dict)
    arrange: Arrange | None = None

    async def source(self, store: SessionMaker) -> Subject:
        """The open session `source`, shaped as `bushy_session`, that the fork is refused for."""
        subject = await store.bushy_session(id="source")
        if self.arrange is not None:
            await self.arrange(subject)
        return subject


def _after(*writes: Write) -> Arrange:
    return lambda subject: subject.commit(*writes)


async def _taken_open(subject: Subject) -> None:
    await subject.store.create("taken")


async def _taken_closed(subject: Subject) -> None:
    await (await subject.store.create("taken")).close()


def _off_the_path(entry_id: str, position: Any = "at", arrange: Arrange | None = None) -> Rejection:
    options = BranchFork("main", entry_id, position, id="fork")
    return Rejection(options, EntryNotOnBranch, {"entry_id": entry_id, "branch": "main"}, arrange)


def _in_both_scopes(
    name: str, error: type[SessionStoreError], told: Any, id: str, arrange: Any
) -> dict[str, Rejection]:
    return {
        f"{name}-branch": Rejection(BranchFork("main", id=id), error, told, arrange),
        f"{name}-tree": Rejection(TreeFork(id=id), error, told, arrange),
    }


def _undeclared(name: str, write: ValueSet | ListAppend) -> dict[str, Rejection]:
    told = {"namespace": write.address.namespace, "kind": write.address.kind}
    return _in_both_scopes(name, UndeclaredNamespace, told, "fork", _after(write))


REJECTIONS: dict[str, Rejection] = {
    "no-options": Rejection(None, InvalidForkOptions),
    "malformed-position": Rejection(
        BranchFork("main", position="after", id="fork"),  # type: ignore[arg-type]
        InvalidForkOptions,
        {"field": "position"},
    ),
    "malformed-entry": Rejection(
        BranchFork("main", 1, id="fork"),  # type: ignore[arg-type]
        InvalidForkOptions,
        {"field": "entry_id"},
    ),
    **_in_both_scopes("illegal-id", InvalidSessionId, {"session_id": "\ud800"}, "\ud800", None),
    **_in_both_scopes("long-id", InvalidSessionId, {"session_id": "x" * 201}, "x" * 201, None),
    **_in_both_scopes("own-id", SessionExists, {"session_id": "source"}, "source", None),
    **_in_both_scopes("taken-open", SessionExists, {"session_id": "taken"}, "taken", _taken_open),
    **_in_both_scopes("taken-closed", SessionExists, {"session_id": "taken"}, "taken", _taken_closed),
    "unknown-branch": Rejection(BranchFork("no-such-branch", id="fork"), UnknownBranch, {"name": "no-such-branch"}),
    "data-only": Rejection(BranchFork("right", id="fork"), DataOnlyBranch, {"name": "right"}),
    "no-configuration": Rejection(
        BranchFork("main", id="fork"), DataOnlyBranch, {"name": "main"}, _after(ValueDelete(lane_config("main")))
    ),
    "no-state": Rejection(
        BranchFork("main", id="fork"), DataOnlyBranch, {"name": "main"}, _after(ValueDelete(lane_state("main")))
    ),
    "unknown-entry": _off_the_path("no-such-entry"),
    "entry-elsewhere": _off_the_path("left-leaf"),
    "entry-elsewhere-before": _off_the_path("left-leaf", "before"),
    "entry-newer": _off_the_path("child-of-tip"),
    "usage-row": _off_the_path("usage-1"),
    "null-tip": _off_the_path("tip", "at", lambda subject: subject.set_tip("main", None)),
    **_undeclared("undeclared-scalar", ValueSet(value_address("pi.unknown", "key"), None)),
    **_undeclared("undeclared-list", ListAppend(list_address("pi"), 1)),
    **_undeclared("wrong-kind", ListAppend(list_address("pi.entry.label", "root"), "a label")),
}
"""Every rejection of section 20.1 that a caller of any store can bring about with one source that stays open or closed.

The others need more: a source that is gone (S-REPO-07) or closing, a repository that closes (S-REPO-24), a probe.
"""
