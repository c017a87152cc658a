"""The first pass over a legacy file: every check, and the structure that all else is made from (spec section 26)."""

from __future__ import annotations

from typing import NamedTuple

from forkstore.contract.errors import CorruptSession
from forkstore.contract.ids import IdGenerator
from forkstore.contract.records import Json, Record
from forkstore.jsonl.records import LineFault

from .derived import Derivation, DerivedWrite
from .imported_usage import ImportedUsage
from .records import ENTRY_TYPES, ROOT, LegacyRecord, read_record
from .texts import LegacyTexts
from .tree import NOWHERE, LegacyEntry, RecordTree


class _Forward(NamedTuple):
    """A reference to a record that has not come yet, by the ids that stand in the file."""

    owner: str
    target: str


class LegacyIndex:
    """What a legacy file holds, without its payloads, after `take` for each complete line behind the header.

    Each index gives its entries ids of its own (S-V3-07). What `finish` completes must not be asked for before.
    """

    def __init__(self, path: str, id_generator: IdGenerator) -> None:
        self.message_count = 0
        self._path = path
        self._id_generator = id_generator
        self._tree = RecordTree()
        self._derivation = Derivation(self._tree)
        self._usage = ImportedUsage()
        self._positions: dict[str, int] = {}
        self._forward: dict[int, _Forward] = {}

    def take(self, line: bytes, number: int) -> None:
        """Takes the next complete line, without its LF; `number` is 1-based and counts the header.

        Raises CorruptSession: in this line (S-V3-05, S-V3-06), or without a line for a compaction whose first kept
        record is not on its path (S-V3-12).
        """
        try:
            self._take(read_record(line))
        except LineFault as fault:
            raise CorruptSession(self._path, number, str(fault)) from fault

    def finish(self) -> None:
        """Resolves what named later records, and derives the values that follow the entries.

        Raises CorruptSession without a line when a branch summary or a label names no record (S-V3-10).
        """
        for position, (owner, target) in self._forward.items():
            if target not in self._positions:
                kind = self._tree.kinds[position]
                raise CorruptSession(self._path, None, f"{kind} {owner!r} names {target!r}, which is no record")
            self._tree.references[position] = self._positions[target]
        # Only the lines that are still to come need the ids of the file.
        self._positions, self._forward = {}, {}
        self._derivation.finish()

    def texts(self) -> LegacyTexts:
        """A second pass over the same lines. It may be begun again and again, and always gives the same."""
        return LegacyTexts(self._path, self._tree, self._derivation)

    @property
    def entries(self) -> list[LegacyEntry]:
        """The entries in file order."""
        return self._tree.entries

    @property
    def derived(self) -> list[DerivedWrite]:
        """The derived writes in order, labels that later ones supersede or clear included."""
        return self._derivation.writes

    @property
    def tip(self) -> str | None:
        """The tip of `main`."""
        return self._derivation.tip

    @property
    def has_lane(self) -> bool:
        """Whether `main` has a configuration and a state (S-V3-14); it always has a tip."""
        return self._derivation.has_lane

    @property
    def usage(self) -> Record:
        """The imported usage (S-V3-15)."""
        return self._usage.total

    @property
    def next_seq(self) -> int:
        """The sequence of the next write (S-V3-09)."""
        return len(self._tree.entries) + len(self._derivation.writes) + 1

    def _take(self, record: LegacyRecord) -> None:
        if record.id in self._positions:
            raise LineFault(f"id {record.id!r} is used twice")
        parent = NOWHERE if record.parent_id is None else self._positions.get(record.parent_id)
        if parent is None:
            raise LineFault(f"parent {record.parent_id!r} is not an earlier record")
        position = self._positions[record.id] = self._tree.add(record, parent)
        if record.kind in ENTRY_TYPES:
            self._usage.add(record)
            entry_id = self._id_generator.next(record.timestamp)
            entry = self._tree.retain(position, entry_id, record.timestamp)
            self.message_count += entry.type == "message"
        else:
            self._derivation.take(position, record)
        self._take_reference(position, record)

    def _take_reference(self, position: int, record: LegacyRecord) -> None:
        match record.kind:
            case "compaction":
                self._keep_from(position, record.id, record.fields.get("firstKeptEntryId"))
            case "branch_summary" if record.fields["fromId"] != ROOT:
                self._refer(position, _Forward(record.id, record.fields["fromId"]))
            case "label":
                self._refer(position, _Forward(record.id, record.fields["targetId"]))

    def _refer(self, position: int, reference: _Forward) -> None:
        target = self._positions.get(reference.target)
        if target is None:
            self._forward[position] = reference
        else:
            self._tree.references[position] = target

    def _keep_from(self, compaction: int, compaction_id: str, first_kept_id: Json) -> None:
        """Marks what the compaction's tail will need. Its whole path has come before it."""
        tree, reached = self._tree, NOWHERE
        first_kept = self._positions.get(first_kept_id, NOWHERE) if type(first_kept_id) is str else NOWHERE
        for reached in tree.walk(compaction, first_kept):
            tree.last_needs[reached] = compaction
        if first_kept == NOWHERE or reached != first_kept:
            reason = f"compaction {compaction_id!r} keeps from {first_kept_id!r}, which is not on its path"
            raise CorruptSession(self._path, None, reason)
        tree.references[compaction] = first_kept
