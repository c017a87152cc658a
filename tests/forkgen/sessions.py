"""Sessions of recipes in the memory store, beside the kit's model of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from forkgen import Expectation, Generated
from forkproof.oracle.model import SessionModel
from forkproof.oracle.state import LogicalState
from forkstore import MemorySessionRepo
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session

SOURCE = "source"


@dataclass
class Kept:
    """A recipe's session after all its transactions, and what the oracle makes of them."""

    repo: MemorySessionRepo
    session: Session
    model: SessionModel


@asynccontextmanager
async def kept(generated: Generated) -> AsyncIterator[Kept]:
    """The session in a fresh memory store."""
    repo = MemorySessionRepo(now=lambda: 1_700_000_000_000)
    session, model = await repo.create(id=SOURCE), SessionModel()
    for transaction in generated:
        model.apply(transaction, await session.storage.commit(transaction))
    yield Kept(repo, session, model)
    await repo.close()


def logical(state: LogicalState) -> dict[str, Any]:
    """What an expectation can know of a logical state: everything but timestamps and lineage."""
    entries = [{name: value for name, value in entry.items() if name != "timestamp"} for entry in state.entries]
    return {
        "entries": entries,
        "scalars": state.scalars,
        "lists": state.lists,
        "ledger": state.ledger,
        "message_count": state.message_count,
        "usage": state.usage,
    }


def expected(expectation: Expectation) -> dict[str, Any]:
    """All that an expectation says."""
    return {
        "entries": list(expectation.entries()),
        "scalars": {(address.namespace, address.key): value for address, value in expectation.scalars()},
        "lists": {(address.namespace, address.key): list(elements) for address, elements in expectation.lists()},
        "ledger": list(expectation.usage_rows()),
        "message_count": expectation.message_count,
        "usage": expectation.usage,
    }


def fork_options(expectation: Expectation, points: int = 4) -> Iterator[ForkOptions]:
    """A tree fork; and for every branch forks at and before the tip, some entries of its path and an entry off it."""
    yield TreeFork()
    yield BranchFork("no such branch")
    everywhere = list(expectation.entry_ids())
    for branch, _ in expectation.branches():
        path = list(expectation.path(branch))
        step = max(1, len(path) // points)
        asked = [None, *path[::step], *path[-1:], "no such entry"]
        asked += [entry_id for entry_id in everywhere[-3:] if entry_id not in path]
        for entry_id in dict.fromkeys(asked):
            yield BranchFork(branch, entry_id)
            yield BranchFork(branch, entry_id, "before")
