"""What the rows of a session in its database say, in the words of the logical state (sections 27.1 and 21)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from forkproof.oracle.branch_index import BranchIndex, Held, IndexedEntry, Segment
from forkproof.oracle.state import LogicalState, Record

Row = dict[str, Any]
"""A row by the names of its columns, values as SQLite gave them."""


@dataclass(frozen=True)
class SessionRows:
    """The rows of one session, as they stand in the seven tables; each in the order of its primary key."""

    sessions: tuple[Row, ...]
    entries: tuple[Row, ...]
    scalar_values: tuple[Row, ...]
    list_values: tuple[Row, ...]
    usage_ledger: tuple[Row, ...]
    branch_entries: tuple[Row, ...]
    branch_meta: tuple[Row, ...]

    @property
    def session(self) -> Row:
        """The one row of the table `sessions`. Raises LookupError when there is none."""
        if len(self.sessions) != 1:
            raise LookupError(f"{len(self.sessions)} rows in the table sessions")
        return self.sessions[0]


def state_of_rows(rows: SessionRows) -> LogicalState:
    """The logical state that a right store shows of these rows.

    >>> state_of_rows(store.databases.session_rows(subject.metadata)) == subject.model.state()
    True
    """
    session = rows.session
    lists: dict[tuple[str, str], list[Any]] = {}
    for row in sorted(rows.list_values, key=_by_seq):
        lists.setdefault((row["namespace"], row["key"]), []).append(json.loads(row["value"]))
    return LogicalState(
        parent_session_id=session["parent_session_id"],
        entries=[entry_of(row) for row in sorted(rows.entries, key=_by_seq)],
        scalars={(row["namespace"], row["key"]): json.loads(row["value"]) for row in rows.scalar_values},
        lists=lists,
        ledger=[usage_of(row) for row in sorted(rows.usage_ledger, key=_by_seq)],
        message_count=session["message_count"],
        usage=json.loads(session["usage_payload"]),
    )


def entry_of(row: Row) -> Record:
    """The entry that a row stores, without its sequence."""
    custom = {} if row["custom_type"] is None else {"customType": row["custom_type"]}
    fields = {"id": row["id"], "parentId": row["parent_id"], "type": row["type"], **custom}
    return {**fields, **json.loads(row["payload"]), "timestamp": row["timestamp"]}


def usage_of(row: Row) -> Record:
    """The ledger row that a row stores, without its sequence."""
    entry = {} if row["entry_id"] is None else {"entryId": row["entry_id"]}
    details = {} if row["details"] is None else {"details": json.loads(row["details"])}
    usage = json.loads(row["usage"])
    return {"id": row["id"], "usage": usage, **entry, "adjustment": bool(row["adjustment"]), **details}


def index_of_rows(rows: SessionRows) -> BranchIndex:
    """The branch index as it is stored, in the form of the model. Rows of a segment that `branch_meta` does not name
    stand under a segment without a tip.
    """
    segments = {
        row["branch_id"]: Segment(row["tip_entry_id"], row["tip_seq"], row["base_branch_id"], row["base_seq"])
        for row in rows.branch_meta
    }
    for row in sorted(rows.branch_entries, key=lambda row: (row["entry_seq"], row["entry_id"])):
        segment = segments.setdefault(row["branch_id"], Segment("", 0))
        segment.rows.append(Held(row["entry_id"], row["entry_seq"], row["entry_type"]))
    return segments


def indexed_entries(rows: SessionRows) -> list[IndexedEntry]:
    """What the index is built from: the stored entries, in the order of their sequences."""
    return [
        IndexedEntry(row["id"], row["parent_id"], row["seq"], row["type"]) for row in sorted(rows.entries, key=_by_seq)
    ]


def _by_seq(row: Row) -> int:
    seq: int = row["seq"]
    return seq
