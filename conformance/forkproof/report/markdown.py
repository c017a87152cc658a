"""summary.md: one table and the failures, for the job summary of a CI run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from forkproof.report.document import count
from forkproof.report.lines import Failure, failures, last_line, not_exercised_by_reason, notes
from forkproof.verdict import Verdict

MOST_FAILURES: Final = 100
MOST_SEEN: Final = 4_000
"""Failing clauses, and characters of each, that are shown: a job summary takes 1 MiB at most."""


def render_markdown(verdicts: Sequence[Verdict]) -> str:
    """The summary."""
    parts = ["# forkproof", "", *_table(verdicts)]
    for verdict in verdicts:
        parts += ["", f"## {escape(verdict.target.name)}: {verdict.word}", "", f"`{_code(last_line(verdict))}`"]
        parts += _list(escape(note) for note in notes(verdict))
        shown = list(failures(verdict))
        for failure in shown[:MOST_FAILURES]:
            parts += _failure(failure)
        if len(shown) > MOST_FAILURES:
            parts += ["", f"… and {len(shown) - MOST_FAILURES} more failing clauses: see the other reports."]
        reasons = not_exercised_by_reason(verdict).items()
        parts += _list(f"not exercised, {escape(reason)}: {', '.join(ids)}" for reason, ids in reasons)
    return "\n".join(parts) + "\n"


def _table(verdicts: Sequence[Verdict]) -> list[str]:
    lines = [
        "| target | verdict | must | should | known | not exercised | not offered | failed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for verdict in verdicts:
        counts = count(verdict)
        levels = [f"{counts[level]['held']}/{counts[level]['exercised']}" for level in ("must", "should")]
        numbers = [str(counts[name]) for name in ("known", "not_exercised", "not_offered", "failed")]
        cells = [escape(verdict.target.name), verdict.word.value, *levels, *numbers]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _list(lines: Iterable[str]) -> list[str]:
    items = [f"- {line}" for line in lines]
    return ["", *items] if items else []


def _failure(failure: Failure) -> list[str]:
    fence = "`" * (1 + max([2, *(len(run) for run in re.findall("`+", failure.seen))]))
    lines = ["", f"### {escape(failure.headline)}", ""]
    lines += [f"> **{clause.id}** {escape(clause.statement)}  " for clause in failure.clauses]
    seen = failure.seen.rstrip()
    if len(seen) > MOST_SEEN:
        seen = f"{seen[:MOST_SEEN]}\n… ({len(seen) - MOST_SEEN:,} more characters in the other reports)"
    lines += ["", f"Case `{failure.result.case}`", "", fence, seen, fence]
    if failure.result.reproducer:
        lines += ["", f"Reproducer: `{_code(failure.result.reproducer)}`"]
    if failure.causes:
        lines += ["", f"Look at: {escape(failure.causes)}"]
    return lines


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line: no markup, no table cell border, no HTML."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", flat)


def _code(text: str) -> str:
    """Text for an inline code span, where a backtick would end it."""
    return " ".join(text.replace("`", "'").split())
