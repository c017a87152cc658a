"""Mutants of the suite `legacy_upgrade`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class NoNextSequenceInTheHeader(SourceLie):
    """Lie: the upgraded header has no `nextSeq`."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = "        yield header_of(self._legacy.metadata, state.next_seq).line()"
    lie = "        yield header_of(self._legacy.metadata, None).line()"


class ClearingLabelsAreNotWritten(SourceLie):
    """Lie: labels that clear are not written."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = "        for write, text in self._legacy.derived:"
    lie = "        for write, text in [row for row in self._legacy.derived if row[1] is not None]:"


class CallersLineIsTheirOwn(SourceLie):
    """Lie: the usage row stands on a line of its own."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = "        yield transaction_line(self._records)"
    lie = "        yield transaction_line(self._records[:1])\n        yield transaction_line(self._records[1:])"


class ImportIsNoAdjustment(SourceLie):
    """Lie: the usage row of the import is no adjustment."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = '            "adjustment": True,'
    lie = '            "adjustment": False,'


class ImportNamesAnEntry(SourceLie):
    """Lie: the usage row of the import names an entry."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = '            "adjustment": True,'
    lie = '            "adjustment": True,\n            "entryId": "import",'


class ImportOfNothing(SourceLie):
    """Lie: the usage row of the import has no tokens."""

    kills = "S-V3-19"
    file = "upgrade.py"
    line = '            "usage": self.usage,'
    lie = '            "usage": {**self.usage, "totalTokens": 0},'


class UpgradesInPlace(SourceLie):
    """Lie: the upgrade removes the v3 file before it puts the new one in its place."""

    kills = "S-V3-19"
    file = "publishing.py"
    line = "            await self._files.rename_file(self._draft, self.path)"
    lie = "            await self._files.remove_file(self.path)\n" + line


class OtherIdsAreWritten(SourceLie):
    """Lie: the upgrade writes other ids than those that were shown."""

    kills = "S-V3-20"
    file = "upgrade.py"
    line = '            yield entry.text + b"\\n"'
    lie = '            yield entry.text.replace(entry.id.encode(), entry.id[::-1].encode()) + b"\\n"'


class LabelsNameOtherEntries(SourceLie):
    """Lie: the labels that the upgrade writes name other ids than those that were shown."""

    kills = "S-V3-20"
    file = "upgrade.py"
    line = 'yield row_text("value", write.seq, write.namespace, write.key, text)'
    lie = 'yield row_text("value", write.seq, write.namespace, write.key.replace("-7", "-7f"), text)'
