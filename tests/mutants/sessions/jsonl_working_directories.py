"""Mutants of the suite `jsonl_working_directories`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

ABSOLUTE = "        return self._absolute_path(cwd)\n"


class KeepsTheSpelling(SourceLie):
    """Lie: a working directory is stored and compared as it was given."""

    kills = "S-REPO-16"
    file = "repo.py"
    line = ABSOLUTE
    lie = "        return cwd\n"


class FollowsLinks(SourceLie):
    """Lie: a working directory is made real, with its links followed."""

    kills = "S-REPO-16"
    file = "repo.py"
    line = ABSOLUTE
    lie = "        return self._files.real_path(cwd)\n"


class ListsTheSessionDirectory(SourceLie):
    """Lie: `list(cwd=…)` gives all that lies in the session directory of the cwd."""

    kills = "S-REPO-16"
    file = "catalog.py"
    line = "if cwd in (None, metadata.cwd)]"
    lie = "if metadata is not None]"


class ListsWhatWasAsked(SourceLie):
    """Lie: `list` compares the working directory as it was given; `create` makes it absolute."""

    kills = "S-REPO-16"
    file = "repo.py"
    line = "None if cwd is None else self._absolute(cwd)"
    lie = "cwd"


class ReservesTheRealDirectory(SourceLie):
    """Lie: a reservation is for the directory that the cwd leads to."""

    kills = "S-OWN-10"
    file = "repo.py"
    line = "        key = cwd, session_id\n"
    lie = "        key = self._files.real_path(cwd), session_id\n"


class LooksAtTheDirectoryFirst(SourceLie):
    """Lie: a create asks for its working directory before it reserves."""

    kills = "S-OWN-10"
    file = "repo.py"
    line = "        parent_session_id = check_parent_session_id(parent_session_id)\n"
    lie = (
        "        parent_session_id = check_parent_session_id(parent_session_id)\n"
        "        await self._catalog.sessions(cwd)\n"
    )


class OneIdEverywhere(SourceLie):
    """Lie: an id that is open in one working directory is in use in all of them."""

    kills = "S-OWN-11"
    file = "repo.py"
    line = "        key = cwd, session_id\n"
    lie = '        key = "", session_id\n'


class OneIdADirectory(SourceLie):
    """Lie: an id is taken when its file stands in the session directory, whatever cwd it has."""

    kills = "S-OWN-11"
    file = "catalog.py"
    line = "            return (await read_bounded_header(self._files, path)).cwd == cwd\n"
    lie = "            return bool(await read_bounded_header(self._files, path))\n"
