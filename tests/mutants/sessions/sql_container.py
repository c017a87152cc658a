"""Mutants of the suite `sql_container`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class UsageRowsOutliveTheirSession(SharedSqlLie):
    """Lie: `delete` leaves the usage ledger of a session."""

    kills = "S-SQL-LAY-08"
    file = "schema.py"
    line = '    "usage_ledger",\n'
    lie = ""


class TheIndexOutlivesItsSession(SharedSqlLie):
    """Lie: `delete` leaves the segments of a session."""

    kills = "S-SQL-LAY-08"
    file = "schema.py"
    line = '    "branch_meta",\n'
    lie = ""


class RowsAreDeletedByAPattern(SharedSqlLie):
    """Lie: `delete` removes the rows of every session that its id matches as a pattern."""

    kills = "S-SQL-LAY-08"
    file = "removing.py"
    line = "WHERE {column} = ?"
    lie = "WHERE {column} LIKE ?"


class RowsAreDeletedOneByOne(SharedSqlLie):
    """Lie: `delete` has a transaction for each table."""

    kills = "S-SQL-LAY-08"
    file = "removing.py"
    line = '        connected(connect, path, "read-write") as connection,\n        immediate(connection),\n'
    lie = '        connected(connect, path, "read-write") as connection,\n'


class EntryIdsAreTakenByAllSessions(SharedSqlLie):
    """Lie: an entry id is taken when any session of the container has it."""

    kills = "S-SQL-LAY-09"
    file = "commits.py"
    line = '"SELECT 1 FROM entries WHERE session_id = ? AND id = ?"'
    lie = '"SELECT 1 FROM entries WHERE ?1 = ?1 AND id = ?2"'


class UsageIdsAreTakenByAllSessions(SharedSqlLie):
    """Lie: a usage id is taken when any session of the container has it."""

    kills = "S-SQL-LAY-09"
    file = "commits.py"
    line = '"SELECT 1 FROM usage_ledger WHERE session_id = ? AND id = ?"'
    lie = '"SELECT 1 FROM usage_ledger WHERE ?1 = ?1 AND id = ?2"'


class ListsAreDeletedInAllSessions(SharedSqlLie):
    """Lie: a list is deleted in every session that has one at its address."""

    kills = "S-SQL-LAY-09"
    file = "commits.py"
    line = '"DELETE FROM list_values WHERE session_id = ? AND namespace = ? AND key = ?"'
    lie = '"DELETE FROM list_values WHERE ?1 = ?1 AND namespace = ?2 AND key = ?3"'


class ScalarsAreSharedByAllSessions(SharedSqlLie):
    """Lie: a scalar is stored once for all sessions."""

    kills = "S-SQL-LAY-09"
    file = "schema.sql"
    line = "    PRIMARY KEY (session_id, namespace, key)\n"
    lie = "    PRIMARY KEY (namespace, key)\n"


class TheTriggerSeesAllSessions(SharedSqlLie):
    """Lie: an entry may not have the id of a usage row of any session."""

    kills = "S-SQL-LAY-09"
    file = "schema.sql"
    line = "FROM usage_ledger WHERE session_id = NEW.session_id AND id = NEW.id"
    lie = "FROM usage_ledger WHERE id = NEW.id"


class StatisticsCountAllSessions(SharedSqlLie):
    """Lie: the statistics of a commit go to every session of the container."""

    kills = "S-SQL-LAY-09"
    file = "session_rows.py"
    line = '_UPDATE: Final = "UPDATE sessions SET message_count = ?, usage_payload = ?, next_seq = ? WHERE id = ?"'
    lie = '_UPDATE: Final = "UPDATE sessions SET message_count = ?, usage_payload = ?, next_seq = ? WHERE ? = ?4"'


class AFailedCommitIsNotRolledBack(SqlLie):
    """Lie: a transaction that failed is left as it is."""

    kills = "S-SQL-TXN-02"
    file = "transactions.py"
    line = "    except BaseException:\n        roll_back(connection)\n        raise\n"
    lie = "    except BaseException:\n        raise\n"


class AFailedCommitKeepsWhatWasWritten(SharedSqlLie):
    """Lie: a commit that failed midway keeps the rows before."""

    kills = "S-SQL-TXN-02"
    file = "transactions.py"
    line = "    except BaseException:\n        roll_back(connection)\n        raise\n"
    lie = '    except BaseException:\n        connection.execute("COMMIT")\n        raise\n'


class WritersBeginAsReaders(SharedSqlLie):
    """Lie: a write transaction takes the write lock when it first writes."""

    kills = "S-SQL-TXN-04"
    file = "transactions.py"
    line = '    connection.execute("BEGIN IMMEDIATE")\n    try:\n'
    lie = '    connection.execute("BEGIN")\n    try:\n'


class NobodyWaitsForALock(SharedSqlLie):
    """Lie: a connection does not wait for a lock."""

    kills = "S-SQL-TXN-04"
    file = "connect.py"
    line = "        connection.set_busy_timeout(BUSY_TIMEOUT_MS)\n"
    lie = ""


class TheSwitchToTheLogDoesNotWait(SharedSqlLie):
    """Lie: whoever switches to the write-ahead log while somebody else does, fails."""

    kills = "S-SQL-LAY-12"
    file = "connect.py"
    line = "            if time.monotonic() >= deadline:\n                raise\n"
    lie = "            raise\n"


class AContainerThatAppearsIsInTheWay(SharedSqlLie):
    """Lie: whoever finds that another has made the container meanwhile, fails."""

    kills = "S-SQL-LAY-12"
    file = "groundwork.py"
    line = "            except FileExistsError:\n                draft.take_back()\n"
    lie = "            except FileExistsError:\n                draft.take_back()\n                raise\n"


class OnlyWhoCreatesSwitchesTheJournal(SharedSqlLie):
    """Lie: a container with a rollback journal cannot be opened until somebody has made a session in it."""

    kills = "S-SQL-LAY-12"
    file = "connect.py"
    line = "            _use_wal(connection)\n"
    lie = (
        '            if mode != "create" and connection.execute("PRAGMA journal_mode").get != "wal":\n'
        '                raise OSError(errno.ENOTSUP, "the database is not in WAL mode")\n'
        "            _use_wal(connection)\n"
    )
