"""badge.json: the verdict in the form that badge services read (schemaVersion 1)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from forkproof.verdict import Status, Verdict, Word

_WORST_FIRST = (
    Word.KIT_ERROR,
    Word.DOES_NOT_CONFORM,
    Word.NOTHING_EXERCISED,
    Word.PARTIAL,
    Word.KNOWN_FAILURES,
    Word.CONFORMS,
)
_COLOR = {
    Word.CONFORMS: "brightgreen",
    Word.KNOWN_FAILURES: "yellow",
    Word.PARTIAL: "yellow",
    Word.NOTHING_EXERCISED: "lightgrey",
}


def render_badge(verdicts: Sequence[Verdict]) -> str:
    """One badge for the run: the worst verdict, and how much of the contract stands behind it."""
    worst = min((verdict.word for verdict in verdicts), key=_WORST_FIRST.index)
    held = sum(verdict.counts.get(Status.HOLDS, 0) for verdict in verdicts)
    planned = sum(verdict.planned for verdict in verdicts)
    known = sum(verdict.counts.get(Status.KNOWN, 0) for verdict in verdicts)
    message = f"{worst.value.lower()} {held}/{planned}"
    if known:
        message += f", {known} known failure{'s' if known > 1 else ''}"
    badge = {"schemaVersion": 1, "label": "forkproof", "message": message, "color": _COLOR.get(worst, "red")}
    return json.dumps(badge) + "\n"
