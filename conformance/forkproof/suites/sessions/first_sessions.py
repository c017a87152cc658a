"""The first session of a store, made in a place in which nothing stands: by `create`, or as a fork from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from forkproof.instruments.byteguard import tree
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.case_instruments import CaseInstruments
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import NEW
from forkproof.suites.sessions.other_places import new_place, store_at
from forkstore.contract.forks import ForkOptions


class FirstSession:
    """A `create`, or a fork of a session that lies elsewhere, which makes the first session of a store."""

    def __init__(self, store: SessionMaker, place: Path, source: Subject, options: ForkOptions | None) -> None:
        self.store = store
        self.place = place
        self.source = source
        self.options = options
        self.before = tree(place)

    async def call(self) -> Any:
        """The call."""
        if self.options is None:
            return await self.store.repo.create(id=NEW)
        return await self.store.repo.fork(self.source.metadata, self.options)

    async def accept(self, session: Any) -> None:
        """Breaks the clause unless the session is what the call must make; takes everything away again."""
        model = SessionModel() if self.options is None else self.source.model.fork(self.options, self.source.id)
        subject = self.store.subject(session, model)
        await subject.check_everywhere()
        await subject.close()
        await self.store.repo.delete(subject.metadata)
        self.clear()

    def clear(self) -> None:
        """Takes away what stands in the place now and did not before; nobody may have it open."""
        for path in sorted(self.place.rglob("*"), reverse=True):
            if path.relative_to(self.place).as_posix() not in self.before.files:
                path.rmdir() if path.is_dir() else path.unlink()

    def check(self, of: str) -> None:
        """Breaks the clause unless the place of the store is as it was before the call."""
        self.before.check(f"what stands in the place of the store {of}")


@asynccontextmanager
async def first_session(
    store: SessionMaker, options: ForkOptions | None, instruments: CaseInstruments, *, stands: bool = False
) -> AsyncIterator[FirstSession]:
    """The call on a store in a new place in which nothing stands yet, or only the empty directory of its databases.

    >>> async with first_session(store, TREE, CaseInstruments(probe=store.probe)) as first:
    ...     await first.accept(await first.call())
    """
    source = await store.linear_session(2, id="source")
    with new_place() as place:
        async with store_at(store, place / "garden", instruments) as other:
            if stands:
                other.databases.directory.mkdir(parents=True)
            yield FirstSession(other, place, source, options)
    await source.check("the source that lies elsewhere")
