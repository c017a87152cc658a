"""The memory of a fork of session files: its traced peak up to `before_publish`, above what was held before it.

Traced in passes of their own, because tracing slows down what it watches. No source is held in memory meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forkgen import Transaction
from forkgen.plan import lane_writes
from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.forks import ForkOptions
from forkstore.contract.writes import EntryInsert

from .figures import Figure, WrongAnswer
from .file_forks import scope
from .fork_probes import UNTOLD, ReadsPeak
from .session_costs import message
from .session_files import FileStore, Source, check_and_remove

MIB: Final = 2**20
AT_A_TIME: Final = 5
"""Entries of one commit of the sources whose payloads differ (S-FORK-STR-04)."""
SMALL, LARGE = 256, 8_192
"""Characters of their entries."""


async def peak_cost(store: FileStore, source: Source, options: ForkOptions, *, bound: float) -> Figure:
    """The peak of one fork; value and bound in MiB. Raises WrongAnswer when anything is missing in it."""
    peak, entries = await _peak(store, source, options), len(source.ids)
    return Figure(
        f"peak MiB of a {scope(options)} of {entries:,} entries", peak / MIB, bound, {"bytes per entry": peak / entries}
    )


async def payload_cost(store: FileStore, options: ForkOptions, *, bound: float, entries: int = 1_000) -> Figure:
    """How far the peaks of two forks lie apart whose sources differ in payload size alone (S-FORK-STR-04).

    Value and bound in MiB. Raises WrongAnswer when anything is missing in one.
    """
    small, large = [await _plant(store, entries, characters) for characters in (SMALL, LARGE)]
    await _peak(store, small, options)  # what is loaded once for all forks belongs to neither of the two
    peaks = [await _peak(store, source, options) for source in (small, large)]
    return Figure(
        f"MiB between the peaks of {scope(options)}s of {entries:,} entries of {LARGE:,} and of {SMALL} characters",
        abs(peaks[1] - peaks[0]) / MIB,
        bound,
        {f"{LARGE:,} characters, MiB": peaks[1] / MIB, f"{SMALL} characters, MiB": peaks[0] / MIB},
    )


async def _plant(store: FileStore, entries: int, characters: int) -> Source:
    ids = [f"entry-{index:08d}" for index in range(entries)]
    return await store.plant(_chain(ids, characters), id=f"of-{characters}-characters", ids=ids)


def _chain(ids: list[str], characters: int) -> Iterator[Transaction]:
    for start in range(0, len(ids), AT_A_TIME):
        yield [_insert(ids, index, characters) for index in range(start, min(start + AT_A_TIME, len(ids)))]
    yield lane_writes("main", ids[-1])


def _insert(ids: list[str], index: int, characters: int) -> EntryInsert:
    parent = ids[index - 1] if index else None
    return EntryInsert({"id": ids[index], "parentId": parent, "type": "message", "message": message(characters)})


async def _peak(store: FileStore, source: Source, options: ForkOptions) -> int:
    meter = MemoryMeter()
    probe = ReadsPeak(meter)
    async with store.opened(probe=probe) as repo:
        with meter:
            fork = await repo.fork(source.metadata, options)
        await check_and_remove(repo, fork, source)
    if probe.peak is None:
        raise WrongAnswer(UNTOLD)
    return probe.peak
