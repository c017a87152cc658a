"""A store that is measured by what it keeps on disk, with the seams that its measurements need."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from forkproof.harness import Seams, fact, harness_name
from forkproof.verdict import TargetError
from forkstore.contract.store import SessionRepo

NEEDED: Final = ("raw-files", "probe")
"""The seams without which nothing on disk can be measured."""


class MeasuredStore:
    """A harness of one kind, asked for what is measured of it: `what`, in the plural.

    Raises TargetError for a harness of another kind, and for one that lacks a seam, or a fact named in `places`.
    """

    def __init__(self, harness: Any, kind: str, what: str, *places: str) -> None:
        name = harness_name(harness)
        if kind not in fact(harness, "kinds"):
            raise TargetError(f"target {name}: is not of kind {kind!r}, so there are no {what} to measure")
        missing = [repr(seam) for seam in NEEDED if seam not in fact(harness, "seams")]
        missing += [f"a {place}" for place in places if fact(harness, place) is None]
        if missing:
            needed = " and ".join(missing)
            raise TargetError(f"target {name}: does not offer {needed}, which its {what} are measured by")
        self._harness = harness

    @asynccontextmanager
    async def opened(self, **seams: Any) -> AsyncIterator[SessionRepo]:
        """A repository with these seams; closed afterwards."""
        repo = await self._harness.open_repo(Seams(**seams))
        try:
            yield repo
        finally:
            await repo.close()
