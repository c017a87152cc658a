"""What the command line shows: a table per area as soon as it is decided, failures in full, one last line per target.

Without a terminal it writes plain lines: no control characters, no redrawing. rich is imported when the first table
is printed, because most commands print none.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from forkproof.clauses import Clause
from forkproof.report.lines import Failure, failures, in_short, last_line, not_exercised_by_reason, notes, visible
from forkproof.verdict import ClauseVerdict, Lane, Status, Verdict

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_IN_FULL = 3
"""Failed cases of the same clauses that are shown whole; the others by name, for they rarely say anything new."""

_STYLE = {
    Status.HOLDS: "green",
    Status.FAILS: "bold red",
    Status.KIT_ERROR: "bold magenta",
    Status.KNOWN: "yellow",
    Status.NOT_EXERCISED: "dim",
    Status.NOT_OFFERED: "dim",
}


class Terminal:
    """One output stream. `color` is auto, always or never."""

    def __init__(self, stream: TextIO | None = None, color: str = "auto") -> None:
        self.stream = stream or sys.stdout
        self.live = color != "never" and self.stream.isatty()
        self._color = color
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        if self._console is None:
            from rich.console import Console

            colored = self._color == "always" or self.live
            self._console = Console(
                file=self.stream,
                force_terminal=colored,
                color_system="standard" if colored else None,
                # Plain output goes to files and logs, which scroll sideways but must not be cut or wrapped.
                width=None if self.live else 10_000,
                highlight=False,
                markup=False,
                emoji=False,
            )
        return self._console

    def line(self, text: str = "", style: str | None = None) -> None:
        # While a moving line is shown, rich has to know of everything that is printed above it.
        if self.live or (style and self._color == "always"):
            self.console.print(visible(text), style=style, soft_wrap=True)
        else:
            print(visible(text), file=self.stream, flush=True)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Rows of (text, style) cells under a title."""
        from rich.table import Table
        from rich.text import Text

        # Not the table's own title, which wraps at the width of the columns.
        heading = Text(visible(title), style="bold")
        table = Table(box=None, pad_edge=False)
        for column in columns:
            table.add_column(column)
        for row in rows:
            table.add_row(*(Text(visible(text), style=style) for text, style in row))
        if self.live:
            self.console.print(heading, table, sep="\n")
            return
        with self.console.capture() as captured:
            self.console.print(heading, table, sep="\n")
        print("\n".join(line.rstrip() for line in captured.get().splitlines()), file=self.stream, flush=True)

    def area(self, area: str, clauses: Sequence[ClauseVerdict]) -> None:
        """The table of one area; neighbours that came to the same share a row."""
        self.table(area, ("clauses", "status", "cases", "seen"), [_row(same) for same in _neighbours(clauses)])
        self.line()

    def verdict(self, verdict: Verdict) -> None:
        """Failures in full, what was not exercised, notes; the last lines come after all targets."""
        shown: Counter[tuple[Clause, ...]] = Counter()
        for failure in failures(verdict):
            shown[failure.clauses] += 1
            if shown[failure.clauses] <= SHOWN_IN_FULL:
                self._failure(verdict.target.name, failure)
            else:
                self.line(f"{verdict.target.name}: {failure.headline}", "bold red")
                self.line(f"  case {failure.result.case}\n")
        reasons = not_exercised_by_reason(verdict)
        for reason, ids in reasons.items():
            self.line(f"{verdict.target.name}: {len(ids)} not exercised: {reason}")
        for note in notes(verdict):
            self.line(f"{verdict.target.name}: {note}")

    def last_line(self, verdict: Verdict) -> None:
        good = verdict.is_good
        self.line(last_line(verdict), "green" if good else "bold red")

    def _failure(self, target: str, failure: Failure) -> None:
        self.line(f"{target}: {failure.headline}", "bold red")
        for clause in failure.clauses:
            self.line(f"  {clause.id}: {clause.statement}")
        self.line(f"  case {failure.result.case}")
        for line in failure.seen.splitlines():
            self.line(f"  {line}".rstrip())
        if failure.result.reproducer:
            self.line(f"  reproducer: {failure.result.reproducer}")
        if failure.causes:
            self.line(f"  look at: {failure.causes}")
        self.line()


def _neighbours(clauses: Sequence[ClauseVerdict]) -> list[list[ClauseVerdict]]:
    rows: list[list[ClauseVerdict]] = []
    for each in clauses:
        if rows and _shares_row(rows[-1][-1], each):
            rows[-1].append(each)
        else:
            rows.append([each])
    return rows


def _shares_row(before: ClauseVerdict, each: ClauseVerdict) -> bool:
    # Numbers have gaps and need not rise: a range must not name clauses that are not in the row.
    follows = before.clause.group == each.clause.group and before.clause.number + 1 == each.clause.number
    return follows and (before.status, before.lane, before.detail) == (each.status, each.lane, each.detail)


def _row(same: Sequence[ClauseVerdict]) -> list[tuple[str, str]]:
    first, last = same[0], same[-1]
    ids = first.clause.id if first is last else f"{first.clause.id} to {last.clause.id.rpartition('-')[2]}"
    lane = "" if first.lane is Lane.SCORED else f" ({first.lane}, not scored)"
    cases = Counter(result.case for each in same for result in each.results)
    seen = first.known.reason if first.known else in_short(first.detail)
    return [(ids, ""), (f"{first.status}{lane}", _STYLE[first.status]), (str(len(cases)), ""), (seen, "")]
