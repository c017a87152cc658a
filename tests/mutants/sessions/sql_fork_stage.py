"""Mutants of the suite `sql_fork_stage`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie

DIRECTORY = "stage_directory=self._staging_directory or destination.directory,"
NAME = 'f".fork-stage-{token_hex(8)}.tmp"'
REMOVED = "        await settled(in_thread(stage.remove))\n"
UNLINKED = "        for suffix in _SIDE_FILES:\n"


class IgnoresTheStagingDirectory(SqlLie):
    """Lie: a stage always lies beside its destination."""

    kills = "S-SQL-FORK-06"
    file = "repo.py"
    line = DIRECTORY
    lie = "stage_directory=destination.directory,"


class StagesAmongOtherTemporaryFiles(SharedSqlLie):
    """Lie: without `staging_dir` a stage lies where the system puts temporary files."""

    kills = "S-SQL-FORK-06"
    file = "repo.py"
    line = DIRECTORY
    lie = 'stage_directory=self._staging_directory or __import__("tempfile").gettempdir(),'


class NamesAStageLikeASession(SqlLie):
    """Lie: a stage has the name of a database."""

    kills = "S-SQL-FORK-06"
    file = "stage.py"
    line = NAME
    lie = 'f".fork-stage-{token_hex(8)}.sqlite"'


class HidesAStageUnderAnotherName(SharedSqlLie):
    """Lie: the name of a stage starts otherwise."""

    kills = "S-SQL-FORK-06"
    file = "stage.py"
    line = NAME
    lie = 'f".stage-of-fork-{token_hex(8)}.tmp"'


class CountsCharacters(SqlLie):
    """Lie: the bytes of a batch are the characters of its payloads."""

    kills = "S-SQL-FORK-07"
    file = "source_entries.py"
    line = "octet_length(entry.payload)"
    lie = "length(entry.payload)"


class RemovesTheStageOfAGoodForkOnly(SqlLie):
    """Lie: the stage of a fork that fails stays."""

    kills = "S-SQL-FORK-16"
    file = "fork.py"
    line = f"    finally:\n{REMOVED}"
    lie = f"    except BaseException:\n        raise\n    else:\n{REMOVED}"


class LeavesAnEmptyStage(SharedSqlLie):
    """Lie: a stage into which nothing was copied stays."""

    kills = "S-SQL-FORK-16"
    file = "stage.py"
    line = UNLINKED
    lie = "        for suffix in _SIDE_FILES if self.entries else ():\n"


class KeepsACompleteStage(SharedSqlLie):
    """Lie: a complete stage stays for the next fork."""

    kills = "S-SQL-FORK-16"
    file = "stage.py"
    line = UNLINKED
    lie = "        for suffix in _SIDE_FILES if not self.rows else ():\n"
