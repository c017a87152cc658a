"""Mutants of the suite `file_leftovers`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SourceLie, SqlLie


class DirectoriesStay(SourceLie):
    """Lie: a directory that was made for a session stays when the session is not made."""

    kills = "S-FORK-FAIL-02"
    file = "publishing.py"
    line = "await _tried(self._files.remove_dir(directory))"
    lie = "assert directory"


class OnlyTheLastDirectoryGoes(SourceLie):
    """Lie: of the directories that were made, the root among them, one is taken away."""

    kills = "S-FORK-FAIL-02"
    file = "publishing.py"
    line = "for directory in reversed(self._made_directories):"
    lie = "for directory in self._made_directories[-1:]:"


class CancelledCallsAreNotCleanedUp(SourceLie):
    """Lie: cleanup is for errors."""

    kills = "S-FORK-FAIL-02"
    file = "publishing.py"
    line = "if error is not None:"
    lie = "if isinstance(error, Exception):"


class DirectoriesGoWithAllThatIsInThem(SourceLie):
    """Lie: a directory that was made is removed with whatever others have put into it."""

    kills = "S-FORK-FAIL-02"
    file = "publishing.py"
    line = "await _tried(self._files.remove_dir(directory))"
    lie = """for info in await self._files.list_dir(directory) if await self._files.exists(directory) else ():
                await _tried(self._files.remove_file(info.path))
            await _tried(self._files.remove_dir(directory))"""


class APublishedFileStaysWhenOpeningItFails(SourceLie):
    """Lie: what was published is not taken back any more."""

    kills = "S-FORK-FAIL-08"
    file = "publishing.py"
    line = "self._published = (await self._info(self._draft)).identity"
    lie = "self._published = None if await self._info(self._draft) else None"


class AFailingSecondScanIsNotCleanedUp(SourceLie):
    """Lie: what fails in reading the source, and not in writing, leaves what was written."""

    kills = "S-FORK-FAIL-08"
    file = "publishing.py"
    line = "if error is not None:"
    lie = "if error is not None and getattr(error, 'operation', None) not in ('read_line', 'open_line_reader'):"


class TheDirectoryOfTheDatabasesStays(SqlLie):
    """Lie: a directory that was made for a database stays."""

    kills = "S-FORK-FAIL-02"
    file = "groundwork.py"
    line = "directory.rmdir()"
    lie = "directory.exists()"


class AnEmptyContainerStays(SharedSqlLie):
    """Lie: a container that was made for a session stays when the session is not made."""

    kills = "S-FORK-FAIL-02"
    file = "groundwork.py"
    line = "await in_thread(self._remove_container, self._container)"
    lie = "self._container = None"
