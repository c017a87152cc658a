"""Stores of the same kind in places of the case's own: for the suites that ask where a store lies and what it makes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from forkproof.instruments.kill import harness_target
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker
from forkproof.makers.case_instruments import CaseInstruments
from forkproof.targets import find_target


@contextmanager
def new_place() -> Iterator[Path]:
    """A new directory, by its real path, that is gone with all that is in it when the block ends."""
    with tempfile.TemporaryDirectory(prefix="forkproof-place-", ignore_cleanup_errors=True) as directory:
        yield Path(os.path.realpath(directory))


@asynccontextmanager
async def store_at(
    store: SessionMaker, directory: Path, instruments: CaseInstruments | None = None
) -> AsyncIterator[SessionMaker]:
    """A store of the same kind whose harness is made in that directory, which need not stand; closed with the block.
    What it holds stays there: the case takes the directory away. Raises HarnessError.

    >>> with new_place() as place:
    ...     async with store_at(store, place) as other:
    ...         source = await other.linear_session()
    """
    other = SessionMaker(find_target(harness_target(store.harness)).make(directory), Trace(), instruments)
    try:
        yield await other.start()
    finally:
        store.trace.calls += other.trace.calls
        store.trace.last.extend(other.trace.last)
        for repo in other.repos:
            await repo.close()
