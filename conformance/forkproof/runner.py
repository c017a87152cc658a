"""Runs one case against one harness, and says what came of it. Knows neither pytest nor the command line.

Every case gets an event loop of its own from a plain synchronous function, so no async plug-in is needed and none
interferes. What the case leaves behind is taken away again, whether it held or not: open scopes, sessions,
repositories and tasks.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from forkproof.case import BoundCase
from forkproof.clauses import load
from forkproof.expect import ClauseBroken
from forkproof.failure import Failure, describe_failure
from forkproof.harness import HarnessError, fact
from forkproof.housekeeping import Watch, clean_up, stray_tasks
from forkproof.instruments.trace import Trace
from forkproof.makers.case_instruments import CaseInstruments
from forkproof.makers.maker import SessionMaker
from forkproof.makers.states import ANY_STATE
from forkproof.reproducer import write_reproducer
from forkproof.verdict import CaseResult, Outcome

CEILING_SECONDS = 60.0
"""How long a case may take, times `slow`: a net for backends that never answer. It decides nothing else."""


def run_case(bound: BoundCase, harness: Any, *, slow: float = 1.0, reproducers: Path | None = None) -> CaseResult:
    """Runs the case in an event loop of its own; never raises for what the case or the backend does.

    Writes a reproducer of a failure into the directory `reproducers`. KeyboardInterrupt and SystemExit pass, after
    the clean-up.

    >>> run_case(bound, MyHarness(directory)).outcome
    <Outcome.HELD: 'held'>
    """
    missing = missing_seams(bound, harness)
    if missing:
        reason = f"needs the seam{'s' if len(missing) > 1 else ''} {', '.join(missing)}, not offered by the harness"
        return CaseResult(bound.id, bound.clauses, Outcome.NOT_EXERCISED, 0.0, reason, 0)
    run = _Run(bound, harness, slow)
    begun = time.perf_counter()
    with Watch() as watch, asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(watch.on_loop_error)
        runner.run(run.whole())
    failure = run.failure or watch.failure()
    if failure is None and run.trace.calls == 0:
        failure = Failure(Outcome.KIT_ERROR, "the case did not touch the backend")
    if failure is None and run.instruments.silence is not None:
        failure = Failure(Outcome.FAILED, f"harness: {run.instruments.silence}", of_harness=True)
    seconds = time.perf_counter() - begun
    if failure is None:
        return CaseResult(bound.id, bound.clauses, Outcome.HELD, seconds, "", run.trace.calls)
    written = None
    if reproducers is not None and failure.outcome is Outcome.FAILED:
        written = str(write_reproducer(reproducers, bound, harness, run.trace, failure.detail))
    detail = describe_failure(bound, failure, run.trace)
    return CaseResult(bound.id, bound.clauses, failure.outcome, seconds, detail, run.trace.calls, written)


def needed_seams(bound: BoundCase, family: str = "sessions") -> tuple[str, ...]:
    """The seams that a case needs: its own word, or what its clauses say. `code` is asked of nobody here."""
    if bound.case.needs is not None:
        return bound.case.needs
    clauses = load(family)
    named = (seam for clause_id in bound.clauses if clause_id in clauses for seam in clauses[clause_id].needs)
    return tuple(seam for seam in dict.fromkeys(named) if seam != "code")


def missing_seams(bound: BoundCase, harness: object) -> tuple[str, ...]:
    """The seams that the case needs and the harness does not offer."""
    offered = frozenset(fact(harness, "seams"))
    return tuple(seam for seam in needed_seams(bound, fact(harness, "family")) if seam not in offered)


class _Run:
    """One case on one harness: what is shared by the case, its ceiling and its clean-up."""

    def __init__(self, bound: BoundCase, harness: Any, slow: float) -> None:
        self.bound = bound
        self.ceiling = CEILING_SECONDS * slow
        self.instruments = CaseInstruments.of(needed_seams(bound, fact(harness, "family")), harness)
        clock = self.instruments.clock
        # The function must not hold this run: what a case made goes with it, without waiting for the collector.
        self.trace = Trace(read_clock=lambda: None if clock is None else clock.at)
        self.store = SessionMaker(harness, self.trace, self.instruments)
        self.failure: Failure | None = None

    async def whole(self) -> None:
        """The case, then the clean-up; a failure of the clean-up counts where the case has none of its own."""
        try:
            self.failure = await self._judged()
        finally:
            # Also on the way out of KeyboardInterrupt: asyncio cancels this coroutine, and the store is left clean
            # all the same.
            await self._put_away()

    async def _judged(self) -> Failure | None:
        case = asyncio.ensure_future(self._case())
        try:
            done, _ = await asyncio.wait([case], timeout=self.ceiling)
        except BaseException:
            case.cancel()
            raise
        if not done:
            case.cancel()
            await asyncio.wait([case], timeout=self.ceiling / 10)
            return Failure(Outcome.FAILED, f"did not finish within {self.ceiling:g} s: deadlock?")
        return self._outcome_of(case)

    def _outcome_of(self, case: asyncio.Future[None]) -> Failure | None:
        if case.cancelled():
            return Failure(
                Outcome.FAILED, "expected: the case runs to its end\nseen:     a CancelledError nobody asked for"
            )
        error = case.exception()
        if error is None:
            strays = stray_tasks(of_the_kit=True)
            return Failure(Outcome.KIT_ERROR, f"the case left tasks running: {', '.join(strays)}") if strays else None
        if isinstance(error, HarnessError):
            return Failure(Outcome.FAILED, f"harness: {error}", error, of_harness=True)
        if not isinstance(error, Exception):
            raise error
        return Failure(Outcome.FAILED, str(error) if isinstance(error, ClauseBroken) else "", error)

    async def _case(self) -> None:
        await self.store.start()
        given: dict[str, object] = {"store": self.store}
        if self.bound.state is not None:
            given["subject"] = await ANY_STATE[self.bound.state](self.store)
        await self.bound.start(**given)

    async def _put_away(self) -> None:
        self.instruments.calm()
        try:
            problem = await clean_up(self.store, self.trace, self.ceiling / 6)
        finally:
            self.instruments.put_away()
        if problem is not None and self.failure is None:
            self.failure = Failure(Outcome.FAILED, f"clean-up: {problem}")
