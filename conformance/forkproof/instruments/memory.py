"""A small meter of memory, in bytes: what a block held of Python's heap afterwards, and the peaks of Python's heap
and of SQLite's own above their start.

Python's heap is what tracemalloc sees; memory of C libraries is not in it. SQLite counts its own: page caches,
statements and results, over all connections of the process.
"""

from __future__ import annotations

import gc
import tracemalloc
from types import TracebackType
from typing import Self

import apsw


class MemoryMeter:
    """Measures a block. Meters do not nest: the highest level since the last entry is one number of the process.

    >>> with MemoryMeter() as meter:
    ...     kept = bytes(1_000_000)
    >>> meter.held >= 1_000_000 and meter.peak >= meter.held
    True
    """

    start = 0
    peak = 0
    held = 0
    sqlite_peak = 0
    """The peak of SQLite's own heap above its start; 0 when it never stood higher."""

    def __init__(self) -> None:
        self._traces_itself = False
        self._sqlite_start = 0

    def __enter__(self) -> Self:
        gc.collect()
        self._traces_itself = not tracemalloc.is_tracing()
        if self._traces_itself:
            tracemalloc.start()
        tracemalloc.reset_peak()
        self.start, _ = tracemalloc.get_traced_memory()
        self._sqlite_start, _ = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED, True)
        return self

    def read_peak(self) -> int:
        """The peak so far above the start; for a reading inside the block, at a gate for example. It brings
        `sqlite_peak` up to date too.
        """
        self.peak = max(self.peak, tracemalloc.get_traced_memory()[1] - self.start)
        _, highest = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)
        self.sqlite_peak = max(self.sqlite_peak, highest - self._sqlite_start)
        return self.peak

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.read_peak()
        gc.collect()
        self.held = tracemalloc.get_traced_memory()[0] - self.start
        if self._traces_itself:
            tracemalloc.stop()
