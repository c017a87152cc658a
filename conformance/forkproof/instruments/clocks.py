"""Controlled time: a clock that stands still until a case moves it, forwards or backwards, and counts its readings."""

from __future__ import annotations

START = 1_760_000_000_000
"""Where a clock stands at first, in Unix milliseconds."""


class Clock:
    """The function to hand a repository as `now`.

    >>> clock = Clock()
    >>> clock.advance(5)
    >>> clock() == START + 5, clock.readings
    (True, 1)
    """

    def __init__(self, at: int = START) -> None:
        self.at = at
        self.readings = 0

    def __call__(self) -> int:
        self.readings += 1
        return self.at

    def advance(self, milliseconds: int) -> None:
        """Moves the clock on."""
        self.at += milliseconds

    def back(self, milliseconds: int) -> None:
        """Moves the clock back, as machines' clocks sometimes do."""
        self.at -= milliseconds

    def set(self, at: int) -> None:
        """Puts the clock at a time, in Unix milliseconds."""
        self.at = at
