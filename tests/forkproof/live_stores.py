"""Harnesses that fail in another process: for the tests of the live writer."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from forkproof.harness import Seams, SessionHarness


class Dying(SessionHarness):
    """Its process ends when the store is opened."""

    async def open_repo(self, seams: Seams) -> Any:
        """Ends the process."""
        print("out of petals", file=sys.stderr, flush=True)
        os._exit(3)


class Unmade(SessionHarness):
    """Can be made where the case runs, and nowhere else."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        marker = directory / "made"
        if marker.exists():
            raise LookupError("no disk")
        marker.touch()


class Silent(SessionHarness):
    """Never opens."""

    async def open_repo(self, seams: Seams) -> Any:
        """Waits for nothing."""
        await asyncio.Event().wait()
