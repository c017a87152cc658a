"""A small meter of Python's heap: what a block held afterwards, and its peak above the start, in bytes.

It counts what tracemalloc sees, so memory of C libraries (SQLite's own heap, for one) is not in it.
"""

from __future__ import annotations

import gc
import tracemalloc
from types import TracebackType
from typing import Self


class MemoryMeter:
    """Measures a block.

    >>> with MemoryMeter() as meter:
    ...     kept = bytes(1_000_000)
    >>> meter.held >= 1_000_000 and meter.peak >= meter.held
    True
    """

    start = 0
    peak = 0
    held = 0

    def __init__(self) -> None:
        self._traces_itself = False

    def __enter__(self) -> Self:
        gc.collect()
        self._traces_itself = not tracemalloc.is_tracing()
        if self._traces_itself:
            tracemalloc.start()
        tracemalloc.reset_peak()
        self.start, _ = tracemalloc.get_traced_memory()
        return self

    def read_peak(self) -> int:
        """The peak so far above the start; for a reading inside the block, at a gate for example."""
        self.peak = max(self.peak, tracemalloc.get_traced_memory()[1] - self.start)
        return self.peak

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.read_peak()
        gc.collect()
        self.held = tracemalloc.get_traced_memory()[0] - self.start
        if self._traces_itself:
            tracemalloc.stop()
