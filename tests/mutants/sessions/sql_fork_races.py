"""Mutants of the suite `sql_fork_races`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

ANEW = "await _in_reader(source, end_snapshot)\n{indent}await _in_reader(source, begin_snapshot)\n"
BOUNDARY_TOLD = "            await probe.boundary_captured()\n"
BATCH_TOLD = "        await probe.batch_copied(count)\n"


class TakesTheSnapshotWhenItCopies(SqlLie):
    """Lie: the boundary is told, and then the reader's transaction is begun anew."""

    kills = "S-FORK-ORD-04"
    file = "fork.py"
    line = BOUNDARY_TOLD
    lie = f"{BOUNDARY_TOLD}            {ANEW.format(indent=' ' * 12)}"


class ReadsEachKindInASnapshotOfItsOwn(SharedSqlLie):
    """Lie: the transaction of the reader is begun anew after each batch; a cursor goes on in the one it began in."""

    kills = "S-FORK-ORD-04"
    file = "fork.py"
    line = BATCH_TOLD
    lie = f"{BATCH_TOLD}        {ANEW.format(indent=' ' * 8)}"


class MixesWhatGoesAway(SharedSqlLie):
    """Lie: the rows of a closed source are read without a snapshot, each kind as far as it is there by then."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = "        await _in_reader(source, begin_snapshot)\n"
    lie = "        pass\n"


class AMissingDatabaseIsAFailedCall(SqlLie):
    """Lie: a source whose database is gone is told as a database that cannot be opened."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = "        _check_file(source, error)  # what is gone can be read neither\n"
    lie = ""


class ForksWhateverStandsThere(SharedSqlLie):
    """Lie: the file that is read need not be the one that the open session has."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = "    if (found.st_dev, found.st_ino) != source.identity:\n"
    lie = "    if found is None:\n"
