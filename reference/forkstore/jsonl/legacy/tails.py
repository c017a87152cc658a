"""Retained tails: the messages of the walk from a compaction's parent to its first kept record (section 26.2).

The walk follows parents, so it may come by records that stand far up in the file. Their messages are held from their
line to the last compaction that needs them, and no longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import LegacyRecord
from .tree import NOWHERE, RecordTree


class RetainedTails:
    """Makes the tails of a second pass; records and compactions come in file order."""

    def __init__(self, tree: RecordTree) -> None:
        self._tree = tree
        self._held: dict[int, bytes] = {}

    def hold(self, position: int, record: LegacyRecord, payload: Mapping[str, bytes]) -> None:
        """Holds what a retained record contributes, if a later compaction needs it."""
        if self._tree.last_needs[position] == NOWHERE:
            return
        message = _contribution(record, payload)
        if message is not None:
            # What the encoder gives has room to spare, half as much again; a copy has none.
            self._held[position] = bytes(memoryview(message))

    def tail(self, compaction: int) -> bytes:
        """The JSON text of a compaction's retained tail, oldest message first (S-V3-11)."""
        messages = []
        for position in self._tree.walk(compaction, self._tree.references[compaction]):
            message = self._held.get(position)
            if message is not None:
                messages.append(message)
                if self._tree.last_needs[position] == compaction:
                    del self._held[position]
        return b"[%b]" % b",".join(reversed(messages))


def _contribution(record: LegacyRecord, payload: Mapping[str, bytes]) -> bytes | None:
    """The text of the message that a record contributes, given the payload of its entry."""
    match record.kind:
        case "message" | "custom_message":
            return payload["message"]
        case "branch_summary" if record.fields["summary"]:
            return b'{"role":"branchSummary","summary":%b,"fromId":%b,"timestamp":%d}' % (
                payload["summary"],
                payload["fromId"],
                record.timestamp,
            )
        case "compaction":
            return b'{"role":"compactionSummary","summary":%b,"tokensBefore":%b,"timestamp":%d}' % (
                payload["summary"],
                payload["tokensBefore"],
                record.timestamp,
            )
    return None
