"""What forks, commits and pages cost in a store on SQLite, as ratios to SQLite itself doing the least of such work.

Run with `python -m forkbench.database_costs sqlite` or `make bench`. It takes any harness of kind `sqlite` that offers
the seams `raw-files` and `probe`, of either layout. Each time is measured against its reference in alternating turns of
one run. Every answer is checked: a lost entry ends the run without a figure. The bounds are the ones that the reference
store on SQLite has to keep, with 100,000 entries of the recipe `benchmark`; the memory of a fork has the same bound
with four times as many.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from forkproof.targets import HarnessFactory, find_target
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

from .command import TARGET, run
from .database_commits import commit_cost
from .database_forks import fork_costs
from .database_memory import peak_costs
from .database_pages import page_cost
from .databases import MAIN, DatabaseSource, DatabaseStore
from .figures import Figure

TREE_BOUND: Final = 5.0
"""A tree fork of a closed session, against SQLite's own copy of the database."""
TIP_BOUND: Final = 6.0
"""A branch fork at the tip, against the same."""
NEWEST_BOUND: Final = 0.02
"""A branch fork of the newest 100 entries, against the tree fork."""
COMMIT_BOUND: Final = 3.0
"""A one-entry commit, against a plain loop of the same four statements in one transaction."""
PAGE_BOUND: Final = 1.5
"""A page of 50 at the tip, against the same in a session of 1,000 entries."""
PYTHON_BOUND, SQLITE_BOUND = 2.0, 24.0
"""Peaks of a fork in Python's heap and in that of SQLite, in MiB."""
SCOPES: Final[tuple[ForkOptions, ...]] = (TreeFork(), BranchFork(MAIN))


async def measure(make_harness: HarnessFactory, directory: Path, entries: int = 100_000) -> list[Figure]:
    """All figures of one harness, times first. Raises WrongAnswer, and TargetError for one that cannot be measured.

    Each part has a store of its own, so that no database holds more than is measured.
    """
    store, other, large = (DatabaseStore(make_harness(_made(directory / name))) for name in ("first", "other", "large"))
    source, generated = await store.plant_benchmark(entries)
    figures = await fork_costs(
        store,
        source,
        generated.expectation.branch_fork(MAIN),
        tree_bound=TREE_BOUND,
        tip_bound=TIP_BOUND,
        newest_bound=NEWEST_BOUND,
    )
    figures += [await page_cost(store, source, other, bound=PAGE_BOUND)]
    figures += await _peaks(store, source)
    figures += await _peaks(large, (await large.plant_benchmark(4 * entries))[0])
    return [*figures, await commit_cost(store, other, bound=COMMIT_BOUND)]


async def _peaks(store: DatabaseStore, source: DatabaseSource) -> list[Figure]:
    return [
        figure
        for options in SCOPES
        for figure in await peak_costs(store, source, options, python_bound=PYTHON_BOUND, sqlite_bound=SQLITE_BOUND)
    ]


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, 1 when a bound is broken, 2 for a target that is
    unknown or has no databases to measure.
    """
    parser = argparse.ArgumentParser(prog="forkbench.database_costs", description=__doc__.partition("\n")[0])
    parser.add_argument("target", help=TARGET)
    return run(
        parser, lambda asked, directory: asyncio.run(measure(find_target(asked.target).make, directory)), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
