"""The stage of a fork: where it lies, what a batch of it holds, and that nothing of it is left (S-SQL-FORK-06,
S-SQL-FORK-07, S-SQL-FORK-16).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.raw_databases import path_of
from forkproof.makers.records import message_entry
from forkproof.suites.sessions.forking import from_open_and_closed, in_both_scopes
from forkproof.suites.sessions.sql_watching import wide_session
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import EntryNotOnBranch, UndeclaredNamespace
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import ValueSet

HEADER = b"SQLite format 3\0"
POINTS = ("boundary_captured", "batch_copied", "before_publish")


def _stages(directory: Path) -> list[str]:
    """The names in a directory that a stage, or a side file of one, may have."""
    return sorted(one.name for one in directory.iterdir() if one.name.startswith(".fork-stage-"))


@case("S-SQL-FORK-06")
@rows("beside", asked_for=False, by_default=True)
@in_both_scopes
async def the_stage_is_a_file_in_its_directory(store: SessionMaker, beside: bool, options: ForkOptions) -> None:
    """While a fork copies, its rows stand in a database file on disk in `staging_dir`, or in the directory of the
    destination database when none is given; its name starts with `.fork-stage-` and ends with `.tmp`.

    If this fails, look at: a stage in memory; a temporary table; a name that a listing could take for a session.
    """
    if beside:
        await store.reopen_repo(staging_dir=None)
    source = await wide_session(store, 400)
    directory = path_of(source.metadata).parent if beside else store.staging_directory
    elsewhere = store.staging_directory if beside else path_of(source.metadata).parent
    seen: list[tuple[str, bytes, int]] = []
    strangers: list[str] = []

    async def look() -> None:
        stages = [name for name in _stages(directory) if not name.endswith(("-journal", "-wal", "-shm"))]
        seen.extend((name, *_told(directory / name)) for name in stages)
        strangers.extend(_stages(elsewhere))

    store.probe.run("before_publish", look)
    fork = await source.fork(options)
    expect_equal(len(seen), 1, of=f"the stage files in {'its destination' if beside else 'staging_dir'}, by number")
    name, header, size = seen[0]
    expect(name.endswith(".tmp"), f"expected: a name that ends with .tmp\nseen:     {name}")
    expect_equal(header, HEADER, of="the beginning of the stage file")
    expect(size > 400 * 50, f"expected: the rows of the fork are in the file\nseen:     a file of {size} bytes")
    expect_equal(strangers, [], of="stage files elsewhere")
    expect_equal(_stages(directory), [], of="stage files after the fork")
    await fork.check()


def _told(path: Path) -> tuple[bytes, int]:
    """How the file begins, and its size with that of a log, in which its rows may stand as well."""
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes()[: len(HEADER)], path.stat().st_size + (log.stat().st_size if log.exists() else 0)


@case("S-SQL-FORK-07", needs=("probe", "staging-dir"))
@in_both_scopes
async def bytes_are_counted_not_characters(store: SessionMaker, options: ForkOptions) -> None:
    """The bytes of a batch are those of UTF-8 text, of which a letter may have four; and a row that is larger than the
    bound is a batch of its own, with the rows around it in others.

    If this fails, look at: `length` of a text; a row that is added to what is waiting before the bound is looked at.
    """
    await store.reopen_repo(stage_batch_bytes=4_000)
    source = await store.create()
    sizes = [100, 900, 300, 5_000, 300, 900, 900]  # in letters of four bytes each
    parent = None
    for number, size in enumerate(sizes):
        await source.insert(message_entry(f"n{number}", parent, "🌱" * size))
        parent = f"n{number}"
    await source.set_tip("main", parent)
    await source.configure("main")
    before = len(store.probe.calls)
    fork = await source.fork(options)
    counts = [count or 0 for point, count in store.probe.calls[before:] if point == "batch_copied"]
    # Not the last one, in whose batch the few bytes of the lane may stand; its three rows may come first, too.
    large = [number for number, size in enumerate(sizes[:-1]) if size * 4 > 3_000]
    alone = [all(_is_alone(counts, first + number) for number in large) for first in (0, 3)]
    expect(any(alone), f"expected: each of the entries {large} is a batch of its own\nseen:     {counts}")
    await fork.check()


def _is_alone(counts: list[int], number: int) -> bool:
    """Whether the row of that number, of all that are copied, is the only one of its batch."""
    borders = [sum(counts[:end]) for end in range(len(counts) + 1)]
    return number in borders and number + 1 in borders


async def _undeclared(source: Subject) -> None:
    await source.commit(ValueSet(value_address("pi.unknown"), 1))


REFUSALS: dict[str, tuple[ForkOptions, type[Exception]]] = {
    "entry": (BranchFork("main", entry_id="nowhere"), EntryNotOnBranch),
    "namespace-branch": (BranchFork("main"), UndeclaredNamespace),
    "namespace-tree": (TreeFork(), UndeclaredNamespace),
}


@case("S-SQL-FORK-16", needs=("staging-dir", "probe"))
@rows("beside", asked_for=False, by_default=True)
@from_open_and_closed
async def nothing_of_a_stage_is_left(store: SessionMaker, beside: bool, source_is: str) -> None:
    """The stage and its side files are gone when a fork has ended: well, by a failing callback, by a cancellation at a
    callback, and by a refusal that is found when the stage may stand already.

    If this fails, look at: a file that is removed on success only; a stage that is removed before its connection is
    closed, and written again; a name that is forgotten when opening it fails.
    """
    if beside:
        await store.reopen_repo(staging_dir=None)
    source = await wide_session(store, 60)
    directory = path_of(source.metadata).parent if beside else store.staging_directory
    if source_is == "closed":
        await source.close()
    for options in (BranchFork("main"), TreeFork()):
        fork = await source.fork(options)
        await fork.close()
        expect_equal(_stages(directory), [], of=f"stage files after {options!r}")
        for point in POINTS:
            store.probe.fail(point, OSError(f"{point} failed"))
            ending = await ended(store.repo.fork(source.metadata, options))
            expect_equal(ending.word, "OSError", of=f"the end of a fork whose {point} fails")
            expect_equal(_stages(directory), [], of=f"stage files after a failing {point}")
            gate = store.probe.park(point)
            forking = asyncio.create_task(store.repo.fork(source.metadata, options))
            await gate.reached_by(forking)
            forking.cancel()
            await asyncio.wait([forking])
            expect_equal(forking.cancelled(), True, of=f"whether the fork was cancelled at {point}")
            expect_equal(_stages(directory), [], of=f"stage files after a cancellation at {point}")


@case("S-SQL-FORK-16", needs=("staging-dir",))
@rows("refusal", REFUSALS)
async def a_refused_fork_leaves_no_stage(store: SessionMaker, refusal: tuple[ForkOptions, type[Exception]]) -> None:
    """A fork that the selection or the classifier refuses leaves no stage file.

    If this fails, look at: a stage that is made for the selection, and removed by the copying.
    """
    options, error = refusal
    source = await wide_session(store, 20)
    if error is UndeclaredNamespace:
        await _undeclared(source)
    with refused(error):
        await store.repo.fork(source.metadata, options)
    expect_equal(list(store.staging_directory.iterdir()), [], of="what is in the staging directory")
