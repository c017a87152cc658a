"""Mutants of the suite `legacy_parents`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class IdAndPathOfTheParent(SourceLie):
    """Lie: a session has both the id of its parent and the legacy path."""

    kills = "S-V3-17"
    file = "catalog.py"
    line = "            return (await read_bounded_header(files, parent)).id, None"
    lie = "            return (await read_bounded_header(files, parent)).id, header.parent_session"


class ParentsAreNotRead(SourceLie):
    """Lie: the path of the parent is all that is ever known."""

    kills = "S-V3-17"
    file = "catalog.py"
    line = '        if (await files.file_info(parent)).kind == "file":'
    lie = "        if False:"


class PathIsLostInTheUpgrade(SourceLie):
    """Lie: the upgraded header has no legacy path."""

    kills = "S-V3-17"
    file = "headers.py"
    line = "        legacy_parent_session_path=metadata.legacy_parent_session_path,"
    lie = "        legacy_parent_session_path=None,"


class LegacyParentsOnly(SourceLie):
    """Lie: a parent in format 4 is not recognised."""

    kills = "S-V3-17"
    file = "catalog.py"
    line = "            return (await read_bounded_header(files, parent)).id, None"
    lie = (
        "            found = await read_bounded_header(files, parent)\n"
        "            return (found.id, None) if isinstance(found, LegacyHeader) else (None, header.parent_session)"
    )
