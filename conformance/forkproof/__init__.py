"""forkproof proves that a storage backend forks right.

The names below load when they are first used, so that the pytest entry point, which lives in this package, costs a
project nothing until it asks for something. The decorator `case` shares its name with its module and is imported
from there: `from forkproof.case import case, rows`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.harness import HarnessError, Seams, SessionHarness
    from forkproof.report.document import ReportError, read_report
    from forkproof.verdict import CaseResult, Outcome, Target, Verdict, judge

__all__ = [
    "CaseResult",
    "HarnessError",
    "Outcome",
    "ReportError",
    "Seams",
    "SessionHarness",
    "Target",
    "Verdict",
    "judge",
    "read_report",
]

_HOME = {
    "CaseResult": "forkproof.verdict",
    "HarnessError": "forkproof.harness",
    "Outcome": "forkproof.verdict",
    "ReportError": "forkproof.report.document",
    "Seams": "forkproof.harness",
    "SessionHarness": "forkproof.harness",
    "Target": "forkproof.verdict",
    "Verdict": "forkproof.verdict",
    "judge": "forkproof.verdict",
    "read_report": "forkproof.report.document",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
