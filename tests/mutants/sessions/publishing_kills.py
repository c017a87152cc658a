"""Mutants of the suite `publishing_kills`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class ReplacingIsRemovingFirst(SourceLie):
    """Lie: the old file is removed, and then the new one takes its place."""

    kills = "S-JSONL-PUB-04"
    file = "publishing.py"
    line = "await self._files.rename_file(self._draft, self.path)"
    lie = "await self._files.remove_file(self.path)\n            await self._files.rename_file(self._draft, self.path)"


class ForksArePublishedBeforeTheyAreComplete(SourceLie):
    """Lie: a file is put in its place with its first bytes, and the rest is added there."""

    kills = "S-JSONL-PUB-04"
    file = "publishing.py"
    line = "await self._files.append_file(self._draft, data)"
    lie = (
        "if self._draft != self.path:\n"
        "                    await self._files.rename_file(self._draft, self.path)\n"
        "                    self._draft = self.path\n"
        "                await self._files.append_file(self._draft, data)"
    )


class NewFilesAreCopiedIntoPlace(SourceLie):
    """Lie: a new session's file is written a second time, at its place."""

    kills = "S-JSONL-PUB-04"
    file = "publishing.py"
    line = "await settled(self._files.publish_file(self._draft, self.path))"
    lie = (
        "await self._files.write_file(self.path, await self._files.read_all(self._draft))\n"
        "            await self._files.remove_file(self._draft)"
    )
