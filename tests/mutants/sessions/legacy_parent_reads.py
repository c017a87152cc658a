"""Mutants of the suite `legacy_parent_reads`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class ParentsAreReadWhole(SourceLie):
    """Lie: the whole parent is read for its first line."""

    kills = "S-V3-18"
    file = "catalog.py"
    line = "            return (await read_bounded_header(files, parent)).id, None"
    lie = '            return read_header((await files.read_all(parent)).partition(b"\\n")[0], parent).id, None'


class LargerReads(SourceLie):
    """Lie: a megabyte is read of each file."""

    kills = "S-V3-18"
    file = "catalog.py"
    line = "files.read_bytes(path, CHUNK)"
    lie = "files.read_bytes(path, 16 * CHUNK)"


class ParentsOfAnyKind(SourceLie):
    """Lie: whatever stands at the path of the parent is read."""

    kills = "S-V3-18"
    file = "catalog.py"
    line = '        if (await files.file_info(parent)).kind == "file":'
    lie = "        if await files.exists(parent):"


class MissingParentsHideTheirChildren(SourceLie):
    """Lie: a failure of the parent is one of the file that names it."""

    kills = "S-V3-18"
    file = "catalog.py"
    line = "    except (CorruptSession, UnsupportedVersion, FileError):\n        pass"
    lie = "    except (CorruptSession, UnsupportedVersion):\n        pass"
