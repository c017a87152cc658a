"""The time of a page of a branch, read at its tip: the same in a long session as in a short one."""

from __future__ import annotations

from typing import Final

from forkstore.contract.records import Record

from .databases import MAIN, DatabaseSource, DatabaseStore, entry_rows
from .figures import Figure, WrongAnswer
from .rounds import Rounds

PAGE: Final = 50
"""Entries of a page."""


async def page_cost(
    store: DatabaseStore,
    source: DatabaseSource,
    elsewhere: DatabaseStore,
    *,
    bound: float,
    entries: int = 1_000,
    pairs: int = 21,
    block: int = 50,
) -> Figure:
    """`scan_branch` of the newest 50 entries of a source, against that of a session of fewer entries, elsewhere.

    Raises WrongAnswer when a page holds anything else.
    """
    fewer, _ = await elsewhere.plant_benchmark(entries)
    rounds = Rounds(pairs, "short", "long")
    async with store.opened() as repo, elsewhere.opened() as other:
        sessions = {"short": await other.open(fewer.metadata), "long": await repo.open(source.metadata)}
        sources = {"short": fewer, "long": source}
        expected = {side: _newest_ids(sources[side]) for side in sessions}
        for turn in rounds:
            session, newest = sessions[turn.side], expected[turn.side]
            pages = list[list[Record]]()
            with turn.each(block):
                for _ in range(block):
                    pages.append(await session.scan_branch(newest[0], limit=PAGE))
            if any([entry["id"] for entry in page] != newest for page in pages):
                raise WrongAnswer(f"a page of {source.metadata.id} is not that of its newest entries")
        for session in sessions.values():
            await session.close()
    return Figure(
        f"branch page of {PAGE} at the tip of {source.entries:,} entries / of {fewer.entries:,}",
        rounds.ratio("long", "short"),
        bound,
        {"long µs": rounds.median_us("long"), "short µs": rounds.median_us("short")},
    )


def _newest_ids(source: DatabaseSource) -> list[str]:
    """What the page must hold, newest first."""
    end = source.lanes[MAIN].stop
    return [row[0] for row in entry_rows(source.metadata, end - PAGE, end - 1)][::-1]
