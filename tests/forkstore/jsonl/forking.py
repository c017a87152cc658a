"""Forks from file to file, without a repository; and destinations as an independent checker reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forkgen import Expectation
from forkgen.jsonl import lines
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.errors import SessionStoreError
from forkstore.contract.files import Files
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.ids import IdGenerator, Uuid7Generator
from forkstore.contract.writes import EntryInsert, ValueSet, Write
from forkstore.jsonl.files import LocalFiles
from forkstore.jsonl.fork import ForkSource, copy_fork
from forkstore.jsonl.publishing import Publication
from forkstore.jsonl.storage import Boundary
from forkstore.options import Probe
from tests.forkgen.strict_format4 import Finding, examine
from tests.forkstore.jsonl.trees import tree


class UnsyncedFiles(LocalFiles):
    """Files that a test need not wait for."""

    async def sync_file(self, path: str) -> None:
        """Does nothing."""

    async def sync_dir(self, path: str) -> None:
        """Does nothing."""


FILES: Files = UnsyncedFiles()
ID, CWD, CREATED_AT = "walk-1", "/srv/garden", 1_760_000_000_123
FORKS: dict[str, ForkOptions] = {"tree": TreeFork(), "branch": BranchFork("main")}
FORK, FORKED_AT = "walk-2", 1_760_000_300_000


@dataclass
class Watch:
    """A fork probe that notes what it is told, and acts at points that a test names."""

    acts: dict[str, Callable[[], object]] = field(default_factory=dict)
    told: list[tuple[str, int]] = field(default_factory=list)

    async def boundary_captured(self) -> None:
        self._tell("boundary_captured", 0)

    async def batch_copied(self, count: int) -> None:
        self._tell("batch_copied", count)

    async def before_publish(self) -> None:
        self._tell("before_publish", 0)

    def _tell(self, point: str, count: int) -> None:
        self.told.append((point, count))
        if point in self.acts:
            self.acts[point]()

    @property
    def counts(self) -> list[int]:
        return [count for point, count in self.told if point == "batch_copied"]


@dataclass(frozen=True)
class Place:
    """A source in a directory of its own, and the directory that its forks go to."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / "source" / "walk.jsonl"

    @property
    def forks(self) -> Path:
        return self.root / "forks"

    def write(self, content: bytes) -> None:
        """Puts the source there, as a new file."""
        self.path.parent.mkdir(exist_ok=True)
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(content)

    def boundary(self, next_seq: int) -> Boundary:
        """The boundary of a source that is open, where the file ends now."""
        status = self.path.stat()
        return Boundary(next_seq, status.st_size, (status.st_dev, status.st_ino))

    async def fork(
        self,
        options: ForkOptions,
        *,
        boundary: Boundary | None = None,
        files: Files = FILES,
        watch: object | None = None,
        id_generator: IdGenerator | None = None,
        named: tuple[str, str] = (ID, CWD),
    ) -> bytes:
        """Forks the session of that id and cwd; gives the destination's bytes and takes it away again."""
        target = self.forks / "--srv-garden--" / "walk-2.jsonl"
        async with Publication(files, str(target)) as publication:
            await copy_fork(
                files,
                ForkSource(str(self.path), *named, boundary),
                options,
                publication,
                session_id=FORK,
                created_at=FORKED_AT,
                id_generator=id_generator or Uuid7Generator(),
                probe=Probe(watch),
            )
            await publication.publish(FORK)
        content = target.read_bytes()
        target.unlink()
        return content


async def refusal_of(place: Place, options: ForkOptions, **arguments: Any) -> SessionStoreError:
    """What a fork raises; it leaves no trace and does not touch its source."""
    before = tree(place.root)
    with pytest.raises(SessionStoreError) as refusal:
        await place.fork(options, **arguments)
    assert tree(place.root) == before
    return refusal.value


def entry(id: str, parent: str | None = None, **fields: Any) -> EntryInsert:
    """A message entry."""
    return EntryInsert({"id": id, "parentId": parent, "type": "message", "message": {"role": "user"}} | fields)


def chain(count: int, size: int = 10) -> list[EntryInsert]:
    """Entries e0, e1, … in one line of descent, with texts of that many characters."""
    return [
        entry(f"e{number}", f"e{number - 1}" if number else None, message={"content": "x" * size})
        for number in range(count)
    ]


def lane(tip: str | None) -> list[Write]:
    """A lane `main` with everything that a branch fork asks for."""
    return [
        ValueSet(branch_tip("main"), tip),
        ValueSet(lane_config("main"), {"model": "o-2"}),
        ValueSet(lane_state("main"), {"inbox": [1]}),
    ]


def session(transactions: Any, **header: Any) -> bytes:
    """A session file of the source."""
    return b"".join(lines(transactions, id=ID, cwd=CWD, created_at=CREATED_AT, **header))


def texts(content: bytes) -> list[bytes]:
    """The texts of all records of a file that opens, as they stand in it."""
    return [text for line in content.split(b"\n")[1:-1] for text in _members(line.decode().strip(" \t\r"))]


def _members(line: str) -> Iterator[bytes]:
    scan, at = json.JSONDecoder(), line.find("{")
    while at >= 0:
        _, end = scan.raw_decode(line, at)
        yield line[at:end].encode()
        at = line.find("{", end)


def held(found: Finding) -> dict[str, Any]:
    """What a file holds, without sequences and times."""
    return {
        "entries": [
            {name: value for name, value in entry.items() if name not in ("seq", "timestamp")}
            for entry in found.state.entries
        ],
        "scalars": sorted((place, value) for place, (_, value) in found.state.scalars.items()),
        "lists": sorted((place, [value for _, value in rows]) for place, rows in found.state.lists.items()),
        "ledger": found.state.usage,
    }


def expected(expectation: Expectation) -> dict[str, Any]:
    """What a recipe says that a session holds."""
    return {
        "entries": list(expectation.entries()),
        "scalars": sorted(((a.namespace, a.key), value) for a, value in expectation.scalars()),
        "lists": sorted(((a.namespace, a.key), list(rows)) for a, rows in expectation.lists()),
        "ledger": list(expectation.usage_rows()),
    }


def destination(content: bytes, *, cwd: str = CWD, parent: str = ID) -> Finding:
    """A destination, once it is seen to be a right file with one current write per line, in rising sequence."""
    found = examine(content)
    assert found.verdict == "opens"
    assert content.endswith(b"\n")
    header, *rows = [json.loads(line) for line in content.split(b"\n")[:-1]]
    assert [*header] == ["v", "kind", "id", "storageVersion", "createdAt", "cwd", "parentSessionId", "nextSeq"]
    assert (header["id"], header["createdAt"], header["cwd"]) == (FORK, FORKED_AT, cwd)
    assert header["parentSessionId"] == parent
    seqs = [row["seq"] for row in rows]
    assert seqs == sorted(set(seqs))
    state = found.state
    assert len(rows) == len(state.entries) + len(state.scalars) + sum(map(len, state.lists.values()))
    assert state.usage == []
    return found
