"""Mutants of the suite `legacy_upgrade_failures`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class ResultShowsTheUsageRow(SourceLie):
    """Lie: the result counts the usage row among the writes."""

    kills = "S-V3-21"
    file = "upgrade.py"
    line = "seqs=self._placement.seqs[1:]"
    lie = "seqs=self._placement.seqs"


class FormIsLeftBeforeTheFile(SourceLie):
    """Lie: a session whose upgrade fails takes itself for one of format 4."""

    kills = "S-V3-21"
    file = "storage.py"
    line = "        info, hold = await upgrade.publish(self._files, self._state)"
    lie = "        self._legacy = None\n        info, hold = await upgrade.publish(self._files, self._state)"


class StateBeforeTheFile(SourceLie):
    """Lie: the writes of an upgrade are applied before it is published."""

    kills = "S-V3-21"
    file = "storage.py"
    line = "        info, hold = await upgrade.publish(self._files, self._state)"
    lie = "        upgrade.apply(self._state)\n        info, hold = await upgrade.publish(self._files, self._state)"


class DraftsAreLeft(SourceLie):
    """Lie: the temporary file of a failed publication stays."""

    kills = "S-V3-21"
    file = "publishing.py"
    line = "            await _tried(self._files.remove_file(self._draft))"
    lie = "            pass"


class DirectoryFailsTheUpgrade(SourceLie):
    """Lie: an upgrade whose directory cannot be synced is reported as failed."""

    kills = "S-V3-21"
    file = "publishing.py"
    line = "            with suppress(FileError):\n                await self._files.sync_dir(self._directory)"
    lie = '            with file_failures("sync_dir"):\n                await self._files.sync_dir(self._directory)'


class UpgradesAreCutOff(SourceLie):
    """Lie: a cancelled upgrade stops where it is."""

    kills = "S-V3-21"
    file = "storage.py"
    line = "                return await settled(self._upgrade(self._legacy, prepared))"
    lie = "                return await self._upgrade(self._legacy, prepared)"
