"""The lines of a legacy file, folded on behind every fault (spec section 26).

The same checks as the reader's first pass, with its record decoder, its tree and its derivation. Its entries get ids
that are new on each reading; here they keep the ids of their records, which is what a reader of the file can look for.
As in format 4 a fault is told once: a record whose parent is missing becomes a root, and a missing record is not missed
again.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final, NamedTuple

from forkstore.contract.records import Json
from forkstore.jsonl.legacy.derived import MAIN, Derivation
from forkstore.jsonl.legacy.imported_usage import ImportedUsage
from forkstore.jsonl.legacy.records import ENTRY_TYPES, ROOT, LegacyRecord, read_record
from forkstore.jsonl.legacy.tree import NOWHERE, RecordTree
from forkstore.jsonl.records import LineFault

from .facts import BranchFacts, Contents, DeadRecords
from .findings import Findings, Kind
from .rows import CurrentRows

_MAY_BE_SKIPPED: Final = "; it may have stood in a line that could not be read"


class _Forward(NamedTuple):
    """A reference to a record that has not come yet: the line and the id of the record that makes it."""

    line: int
    owner: str
    target: str


class LegacyLines:
    """Takes line after line."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._tree = RecordTree()
        self._derivation = Derivation(self._tree)
        self._usage = ImportedUsage()
        self._positions: dict[str, int] = {}
        self._forward: dict[int, _Forward] = {}
        self._missing: set[str] = set()
        self._lost_roots: set[int] = set()
        self._line = 0
        self._skipped = False

    def take(self, line: bytes, number: int) -> None:
        """Folds a complete line, without its LF; `number` is 1-based and counts the header."""
        self._line = number
        try:
            record = read_record(line)
        except LineFault as fault:
            self._tell("line", str(fault))
            self._skipped = True
            return
        if record.id in self._positions:
            self._tell("duplicate-id", f"id {record.id!r} is used twice")
            return
        self._take(record)

    def finish(self) -> Contents:
        """What the file holds; tells of what only its end can show."""
        for position, (line, owner, target) in self._forward.items():
            if target in self._positions:
                self._tree.references[position] = self._positions[target]
            elif target not in self._missing:
                self._missing.add(target)
                what = f"{self._tree.kinds[position]} {owner!r} names {target!r}, which is no record{self._doubt}"
                self._findings.error("reference", line, what)
        self._derivation.finish()
        return self._contents()

    def _take(self, record: LegacyRecord) -> None:
        parent = NOWHERE if record.parent_id is None else self._positions.get(record.parent_id)
        position = self._positions[record.id] = self._tree.add(record, NOWHERE if parent is None else parent)
        if parent is None:
            assert record.parent_id is not None
            self._lost_roots.add(position)
            if record.parent_id not in self._missing:
                self._missing.add(record.parent_id)
                self._tell("unknown-parent", f"parent {record.parent_id!r} is not an earlier record{self._doubt}")
        if record.kind in ENTRY_TYPES:
            self._add_usage(record)
            self._tree.retain(position, record.id, record.timestamp)
        else:
            self._derivation.take(position, record)
        self._take_reference(position, record)

    def _add_usage(self, record: LegacyRecord) -> None:
        try:
            self._usage.add(record)
        except LineFault as fault:
            self._tell("usage-sum", str(fault))

    def _take_reference(self, position: int, record: LegacyRecord) -> None:
        match record.kind:
            case "compaction":
                self._keep_from(position, record.id, record.fields.get("firstKeptEntryId"))
            case "branch_summary" if record.fields["fromId"] != ROOT:
                self._refer(position, _Forward(self._line, record.id, record.fields["fromId"]))
            case "label":
                self._refer(position, _Forward(self._line, record.id, record.fields["targetId"]))

    def _refer(self, position: int, reference: _Forward) -> None:
        target = self._positions.get(reference.target)
        if target is None:
            self._forward[position] = reference
        else:
            self._tree.references[position] = target

    def _keep_from(self, compaction: int, compaction_id: str, first_kept_id: Json) -> None:
        first_kept = self._positions.get(first_kept_id, NOWHERE) if type(first_kept_id) is str else NOWHERE
        walk = deque(self._tree.walk(compaction, first_kept), maxlen=1)
        reached = walk[0] if walk else NOWHERE
        on_path = first_kept != NOWHERE and reached == first_kept
        # Behind a lost parent there may be more of the path; only opening will tell once the file is mended.
        if not on_path and reached not in self._lost_roots:
            reason = f"compaction {compaction_id!r} keeps from {first_kept_id!r}, which is not on its path"
            self._tell("retained-tail", reason)

    def _tell(self, kind: Kind, reason: str) -> None:
        self._findings.error(kind, self._line, reason)

    @property
    def _doubt(self) -> str:
        return _MAY_BE_SKIPPED if self._skipped else ""

    def _contents(self) -> Contents:
        tree, derivation = self._tree, self._derivation
        path = sum(tree.kinds[position] in ENTRY_TYPES for position in tree.path(len(tree) - 1))
        types = Counter(entry.type for entry in tree.entries)
        rows = self._derived_rows()
        return Contents(
            records=len(tree),
            dead=DeadRecords(),
            discarded=len(tree) - len(tree.entries),
            entries=len(tree.entries),
            messages=types["message"],
            entries_by_type=dict(sorted(types.items())),
            roots=sum(entry.parent_id is None for entry in tree.entries),
            unreachable=len(tree.entries) - path,
            branches=[BranchFacts(MAIN, derivation.tip, derivation.has_lane, path)],
            scalars=rows.scalars(),
            lists={},
            usage_rows=0,
            usage=self._usage.total,
            undeclared=[],
            next_seq=len(tree.entries) + len(derivation.writes) + 1,
        )

    def _derived_rows(self) -> CurrentRows:
        rows = CurrentRows()
        for write in self._derivation.writes:
            if write.op == "set":
                rows.set_scalar(write.namespace, write.key, 0)
            else:
                rows.delete_scalar(write.namespace, write.key)
        return rows
