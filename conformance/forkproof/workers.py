"""Runs the cases of one target in several processes, for stores that give every harness a place of its own.

Every case has a fresh harness in a directory of its own, so cases are independent, and the order of their results is
that of the plan whatever the number of processes. Workers are spawned, not forked: they hold no locks, threads or loops
of this process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing.queues import SimpleQueue
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
    context = multiprocessing.get_context("spawn")
    places: SimpleQueue[frozenset[int]] = context.SimpleQueue()
    for place in _places(jobs):
        places.put(place)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_settle_in, initargs=(places,))
    try:
        sent = [pool.submit(_work, text, family, [bound.id for bound in part], slow, reproducers) for part in parts]
        for part, future in zip(parts, sent, strict=True):
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from (_lost(bound) for bound in part)
    finally:
        pool.shutdown(cancel_futures=True)


def _places(jobs: int) -> list[frozenset[int]]:
    """The processors for each worker: one of its own where there are enough, or all of them.

    A store that hands every call to a thread would else wake another processor with every call.
    """
    if not hasattr(os, "sched_getaffinity"):
        return [frozenset()] * jobs
    processors = sorted(os.sched_getaffinity(0))
    if jobs > len(processors):
        return [frozenset(processors)] * jobs
    return [frozenset({processor}) for processor in processors[:jobs]]


def _settle_in(places: SimpleQueue[frozenset[int]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that gave the orders to act on
    place = places.get()
    if place:
        os.sched_setaffinity(0, place)


def _lost(bound: BoundCase) -> CaseResult:
    return CaseResult(bound.id, bound.clauses, Outcome.KIT_ERROR, 0.0, "a worker process died; run with --jobs 1", 0)


def _work(text: str, family: str, ids: Sequence[str], slow: float, reproducers: Path) -> list[CaseResult]:
    from forkproof.checking import run_each
    from forkproof.targets import find_target

    cases = [_cases_by_id(family)[one] for one in ids]
    return list(run_each(cases, find_target(text).make, slow=slow, reproducers=reproducers))


@cache
def _cases_by_id(family: str) -> Mapping[str, BoundCase]:
    from forkproof.checking import suite

    return {bound.id: bound for bound in suite(family)}
