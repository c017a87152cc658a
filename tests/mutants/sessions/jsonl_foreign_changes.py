"""Mutants of the suite `jsonl_foreign_changes`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie

LOOK = "            self._compare(await look_again(self._files, self.path))\n"
SIZE = "        if not self._size <= info.size <= self._size + self._left_over:\n"


class OnlyTheSizeIsCompared(SourceLie):
    """Lie: a file of the right size is the right file."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "        if info.identity != self._identity:\n"
    lie = "        if info is None:\n"


class OnlyTheIdentityIsCompared(SourceLie):
    """Lie: a file of any size is the right file."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = SIZE
    lie = "        if info is None:\n"


class GrowthIsAccepted(SourceLie):
    """Lie: what others have appended is no change."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = SIZE
    lie = "        if info.size < self._size:\n"


class AMissingFileIsMadeAnew(SourceLie):
    """Lie: a commit makes a missing file again."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = LOOK
    lie = """            try:
                info = await look_again(self._files, self.path)
            except SessionFileChanged:
                return
            self._compare(info)
"""


class WhatWasSeenIsForgotten(SourceLie):
    """Lie: a file that is put right takes commits again."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "        if self._changed is not None:\n"
    lie = "        if self is None:\n"


class ClosingLooksAtTheFile(SourceLie):
    """Lie: a session whose file has changed cannot be closed."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = "            try:\n                if self._left_over:\n"
    lie = "            await self._check_file()\n            try:\n                if self._left_over:\n"


class AGoneFileIsAFailedCall(SourceLie):
    """Lie: a missing file is a failure of a file call."""

    kills = "S-JSONL-FMT-16"
    file = "storage.py"
    line = LOOK
    lie = """            try:
                info = await look_again(self._files, self.path)
            except SessionFileChanged as change:
                raise store_error(FileError("not_found", self.path), "file_info") from change
            self._compare(info)
"""
