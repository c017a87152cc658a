"""The time of forking and of opening a session file, as a ratio to `json.loads` over its lines.

A fork is timed until it tells its probe of `before_publish`: then all work that grows with the source is done by the
store itself. What follows is the wait for the disk, which no parsing waits for, and the opening of the destination,
which has a figure of its own. Both are shown beside the figure: `publishing ms`, with the wait of a plain file of the
same bytes, and `opening ms`.
"""

from __future__ import annotations

import json
import os
from statistics import median
from time import perf_counter_ns
from typing import Final

from forkgen import Expectation, ExpectationBroken, check_session
from forkstore.contract.forks import ForkOptions, fork_options_to_wire
from forkstore.contract.store import SessionRepo

from .figures import Figure, WrongAnswer
from .fork_probes import PublishingTimes, StopsTurn
from .rounds import Rounds
from .session_files import FileStore, Source, check_and_remove, check_entries

LOADS: Final = "json.loads"


async def fork_cost(
    store: FileStore, source: Source, options: ForkOptions, expected: Expectation, *, bound: float, pairs: int = 7
) -> Figure:
    """A fork of everything, until its file is complete. Raises WrongAnswer when anything is missing in it.

    The first fork is not timed, and compared in full with what it must hold.
    """
    async with store.opened() as repo:
        await _check_in_full(repo, source, options, expected)
    probe, lines, rounds = StopsTurn(), _lines(source), Rounds(pairs, LOADS, "fork")
    async with store.opened(probe=probe) as repo:
        for turn in rounds:
            if turn.side == LOADS:
                with turn:
                    _parse(lines)
            else:
                with probe.next(turn):
                    fork = await repo.fork(source.metadata, options)
                probe.check()
                await check_and_remove(repo, fork, source)
    return Figure(
        f"{scope(options)} of {len(source.ids):,} entries until before_publish / json.loads of the lines",
        rounds.ratio("fork", LOADS),
        bound,
        {
            "fork ms": rounds.median_ms("fork"),
            "json.loads ms": rounds.median_ms(LOADS),
            **await _publishing(store, source, options),
        },
    )


async def open_cost(store: FileStore, source: Source, *, bound: float, pairs: int = 7) -> Figure:
    """Opening the closed session. Raises WrongAnswer when an entry is missing in it."""
    lines, rounds = _lines(source), Rounds(pairs, LOADS, "open")
    async with store.opened() as repo:
        for turn in rounds:
            if turn.side == LOADS:
                with turn:
                    _parse(lines)
            else:
                with turn:
                    session = await repo.open(source.metadata)
                await check_entries(session, source)
                await session.close()
    return Figure(
        f"open of {len(source.ids):,} entries / json.loads of the lines",
        rounds.ratio("open", LOADS),
        bound,
        {
            "open ms": rounds.median_ms("open"),
            "json.loads ms": rounds.median_ms(LOADS),
            "megabytes": source.path.stat().st_size / 1e6,
        },
    )


async def _publishing(store: FileStore, source: Source, options: ForkOptions, times: int = 3) -> dict[str, float]:
    """What follows `before_publish`, for a store whose file calls can be watched; nothing for any other."""
    if not store.can_watch_files:
        return {}
    watch, waits, openings = PublishingTimes(), list[int](), list[int]()
    async with store.opened(probe=watch, files=watch.wrap) as repo:
        for _ in range(times):
            fork = await repo.fork(source.metadata, options)
            returned = perf_counter_ns()
            waits.append(watch.named_ns - watch.copied_ns)
            openings.append(returned - watch.named_ns)
            await check_and_remove(repo, fork, source)
    plain = [_plain_sync_ns(source) for _ in range(times)]
    return {
        "publishing ms": median(waits) / 1e6,
        "opening ms": median(openings) / 1e6,
        "sync of a plain file ms": median(plain) / 1e6,
    }


def _plain_sync_ns(source: Source) -> int:
    """How long the disk lets a plain file with the bytes of the source wait, in nanoseconds."""
    data, path = source.path.read_bytes(), source.path.with_suffix(".plain")
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            begun = perf_counter_ns()
            os.fsync(file.fileno())
            return perf_counter_ns() - begun
    finally:
        path.unlink()


async def _check_in_full(repo: SessionRepo, source: Source, options: ForkOptions, expected: Expectation) -> None:
    fork = await repo.fork(source.metadata, options)
    try:
        await check_session(fork, expected)
    except ExpectationBroken as error:
        raise WrongAnswer(f"{scope(options)}: {error}") from error
    await check_and_remove(repo, fork, source)


def scope(options: ForkOptions) -> str:
    """What a figure calls these options: `tree fork` or `branch fork`."""
    return f"{fork_options_to_wire(options)['scope']} fork"


def _lines(source: Source) -> list[bytes]:
    return source.path.read_bytes().split(b"\n")[:-1]


def _parse(lines: list[bytes]) -> None:
    for line in lines:
        json.loads(line)
