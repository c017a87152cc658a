"""A session that is still in legacy form, and the commit that ends it (S-V3-15, S-V3-19 to S-V3-21)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forkstore.contract.files import FileInfo, Files
from forkstore.contract.ids import IdGenerator
from forkstore.contract.records import Record, check_new_usage_row
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import Placement, PreparedWrite
from forkstore.state import SessionState

from .format import record_text, row_text, transaction_line
from .headers import header_of
from .hold import Hold
from .legacy import DerivedWrite
from .publishing import BATCH_BYTES, Publication


@dataclass(frozen=True, slots=True)
class LegacyForm:
    """What the state of a legacy session does not hold: where it comes from, its file, the derived writes with the JSON
    text of their values, and the usage that its records carry.
    """

    metadata: SessionMetadata
    file: FileInfo
    derived: list[tuple[DerivedWrite, bytes | None]]
    usage: Record
    id_generator: IdGenerator

    def upgrade(self, state: SessionState, writes: list[PreparedWrite], timestamp: int) -> Upgrade:
        """The upgrade with the first writes, against the state as it is. Raises what a commit raises."""
        row = {
            "id": self.id_generator.next(timestamp),
            "usage": self.usage,
            "adjustment": True,
            "details": {"source": "v3-import"},
        }
        prepared = [check_new_usage_row(row, "the imported usage"), *writes]
        return Upgrade(self, prepared, state.place(prepared), timestamp)


class Upgrade:
    """One attempt of an upgrading commit: nothing has changed until `publish` has succeeded and `apply` is called."""

    def __init__(self, legacy: LegacyForm, prepared: list[PreparedWrite], placement: Placement, timestamp: int) -> None:
        self._legacy = legacy
        self._prepared = prepared
        self._placement = placement
        self._timestamp = timestamp
        self._records = [
            record_text(write, seq, timestamp) for seq, write in zip(placement.seqs, prepared, strict=True)
        ]

    @property
    def callers(self) -> Placement:
        """Where the caller's own writes land: the usage row in front of them is not shown (S-V3-21)."""
        return self._placement._replace(seqs=self._placement.seqs[1:])

    async def publish(self, files: Files, state: SessionState) -> tuple[FileInfo, Hold]:
        """Puts the whole session in format 4 in the place of the legacy file, or leaves it as it was.

        Raises SessionFileChanged and StoreIOError.
        """
        async with Publication(files, self._legacy.file.path) as publication:
            batch = bytearray()
            for line in self._lines(state):
                batch += line
                if len(batch) >= BATCH_BYTES:
                    await publication.write(bytes(batch))
                    batch.clear()
            await publication.write(bytes(batch))
            return await publication.replace(self._legacy.file)

    def apply(self, state: SessionState) -> None:
        """Makes the commit current in memory."""
        state.apply(self._prepared, self._placement, self._timestamp)

    def _lines(self, state: SessionState) -> Iterator[bytes]:
        yield header_of(self._legacy.metadata, state.next_seq).line()
        for entry in state.entry_order:
            yield entry.text + b"\n"
        for write, text in self._legacy.derived:
            yield row_text("value", write.seq, write.namespace, write.key, text) + b"\n"
        yield transaction_line(self._records)
