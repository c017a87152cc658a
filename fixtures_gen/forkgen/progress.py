"""A progress bar on long work, on a terminal only, and the count of what went by."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from forkstore.contract.writes import EntryInsert

from .plan import Transaction
from .recipe import Generated

Step = Callable[[int], None]
_TOGETHER = 500


@contextmanager
def bar(doing: str, total: int | None = None, *, hidden: bool = False) -> Iterator[Step]:
    """A bar on stderr while the block runs; the block calls what it is given with the number of things done.

    Without a terminal nothing is shown. `total` is None where nobody knows it beforehand.
    """
    if hidden or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
        task, waiting = progress.add_task(doing, total=total), 0

        def step(count: int) -> None:
            nonlocal waiting
            waiting += count
            if waiting >= _TOGETHER:  # the display costs more than what it counts
                progress.advance(task, waiting)
                waiting = 0

        yield step


@dataclass
class Tally:
    """Counts the transactions and writes that go by."""

    transactions: int = 0
    writes: int = 0

    def total(self, generated: Generated) -> int | None:
        """How many entries there will be, where the recipe's size is about entries."""
        return generated.expectation.entry_count if generated.plan.unit == "entries" else None

    def watched(self, generated: Generated, step: Step) -> Iterator[Transaction]:
        """The transactions; each is counted, and its entries are steps, or its writes where nobody knows the total."""
        counts_entries = self.total(generated) is not None
        for transaction in generated:
            yield transaction
            self.transactions += 1
            self.writes += len(transaction)
            step(sum(type(write) is EntryInsert for write in transaction) if counts_entries else len(transaction))

    def __str__(self) -> str:
        return f"{self.writes} writes in {self.transactions} transactions"
