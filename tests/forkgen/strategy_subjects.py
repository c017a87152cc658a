"""Sessions that the tests of the strategies work on, and how they search."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from forkgen.strategies import (
    InvalidFork,
    InvalidTransaction,
    State,
    ValidFork,
)
from forkproof.expect import expect_equal
from forkproof.makers.subject import kept_writes
from forkproof.oracle.classifier import ForkRefused
from forkproof.oracle.model import SessionModel
from forkproof.oracle.reading import read_state
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import BRANCH_TIP, Address, branch_tip, lane_config, lane_state
from forkstore.contract.errors import (
    InvalidForkOptions,
    InvalidSessionId,
    InvalidValue,
    SessionExists,
    SessionStoreError,
    UndeclaredNamespace,
)
from forkstore.contract.records import zero_usage
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet, Write

SOURCE = "source"

# The same examples on every run, and no clock decides (field report R76).
QUIET = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
short = settings(QUIET, max_examples=100)
# A search ends with the first example; the number only bounds one that is rare, and the draws differ between versions.
searching = settings(QUIET, max_examples=10_000)

T = TypeVar("T")


def smallest(strategy: st.SearchStrategy[T], condition: Any = lambda _: True) -> T:
    return find(strategy, condition, settings=searching)


def reached(strategy: st.SearchStrategy[T], condition: Any) -> T:
    """An example, small or not."""
    return find(strategy, condition, settings=settings(searching, phases=[Phase.generate]))


PLAIN_MESSAGE = {"role": "user", "content": "", "timestamp": 0}


def lane(name: str, tip: str | None) -> list[Write]:
    return [ValueSet(branch_tip(name), tip), ValueSet(lane_config(name), {}), ValueSet(lane_state(name), {})]


def entry(entry_id: str, parent: str | None) -> EntryInsert:
    return EntryInsert({"id": entry_id, "parentId": parent, "type": "message", "message": {}})


BUSY_WRITES: list[Write] = [
    *(entry("e0", None), entry("e1", "e0"), entry("e2", "e0")),
    *(*lane("main", "e1"), *lane("side", "e2"), ValueSet(branch_tip("data"), "e0")),
    UsageInsert({"id": "u0", "usage": zero_usage(), "adjustment": False}),
]
"""Two lanes that share a root, a branch without configuration, an entry on no path of the first lane, a usage row."""
BUSY = State().after(BUSY_WRITES)


class Kept:
    """A session in a fresh memory store, the oracle's model of it, and the state that the strategies hold of it."""

    def __init__(self, repo: MemorySessionRepo, session: Session, model: SessionModel, state: State) -> None:
        self.repo, self.session, self.model, self.state = repo, session, model, state

    @classmethod
    async def fresh(cls) -> Kept:
        repo = MemorySessionRepo(now=lambda: 1_700_000_000_000)
        return cls(repo, await repo.create(id=SOURCE), SessionModel(), State())

    async def commit(self, writes: list[Write]) -> None:
        kept = kept_writes(writes)
        self.model.apply(kept, await self.session.storage.commit(writes))
        self.state = self.state.after(kept)

    async def refuse(self, refused: InvalidTransaction) -> None:
        with pytest.raises(SessionStoreError) as caught:
            await self.session.storage.commit(refused.writes)
        assert type(caught.value) is refused.error, caught.value
        assert refused.attributes.items() <= vars(caught.value).items()
        if isinstance(caught.value, InvalidValue):
            assert caught.value.where.startswith(f"writes[{refused.index}]"), caught.value

    async def fork(self, fork: ValidFork) -> Kept:
        model = self.model.fork(fork.options, self.session.metadata.id)
        session = await self.repo.fork(self.session.metadata, fork.options)
        assert fork.options.id in (None, session.metadata.id)
        return Kept(self.repo, session, model, fork.selects)

    async def refuse_fork(self, refused: InvalidFork) -> None:
        before = await self.repo.list()
        with pytest.raises(SessionStoreError) as caught:
            await self.repo.fork(self.session.metadata, refused.options)
        assert type(caught.value) is refused.error, caught.value
        assert refused.attributes.items() <= vars(caught.value).items()
        assert await self.repo.list() == before
        if refused.error not in (InvalidForkOptions, InvalidSessionId, SessionExists):
            with pytest.raises(ForkRefused) as by_the_oracle:
                self.model.fork(refused.options, SOURCE)
            assert by_the_oracle.value.refusal == refused.error.__name__
        if isinstance(caught.value, UndeclaredNamespace):
            rows = {(address.namespace, address.kind) for address in self.state.undeclared}
            assert (caught.value.namespace, caught.value.kind) in rows

    async def check(self) -> None:
        """The store shows what the model holds, and the state is a summary of that."""
        shown = await read_state(self.session, self.model.touched, self.model)
        expect_equal(shown, self.model.state(), of="the session, read in full")
        model = self.model.state()
        assert dict(self.state.parents) == {entry["id"]: entry["parentId"] for entry in model.entries}
        assert list(self.state.parents) == [entry["id"] for entry in model.entries]
        assert list(self.state.usage_ids) == [row["id"] for row in model.ledger]
        assert dict(self.state.tips) == {key: tip for (name, key), tip in model.scalars.items() if name == BRANCH_TIP}
        scalars = {Address(*location, "value") for location in model.scalars}
        assert {*self.state.live} == scalars | {Address(*location, "list") for location in model.lists}


async def committed(session: list[list[Write]]) -> Kept:
    kept = await Kept.fresh()
    for writes in session:
        await kept.commit(writes)
    return kept
