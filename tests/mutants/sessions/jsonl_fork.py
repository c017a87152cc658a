"""Mutants of the suite `jsonl_fork`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

CLOSED_SOURCE = "            return ForkSource(named.path, named.id, named.cwd, None)"
OPEN_SOURCE = "if session is None or storage is None or storage.path != named.path:"


class LocksItsSource(SourceLie):
    """Lie: a lock file stands beside a source while it is looked at."""

    kills = "S-JSONL-FORK-01"
    file = "repo.py"
    line = CLOSED_SOURCE
    lie = (
        '            await self._files.write_file(f"{named.path}.lock", b"")\n'
        '            await self._files.remove_file(f"{named.path}.lock")\n'
        "            return ForkSource(named.path, named.id, named.cwd, None)"
    )


class SyncsASourceToFork(SourceLie):
    """Lie: a source is synced before it is read, for which it is opened as one that was written."""

    kills = "S-JSONL-FORK-01"
    file = "repo.py"
    line = CLOSED_SOURCE
    lie = (
        "            await self._files.sync_file(named.path)\n"
        "            return ForkSource(named.path, named.id, named.cwd, None)"
    )


class RepairsItsSource(SourceLie):
    """Lie: a closed source is opened for the fork, which cuts off a torn tail."""

    kills = "S-JSONL-FORK-01"
    file = "repo.py"
    line = CLOSED_SOURCE
    lie = (
        "            opened = await open_file(self._files, named.path, named.id, named.cwd, self._id_generator)\n"
        "            await opened.hold.close()\n"
        "            return ForkSource(named.path, named.id, named.cwd, None)"
    )


class RefusesTornSources(SourceLie):
    """Lie: a source whose last line is torn has to be opened before it is forked."""

    kills = "S-JSONL-FORK-02"
    file = "fork.py"
    line = "    copies = learned.select()\n"
    lie = (
        "    if scan.torn:\n"
        '        raise SessionFileChanged(source.path, "its last line is torn")\n'
        "    copies = learned.select()\n"
    )


class TakesTornTailsForLines(SourceLie):
    """Lie: what stands behind the last LF is a line like any other."""

    kills = "S-JSONL-FORK-02"
    file = "scanning.py"
    line = "        if read is None or not read[1]:"
    lie = "        if read is None:"


class RepairsTornSources(SourceLie):
    """Lie: the torn tail of a closed source is cut off for its fork."""

    kills = "S-JSONL-FORK-02"
    file = "fork.py"
    line = "    copies = learned.select()\n"
    lie = (
        "    if scan.torn:\n        await files.truncate_file(source.path, scan.size)\n    copies = learned.select()\n"
    )


class FindsOpenSourcesByName(SourceLie):
    """Lie: a source is the open session of its id and cwd, wherever the metadata says that it lies."""

    kills = "S-JSONL-FORK-03"
    file = "repo.py"
    line = OPEN_SOURCE
    lie = "if session is None or storage is None:"


class ComparesPathsAsWritten(SourceLie):
    """Lie: an open source is known by the path as its metadata has it, links and all."""

    kills = "S-JSONL-FORK-03"
    file = "repo.py"
    line = "return Named(metadata.id, metadata.cwd, self._files.real_path(metadata.path), key)"
    lie = "return Named(metadata.id, metadata.cwd, self._files.absolute_path(metadata.path), key)"


class FindsOpenSourcesByPath(SourceLie):
    """Lie: whatever the metadata says besides, the session that has the path open is the source."""

    kills = "S-JSONL-FORK-03"
    file = "repo.py"
    line = "        if session is None or storage is None or storage.path != named.path:"
    lie = (
        "        for key, other in self._open_files.items():\n"
        "            if other.path == named.path:\n"
        "                return ForkSource(named.path, key[1], key[0], await other.boundary())\n"
        "        if session is None or storage is None or storage.path != named.path:"
    )
