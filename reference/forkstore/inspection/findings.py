"""What an inspection has to say against a file.

A damaged file can break in every line, so the first findings are kept and the rest is counted. A line has one error at
most, the one that opening would name: what else is wrong in it mostly follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

LISTED: Final = 100
"""The most findings that are kept."""
_LONGEST_REASON: Final = 400

Severity = Literal["error", "note"]
"""An error makes opening refuse the file. With a note it opens, and something about it is worth knowing."""
Kind = Literal[
    "header",
    "unsupported-version",
    "line",
    "sequence",
    "duplicate-id",
    "unknown-parent",
    "usage-sum",
    "reference",
    "retained-tail",
    "byte-order-mark",
    "torn-tail",
    "tip",
    "label",
    "undeclared-namespace",
    "no-sequence-left",
]
"""What a finding is about, for programs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `line` is 1-based, or None; `cause` is the class that a commit would raise for the same."""

    severity: Severity
    kind: Kind
    line: int | None
    reason: str
    cause: str | None = None


class Findings:
    """The findings of one inspection."""

    def __init__(self) -> None:
        self.errors = 0
        """How many errors there are, kept or not."""
        self.notes = 0
        """How many notes there are, kept or not."""
        self._kept: list[Finding] = []
        self._last_line_with_error: int | None = None

    def error(self, kind: Kind, line: int, reason: str, cause: type[Exception] | None = None) -> None:
        """Takes an error, unless it follows another one in the same line."""
        if line == self._last_line_with_error:
            return
        self._last_line_with_error = line
        self.errors += 1
        self._keep(Finding("error", kind, line, _short(reason), None if cause is None else cause.__name__))

    def note(self, kind: Kind, line: int | None, reason: str) -> None:
        """Takes a note."""
        self.notes += 1
        self._keep(Finding("note", kind, line, _short(reason)))

    @property
    def omitted(self) -> int:
        """How many findings are counted and not kept."""
        return self.errors + self.notes - len(self._kept)

    def in_order(self) -> list[Finding]:
        """Those that are kept, by line; what is about no line comes last."""
        return sorted(self._kept, key=lambda finding: float("inf") if finding.line is None else finding.line)

    def _keep(self, finding: Finding) -> None:
        if len(self._kept) < LISTED:
            self._kept.append(finding)


def _short(reason: str) -> str:
    """A reason may quote an id, and an id may be of any length."""
    return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"
