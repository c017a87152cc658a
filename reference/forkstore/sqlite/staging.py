"""The copying of a fork: from the snapshot of its source into its stage, a batch at a time (spec section 32).

Everything here runs in the thread of the reader, a job a batch. Between two jobs the probe is awaited, and nothing is
held but the snapshot (S-FORK-ORD-13). The destination's sequences are given here: from 1, without gaps (S-FORK-DST-10).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import apsw

from forkstore.contract.addresses import Kind
from forkstore.contract.errors import CorruptSession
from forkstore.contract.forks import ForkOptions

from .address_rows import KINDS
from .batches import Batches, BatchLimits, SizedRow
from .connect import Connect
from .failing import Damage, database_failures
from .lineage import Lineage
from .selection import Selection, select
from .source_entries import seq_of
from .stage import Stage
from .transactions import immediate

_ENTRY: Final = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ROW: Final[dict[Kind, str]] = {
    "value": "INSERT INTO scalar_values VALUES (?, ?, ?, ?)",
    "list": "INSERT INTO list_values VALUES (?, ?, ?, ?)",
}


class Staging:
    """Copies what a fork takes of one session into a stage.

    Raises UnknownBranch, DataOnlyBranch, EntryNotOnBranch, UndeclaredNamespace, CorruptSession, StoreIOError.
    """

    def __init__(
        self, source: apsw.Connection, path: str, session_id: str, options: ForkOptions, stage: Stage, connect: Connect
    ) -> None:
        self._path = path
        self._stage = stage
        with database_failures("stage", stage.path):
            stage.open(connect)
        with database_failures("read", path):
            self._selection: Selection = select(source, session_id, options, stage.connection)
        self._lineage = Lineage(stage.connection, partial(seq_of, source, session_id), is_path=self._selection.is_path)

    def batches(self, limits: BatchLimits) -> Iterator[int]:
        """Copies a batch a step, and gives the number of its destination writes. Keeps S-FORK-ORD-11."""
        with database_failures("stage", self._stage.path):
            yield from self._entry_batches(limits)
            for kind in KINDS:
                yield from self._row_batches(kind, limits)
            self._stage.close()

    def _entry_batches(self, limits: BatchLimits) -> Iterator[int]:
        stage, lineage = self._stage, self._lineage
        source = Batches(self._selection.entries, limits, self._path)
        while not source.is_empty:
            with self._writing() as connection:
                connection.executemany(_ENTRY, lineage.placed(source.next()))
            count = lineage.entries - stage.entries
            stage.entries, stage.messages = lineage.entries, lineage.messages
            yield count
        with self._writing():
            lineage.finish()
            if self._selection.is_path and lineage.last_id != self._selection.path_tip:
                raise Damage(f"the path of the branch breaks off: entry {self._selection.path_tip!r} is missing")

    def _row_batches(self, kind: Kind, limits: BatchLimits) -> Iterator[int]:
        source = Batches(self._selection.source_rows(kind), limits, self._path)
        while not source.is_empty:
            before = self._stage.rows
            with self._writing() as connection:
                connection.executemany(_ROW[kind], self._numbered(source.next(), kind))
            yield self._stage.rows - before

    def _numbered(self, rows: Iterator[SizedRow], kind: Kind) -> Iterator[tuple[int, str, str, bytes]]:
        for write in self._selection.writes(rows, kind):
            self._stage.rows += 1
            yield self._stage.entries + self._stage.rows, write.namespace, write.key, write.text

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """A transaction of the stage. What is damaged in there is the source."""
        try:
            with immediate(self._stage.connection):
                yield self._stage.connection
        except Damage as error:
            raise CorruptSession(self._path, None, str(error)) from error
