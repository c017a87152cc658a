"""The calls that find a session by its metadata, as suites ask them one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.makers import SessionMaker
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import SessionMetadata

Call = Callable[[SessionMaker, SessionMetadata], Awaitable[object]]

OPEN_AND_DELETE: dict[str, Call] = {
    "open": lambda store, metadata: store.repo.open(metadata),
    "delete": lambda store, metadata: store.repo.delete(metadata),
}
CALLS: dict[str, Call] = {
    **OPEN_AND_DELETE,
    "tree-fork": lambda store, metadata: store.repo.fork(metadata, TreeFork(id="fork")),
    "branch-fork": lambda store, metadata: store.repo.fork(metadata, BranchFork("main", id="fork")),
}
