"""What a right store makes of a legacy file: refused, or normalized as section 26.2 says, written down as data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from forkgen.publishing import publish
from forkgen.verdict import Verdict
from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, LANE_STATE, SESSION_NAME
from forkstore.contract.records import Record, zero_usage

from .records import CREATED_AT, header, id_of, text_of, time_of

DIRECTORY: Final = "@directory@"
"""Stands in contents for the directory that a case is written to."""


@dataclass(frozen=True)
class Fresh:
    """The id that one reading gives to a retained record, which is another on each reading (S-V3-07)."""

    record: str


@dataclass(frozen=True)
class Normalized:
    """A legacy session as an open store shows it.

    `entries` in file order with sequences from 1; `derived` the writes that follow, as records of format 4 with their
    sequences; `usage` the statistics while the session is still v3 (S-V3-15). `Fresh` stands wherever a fresh id does.
    """

    entries: tuple[Record, ...]
    derived: tuple[Record, ...]
    usage: Record = field(default_factory=zero_usage)

    @property
    def message_count(self) -> int:
        """The number of message entries."""
        return sum(entry["type"] == "message" for entry in self.entries)

    @property
    def next_seq(self) -> int:
        """The sequence of the next write, which is the first of an upgrading commit (S-V3-09)."""
        return len(self.entries) + len(self.derived) + 1

    @property
    def has_complete_lane(self) -> bool:
        """Whether a branch fork of `main` succeeds; otherwise it raises DataOnlyBranch (S-V3-26)."""
        return any(write["namespace"] == LANE_CONFIG for write in self.derived)

    def filled(self, ids: Sequence[str]) -> Normalized:
        """The same with the ids that a reading gave, in the order of the entries. Raises ValueError for a wrong number
        of them.
        """
        fresh = [entry["id"] for entry in self.entries]
        known = dict(zip(fresh, ids, strict=True))
        entries, derived = (tuple(_filled(record, known) for record in part) for part in (self.entries, self.derived))
        return replace(self, entries=entries, derived=derived)


def _filled(value: Any, known: dict[Fresh, str]) -> Any:
    if isinstance(value, Fresh):
        return known[value]
    if isinstance(value, dict):
        return {name: _filled(member, known) for name, member in value.items()}
    if isinstance(value, list):
        return [_filled(member, known) for member in value]
    return value


@dataclass(frozen=True)
class LegacyFile:
    """One legacy file with its outcome.

    A file that opens shows `normalized`; a closed one forks in tree scope with zero usage, and refuses every fork point
    with LegacyEntryId. A refused one names `line`, where the contract fixes it, and its reason holds `named`, where the
    contract asks for that. No call but an upgrading commit ever changes its bytes.
    """

    name: str
    verdict: Verdict
    contents: bytes
    clauses: tuple[str, ...]
    normalized: Normalized | None = None
    line: int | None = None
    named: str | None = None
    version: str | None = None
    id: str = "shed-7"
    cwd: str = "/srv/garden"
    created_at: int = CREATED_AT
    parent_session_id: str | None = None
    legacy_parent_session_path: str | None = None
    companions: tuple[tuple[str, bytes], ...] = ()

    def in_directory(self, directory: str | os.PathLike[str]) -> LegacyFile:
        """The case for files that lie in `directory`: what names a parent file now names it there."""
        place = str(Path(directory)).encode()
        path = self.legacy_parent_session_path
        return replace(
            self,
            contents=self.contents.replace(DIRECTORY.encode(), place),
            legacy_parent_session_path=path and path.replace(DIRECTORY, place.decode()),
        )

    def write_to(self, directory: str | os.PathLike[str]) -> Path:
        """Publishes the file as `<name>.jsonl` in a directory, and its companions beside it; gives its path.

        Raises OSError.
        """
        for name, contents in self.companions:
            publish(Path(directory, name), [contents])
        path = Path(directory, f"{self.name}.jsonl")
        publish(path, [self.in_directory(directory).contents])
        return path


def opens(
    name: str,
    records: Sequence[Record],
    entries: Sequence[Record],
    derived: Sequence[Record],
    clauses: str,
    usage: Record | None = None,
    **fields: Any,
) -> LegacyFile:
    """A file of records under the usual header, and what it is normalized to."""
    numbered = tuple(write | {"seq": seq} for seq, write in enumerate(derived, len(entries) + 1))
    normalized = Normalized(tuple(entries), numbered, usage or zero_usage())
    contents = fields.pop("contents", None) or text_of(header(), *records)
    return LegacyFile(name, Verdict.OPENS, contents, tuple(clauses.split()), normalized, **fields)


def entry(seq: int, number: int, parent: int | None, kind: str, **fields: Any) -> Record:
    """The entry that record `number` becomes, under the entry of record `parent`."""
    own = {"id": fresh(number), "parentId": fresh(parent), "seq": seq, "timestamp": time_of(number), "type": kind}
    return own | fields


def fresh(number: int | None) -> Fresh | None:
    """The fresh id of record `number`, or null."""
    return None if number is None else Fresh(id_of(number))


def name_set(text: str) -> Record:
    """The derived session name."""
    return {"kind": "value", "op": "set", "namespace": SESSION_NAME, "key": "", "value": text}


def label_set(number: int, text: str) -> Record:
    """A derived label of the entry that record `number` became."""
    return {"kind": "value", "op": "set", "namespace": ENTRY_LABEL, "key": fresh(number), "value": text}


def label_deleted(number: int) -> Record:
    """A derived label that clears."""
    return {"kind": "value", "op": "delete", "namespace": ENTRY_LABEL, "key": fresh(number)}


def tip(number: int | None) -> Record:
    """The derived tip of `main`."""
    return {"kind": "value", "op": "set", "namespace": BRANCH_TIP, "key": "main", "value": fresh(number)}


def lane(model: str = "o-2", thinking: str = "medium", *tools: str) -> tuple[Record, Record]:
    """The derived configuration and idle state of `main`."""
    chosen = {"provider": "orchard", "modelId": model}
    config = {"model": chosen, "thinkingLevel": thinking, "activeToolNames": list(tools)}
    idle: Record = {"currentOperationId": None, "lastOperationId": None, "inbox": []}
    return (
        {"kind": "value", "op": "set", "namespace": LANE_CONFIG, "key": "main", "value": config},
        {"kind": "value", "op": "set", "namespace": LANE_STATE, "key": "main", "value": idle},
    )
