"""A store on SQLite that is measured, and the sessions that are put into its databases (seams `raw-files`, `probe`).

The source of forks is written past the store. What a fork holds is looked at past the store too, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from forkgen import Generated, Transaction, recipe
from forkgen.plan import lane_writes
from forkgen.recipes.benchmark import session_id
from forkproof.makers.raw_files import path_of
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.store import Session, SessionMetadata, SessionRepo
from forkstore.contract.writes import EntryInsert

from .database_planting import Planting, connect
from .figures import WrongAnswer
from .measured_stores import MeasuredStore
from .session_costs import message

MAIN, SHORT = "main", "newest"
"""The branch of the recipe `benchmark`, and a short one beside it."""
SHORT_ENTRIES: Final = 100
ROWS: Final = (
    "SELECT id, parent_id, type, custom_type, timestamp, payload FROM entries"
    " WHERE session_id = ? AND seq BETWEEN ? AND ? ORDER BY seq"
)
INDEXED: Final = "SELECT count(*) FROM branch_entries WHERE session_id = ?"


@dataclass(frozen=True)
class DatabaseSource:
    """A closed session of chains: how many entries it has, and where the sequences of each branch's entries lie."""

    metadata: SessionMetadata
    entries: int
    lanes: dict[str, range]

    @property
    def path(self) -> str:
        """Its database."""
        return str(path_of(self.metadata))

    def count(self, options: ForkOptions) -> int:
        """How many entries a fork with these options has: of a whole branch, or of everything."""
        return len(self.lanes[options.branch]) if isinstance(options, BranchFork) else self.entries

    def rows(self, options: ForkOptions) -> Iterator[tuple[Any, ...]]:
        """The rows of their entries without session and sequence, in order."""
        if isinstance(options, BranchFork):
            lane = self.lanes[options.branch]
            return entry_rows(self.metadata, lane.start, lane.stop - 1)
        return entry_rows(self.metadata)


class DatabaseStore(MeasuredStore):
    """A harness of kind `sqlite`. Raises TargetError for one of another kind, and for one that lacks a seam."""

    def __init__(self, harness: Any) -> None:
        super().__init__(harness, "sqlite", "databases")

    async def plant(self, transactions: Iterable[Transaction], *, id: str) -> DatabaseSource:
        """A new session, made by the store and filled past it. Raises what `Planting.write` raises."""
        async with self.opened() as repo:
            session = await repo.create(id=id)
            await session.close()
        planting = Planting(id)
        planting.write(str(path_of(session.metadata)), transactions)
        return DatabaseSource(session.metadata, planting.entries, planting.lanes)

    async def plant_benchmark(self, entries: int) -> tuple[DatabaseSource, Generated]:
        """The recipe `benchmark` of this size, and its newest entries: 100 of a branch that has a root of its own.

        A branch fork takes all ancestors of its tip, so no other branch of a few entries could be among the newest. The
        id is that of a source in appendix A: those of its forks sort behind it, as generated ids do.
        """
        generated = recipe("benchmark")(seed=0, size=entries)
        return await self.plant(_with_short_branch(generated), id=session_id(0)), generated


def _with_short_branch(generated: Generated) -> Iterator[Transaction]:
    yield from generated
    ids = [f"newest-entry-{index:08d}" for index in range(SHORT_ENTRIES)]
    yield [
        EntryInsert({"id": entry_id, "parentId": parent, "type": "message", "message": message(256)})
        for entry_id, parent in zip(ids, [None, *ids[:-1]], strict=True)
    ]
    yield lane_writes(SHORT, ids[-1])


def entry_rows(metadata: SessionMetadata, first: int = 0, last: int = 2**53) -> Iterator[tuple[Any, ...]]:
    """The rows of a session's entries whose sequences lie in these bounds, past its store."""
    with closing(connect(str(path_of(metadata)), read_only=True)) as connection:
        yield from connection.execute(ROWS, (metadata.id, first, last))


async def check_and_remove(repo: SessionRepo, fork: Session, source: DatabaseSource, options: ForkOptions) -> None:
    """Closes a fork and removes it. Raises WrongAnswer unless it has exactly the entries it must have, and a parent."""
    name, count = fork.metadata.id, (await fork.get_stats()).message_count
    if count != source.count(options):
        raise WrongAnswer(f"{name} holds {count} messages, not {source.count(options)}")
    for expected, row in zip_longest(source.rows(options), entry_rows(fork.metadata)):
        if expected != row:
            raise WrongAnswer(f"{name} holds the entry {row}, not {expected}")
    with closing(connect(str(path_of(fork.metadata)), read_only=True)) as connection:
        indexed = connection.execute(INDEXED, (name,)).get
    if indexed != count:
        raise WrongAnswer(f"the branch index of {name} holds {indexed} entries, not {count}")
    if fork.metadata.parent_session_id != source.metadata.id:
        raise WrongAnswer(f"the fork of {source.metadata.id} names {fork.metadata.parent_session_id} as its parent")
    await fork.close()
    await repo.delete(fork.metadata)
