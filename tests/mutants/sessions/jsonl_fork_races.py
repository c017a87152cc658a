"""Mutants of the suite `jsonl_fork_races`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

PUBLISHES = "    await probe.before_publish()\n"
CHECKSUM = "        if scan.checksum != first.checksum:\n"


class CommitsSpoilTheFork(SourceLie):
    """Lie: a source that has grown while it was copied has changed."""

    kills = "S-FORK-ORD-04"
    file = "fork.py"
    line = PUBLISHES
    lie = (
        "    if (await files.file_info(source.path)).size != scan.size:\n"
        '        raise SessionFileChanged(source.path, "it has grown")\n'
        f"{PUBLISHES}"
    )


class TakesCommitsThatComeInTime(SourceLie):
    """Lie: the boundary of an open source is taken again when the copying begins."""

    kills = "S-FORK-ORD-04"
    file = "fork.py"
    line = "    if source.boundary is None:\n        return LineScan"
    lie = "    if source.boundary is not None:\n        return LineScan"


class ReadsToTheEndOfTheFile(SourceLie):
    """Lie: the second scan goes to the end of the file."""

    kills = "S-JSONL-FORK-07"
    file = "fork.py"
    line = 'SessionFileChanged(path, "it is gone"), end=first.size)'
    lie = 'SessionFileChanged(path, "it is gone"))'


class JudgesWhatLiesBehind(SourceLie):
    """Lie: the first scan of an open source goes to the end of the file, and what lies behind the boundary is left out
    later.
    """

    kills = "S-JSONL-FORK-07"
    file = "fork.py"
    line = "end=source.boundary.size, "
    lie = ""


class DoesNotCompareTheScans(SourceLie):
    """Lie: the second scan copies whatever it meets."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = CHECKSUM
    lie = "        if scan.size != first.size:\n"


class ComparesTheNumberOfLines(SourceLie):
    """Lie: two scans of as many lines are two scans of one source."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = CHECKSUM
    lie = "        if scan.number != first.number:\n"


class AMissingSourceIsCorruption(SourceLie):
    """Lie: a source that goes away between the scans is called corrupt."""

    kills = "S-FORK-ORD-08"
    file = "fork.py"
    line = 'SessionFileChanged(path, "it is gone"), end=first.size)'
    lie = '__import__("forkstore").CorruptSession(path, None, "it is gone"), end=first.size)'
