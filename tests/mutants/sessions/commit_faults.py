"""Mutants of the suite `commit_faults`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SourceLie, SqlLie

_APPEND = "await self._files.append_file(self.path, line)"


class TheStateIsAheadOfTheFile(SourceLie):
    """Lie: a commit shows before its line is written, also when that fails then."""

    kills = "S-TXN-02"
    file = "storage.py"
    line = _APPEND
    lie = f"apply = (lambda done: lambda: done)(apply())\n            {_APPEND}"


class AFailedLineStaysInTheFile(SourceLie):
    """Lie: what a failed append has left is forgotten, complete or not."""

    kills = "S-TXN-02"
    file = "storage.py"
    line = "except BaseException as error:\n"
    lie = (
        "except BaseException as error:\n"
        "            self._left_over, self._size = 0, (await self._files.file_info(self.path)).size\n"
    )


class AFailedCommitUsesUpItsSequences(SourceLie):
    """Lie: the sequences of a commit that failed are not given again."""

    kills = "S-TXN-02"
    file = "storage.py"
    line = "timestamp = self._clock.read()\n        if prepared:"
    lie = "timestamp = self._clock.read()\n        self._state.next_seq += len(prepared)\n        if prepared:"


class AFailedCommitIsTheLast(SourceLie):
    """Lie: after one failed append every commit is refused."""

    kills = "S-TXN-04"
    file = "storage.py"
    line = "if isinstance(error, FileError):"
    lie = 'self._changed = "a commit has failed"\n            if isinstance(error, FileError):'


class TheNextCommitGoesOnTheTornLine(SourceLie):
    """Lie: what a failed append has left is not cut off before the next one."""

    kills = "S-JSONL-TAIL-07"
    file = "storage.py"
    line = "await self._files.truncate_file(self.path, self._size)"
    lie = "await self._files.sync_file(self.path)"


class AFailedLineThatIsCompleteCounts(SourceLie):
    """Lie: a failed line that stands in the file up to its end is kept."""

    kills = "S-JSONL-TAIL-07"
    file = "storage.py"
    line = "await self._files.truncate_file(self.path, self._size)"
    lie = (
        "if (await self._files.file_info(self.path)).size < self._size + self._left_over:\n"
        "                    await self._files.truncate_file(self.path, self._size)"
    )


class ClosingLeavesTheTornLine(SourceLie):
    """Lie: a failed line that could not be cut off at once is left when the session is closed."""

    kills = "S-JSONL-TAIL-07"
    file = "storage.py"
    line = "            if self._left_over:\n                    with suppress"
    lie = "            if self._left_over < 0:\n                    with suppress"


class AFullDiskIsTheEnd(SourceLie):
    """Lie: once the disk was full, the session takes no commits any more."""

    kills = "S-TXN-18"
    file = "storage.py"
    line = "if isinstance(error, FileError):"
    lie = (
        'if getattr(error, "code", None) == "no_space":\n'
        '                self._changed = "the disk was full"\n'
        "            if isinstance(error, FileError):"
    )


class AFullDiskIsAnUnknownFailure(SourceLie):
    """Lie: nobody is told that the disk is full."""

    kills = "S-TXN-18"
    file = "storage.py"
    line = 'raise store_error(error, "append_file") from error'
    lie = 'error.code = "unknown"\n                raise store_error(error, "append_file") from error'


class ACommitIsNoTransaction(SqlLie):
    """Lie: every row of a commit is written by itself."""

    kills = "S-TXN-02"
    file = "transactions.py"
    line = """    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")"""
    lie = """    try:
        yield"""


class AFullDatabaseIsAnUnknownFailure(SharedSqlLie):
    """Lie: nobody is told that there is no room for a database."""

    kills = "S-TXN-18"
    file = "failing.py"
    line = 'apsw.FullError: "no_space"'
    lie = 'apsw.FullError: "io_error"'
