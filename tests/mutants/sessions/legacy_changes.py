"""Mutants of the suite `legacy_changes`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class SizesAreCompared(SourceLie):
    """Lie: a source of the same size is the same."""

    kills = "S-V3-27"
    file = "fork.py"
    line = "        if scan.checksum != first.checksum:"
    lie = "        if scan.size != first.size:"


class SecondScanToTheEnd(SourceLie):
    """Lie: the second scan goes to the end of the file."""

    kills = "S-V3-27"
    file = "fork.py"
    line = 'SessionFileChanged(path, "it is gone"), end=first.size)'
    lie = 'SessionFileChanged(path, "it is gone"))'


class ChangesAreCorruption(SourceLie):
    """Lie: a record that is broken in the second scan is corruption."""

    kills = "S-V3-27"
    file = "legacy/texts.py"
    line = (
        "            raise SessionFileChanged(self._path, "
        'f"line {position + _FIRST_RECORD} was good before: {fault}") from fault'
    )
    lie = (
        "            from forkstore.contract.errors import CorruptSession\n\n"
        "            raise CorruptSession(self._path, position + _FIRST_RECORD, str(fault)) from fault"
    )


class ShorterSourcesAreTaken(SourceLie):
    """Lie: a source that ends early in the second scan is forked as it is."""

    kills = "S-V3-27"
    file = "scanning.py"
    line = '            raise SessionFileChanged(self._path, f"it ends before byte {self._end}")'
    lie = "            return"
