"""Mutants of the suite `sql_fork_sources`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

ANEW = "await _in_reader(source, end_snapshot)\n{indent}await _in_reader(source, begin_snapshot)\n"
BATCH_TOLD = "        await probe.batch_copied(count)\n"
SETS_UP = '        connection.execute("ATTACH DATABASE ? AS stage", (stage_path,))\n'


class ForksItsOwnSessionsOnly(SqlLie):
    """Lie: a source has to lie where the repository keeps its sessions."""

    kills = "S-SQL-FORK-04"
    file = "repo.py"
    line = "            source = self._source(source_key)\n"
    lie = "            self._check_place(source_key)\n            source = self._source(source_key)\n"


class LooksForItsSourcesAtHome(SharedSqlLie):
    """Lie: the source is read from the repository's own database, whatever path the metadata has."""

    kills = "S-SQL-FORK-04"
    file = "repo.py"
    line = "        source_key = self._named(metadata)\n"
    lie = "        source_key = self._layout.place_of(metadata.id), metadata.id\n"


class FindsOpenSessionsByTheirId(SqlLie):
    """Lie: an open session of the same id is taken for the source, wherever the source lies."""

    kills = "S-SQL-FORK-04"
    file = "repo.py"
    line = "self._reservations.open_session(key), self._storages.get(key)\n"
    lie = (
        "self._reservations.open_session(key), next(\n"
        "            (one for (_, session_id), one in self._storages.items() if session_id == key[1]), None\n"
        "        )\n"
    )


class SeesWhatIsCommittedMeanwhile(SharedSqlLie):
    """Lie: the rows of a closed source are read without a snapshot, each kind as it is by then."""

    kills = "S-SQL-FORK-05"
    file = "fork.py"
    line = "        await _in_reader(source, begin_snapshot)\n"
    lie = "        pass\n"


class TakesASnapshotForEachBatch(SqlLie):
    """Lie: the transaction of the reader is begun anew after each batch."""

    kills = "S-SQL-FORK-05"
    file = "fork.py"
    line = BATCH_TOLD
    lie = f"{BATCH_TOLD}        {ANEW.format(indent=' ' * 8)}"


class KeepsTheContainerToItself(SharedSqlLie):
    """Lie: the connection of the destination keeps its locks when its transaction has ended."""

    kills = "S-SQL-FORK-15"
    file = "publishing.py"
    line = SETS_UP
    lie = f'{SETS_UP}        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()\n'
