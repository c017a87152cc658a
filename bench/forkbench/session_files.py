"""A store on session files that is measured, and the files that are put before it (seams `raw-files` and `probe`).

The source of forks is written past the store, in a fraction of the time that commits take. No store has it open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forkgen import Generated, Transaction, recipe
from forkgen.jsonl import lines
from forkgen.recipes.benchmark import CLOCK
from forkproof.harness import fact
from forkproof.makers.raw_files import RawFiles
from forkstore.contract.store import Session, SessionMetadata, SessionRepo

from .figures import WrongAnswer
from .measured_stores import MeasuredStore


@dataclass(frozen=True)
class Source:
    """A closed session of one chain, as a file: its ids are those of the chain, root first."""

    path: Path
    metadata: SessionMetadata
    ids: list[str]


class FileStore(MeasuredStore):
    """A harness of kind `jsonl`, and the files under its `sessions_root`.

    Raises TargetError for a harness of another kind, and for one that lacks a seam or a directory that is needed.
    """

    def __init__(self, harness: Any) -> None:
        super().__init__(harness, "jsonl", "session files", "sessions_root", "cwd")
        self.cwd: str = fact(harness, "cwd")
        self._raw = RawFiles(Path(fact(harness, "sessions_root")), self.cwd)
        self.can_watch_files = "spy-files" in fact(harness, "seams")
        """Whether a repository takes `files`."""

    async def plant(self, transactions: Iterable[Transaction], *, id: str, ids: Iterable[str]) -> Source:
        """Writes a session into its place; `ids` are those of its entries, which must be one chain."""
        path = self._raw.plant(lines(transactions, id=id, cwd=self.cwd, created_at=CLOCK), id=id, created_at=CLOCK)
        async with self.opened() as repo:
            return Source(path, self._raw.metadata(path, await repo.list()), [*ids])

    async def plant_benchmark(self, entries: int) -> tuple[Source, Generated]:
        """The recipe `benchmark` of this size, about 490 bytes an entry, in lines of 250 entries."""
        generated = recipe("benchmark")(seed=0, size=entries)
        return await self.plant(generated, id="source", ids=generated.expectation.entry_ids()), generated


async def check_entries(session: Session, source: Source) -> None:
    """Raises WrongAnswer unless the session holds the entries of the source, each below the one before."""
    count = (await session.get_stats()).message_count
    if count != len(source.ids):
        raise WrongAnswer(f"{session.metadata.id} holds {count} messages, not {len(source.ids)}")
    path = [structure["id"] for structure in await session.scan_branch_structure(source.ids[-1])]
    if path[::-1] != source.ids:
        raise WrongAnswer(f"{session.metadata.id} does not hold the chain of its source")


async def check_and_remove(repo: SessionRepo, fork: Session, source: Source) -> None:
    """Closes a fork of everything and removes it. Raises WrongAnswer when it holds anything less, or another parent."""
    await check_entries(fork, source)
    if fork.metadata.parent_session_id != source.metadata.id:
        raise WrongAnswer(f"the fork of {source.metadata.id} names {fork.metadata.parent_session_id} as its parent")
    await fork.close()
    await repo.delete(fork.metadata)
