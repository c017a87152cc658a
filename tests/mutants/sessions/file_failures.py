"""Mutants of the suite `file_failures`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SourceLie, SqlLie


class AFailedReadLeaksOut(SourceLie):
    """Lie: an error of the file capability that meets a scan in the middle is raised as it is."""

    kills = "S-ERR-02"
    file = "scanning.py"
    line = 'raise store_error(error, "read_line") from error'
    lie = "raise"


class AFailedClosingOfAReaderLeaksOut(SourceLie):
    """Lie: a reader that cannot be closed raises the error of the file capability."""

    kills = "S-ERR-02"
    file = "scanning.py"
    line = 'with file_failures("close"):'
    lie = "if True:"


class FailuresForgetWhereTheyComeFrom(SourceLie):
    """Lie: the class of the store is raised without the error of the file capability."""

    kills = "S-ERR-02"
    file = "failing.py"
    line = """    try:
        yield
    except FileError as error:
        raise store_error(error, operation) from error"""
    lie = """    try:
        yield
    except FileError as error:
        raise store_error(error, operation) from None"""


class FailuresAllHaveOneCode(SourceLie):
    """Lie: whatever went wrong is called unknown."""

    kills = "S-ERR-02"
    file = "failing.py"
    line = "return StoreIOError(operation, error.path, error.code)"
    lie = 'return StoreIOError(operation, error.path, "unknown")'


class AnUnreadableRootIsAnEmptyStore(SourceLie):
    """Lie: a directory that cannot be listed for whatever reason holds nothing."""

    kills = "S-ERR-02"
    file = "catalog.py"
    line = "if error.code in passed_over:"
    lie = "if error is not None:"


class AFailedAppendIsTakenForDone(SourceLie):
    """Lie: a commit whose append failed goes on."""

    kills = "S-ERR-02"
    file = "storage.py"
    line = 'raise store_error(error, "append_file") from error\n            raise'
    lie = "return apply()\n            raise"


class ADeleteThatFailedSaysNotFound(SourceLie):
    """Lie: a file that cannot be removed is said to be missing."""

    kills = "S-ERR-02"
    file = "repo.py"
    line = 'if error.code != "not_found":\n                    raise'
    lie = "assert error.code"


class CancelledScansFail(SourceLie):
    """Lie: a cancellation that meets a scan in the middle is wrapped in a class of the store."""

    kills = "S-ERR-03"
    file = "scanning.py"
    line = 'except FileError as error:\n            raise store_error(error, "read_line") from error'
    lie = "except BaseException as error:\n            raise SessionFileChanged(self._path, str(error)) from error"


class CancelledDeletesReturn(SourceLie):
    """Lie: a delete that is cancelled while it reads the header goes on and returns."""

    kills = "S-ERR-03"
    file = "repo.py"
    line = "await check_identity(self._files, named.path, named.id, named.cwd)"
    lie = """try:
                await check_identity(self._files, named.path, named.id, named.cwd)
            except __import__("asyncio").CancelledError:
                pass"""


class SqliteErrorsLoseTheirCause(SqlLie):
    """Lie: what SQLite said is lost."""

    kills = "S-ERR-02"
    file = "failing.py"
    line = "raise store_error(error, operation, path) from error"
    lie = "raise store_error(error, operation, path) from None"


class AFailingCloseSpeaksForItself(SharedSqlLie):
    """Lie: an error of SQLite comes out of `close` as it is."""

    kills = "S-ERR-02"
    file = "storage.py"
    line = """        with database_failures("close", self.path):
            await"""
    lie = """        if self.path:
            await"""
