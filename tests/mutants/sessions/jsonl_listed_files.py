"""Mutants of the suite `jsonl_listed_files`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

CONSIDERED = 'if info.kind == "file" and info.name.endswith(SUFFIX)'


class EndingsAreComparedWithoutCase(SourceLie):
    """Lie: `.JSONL` is the ending of a session file."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = CONSIDERED
    lie = 'if info.kind == "file" and info.name.lower().endswith(SUFFIX)'


class TemporaryFilesAreListed(SourceLie):
    """Lie: whatever has `.jsonl` in its name is a session file."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = CONSIDERED
    lie = 'if info.kind == "file" and SUFFIX in info.name'


class EveryFileIsConsidered(SourceLie):
    """Lie: every file in a session directory is looked at."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = CONSIDERED
    lie = 'if info.kind == "file"'


class DirectoriesInsideAreSearched(SourceLie):
    """Lie: directories in a session directory are session directories too."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = "        for count, info in enumerate(await self._in_real(directory), 1):\n"
    lie = """        found = await self._in_real(directory)
        for inner in [info for info in found if info.kind == "directory"]:
            found += await self._in_real(inner.path)
        for count, info in enumerate(found, 1):
"""


class EveryDirectoryIsSearched(SourceLie):
    """Lie: every directory under the root holds sessions."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = """        for name in await self._directories() if cwd is None else [session_directory_name(cwd)]:
            found += [metadata async for metadata in self._in_directory(name) if cwd in (None, metadata.cwd)]
"""
    lie = """        for info in await self._in(self._root):
            for one in await self._in_real(info.path):
                metadata = await self._recognised(one) if one.name.endswith(SUFFIX) and one.kind == "file" else None
                found += [metadata] if metadata and cwd in (None, metadata.cwd) else []
"""


class TheRootIsSearchedToo(SourceLie):
    """Lie: session files beside the session directories are listed."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = "        found: list[SessionMetadata] = []\n"
    lie = """        found: list[SessionMetadata] = []
        for one in await self._in(self._root):
            metadata = await self._recognised(one) if one.name.endswith(SUFFIX) and one.kind == "file" else None
            found += [metadata] if metadata else []
"""


class ADirectoryThatIsNoneFailsTheList(SourceLie):
    """Lie: a list fails at a file that is named like a session directory."""

    kills = "S-JSONL-FMT-17"
    file = "catalog.py"
    line = "        return await self._in(real, _PASSED_OVER)\n"
    lie = "        return await self._in(real, ())\n"
