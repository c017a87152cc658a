"""The records of a fork's destination on their way into its file: one a line, a batch at a time."""

from __future__ import annotations

from typing import Final

from forkstore.options import Probe

from .format import Text
from .publishing import BATCH_BYTES, Publication

BATCH_WRITES: Final = 1000
"""The most writes of a batch (spec section 19.2)."""


class Batches:
    """Collects records, appends a batch when it is full, and then tells the probe (S-FORK-ORD-11, S-JSONL-FORK-09)."""

    def __init__(self, publication: Publication, probe: Probe) -> None:
        self._publication = publication
        self._probe = probe
        self._records: list[Text] = []
        self._size = 0

    async def add(self, records: list[Text], size: int) -> None:
        """Takes records whose texts, a LF for each included, have at most `size` bytes."""
        if not self._has_room_for(records, size):
            await self.flush()
            if len(records) > 1 and not self._has_room_for(records, size):
                for record in records:
                    await self.add([record], len(record) + 1)
                return
        self._records += records
        self._size += size

    async def flush(self) -> None:
        """Writes what is collected. Raises StoreIOError and what the probe raises."""
        records, self._records, self._size = self._records, [], 0
        if records:
            await self._publication.write(b"\n".join([*records, b""]))
            await self._probe.batch_copied(len(records))

    def _has_room_for(self, records: list[Text], size: int) -> bool:
        return len(self._records) + len(records) <= BATCH_WRITES and self._size + size <= BATCH_BYTES
