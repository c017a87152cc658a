"""The refusal to import a part of forkgen whose dependency is not installed."""

from __future__ import annotations


class MissingExtra(ImportError):
    """A part of forkgen needs a package that is not installed; `extra` is the extra of the distribution that has it.

    >>> raise MissingExtra("forkgen.strategies", needs="Hypothesis", extra="strategies")
    Traceback (most recent call last):
        ...
    forkgen.missing_extra.MissingExtra: forkgen.strategies needs Hypothesis; pip install 'forkproof[strategies]'
    """

    def __init__(self, part: str, *, needs: str, extra: str) -> None:
        super().__init__(f"{part} needs {needs}; pip install 'forkproof[{extra}]'", name=part)
        self.extra = extra
