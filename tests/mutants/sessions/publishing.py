"""Mutants of the suite `publishing`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class RepairsCutTheFileItself(SourceLie):
    """Lie: a torn tail is cut off in its place."""

    kills = "S-JSONL-PUB-01"
    file = "opening.py"
    line = "info, hold = await _repaired(files, scan)\n        holds.append(hold)"
    lie = """await files.truncate_file(scan.info.path, scan.size)
        info = await look_again(files, scan.info.path)"""


class TemporaryNamesAreShort(SourceLie):
    """Lie: the random part of a temporary name has 4 digits."""

    kills = "S-JSONL-PUB-01"
    file = "publishing.py"
    line = "token_hex(8)"
    lie = "token_hex(2)"


class TemporaryFilesLieElsewhere(SourceLie):
    """Lie: temporary files stand in the directory above that of the destination."""

    kills = "S-JSONL-PUB-01"
    file = "publishing.py"
    line = 'self._draft = f"{path}.{token_hex(8)}.tmp"'
    lie = (
        "name = path.rpartition('/')[2]\n"
        "        self._draft = files.join_path(_parent(files, self._directory), f'{name}.{token_hex(8)}.tmp')"
    )


class NewSessionsAreRenamedWithoutALook(SourceLie):
    """Lie: a new session takes the place of whatever stands there."""

    kills = "S-JSONL-PUB-01"
    file = "publishing.py"
    line = "self._files.publish_file(self._draft, self.path)"
    lie = "self._files.rename_file(self._draft, self.path)"


class ReplacingIsCopying(SourceLie):
    """Lie: a repaired or upgraded file is written over the old one."""

    kills = "S-JSONL-PUB-02"
    file = "publishing.py"
    line = "await self._files.rename_file(self._draft, self.path)"
    lie = (
        "await self._files.write_file(self.path, await self._files.read_all(self._draft))\n"
        "            await self._files.remove_file(self._draft)"
    )


class PlacesAreHeldByEmptyFiles(SourceLie):
    """Lie: a new session's place is held by an empty file while its content is on the way."""

    kills = "S-JSONL-PUB-02"
    file = "publishing.py"
    line = "await settled(self._files.publish_file(self._draft, self.path))"
    lie = (
        "await self._files.write_file(self.path, b'')\n"
        "            await self._files.sync_file(self.path)\n"
        "            await self._files.remove_file(self.path)\n"
        "            await settled(self._files.publish_file(self._draft, self.path))"
    )


class DirectoriesAreNotSynced(SourceLie):
    """Lie: nobody waits for the entry of a new session in its directory."""

    kills = "S-JSONL-PUB-06"
    file = "publishing.py"
    line = 'await _synced(self._files.sync_dir(self._directory), "sync_dir")'
    lie = "assert self._directory"
