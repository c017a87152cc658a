"""The rows of a fork on their way into the stage: a cursor, taken a batch at a time (S-SQL-FORK-07)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .failing import database_failures

SizedRow = tuple[Any, ...]
"""A row of the source. Its first column says how many bytes of text the others have."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most rows of a batch, and the most bytes of text that it has unless it is a single row."""

    rows: int = 250
    bytes: int = 1_048_576


class Batches:
    """Rows that are taken one by one from a cursor that stays where it is between two batches.

    At most one row more than the batch holds is ever taken: the first one that had no room (S-FORK-STR-03). Raises
    CorruptSession and StoreIOError for the source, whose database is at `path`.
    """

    def __init__(self, rows: Iterator[SizedRow], limits: BatchLimits, path: str) -> None:
        self._rows = rows
        self._limits = limits
        self._path = path
        with database_failures("read", path):
            self._waiting: SizedRow | None = next(rows, None)

    @property
    def is_empty(self) -> bool:
        """Whether there are no more rows."""
        return self._waiting is None

    def next(self) -> Iterator[SizedRow]:
        """The rows of the next batch. It has to be run to its end before the next one is asked for."""
        rows_left, bytes_left = self._limits.rows, self._limits.bytes
        row = self._waiting
        with database_failures("read", self._path):
            while row is not None:
                yield row
                rows_left -= 1
                bytes_left -= row[0]
                row = next(self._rows, None)
                if row is not None and (not rows_left or row[0] > bytes_left):
                    break
        self._waiting = row
