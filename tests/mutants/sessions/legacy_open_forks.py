"""Mutants of the suite `legacy_open_forks`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class OpenV3IsReadAsClosed(SourceLie):
    """Lie: an open v3 source is forked like a closed one."""

    kills = "S-V3-22"
    file = "repo.py"
    line = "        if session is None or storage is None or storage.path != named.path:"
    lie = "        if session is None or storage is None or storage.path != named.path or storage._legacy is not None:"


class ForksUpgradeTheirSource(SourceLie):
    """Lie: a fork of an open v3 source upgrades it."""

    kills = "S-V3-22"
    file = "storage.py"
    line = "                raise LegacySourceOpen(self._session_id)"
    lie = "                await settled(self._upgrade(self._legacy, []))"


class ImportedIsLegacy(SourceLie):
    """Lie: a source whose ledger has the row of an import is one in legacy form, as long as it is open."""

    kills = "S-V3-23"
    file = "storage.py"
    line = "            if self._legacy is not None:\n                raise LegacySourceOpen(self._session_id)"
    lie = (
        "            imported = any(b'v3-import' in row.text for row in self._state.usage_rows.values())\n"
        "            if self._legacy is not None or imported:\n"
        "                raise LegacySourceOpen(self._session_id)"
    )
