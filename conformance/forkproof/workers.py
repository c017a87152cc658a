"""Runs the cases of one target in several processes, for stores that give every harness a place of its own.

Every case has a fresh harness in a directory of its own, so cases are independent, and the order of their results is
that of the plan whatever the number of processes. Workers are spawned, not forked: they hold no locks, threads or loops
of this process.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from forkproof.case import BoundCase
from forkproof.verdict import CaseResult, Outcome

CASES_AT_ONCE = 16
"""Cases that a worker is sent together: few enough to share the work evenly, many enough to hide the sending."""


def run_in_workers(
    text: str, family: str, cases: Sequence[BoundCase], *, jobs: int, slow: float, reproducers: Path
) -> Iterator[CaseResult]:
    """Every case's result, in the order of the cases, on the target that `text` names.

    A worker that dies leaves a kit error for each case that it took along.
    """
    parts = [cases[start : start + CASES_AT_ONCE] for start in range(0, len(cases), CASES_AT_ONCE)]
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,  # an interrupt is for this process to act on
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        sent = [pool.submit(_work, text, family, [bound.id for bound in part], slow, reproducers) for part in parts]
        for part, future in zip(parts, sent, strict=True):
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from (_lost(bound) for bound in part)
    finally:
        pool.shutdown(cancel_futures=True)


def _lost(bound: BoundCase) -> CaseResult:
    return CaseResult(bound.id, bound.clauses, Outcome.KIT_ERROR, 0.0, "a worker process died; run with --jobs 1", 0)


def _work(text: str, family: str, ids: Sequence[str], slow: float, reproducers: Path) -> list[CaseResult]:
    from forkproof.checking import run_each, suite
    from forkproof.targets import find_target

    cases = {bound.id: bound for bound in suite(family)}
    return list(run_each([cases[one] for one in ids], find_target(text).make, slow=slow, reproducers=reproducers))
