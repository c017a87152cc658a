"""Mutants of the suite `commit_cancellation`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class ACancelledAppendComesLater(SourceLie):
    """Lie: a cancelled commit goes on behind the back of its caller, who is told too early."""

    kills = "S-TXN-17"
    file = "storage.py"
    line = "await (appending if len(line) <= self._inline_bytes else settled(appending))"
    lie = "await __import__('asyncio').shield(appending)"


class ACancelledCommitIsHalfDone(SourceLie):
    """Lie: a commit that is cancelled while its line is appended is in the file and not in the state."""

    kills = "S-TXN-17"
    file = "storage.py"
    line = """            appending = self._append(line, lambda: self._state.apply(prepared, placement, timestamp))
            # A call that never suspends cannot be cancelled; any other runs to its end, whoever is cancelled meanwhile.
            await (appending if len(line) <= self._inline_bytes else settled(appending))
"""
    lie = """            await settled(self._append(line, lambda: None))
            self._state.apply(prepared, placement, timestamp)
"""


class AnUpgradeIsShieldedUpToItsRenaming(SourceLie):
    """Lie: an upgrade that is cancelled behind its renaming has a new file and an old session."""

    kills = "S-TXN-17"
    file = "storage.py"
    line = "return await settled(self._upgrade(self._legacy, prepared))"
    lie = "return await self._upgrade(self._legacy, prepared)"
