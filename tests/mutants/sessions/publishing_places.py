"""Mutants of the suite `publishing_places`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class PublishingReplaces(SourceLie):
    """Lie: a new session is renamed over a file that stands at its place."""

    kills = "S-JSONL-PUB-05"
    file = "publishing.py"
    line = "await settled(self._files.publish_file(self._draft, self.path))"
    lie = "await settled(self._files.rename_file(self._draft, self.path))"


class PublishingLooksAndThenReplaces(SourceLie):
    """Lie: a look whether the place is free, and then a renaming that replaces."""

    kills = "S-JSONL-PUB-05"
    file = "publishing.py"
    line = "await settled(self._files.publish_file(self._draft, self.path))"
    lie = (
        "if await self._files.exists(self.path):\n"
        "                raise SessionExists(session_id)\n"
        "            await self._files.rename_file(self._draft, self.path)"
    )


class CleanupRemovesWhatOthersPutThere(SourceLie):
    """Lie: a publication that fails removes the file at its destination, whoever made it."""

    kills = "S-JSONL-PUB-05"
    file = "publishing.py"
    line = "if self._published is not None and await self._is_there(self._published):"
    lie = "if self._published is not None:"


class ATakenPlaceIsAFailure(SourceLie):
    """Lie: a place that is taken is told as a failure of the file capability."""

    kills = "S-JSONL-PUB-05"
    file = "publishing.py"
    line = 'if error.code == "exists":'
    lie = 'if error.code == "taken":'
