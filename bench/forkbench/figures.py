"""A measured cost and the bound that it is held to."""

from __future__ import annotations

from dataclasses import dataclass


class WrongAnswer(Exception):
    """The measured work did not do what it is timed for."""


@dataclass(frozen=True)
class Figure:
    """One measured cost: `value` must not exceed `bound`; `details` are medians of the parts, with their units in the
    names.
    """

    name: str
    value: float
    bound: float
    details: dict[str, float]

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.value <= self.bound

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {value:,.2f}" for name, value in self.details.items())
        verdict = "kept" if self.kept else "BROKEN"
        return f"{self.name}: {self.value:,.3f} (bound {self.bound:,g}: {verdict}; {parts})"
