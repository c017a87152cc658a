"""A commit: one immediate transaction, from the look at the session's row to the new statistics (spec section 5)."""

from __future__ import annotations

from typing import Final

import apsw

from forkstore.contract.codec import encode
from forkstore.contract.records import NewEntry, NewUsageRow, Record, SessionStats
from forkstore.contract.writes import AddressWrite, CommitResult, Placement, PreparedWrite, place
from forkstore.options import Clock

from .branch_inserts import BranchInserts
from .database_file import OpenDatabase
from .rows import payload_text, usage_texts
from .session_rows import SessionRow, read_session_row, update_session_row
from .transactions import immediate

_IS_ENTRY: Final = "SELECT 1 FROM entries WHERE session_id = ? AND id = ?"
_IS_USAGE_ROW: Final = "SELECT 1 FROM usage_ledger WHERE session_id = ? AND id = ?"
_ADD_ENTRY: Final = """
    INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_USAGE_ROW: Final = """
    INSERT INTO usage_ledger (session_id, id, seq, entry_id, adjustment, usage, details) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_SET_VALUE: Final = """
    INSERT OR REPLACE INTO scalar_values (session_id, namespace, key, seq, value) VALUES (?, ?, ?, ?, ?)
"""
_DELETE_VALUE: Final = "DELETE FROM scalar_values WHERE session_id = ? AND namespace = ? AND key = ?"
_APPEND_ELEMENT: Final = """
    INSERT INTO list_values (session_id, namespace, key, seq, value) VALUES (?, ?, ?, ?, ?)
"""
_DELETE_LIST: Final = "DELETE FROM list_values WHERE session_id = ? AND namespace = ? AND key = ?"


class ClockFailed(Exception):
    """Carries what the option `now` raised, which is the caller's own, past all that is said of the database."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Commits:
    """Applies the commits of one open session, each in the thread of its connection."""

    def __init__(self, database: OpenDatabase, session_id: str, clock: Clock) -> None:
        self._database = database
        self._session_id = session_id
        self._clock = clock

    def apply(self, connection: apsw.Connection, writes: list[PreparedWrite]) -> CommitResult:
        """Writes one commit, wholly or not at all. Keeps S-SQL-TXN-01, S-SQL-SCH-03, S-SQL-SCH-04.

        Raises SessionFileChanged and SessionNotFound (S-SQL-LAY-10), what `place` raises, ClockFailed, Damage,
        apsw.Error, OSError.
        """
        with immediate(connection):
            self._database.check_unchanged()
            session = read_session_row(connection, self._session_id, self._database.path)
            usage = session.usage()
            placement = self._place(connection, writes, session, usage)
            timestamp = self._time()
            if writes:
                self._write(connection, writes, placement, timestamp)
                same_usage = placement.usage is usage
                update_session_row(
                    connection,
                    self._session_id,
                    placement.message_count,
                    session.usage_text if same_usage else encode(placement.usage, "usage").decode(),
                    placement.seqs.stop,
                )
        stats = SessionStats(placement.message_count, placement.usage)
        return CommitResult(placement.seqs.start, list(placement.seqs), timestamp, stats)

    def _time(self) -> int:
        """The one reading of the clock (S-ENT-15). Like the memory backend's, it comes after all refusals."""
        try:
            return self._clock.read()
        except Exception as error:
            raise ClockFailed(error) from error

    def _place(
        self, connection: apsw.Connection, writes: list[PreparedWrite], session: SessionRow, usage: Record
    ) -> Placement:
        def is_entry(entry_id: str) -> bool:
            return connection.execute(_IS_ENTRY, (self._session_id, entry_id)).get is not None

        def is_usage_row(row_id: str) -> bool:
            return connection.execute(_IS_USAGE_ROW, (self._session_id, row_id)).get is not None

        return place(writes, session.next_seq, session.message_count, usage, is_entry, is_usage_row)

    def _write(
        self, connection: apsw.Connection, writes: list[PreparedWrite], placement: Placement, timestamp: int
    ) -> None:
        index = BranchInserts(connection, self._session_id)
        for seq, write in zip(placement.seqs, writes, strict=True):
            if type(write) is NewEntry:
                self._add_entry(connection, write, seq, timestamp)
                index.insert(write.id, write.parent_id, seq, write.type)
            elif type(write) is NewUsageRow:
                connection.execute(_ADD_USAGE_ROW, (self._session_id, write.id, seq, *usage_texts(write)))
            elif type(write) is AddressWrite:
                self._change_address(connection, write, seq)
        index.finish()

    def _add_entry(self, connection: apsw.Connection, entry: NewEntry, seq: int, timestamp: int) -> None:
        connection.execute(
            _ADD_ENTRY,
            (
                self._session_id,
                entry.id,
                entry.parent_id,
                seq,
                entry.type,
                entry.custom_type,
                timestamp,
                payload_text(entry),
            ),
        )

    def _change_address(self, connection: apsw.Connection, write: AddressWrite, seq: int) -> None:
        address, text = write.address, write.text
        place = (self._session_id, address.namespace, address.key)
        if text is None:
            connection.execute(_DELETE_VALUE if address.kind == "value" else _DELETE_LIST, place)
        else:
            change = _SET_VALUE if address.kind == "value" else _APPEND_ELEMENT
            connection.execute(change, (*place, seq, text.decode()))
