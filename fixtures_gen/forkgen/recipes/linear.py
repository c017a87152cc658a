"""One conversation on one lane, an append at a time.

    0 ── 1 ── 2 ── 3 ── … ── n−1   main

Messages of every role, and custom entries with data, with null and without. The tip moves with every entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkgen.plan import Plan, Transaction


class Linear(Plan):
    """One conversation on one lane, an append at a time."""

    name = "linear"

    def transactions(self) -> Iterator[Transaction]:
        yield self.open_home()
        yield from map(self.append, range(self.entries.count))
