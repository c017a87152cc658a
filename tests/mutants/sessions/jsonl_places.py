"""Mutants of the suite `jsonl_places`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class IdsAreJoinedToPaths(SourceLie):
    """Lie: an id stands in the name of its file as it is."""

    kills = "S-REPO-05"
    file = "naming.py"
    line = 'return f"{_stamp(created_at)}_{file_name_ending(session_id)}"'
    lie = 'return f"{_stamp(created_at)}_{session_id}{SUFFIX}"'


class OnlySlashesAreEncoded(SourceLie):
    """Lie: of an id only the separator of directories is encoded."""

    kills = "S-REPO-05"
    file = "naming.py"
    line = 'return f"{_stamp(created_at)}_{file_name_ending(session_id)}"'
    lie = 'return f"{_stamp(created_at)}_" + session_id.replace("/", "%2F") + SUFFIX'


class ReadsTheNextStorageVersion(SourceLie):
    """Lie: a file of storage version 2 is read as if it were 1."""

    kills = "S-REPO-08"
    file = "headers.py"
    line = "    if storage_version != STORAGE_VERSION:"
    lie = "    if storage_version > STORAGE_VERSION + 1:"


class DeletesWhateverVersion(SourceLie):
    """Lie: `delete` removes the file without a look at its header."""

    kills = "S-REPO-08"
    file = "repo.py"
    line = "            await check_identity(self._files, named.path, named.id, named.cwd)\n"
    lie = ""


class TrustsThePath(SourceLie):
    """Lie: a session is opened and deleted wherever its metadata says that it lies."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = "if str(PurePath(named.path).parent) != directory or not named.path.endswith(SUFFIX):"
    lie = "if not named.path.endswith(SUFFIX):"


class AnySessionDirectoryWillDo(SourceLie):
    """Lie: it is enough that a file lies in some session directory under the root."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = "if str(PurePath(named.path).parent) != directory or not named.path.endswith(SUFFIX):"
    lie = "if PurePath(named.path).parent.parent != PurePath(directory).parent:"


class PathsAreNotFollowed(SourceLie):
    """Lie: a link is judged by the place where it stands itself."""

    kills = "S-REPO-09"
    file = "repo.py"
    line = "return Named(metadata.id, metadata.cwd, self._files.real_path(metadata.path), key)"
    lie = "return Named(metadata.id, metadata.cwd, self._files.absolute_path(metadata.path), key)"


class TheDirectoryStandsForTheCwd(SourceLie):
    """Lie: the cwd in a header is not compared, as the file lies in the directory of the cwd."""

    kills = "S-REPO-10"
    file = "headers.py"
    line = 'for field, stored, named in (("id", header.id, session_id), ("cwd", header.cwd, cwd)):'
    lie = 'for field, stored, named in (("id", header.id, session_id),):'


class TheNameStandsForTheId(SourceLie):
    """Lie: the id in a header is not compared, as it stands in the name of the file."""

    kills = "S-REPO-10"
    file = "headers.py"
    line = 'for field, stored, named in (("id", header.id, session_id), ("cwd", header.cwd, cwd)):'
    lie = 'for field, stored, named in (("cwd", header.cwd, cwd),):'


class DeletesWhoeverItIs(SourceLie):
    """Lie: `delete` does not ask whose file it removes."""

    kills = "S-REPO-10"
    file = "repo.py"
    line = "            await check_identity(self._files, named.path, named.id, named.cwd)\n"
    lie = ""


class IdsAreFoundByTheirEnd(SourceLie):
    """Lie: an id is taken when a file's name ends with it."""

    kills = "S-OWN-14"
    file = "naming.py"
    line = "late or file_name[_TIME_AND_DASH:] == ending"
    lie = 'file_name.endswith(f"_{ending}")'


class IdsAreFoundByTheirBeginning(SourceLie):
    """Lie: an id is taken when what follows the time in a file's name begins with it."""

    kills = "S-OWN-14"
    file = "naming.py"
    line = "late or file_name[_TIME_AND_DASH:] == ending"
    lie = "late or file_name[_TIME_AND_DASH:].startswith(ending.removesuffix(SUFFIX))"


class BrokenFilesTakeNoId(SourceLie):
    """Lie: a file of the id's name whose header is broken leaves the id free."""

    kills = "S-OWN-14"
    file = "catalog.py"
    line = "        except (CorruptSession, UnsupportedVersion):\n            return True"
    lie = "        except (CorruptSession, UnsupportedVersion):\n            return False"
