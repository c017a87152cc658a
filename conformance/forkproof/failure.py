"""What a broken case tells its reader: the sentence, expected and seen, the last operations in plain words, likely
causes.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

from forkproof.case import BoundCase
from forkproof.difference import bounded
from forkproof.expect import ClauseBroken
from forkproof.instruments.trace import Trace
from forkproof.verdict import Outcome

KIT = str(Path(__file__).parent)
FRAMES_SHOWN = 4


@dataclass(frozen=True)
class Failure:
    """How a case ended that did not hold."""

    outcome: Outcome
    detail: str
    error: BaseException | None = None
    of_harness: bool = False


def describe_failure(bound: BoundCase, failure: Failure, trace: Trace) -> str:
    """The text of a report: bounded, and complete enough to start work from."""
    if failure.of_harness:
        return failure.detail
    parts = [bound.case.sentence, failure.detail or _unexpected(failure.error)]
    if isinstance(failure.error, ClauseBroken) and failure.error.__cause__ is not None:
        parts.append(_frames(failure.error.__cause__))
    if trace.last:
        lines = "\n".join(f"  {operation.in_words()}" for operation in trace.last)
        parts.append(f"last operations:\n{lines}")
    if bound.case.look_at:
        parts.append(f"If this fails, look at: {'; '.join(bound.case.look_at)}.")
    return "\n\n".join(part for part in parts if part)


def _unexpected(error: BaseException | None) -> str:
    if error is None:
        return ""
    what = f"unexpected {type(error).__name__}: {bounded(str(error), quoted=False, limit=2_000)}"
    return f"{what}\n{_frames(error)}".rstrip()


def _frames(error: BaseException) -> str:
    """The innermost frames that are not the kit's, innermost last."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(KIT)]
    shown = (
        f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line or ''}" for frame in frames[-FRAMES_SHOWN:]
    )
    return "\n".join(shown)
