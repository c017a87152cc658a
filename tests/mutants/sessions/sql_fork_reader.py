"""Mutants of the suite `sql_fork_reader`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

TOLD = "            await _fix_boundary(source)\n            await probe.boundary_captured()\n"
BEGINS = "        await _in_reader(source, begin_snapshot)\n"
CHECKS = "    await _in_reader(source, lambda connection: _check_source(connection, source))\n"
OPENS = '        opened = reader.submit_open(key[0], "read-only")\n'
TAKES = '"SELECT count(*) FROM sqlite_schema"'
PINS = "                reader.call(begin_snapshot)\n"
TOLD_OF_A_BATCH = "            yield self._stage.rows - before\n"


class ReadsThroughAWriter(SqlLie):
    """Lie: the source is opened for writing, and only read."""

    kills = "S-SQL-FORK-01"
    file = "repo.py"
    line = OPENS
    lie = OPENS.replace("read-only", "read-write")


class ReadsOnThePathAsWritten(SharedSqlLie):
    """Lie: the source is opened on the path that its metadata spell."""

    kills = "S-SQL-FORK-01"
    file = "repo.py"
    line = "            source = self._source(source_key)\n"
    lie = "            source = self._source((metadata.path, metadata.id))\n"


class ReadsWithoutATransaction(SharedSqlLie):
    """Lie: the rows of a closed source are read one statement after the other, without a snapshot."""

    kills = "S-SQL-FORK-01"
    file = "fork.py"
    line = BEGINS
    lie = "        pass\n"


class ChecksTheRowBeforeItsSnapshot(SqlLie):
    """Lie: the session's row and its version are looked at before the snapshot begins."""

    kills = "S-SQL-FORK-01"
    file = "fork.py"
    line = f"    if source.pinned is None:\n{BEGINS}{CHECKS}"
    lie = f"{CHECKS}    if source.pinned is None:\n{BEGINS}"


class BeginsASnapshotForEachStep(SharedSqlLie):
    """Lie: what comes behind the check of the row is read in a second transaction."""

    kills = "S-SQL-FORK-01"
    file = "fork.py"
    line = CHECKS
    lie = f"{CHECKS}    await _in_reader(source, end_snapshot)\n    await _in_reader(source, begin_snapshot)\n"


class TakesNoRead(SqlLie):
    """Lie: the job in the source's queue begins a transaction, which takes no snapshot."""

    kills = "S-SQL-FORK-02"
    file = "snapshot.py"
    line = TAKES
    lie = '""'


class ReadsTheEntriesInTheQueue(SharedSqlLie):
    """Lie: the job in the source's queue reads the ids of all entries."""

    kills = "S-SQL-FORK-02"
    file = "snapshot.py"
    line = TAKES
    lie = '"SELECT id FROM entries"'


class OpensTheReaderBehindTheQueue(SqlLie):
    """Lie: the reader of an open source is opened when the source's queue has come to it."""

    kills = "S-SQL-FORK-02"
    file = "repo.py"
    line = "        reader = Worker.start(self._connect)\n"
    lie = (
        "        turn = None if storage is None else storage._worker._call(lambda _: None)\n"
        "        reader = Worker.start(lambda path, mode: (turn and turn.result(), self._connect(path, mode))[1])\n"
    )


class TakesTheSnapshotPastTheQueue(SharedSqlLie):
    """Lie: the snapshot of an open source begins as soon as the reader is open, whatever stands in the queue."""

    kills = "S-SQL-FORK-02"
    file = "repo.py"
    line = "        pinned = None if storage is None else storage.pin(reader)\n"
    lie = "        pinned = None\n"


class BeginsOnTheWriterToo(SqlLie):
    """Lie: the boundary job holds a transaction on the source's own connection."""

    kills = "S-SQL-FORK-03"
    file = "storage.py"
    line = PINS
    lie = f'                _.execute("BEGIN")\n{PINS}                _.execute("ROLLBACK")\n'


class LooksAtTheSourceThroughItsWriter(SharedSqlLie):
    """Lie: the boundary job reads the session's row through the source's own connection."""

    kills = "S-SQL-FORK-03"
    file = "storage.py"
    line = PINS
    lie = f'{PINS}                list(_.execute("SELECT next_seq FROM sessions"))\n'


class ClosesTheReaderLate(SqlLie):
    """Lie: the reader is closed when the destination is published."""

    kills = "S-SQL-FORK-12"
    file = "fork.py"
    line = (
        '        with database_failures("close", source.path):\n            await settled(source.reader.close())\n'
        "        yield stage\n"
    )
    lie = "        yield stage\n"


class ReadsOnWhileItPublishes(SharedSqlLie):
    """Lie: a second reader of the source holds a snapshot from the boundary until the destination is published."""

    kills = "S-SQL-FORK-12"
    file = "fork.py"
    line = "        yield stage\n    finally:\n"
    lie = (
        "        late = await in_thread(connect, source.path, 'read-only')\n"
        "        begin_snapshot(late)\n"
        "        list(late.execute('SELECT id FROM entries LIMIT 1'))\n"
        "        yield stage\n"
        "        late.close()\n"
        "    finally:\n"
    )


class TellsTheBoundaryFirst(SqlLie):
    """Lie: the boundary is told before it is fixed."""

    kills = "S-FORK-ORD-10"
    file = "fork.py"
    line = TOLD
    lie = "            await probe.boundary_captured()\n            await _fix_boundary(source)\n"


class TellsABatchInItsTransaction(SharedSqlLie):
    """Lie: a batch of rows is told while the stage's transaction is open."""

    kills = "S-FORK-ORD-13"
    file = "staging.py"
    line = TOLD_OF_A_BATCH
    lie = f"    {TOLD_OF_A_BATCH}"


class PublishesItsSnapshot(SqlLie):
    """Lie: the snapshot still runs when the publishing is announced."""

    kills = "S-FORK-ORD-13"
    file = "fork.py"
    line = "        yield stage\n    finally:\n"
    lie = (
        "        late = await in_thread(connect, source.path, 'read-only')\n"
        "        begin_snapshot(late)\n"
        "        yield stage\n"
        "        late.close()\n"
        "    finally:\n"
    )
