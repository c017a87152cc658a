"""What forks, opening and commits cost in a store on session files, as ratios to plain Python on the same bytes.

Run with `python -m forkbench.file_costs jsonl --beside memory` or `make bench`. It takes any harness of kind `jsonl`
that offers the seams `raw-files` and `probe`; `--beside` names the store whose commits a commit to a file is compared
with. Each time is measured against its references in alternating turns of one run. Every answer is checked: a lost
entry ends the run without a figure. The bounds are the ones that the reference store on files has to keep, with 100,000
entries of the recipe `benchmark`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from forkproof.harness import Seams
from forkproof.targets import HarnessFactory, find_target
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

from .command import TARGET, run
from .figures import Figure
from .file_commits import commit_costs
from .file_forks import fork_cost, open_cost
from .file_memory import payload_cost, peak_cost
from .session_costs import creation_options
from .session_files import FileStore

TREE, BRANCH = TreeFork(), BranchFork("main")
FORK_BOUNDS: Final[dict[ForkOptions, float]] = {TREE: 2.0, BRANCH: 2.3}
"""Forks of a closed session until `before_publish`, against `json.loads` over its lines."""
OPEN_BOUND: Final = 2.5
"""Opening a session, against the same."""
LOOP_BOUND: Final = 8.0
"""A one-entry commit, against encoding its line and appending it with one `os.write`."""
BESIDE_BOUND: Final = 2.0
"""The same commit, against one of the memory backend and that loop."""
PEAK_BOUND: Final = 64.0
"""Peak of the tree fork up to `before_publish`, in MiB."""
PAYLOAD_BOUND: Final = 2.0
"""How far the peaks of two forks may lie apart whose sources differ in payload size alone, in MiB."""


async def measure(
    make_harness: HarnessFactory, make_beside: HarnessFactory, directory: Path, entries: int = 100_000
) -> list[Figure]:
    """All figures of one harness, times first. Raises WrongAnswer, and TargetError for one that cannot be measured."""
    store = FileStore(make_harness(_made(directory / "measured")))
    source, generated = await store.plant_benchmark(entries)
    figures = [
        await fork_cost(store, source, options, generated.expectation.fork(options), bound=bound)
        for options, bound in FORK_BOUNDS.items()
    ]
    figures += [await open_cost(store, source, bound=OPEN_BOUND)]
    figures += await _commits(store, make_beside, _made(directory / "beside"))
    figures += [await peak_cost(store, source, TREE, bound=PEAK_BOUND)]
    figures += [await payload_cost(store, options, bound=PAYLOAD_BOUND) for options in FORK_BOUNDS]
    return figures


async def _commits(store: FileStore, make_beside: HarnessFactory, directory: Path) -> list[Figure]:
    harness: Any = make_beside(directory)
    repo = await harness.open_repo(Seams())
    try:
        return await commit_costs(
            store, repo, creation_options(harness), loop_bound=LOOP_BOUND, beside_bound=BESIDE_BOUND
        )
    finally:
        await repo.close()


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, 1 when a bound is broken, 2 for a target that is
    unknown or has no files to measure.
    """
    parser = argparse.ArgumentParser(prog="forkbench.file_costs", description=__doc__.partition("\n")[0])
    parser.add_argument("target", help=TARGET)
    parser.add_argument("--beside", required=True, metavar="TARGET", help="the store to compare commits with")

    def measured(asked: argparse.Namespace, directory: Path) -> list[Figure]:
        harness, beside = (find_target(name).make for name in (asked.target, asked.beside))
        return asyncio.run(measure(harness, beside, directory))

    return run(parser, measured, arguments)


if __name__ == "__main__":
    sys.exit(main())
