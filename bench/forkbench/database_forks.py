"""The time of forking a session in a database, as a ratio to what SQLite needs to copy that database by itself.

A fork is timed as a whole: until the session that it gives is open, and as safe as any commit of its store. A part of
it, the time until `before_publish`, is shown beside the figure. The copy is `VACUUM INTO` on a connection of its own
with `synchronous` NORMAL: SQLite writes a new database with all its indexes, and waits for the disk to have it, once,
when it is whole. A container holds the source alone, so both layouts have the same to copy.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Final

from forkgen import Expectation, ExpectationBroken, check_session
from forkgen.recipes.benchmark import session_id
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session, SessionRepo

from .database_planting import connect
from .databases import MAIN, SHORT, DatabaseSource, DatabaseStore, check_and_remove
from .figures import Figure, WrongAnswer
from .fork_probes import CopyingEnd
from .rounds import Rounds, Turn

COPY: Final = "VACUUM INTO"
TREE, TIP, NEWEST = "tree fork of", "branch fork of", "branch fork of the newest"
FORKS: Final[dict[str, ForkOptions]] = {TREE: TreeFork(), TIP: BranchFork(MAIN), NEWEST: BranchFork(SHORT)}
AT_ONCE: Final = {TREE: 1, TIP: 1, NEWEST: 10}
"""Forks of one turn: of a short branch more, so that its turn lasts a while too."""
COUNT: Final = "SELECT count(*) FROM entries WHERE session_id = ?"


async def fork_costs(
    store: DatabaseStore,
    source: DatabaseSource,
    expected: Expectation,
    *,
    tree_bound: float,
    tip_bound: float,
    newest_bound: float,
    pairs: int = 5,
) -> list[Figure]:
    """A tree fork and a branch fork at the tip against the copy, and one of the newest entries against the tree fork.

    Raises WrongAnswer when anything is missing in one. The first branch fork is not timed, and compared in full with
    `expected`, what the main branch must hold.
    """
    async with store.opened() as repo:
        await _check_in_full(repo, source, expected)
    probe, rounds, copying = CopyingEnd(), Rounds(pairs, COPY, *FORKS), {side: list[int]() for side in FORKS}
    async with store.opened(probe=probe) as repo:
        for turn in rounds:
            if turn.side == COPY:
                size = _copy(source, turn)
            else:
                copying[turn.side] += await _forks(repo, source, turn, probe)

    def figure(side: str, against: str, bound: float) -> Figure:
        reference = COPY if against == COPY else "tree fork"
        times = {
            "fork ms": rounds.median_ms(side),
            "until before_publish ms": median(copying[side]) / 1e6,
            f"{reference} ms": rounds.median_ms(against),
        }
        name = f"{side} {source.count(FORKS[side]):,} entries / {reference}"
        return Figure(name, rounds.ratio(side, against), bound, {**times, "megabytes of the copy": size / 1e6})

    return [figure(TREE, COPY, tree_bound), figure(TIP, COPY, tip_bound), figure(NEWEST, TREE, newest_bound)]


def _copy(source: DatabaseSource, turn: Turn) -> int:
    """One turn of the copy, which is removed; its bytes. Raises WrongAnswer when an entry is missing in it."""
    copy = Path(source.path).with_suffix(".copy")
    with closing(connect(source.path, read_only=True)) as connection, turn:
        connection.execute(COPY + " ?", (str(copy),))
    try:
        with closing(connect(str(copy), read_only=True)) as connection:
            entries = connection.execute(COUNT, (source.metadata.id,)).get
        if entries != source.entries:
            raise WrongAnswer(f"the copy of {source.metadata.id} holds {entries} entries, not {source.entries}")
        return copy.stat().st_size
    finally:
        copy.unlink()


async def _forks(repo: SessionRepo, source: DatabaseSource, turn: Turn, probe: CopyingEnd) -> list[int]:
    """One turn of forks, which are removed; how long each one copied, in nanoseconds."""
    options, copying, forks = FORKS[turn.side], list[int](), list[Session]()
    with turn.each(AT_ONCE[turn.side]):
        for number in range(AT_ONCE[turn.side]):
            begun = perf_counter_ns()
            forks.append(await repo.fork(source.metadata, replace(options, id=session_id(number + 1))))
            copying.append(probe.since(begun))
    for fork in forks:
        await check_and_remove(repo, fork, source, options)
    return copying


async def _check_in_full(repo: SessionRepo, source: DatabaseSource, expected: Expectation) -> None:
    fork = await repo.fork(source.metadata, FORKS[TIP])
    try:
        await check_session(fork, expected)
    except ExpectationBroken as error:
        raise WrongAnswer(f"branch fork: {error}") from error
    await check_and_remove(repo, fork, source, FORKS[TIP])
