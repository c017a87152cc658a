"""The memory of a fork in a database: Python's traced peak and SQLite's own, each of the whole call.

Both have one bound for every size of source. Measured in passes of their own, because tracing slows down what it
watches. No source is held in memory meanwhile.
"""

from __future__ import annotations

from typing import Final

from forkproof.instruments.memory import MemoryMeter
from forkstore.contract.forks import ForkOptions

from .databases import DatabaseSource, DatabaseStore, check_and_remove
from .figures import Figure
from .file_forks import scope

MIB: Final = 2**20


async def peak_costs(
    store: DatabaseStore, source: DatabaseSource, options: ForkOptions, *, python_bound: float, sqlite_bound: float
) -> list[Figure]:
    """The two peaks of one fork; values and bounds in MiB. Raises WrongAnswer when anything is missing in it."""
    async with store.opened() as repo:
        with MemoryMeter() as meter:
            fork = await repo.fork(source.metadata, options)
        await check_and_remove(repo, fork, source, options)
    of = f"of a {scope(options)} of {source.count(options):,} entries"
    return [
        Figure(f"{whose} peak MiB {of}", peak / MIB, bound, {"bytes per entry": peak / source.count(options)})
        for whose, peak, bound in (
            ("Python's", meter.peak, python_bound),
            ("SQLite's", meter.sqlite_peak, sqlite_bound),
        )
    ]
