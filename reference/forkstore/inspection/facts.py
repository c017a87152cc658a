"""The facts that an inspection finds out about a file; every size in bytes, every time in Unix milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from forkstore.contract.records import Record
from forkstore.jsonl.headers import LEGACY_FORMAT

from .findings import Findings


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What stands in the header of a session.

    `parent_session_id` and `legacy_parent_session_path` are as an open session shows them, never both.
    """

    id: str
    cwd: str
    created_at: int
    parent_session_id: str | None
    legacy_parent_session_path: str | None


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """A branch: its tip (None too when what stands there can be none), and the number of entries on its path.

    A branch that is no lane is data-only.
    """

    name: str
    tip: str | None
    is_lane: bool
    entries: int


@dataclass(frozen=True, slots=True)
class ListFacts:
    """The lists of a namespace that have elements, and these elements."""

    lists: int
    elements: int


@dataclass(frozen=True, slots=True)
class DeadRecords:
    """Records that no fork copies, because nothing of them is current."""

    superseded_sets: int = 0
    """Sets whose scalar was set again."""
    deleted_rows: int = 0
    """Sets and appends whose scalar or list was deleted."""
    deletes: int = 0
    """The deletes themselves."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.superseded_sets + self.deleted_rows + self.deletes


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What the lines behind the header hold, as far as they could be read."""

    records: int
    dead: DeadRecords
    discarded: int
    """Records of a legacy file that become no entry."""
    entries: int
    messages: int
    entries_by_type: dict[str, int]
    roots: int
    """Entries without a parent; in a damaged file also those whose parent is not there."""
    unreachable: int
    """Entries that are on the path of no branch."""
    branches: list[BranchFacts]
    scalars: dict[str, int]
    """Current scalars by namespace."""
    lists: dict[str, ListFacts]
    """Lists by namespace."""
    usage_rows: int
    usage: Record
    """The sum of the ledger; of a legacy file the usage that its records carry."""
    undeclared: list[tuple[str, str]]
    """Namespace and kind of the current rows that make every fork fail."""
    next_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that is known of a file after it was inspected.

    `format` and `storage_version` are what its header says, readable or not; `header` and `contents` are None as far as
    the file could not be understood.
    """

    path: str
    size: int
    lines: int | None
    """Complete lines, the header included; None when the file does not even begin like a session."""
    largest_line: tuple[int, int] | None
    """The number of the first of the largest lines, and its bytes without the LF."""
    torn_tail: int | None
    """Bytes behind the last LF; None when nobody looked for it."""
    format: int | None
    storage_version: int | None
    header: HeaderFacts | None
    contents: Contents | None
    findings: Findings

    @property
    def opens(self) -> bool:
        """Whether a store opens the file."""
        return self.findings.errors == 0

    @property
    def is_legacy(self) -> bool:
        """Whether the file is, or claims to be, of legacy version 3."""
        return self.format == LEGACY_FORMAT

    @property
    def tree_forks(self) -> bool:
        """Whether a fork of the whole tree succeeds."""
        return self.opens and self.contents is not None and not self.contents.undeclared
