"""The harnesses of the reference backends, registered with the kit as a third party registers its own.

The kit takes any object with these attributes, so this module needs nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .memory import MemorySessionRepo


class MemoryHarness:
    """The memory backend as the kit sees it: not durable, and with the seams that need no file and no database."""

    name = "memory"
    family = "sessions"
    kinds = frozenset({"memory"})
    seams = frozenset({"clock", "probe", "raw-commit"})

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def open_repo(self, seams: Any) -> MemorySessionRepo:
        """A repository with the instruments that a case asked for."""
        return MemorySessionRepo(now=seams.clock, fork_probe=seams.probe)
