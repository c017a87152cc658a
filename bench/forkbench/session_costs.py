"""What an append and a tree fork cost, as ratios to plain Python doing the least that such work can be.

Run with `python -m forkbench.session_costs memory` or `make bench`. Each time is measured against its reference in
alternating blocks of one run, because machines are noisy and ratios are less so; the ratio is the median over the
pairs of blocks. Every answer is checked: a lost entry ends the run without a figure. The bounds are the ones the
memory backend has to keep; other targets are shown against them.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from forkproof.harness import Seams, fact
from forkproof.instruments.memory import MemoryMeter
from forkproof.targets import find_target
from forkproof.verdict import TargetError
from forkstore.contract.codec import encode
from forkstore.contract.forks import TreeFork
from forkstore.contract.ids import Uuid7Generator
from forkstore.contract.records import Record
from forkstore.contract.store import Session, SessionRepo
from forkstore.contract.writes import EntryInsert, Write

APPEND_BOUND = 6.0
"""A one-entry commit through `append_message`, against a floor loop of lock, id, encoding and dict."""
FORK_BOUND = 0.4
"""A tree fork of 100,000 entries of 330 bytes, against `json.loads` over their JSON text."""
FORK_MEMORY_BOUND = 2 * 2**20
"""Peak bytes of that fork above what it keeps."""


class WrongAnswer(Exception):
    """The measured work did not do what it is timed for."""


@dataclass(frozen=True)
class Figure:
    """One measured cost: `value` must not exceed `bound`; `details` are medians of the parts, with their units in the
    names.
    """

    name: str
    value: float
    bound: float
    details: dict[str, float]

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.value <= self.bound


def message(size: int = 95) -> Record:
    """A user message whose entry takes about 330 bytes as JSON text."""
    text = "the beans are in the north bed; ".ljust(size, "x")
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_650_000_000_000}


async def append_cost(repo: SessionRepo, options: dict[str, Any], pairs: int = 21, block: int = 1_000) -> Figure:
    """A one-entry commit through `branch.append_message`. Raises WrongAnswer when an entry is lost."""
    session = await repo.create(**options)
    branch = await session.create_branch("main", None)
    lock, generator, kept = asyncio.Lock(), Uuid7Generator(), dict[str, bytes]()
    body = message()

    async def floor() -> None:
        async with lock:
            kept[generator.next()] = encode(body, "message")

    async def append() -> None:
        await branch.append_message(body)

    times = [await _pair(floor, append, block, append_first=bool(turn % 2)) for turn in range(pairs)]
    if not len(kept) == (await session.get_stats()).message_count == pairs * block:
        raise WrongAnswer(f"{pairs * block} messages were appended, {await session.get_stats()} are there")
    await session.close()
    return Figure(
        "append_message / floor loop",
        median(append_ns / floor_ns for floor_ns, append_ns in times),
        APPEND_BOUND,
        {
            "append µs": median(append_ns for _, append_ns in times) / block / 1_000,
            "floor µs": median(floor_ns for floor_ns, _ in times) / block / 1_000,
        },
    )


async def _pair(
    floor: Callable[[], Awaitable[None]], append: Callable[[], Awaitable[None]], block: int, *, append_first: bool
) -> tuple[int, int]:
    """Nanoseconds of one block of each, with the garbage collector off."""
    spent = {}
    for work in (append, floor) if append_first else (floor, append):
        gc.collect()
        gc.disable()
        begun = perf_counter_ns()
        for _ in range(block):
            await work()
        spent[work] = perf_counter_ns() - begun
        gc.enable()
    return spent[floor], spent[append]


async def fork_costs(
    repo: SessionRepo, options: dict[str, Any], entries: int = 100_000, pairs: int = 5
) -> list[Figure]:
    """A tree fork in time and in memory. Raises WrongAnswer when the fork is not complete."""
    source = await repo.create(**options)
    await _fill(source, entries)
    texts = [json.dumps(entry) for entry in await source.scan_entries()]
    times = [await _fork_pair(repo, source, texts) for _ in range(pairs)]
    with MemoryMeter() as meter:
        destination = await repo.fork(source.metadata, TreeFork())
    await _check_and_remove(repo, destination, entries)
    await source.close()
    return [
        Figure(
            f"tree fork of {entries} entries / json.loads of them",
            median(fork_ns / loads_ns for loads_ns, fork_ns in times),
            FORK_BOUND,
            {
                "fork ms": median(fork_ns for _, fork_ns in times) / 1e6,
                "json.loads ms": median(loads_ns for loads_ns, _ in times) / 1e6,
                "bytes per entry": sum(map(len, texts)) / entries,
            },
        ),
        Figure(
            "peak bytes of that fork above what it keeps",
            meter.peak - meter.held,
            FORK_MEMORY_BOUND,
            {"kept bytes": meter.held, "peak bytes": meter.peak},
        ),
    ]


async def _fill(session: Session, entries: int) -> None:
    ids = [f"benchmark-entry-{index:08d}" for index in range(entries)]
    inserts: list[Write] = [
        EntryInsert({"id": entry_id, "parentId": parent, "type": "message", "message": message()})
        for entry_id, parent in zip(ids, [None, *ids[:-1]], strict=True)
    ]
    for start in range(0, entries, 250):
        scope = await session.begin_mutation()
        await scope.commit(inserts[start : start + 250])
        await scope.end()


async def _fork_pair(repo: SessionRepo, source: Session, texts: list[str]) -> tuple[int, int]:
    """Nanoseconds of `json.loads` over the texts, and of one fork."""
    gc.collect()
    begun = perf_counter_ns()
    for text in texts:
        json.loads(text)
    loads_ns = perf_counter_ns() - begun
    gc.collect()
    begun = perf_counter_ns()
    destination = await repo.fork(source.metadata, TreeFork())
    fork_ns = perf_counter_ns() - begun
    await _check_and_remove(repo, destination, len(texts))
    return loads_ns, fork_ns


async def _check_and_remove(repo: SessionRepo, destination: Session, entries: int) -> None:
    count = (await destination.get_stats()).message_count
    if count != entries or len(await destination.scan_entries(order="desc", limit=1)) != 1:
        raise WrongAnswer(f"the fork holds {count} of {entries} messages")
    await destination.close()
    await repo.delete(destination.metadata)


async def measure(make_harness: Callable[[Path], Any], directory: Path) -> list[Figure]:
    """All figures of one harness, each on a repository of its own kind. Raises WrongAnswer."""
    harness = make_harness(directory)
    repo = await harness.open_repo(Seams())
    cwd = fact(harness, "cwd")
    options = {} if cwd is None else {"cwd": cwd}
    try:
        return [await append_cost(repo, options), *await fork_costs(repo, options)]
    finally:
        await repo.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, 1 when a bound is broken, 2 for an unknown
    target.
    """
    parser = argparse.ArgumentParser(prog="forkbench.session_costs", description=__doc__.partition("\n")[0])
    parser.add_argument("target", help="a registered backend, or package.module:Class of a session harness")
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON to this file")
    asked = parser.parse_args(arguments)
    try:
        target = find_target(asked.target)
    except TargetError as error:
        print(f"forkbench: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as directory:
        figures = asyncio.run(measure(target.make, Path(directory)))
    for figure in figures:
        parts = ", ".join(f"{name} {value:,.2f}" for name, value in figure.details.items())
        verdict = "kept" if figure.kept else "BROKEN"
        print(f"{asked.target}: {figure.name}: {figure.value:,.3f} (bound {figure.bound:,g}: {verdict}; {parts})")
    if asked.output is not None:
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        shown = [asdict(figure) for figure in figures]
        written = {"target": asked.target, "python": sys.version.split()[0], "figures": shown}
        asked.output.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
