"""Mutants of the suite `cleanup`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SourceLie, SqlLie


class ASecondCancellationStopsTheCleanup(SourceLie):
    """Lie: a second cancellation stops the cleanup of the first."""

    kills = "S-FORK-FAIL-06"
    file = "publishing.py"
    line = "await settled(self._take_back())"
    lie = "await self._take_back()"


class CleanupIsShieldedAndNotAwaited(SourceLie):
    """Lie: cleanup goes on in a task, and a caller that is cancelled again does not wait for it."""

    kills = "S-FORK-FAIL-06"
    file = "publishing.py"
    line = "await settled(self._take_back())"
    lie = "await __import__('asyncio').shield(self._take_back())"


class EachStepOfCleanupIsShieldedForItself(SourceLie):
    """Lie: the steps of the cleanup are shielded one by one, so that a cancellation falls between them."""

    kills = "S-FORK-FAIL-06"
    file = "publishing.py"
    line = (
        "async def _tried(call: Awaitable[None]) -> None:\n"
        '    """What fails in a clean-up is left as it is."""\n'
        "    with suppress(FileError):\n"
        "        await call"
    )
    lie = (
        "async def _tried(call: Awaitable[None]) -> None:\n"
        "    with suppress(FileError):\n"
        "        await settled(call)\n"
        "\n"
        "\n"
        "async def settled(work, outer=settled):\n"
        "    return await (work if '_take_back' in work.__qualname__ else outer(work))"
    )


class AFailingCleanupIsTheLastWord(SourceLie):
    """Lie: a temporary file that cannot be removed takes the place of the first error."""

    kills = "S-FORK-FAIL-07"
    file = "publishing.py"
    line = "await _tried(self._files.remove_file(self._draft))"
    lie = "with file_failures('remove_file'):\n                await self._files.remove_file(self._draft)"


class AReaderThatDoesNotCloseIsTheLastWord(SourceLie):
    """Lie: a reader that cannot be closed after a failed read takes the place of that failure."""

    kills = "S-FORK-FAIL-07"
    file = "scanning.py"
    line = "self._close() if error is None else self._close_after_failure()"
    lie = "self._close()"


class ADirectoryThatDoesNotGoIsTheLastWord(SourceLie):
    """Lie: a directory that cannot be taken away takes the place of the first error."""

    kills = "S-FORK-FAIL-07"
    file = "publishing.py"
    line = "await _tried(self._files.remove_dir(directory))"
    lie = "await self._files.remove_dir(directory)"


class TakingBackIsNotShielded(SqlLie):
    """Lie: a second cancellation ends the taking back of a database."""

    kills = "S-FORK-FAIL-06"
    file = "destinations.py"
    line = "await settled(self._take_all_back())"
    lie = "await self._take_all_back()"


class AFailureToCloseIsTheLastWord(SharedSqlLie):
    """Lie: a connection that was opened for a call that fails has to be closed without an error."""

    kills = "S-FORK-FAIL-07"
    file = "connect.py"
    line = """        with suppress(apsw.Error):
            connection.close()"""
    lie = """        connection.close()"""
