"""Mutants of the suite `legacy_untouched`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class CutsTornTailsOfV3(SourceLie):
    """Lie: a torn tail of a v3 file is cut when it is opened."""

    kills = "S-V3-02"
    file = "opening.py"
    line = "    derived = await _normalize(files, scan, index, state)"
    lie = line + "\n    if scan.torn:\n        info, hold = await _repaired(files, scan)"


class EmptyCommitsUpgrade(SourceLie):
    """Lie: an empty commit upgrades a v3 file."""

    kills = "S-V3-02"
    file = "storage.py"
    line = "            if self._legacy is not None and prepared:"
    lie = "            if self._legacy is not None:"


class LocksWithAFile(SourceLie):
    """Lie: an open session has a lock file beside its own."""

    kills = "S-V3-02"
    file = "opening.py"
    line = "            header = read_header(await scan.first_line(), path)"
    lie = (
        '            await files.write_file(f"{path}.lock", b"")\n'
        "            header = read_header(await scan.first_line(), path)"
    )


class OpensForWritingOnClose(SourceLie):
    """Lie: closing opens the file for writing, and writes nothing."""

    kills = "S-V3-02"
    file = "storage.py"
    line = "                await self._hold.close()"
    lie = '                await self._files.append_file(self.path, b"")\n                await self._hold.close()'


class SyncsItsSource(SourceLie):
    """Lie: a fork syncs its source before it reads it."""

    kills = "S-V3-02"
    file = "fork.py"
    line = "    async with _first_scan(files, source) as scan:"
    lie = "    await files.sync_file(source.path)\n    async with _first_scan(files, source) as scan:"
