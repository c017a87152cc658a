"""The harnesses of the reference backends, registered with the kit as a third party registers its own.

The kit takes any object with these attributes, so this module needs nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forkstore


class MemoryHarness:
    """The memory backend as the kit sees it: not durable, and with the seams that need no file and no database."""

    name = "memory"
    family = "sessions"
    kinds = frozenset({"memory"})
    seams = frozenset({"clock", "probe", "raw-commit"})

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def open_repo(self, seams: Any) -> forkstore.MemorySessionRepo:
        """A repository with the instruments that a case asked for."""
        return forkstore.MemorySessionRepo(now=seams.clock, fork_probe=seams.probe)


class JsonlHarness:
    """The backend on files of JSON lines, with every seam that needs a file."""

    name = "jsonl"
    family = "sessions"
    kinds = frozenset({"jsonl"})
    seams = frozenset({"clock", "probe", "raw-commit", "raw-files", "spy-files", "fault-injection"})
    durable = True
    cwd = "/srv/garden"

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.sessions_root = directory / "sessions"

    async def open_repo(self, seams: Any) -> forkstore.JsonlSessionRepo:
        """A repository on the harness's one directory."""
        files = forkstore.LocalFiles() if seams.files is None else seams.files(forkstore.LocalFiles())
        return forkstore.JsonlSessionRepo(self.sessions_root, now=seams.clock, fork_probe=seams.probe, files=files)
