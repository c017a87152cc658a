"""The fork of a session in a database: boundary, selection and staging, up to where it can be published (section 32).

The source is read through a connection of its own, so its commits go on while the fork copies. Nothing of the source
is held in memory but a batch.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import apsw

from forkstore.contract.errors import CorruptSession, SessionFileChanged, SessionNotFound, StoreIOError
from forkstore.contract.forks import ForkOptions
from forkstore.options import Probe
from forkstore.settling import settled
from forkstore.threads import in_thread

from .batches import BatchLimits
from .connect import Connect
from .encoding import check_encoding
from .failing import database_failures
from .session_rows import read_session_row
from .snapshot import begin_snapshot, end_snapshot
from .stage import Stage
from .staging import Staging
from .worker import Worker

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForkSource:
    """The source of a fork, on the reader that has been asked to open it.

    `path` is the real path of its database and `identity` the file that stood there. `opened` ends when the reader is
    open, `pinned` when the commit queue of an open source has begun the snapshot; a closed source has no queue.
    """

    path: str
    id: str
    identity: Hashable
    reader: Worker
    opened: Awaitable[None]
    pinned: Awaitable[None] | None


@asynccontextmanager
async def copy_fork(
    source: ForkSource,
    options: ForkOptions,
    *,
    connect: Connect,
    stage_directory: str,
    probe: Probe,
    limits: BatchLimits,
) -> AsyncIterator[Stage]:
    """The stage of a fork, complete; the source is released by then. At the end of the block the stage is removed.

    Raises SessionNotFound, UnsupportedVersion, SessionFileChanged, CorruptSession, UnknownBranch, DataOnlyBranch,
    EntryNotOnBranch, UndeclaredNamespace, StoreIOError and what the probe raises. Keeps S-FORK-ORD-10,
    S-FORK-ORD-11, S-SQL-FORK-01, S-SQL-FORK-03, S-SQL-FORK-06, S-SQL-FORK-07, S-SQL-FORK-12, S-SQL-FORK-16.
    """
    stage = Stage(stage_directory)
    try:
        try:
            await _fix_boundary(source)
            await probe.boundary_captured()
            await _copy(source, options, stage, connect, probe, limits)
        except BaseException:
            with suppress(Exception):  # what went wrong first is what matters (S-FORK-FAIL-07)
                await settled(source.reader.close())
            raise
        with database_failures("close", source.path):
            await settled(source.reader.close())
        yield stage
    finally:
        await settled(in_thread(stage.remove))


async def _fix_boundary(source: ForkSource) -> None:
    """The snapshot has begun, on the file that was there when the fork was called, and the session is in it.

    Raises SessionNotFound, UnsupportedVersion, SessionFileChanged, CorruptSession, StoreIOError.
    """
    try:
        await _begin(source)
    except (CorruptSession, StoreIOError) as error:
        _check_file(source, error)  # what is gone can be read neither
        raise


async def _begin(source: ForkSource) -> None:
    with database_failures("open", source.path):
        await source.opened
        if source.pinned is not None:
            await source.pinned
    if source.pinned is None:
        await _in_reader(source, begin_snapshot)
    await _in_reader(source, lambda connection: _check_source(connection, source))


def _check_source(connection: apsw.Connection, source: ForkSource) -> None:
    _check_file(source)
    check_encoding(connection)
    read_session_row(connection, source.id, source.path)


def _check_file(source: ForkSource, failure: Exception | None = None) -> None:
    """Raises what a caller gets, from the failure that was seen, when the file is gone or another one stands there: its
    log may have been taken for that of the file that is read (S-FORK-ORD-08).
    """
    try:
        found = os.stat(source.path)  # noqa: PTH116 - of any text
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise _gone(source) from failure or missing
    if (found.st_dev, found.st_ino) != source.identity:
        raise SessionFileChanged(source.path, "another file stands in its place") from failure


def _gone(source: ForkSource) -> SessionNotFound | SessionFileChanged:
    if source.pinned is None:
        return SessionNotFound(source.id, source.path)
    return SessionFileChanged(source.path, "it is gone")


async def _copy(
    source: ForkSource, options: ForkOptions, stage: Stage, connect: Connect, probe: Probe, limits: BatchLimits
) -> None:
    staging = await _in_reader(
        source, lambda connection: Staging(connection, source.path, source.id, options, stage, connect)
    )
    batches = staging.batches(limits)
    while (count := await _in_reader(source, lambda _: next(batches, None))) is not None:
        await probe.batch_copied(count)
    await _in_reader(source, end_snapshot)


async def _in_reader(source: ForkSource, job: Callable[[apsw.Connection], T]) -> T:
    def guarded(connection: apsw.Connection) -> T:
        with database_failures("read", source.path):
            return job(connection)

    return await source.reader.run(guarded)
