"""The lines of a file of format 4, folded on behind every fault (spec sections 22.2 to 22.5).

The first error of a file is the one that opening names. To keep later ones few, a fault is forgotten once it is told: a
sequence is held against the one before it, an entry whose parent is missing becomes a root and its parent is not missed
again, and what repeats an id is left out.
"""

from __future__ import annotations

from typing import Final

from forkstore.contract.addresses import BRANCH_TIP
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownParent
from forkstore.contract.records import ABSENT, Absent, Json, Record, add_usage, zero_usage
from forkstore.contract.writes import LAST_SEQUENCE
from forkstore.jsonl.format import read_line
from forkstore.jsonl.records import LineFault, StoredElement, StoredEntry, StoredRecord, StoredUsage, StoredValue

from .entries import EntryTree
from .facts import Contents
from .findings import Findings, Kind
from .rows import CurrentRows

_MAY_BE_SKIPPED: Final = "; it may have stood in a line that could not be read"


class Format4Lines:
    """Takes line after line; `next_seq` is that of the header."""

    def __init__(self, next_seq: int | None, findings: Findings) -> None:
        self._findings = findings
        self._tree = EntryTree()
        self._rows = CurrentRows()
        self._usage: Record = zero_usage()
        self._usage_ids: set[str] = set()
        self._missing_parents: set[str] = set()
        self._records = 0
        self._last_seq = 0
        self._next_seq = next_seq or 1
        self._line = 0
        self._skipped = False

    def take(self, line: bytes, number: int) -> None:
        """Folds a complete line, without its LF; `number` is 1-based and counts the header."""
        self._line = number
        try:
            records = read_line(line)
        except LineFault as fault:
            self._findings.error("line", number, str(fault))
            self._skipped = True
            return
        self._records += len(records)
        for record in records:
            self._take(record)

    def finish(self) -> Contents:
        """What the file holds; tells of what only its end can show."""
        self._tell_of_rows()
        if self._next_seq > LAST_SEQUENCE:
            self._findings.note("no-sequence-left", None, "every sequence is used up, so nothing can be committed")
        tree, rows = self._tree, self._rows
        branches = rows.branches(tree)
        return Contents(
            records=self._records,
            dead=rows.dead(),
            discarded=0,
            entries=len(tree),
            messages=tree.by_type["message"],
            entries_by_type=dict(sorted(tree.by_type.items())),
            roots=tree.roots,
            unreachable=tree.unreachable(branch.tip for branch in branches),
            branches=branches,
            scalars=rows.scalars(),
            lists=rows.lists(),
            usage_rows=len(self._usage_ids),
            usage=self._usage,
            undeclared=[(namespace, kind) for namespace, kind, _ in rows.undeclared()],
            next_seq=self._next_seq,
        )

    def _take(self, record: StoredRecord) -> None:
        if record.seq <= self._last_seq:
            self._tell("sequence", f"sequence {record.seq} does not rise above {self._last_seq}")
        self._last_seq = record.seq
        self._next_seq = max(self._next_seq, record.seq + 1)
        if type(record) is StoredEntry:
            self._take_entry(record)
        elif type(record) is StoredValue:
            self._take_scalar(record)
        elif type(record) is StoredElement:
            self._take_element(record)
        elif type(record) is StoredUsage:
            self._take_usage(record)

    def _take_entry(self, entry: StoredEntry) -> None:
        if self._is_taken(entry.id):
            return
        if not self._tree.add(entry.id, entry.parent_id, entry.type):
            assert entry.parent_id is not None
            if entry.parent_id not in self._missing_parents:
                self._missing_parents.add(entry.parent_id)
                reason = f"entry {entry.id!r} names the unknown parent {entry.parent_id!r}{self._doubt}"
                self._tell("unknown-parent", reason, UnknownParent)

    def _take_usage(self, row: StoredUsage) -> None:
        if self._is_taken(row.id):
            return
        self._usage_ids.add(row.id)
        try:
            self._usage = add_usage(self._usage, row.usage, "usage")
        except InvalidValue as error:
            self._tell("usage-sum", str(error), InvalidValue)

    def _is_taken(self, new_id: str) -> bool:
        if new_id in self._tree or new_id in self._usage_ids:
            self._tell("duplicate-id", f"id {new_id!r} already names an entry or usage row", DuplicateId)
            return True
        return False

    def _take_scalar(self, row: StoredValue) -> None:
        if row.op == "delete":
            self._rows.delete_scalar(row.namespace, row.key)
            return
        self._rows.set_scalar(row.namespace, row.key, self._line)
        if row.namespace == BRANCH_TIP:
            self._rows.tips[row.key] = _tip(row.value)

    def _take_element(self, row: StoredElement) -> None:
        if row.op == "delete":
            self._rows.delete_list(row.namespace, row.key)
        else:
            self._rows.append(row.namespace, row.key, self._line)

    def _tell(self, kind: Kind, reason: str, cause: type[Exception] | None = None) -> None:
        self._findings.error(kind, self._line, reason, cause)

    @property
    def _doubt(self) -> str:
        return _MAY_BE_SKIPPED if self._skipped else ""

    def _tell_of_rows(self) -> None:
        note, tree, rows = self._findings.note, self._tree, self._rows
        for name, line in rows.tip_lines().items():
            tip = rows.tips[name]
            if tip is ABSENT:
                note("tip", line, f"the tip of branch {name!r} is neither an entry id nor null")
            elif tip is not None and tip not in tree:
                note("tip", line, f"the tip of branch {name!r} is {tip!r}, which is no entry{self._doubt}")
        for entry_id, line in rows.label_lines().items():
            if entry_id not in tree:
                note("label", line, f"a label is on {entry_id!r}, which is no entry{self._doubt}")
        for namespace, kind, line in rows.undeclared():
            note("undeclared-namespace", line, f"no fork rule is declared for the {kind} rows in {namespace!r}")


def _tip(value: Json) -> str | Absent | None:
    """The value of a tip row; ABSENT stands for all that can be no tip, because it may be of any size."""
    return value if value is None or type(value) is str else ABSENT
