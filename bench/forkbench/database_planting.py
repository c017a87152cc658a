"""A session's rows, written past its store into a database that the store has made (section 27.1).

Planting takes a fraction of the time of commits, and leaves what they would have left: entries and scalars, and the
one segment that each run of entries from a root has (section 30). In a run each entry lies below the one before.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import apsw

from forkgen import Transaction
from forkgen.recipes.benchmark import CLOCK
from forkstore.contract.addresses import branch_tip
from forkstore.contract.codec import encode
from forkstore.contract.records import Record
from forkstore.contract.writes import EntryInsert, ValueSet

COLUMNS: Final = frozenset({"id", "parentId", "type"})
"""Fields of a new message that have a column of their own; all others are payload."""
TIPS: Final = branch_tip("").namespace
ENTRY: Final = (
    "INSERT INTO entries(session_id, id, parent_id, seq, type, timestamp, payload) VALUES(?, ?, ?, ?, ?, ?, ?)"
)
BRANCH_ENTRY: Final = (
    "INSERT INTO branch_entries(session_id, branch_id, entry_id, entry_seq, entry_type) VALUES(?, ?, ?, ?, ?)"
)
SEGMENT: Final = "INSERT INTO branch_meta(session_id, branch_id, tip_entry_id, tip_seq) VALUES(?, ?, ?, ?)"
SCALAR: Final = "INSERT INTO scalar_values(session_id, namespace, key, seq, value) VALUES(?, ?, ?, ?, ?)"
COUNTS: Final = "UPDATE sessions SET message_count = ?, next_seq = ? WHERE id = ?"


def connect(path: str, *, read_only: bool = False) -> apsw.Connection:
    """A plain connection to a database that is there, in the mode of 29.2 that fits, `synchronous` NORMAL."""
    connection = apsw.Connection(path, apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(5_000)
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


@dataclass
class Run:
    """A segment that grows."""

    id: str
    first_seq: int
    tip: str
    tip_seq: int


class Planting:
    """The rows of one session, numbered from 1."""

    def __init__(self, session_id: str) -> None:
        self.entries = 0
        self.lanes: dict[str, range] = {}
        """The sequences of the entries of each branch."""
        self._session_id = session_id
        self._seq = 0
        self._runs: list[Run] = []

    def write(self, path: str, transactions: Iterable[Transaction]) -> None:
        """Writes messages and scalars, all in one transaction, into the database where the session is, still empty.

        Raises ValueError for an entry that goes on no run, and TypeError for any other write.
        """
        with closing(connect(path)) as connection:
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # the rows are what they make sure of
            connection.execute("BEGIN IMMEDIATE")
            for writes in transactions:
                self._write(connection, writes)
            segments = [(self._session_id, run.id, run.tip, run.tip_seq) for run in self._runs]
            connection.executemany(SEGMENT, segments)
            connection.execute(COUNTS, (self.entries, self._seq + 1, self._session_id))
            connection.execute("COMMIT")

    def _write(self, connection: apsw.Connection, writes: Transaction) -> None:
        entries, members, scalars = list[tuple[object, ...]](), list[tuple[object, ...]](), list[tuple[object, ...]]()
        for seq, write in enumerate(writes, self._seq + 1):
            if isinstance(write, EntryInsert):
                run = self._run_of(write.entry, seq)
                entries.append(self._entry_row(write.entry, seq))
                members.append((self._session_id, run.id, run.tip, seq, "message"))
            elif isinstance(write, ValueSet):
                scalars.append(self._scalar_row(write, seq))
            else:
                raise TypeError(f"{write} is neither a message nor a scalar")
        connection.executemany(ENTRY, entries)
        connection.executemany(BRANCH_ENTRY, members)
        connection.executemany(SCALAR, scalars)
        self.entries += len(entries)
        self._seq += len(writes)

    def _run_of(self, entry: Record, seq: int) -> Run:
        """The run that the entry begins or goes on."""
        if entry["parentId"] is None:
            self._runs.append(Run(entry["id"], seq, entry["id"], seq))
            return self._runs[-1]
        run = self._runs[-1]
        if run.tip != entry["parentId"]:
            raise ValueError(f"{entry['id']} lies below {entry['parentId']}, not below {run.tip}")
        run.tip, run.tip_seq = entry["id"], seq
        return run

    def _entry_row(self, entry: Record, seq: int) -> tuple[object, ...]:
        payload = {name: value for name, value in entry.items() if name not in COLUMNS}
        text = encode(payload, "payload").decode()
        return (self._session_id, entry["id"], entry["parentId"], seq, entry["type"], CLOCK, text)

    def _scalar_row(self, write: ValueSet, seq: int) -> tuple[object, ...]:
        address = write.address
        if address.namespace == TIPS:
            run = next(run for run in self._runs if run.tip == write.value)
            self.lanes[address.key] = range(run.first_seq, run.tip_seq + 1)
        return (self._session_id, address.namespace, address.key, seq, encode(write.value, "value").decode())
