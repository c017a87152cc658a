"""What an append and a tree fork cost, as ratios to plain Python doing the least that such work can be.

Run with `python -m forkbench.session_costs memory` or `make bench`. Each time is measured against its reference in
alternating turns of one run. Every answer is checked: a lost entry ends the run without a figure. The bounds are the
ones the memory backend has to keep; other targets are shown against them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forkproof.harness import Seams, fact
from forkproof.instruments.memory import MemoryMeter
from forkproof.targets import HarnessFactory, find_target
from forkstore.contract.codec import encode
from forkstore.contract.forks import TreeFork
from forkstore.contract.ids import Uuid7Generator
from forkstore.contract.records import Record
from forkstore.contract.store import Session, SessionRepo
from forkstore.contract.writes import EntryInsert, Write

from .command import TARGET, run
from .figures import Figure, WrongAnswer
from .rounds import Rounds

APPEND_BOUND = 6.0
"""A one-entry commit through `append_message`, against a floor loop of lock, id, encoding and dict."""
FORK_BOUND = 0.4
"""A tree fork of 100,000 entries of 330 bytes, against `json.loads` over their JSON text."""
FORK_MEMORY_BOUND = 2 * 2**20
"""Peak bytes of that fork above what it keeps."""


def message(size: int = 95) -> Record:
    """A user message whose entry takes about 330 bytes as JSON text."""
    text = "the beans are in the north bed; ".ljust(size, "x")
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_650_000_000_000}


def creation_options(harness: object) -> dict[str, Any]:
    """What `create` takes on this harness's store: a working directory, where sessions have one."""
    cwd = fact(harness, "cwd")
    return {} if cwd is None else {"cwd": cwd}


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

    rounds = Rounds(pairs, "floor", "append")
    for turn in rounds:
        work = append if turn.side == "append" else floor
        with turn.each(block):
            for _ in range(block):
                await work()
    if not len(kept) == (await session.get_stats()).message_count == pairs * block:
        raise WrongAnswer(f"{pairs * block} messages were appended, {await session.get_stats()} are there")
    await session.close()
    return Figure(
        "append_message / floor loop",
        rounds.ratio("append", "floor"),
        APPEND_BOUND,
        {"append µs": rounds.median_us("append"), "floor µs": rounds.median_us("floor")},
    )


async def fork_costs(
    repo: SessionRepo, options: dict[str, Any], entries: int = 100_000, pairs: int = 5
) -> list[Figure]:
    """A tree fork in time and in memory. Raises WrongAnswer when the fork is not complete."""
    source = await repo.create(**options)
    await _fill(source, entries)
    texts = [json.dumps(entry) for entry in await source.scan_entries()]
    rounds = Rounds(pairs, "json.loads", "fork")
    for turn in rounds:
        if turn.side == "json.loads":
            with turn:
                for text in texts:
                    json.loads(text)
        else:
            with turn:
                destination = await repo.fork(source.metadata, TreeFork())
            await _check_and_remove(repo, destination, entries)
    with MemoryMeter() as meter:
        destination = await repo.fork(source.metadata, TreeFork())
    await _check_and_remove(repo, destination, entries)
    await source.close()
    return [
        Figure(
            f"tree fork of {entries} entries / json.loads of them",
            rounds.ratio("fork", "json.loads"),
            FORK_BOUND,
            {
                "fork ms": rounds.median_ms("fork"),
                "json.loads ms": rounds.median_ms("json.loads"),
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


async def _check_and_remove(repo: SessionRepo, destination: Session, entries: int) -> None:
    count = (await destination.get_stats()).message_count
    if count != entries or len(await destination.scan_entries(order="desc", limit=1)) != 1:
        raise WrongAnswer(f"the fork holds {count} of {entries} messages")
    await destination.close()
    await repo.delete(destination.metadata)


async def measure(make_harness: HarnessFactory, directory: Path) -> list[Figure]:
    """All figures of one harness, each on a repository of its own kind. Raises WrongAnswer."""
    harness: Any = make_harness(directory)
    repo = await harness.open_repo(Seams())
    options = creation_options(harness)
    try:
        return [await append_cost(repo, options), *await fork_costs(repo, options)]
    finally:
        await repo.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, 1 when a bound is broken, 2 for an unknown
    target.
    """
    parser = argparse.ArgumentParser(prog="forkbench.session_costs", description=__doc__.partition("\n")[0])
    parser.add_argument("target", help=TARGET)
    return run(
        parser, lambda asked, directory: asyncio.run(measure(find_target(asked.target).make, directory)), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
