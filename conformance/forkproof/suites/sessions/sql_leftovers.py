"""The steps of a fork in a database, each failing: full cleanup follows (S-FORK-FAIL-08)."""

from __future__ import annotations

from dataclasses import dataclass

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import FailAfter, Fault, Hit, Short
from forkproof.instruments.sql_operations import STAGE
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Forks, Makes
from forkproof.suites.sessions.file_leftovers import CALLS, Make
from forkproof.suites.sessions.standing import StandsAsBefore, expect_free, standing
from forkstore.contract.forks import ForkOptions


@dataclass(frozen=True)
class Step:
    """A step of a fork: the operations that belong to it, and how many of them are struck at least."""

    names: frozenset[str]
    paths: str = "*"
    least: int = 1
    stride: int = 1
    """One in so many is struck."""


STEPS: dict[str, Step] = {
    "opening": Step(frozenset({"connect"}), least=3),
    "reading": Step(frozenset({"read", "size"}), stride=19),
    "staging": Step(frozenset({"open", "write", "close"}), STAGE),
    "writing": Step(frozenset({"write", "sync"}), stride=12),
    "closing": Step(frozenset({"close"}), least=2),
}
"""The steps that S-FORK-FAIL-08 names, as far as a database has them; source, stage and destination are opened."""


@case("S-FORK-FAIL-08", kinds=("sqlite",))
@rows("step", STEPS)
@rows("fork", branch_of_open_torn=(BRANCH, False, Short()), tree_of_closed_behind=(TREE, True, FailAfter()))
async def a_failing_step_in_a_database_is_followed_by_full_cleanup(
    store: SessionMaker, step: Step, fork: tuple[ForkOptions, bool, Fault]
) -> None:
    """Each failing step of a fork (opening the source, the stage and the destination, reading, staging, writing,
    closing) is followed by full cleanup: the databases and their rows are as before, no other file stands there, the id
    is free for `create` and for `fork`, and the source is as it was.

    If this fails, look at: a connection that is opened outside the part that cleans up; a stage that is only removed
    when it was closed; a destination whose rows stay when its connection does not close.
    """
    options, closed, fault = fork
    attempt: Makes = Forks(options, closed=closed)
    check = StandsAsBefore(store, await attempt.arrange(store))
    await check.ready()

    async def is_cleaned_up(n: int, hit: Hit, outcome: Stepped) -> None:
        await check(n, hit, outcome)
        await expect_free(store, attempt, f"after a fork that was struck at {hit}")

    struck = await swept(
        attempt.call, store.faults, fault, is_cleaned_up, names=step.names, paths=step.paths, stride=step.stride
    )
    expect(struck >= step.least, f"expected: at least {step.least} operations of that step\nseen:     {struck}")
    await attempt.accept("what a fork gave that nothing struck")


@case("S-FORK-FAIL-05", kinds=("sqlite",), needs=("fault-injection", "raw-files"))
@rows("make", CALLS)
@rows("again_after", once=None, twice=1)
async def a_call_that_is_cancelled_leaves_no_row_and_no_file(
    store: SessionMaker, make: Make, again_after: int | None
) -> None:
    """Cancelling create, open or fork at any of its suspensions, once or twice, leaves every file and every row as it
    was, whether or not the destination was already published.

    If this fails, look at: a transaction that is committed by a thread when its caller has left; a destination that is
    kept because it was complete; a stage that belongs to nobody.
    """
    attempt = await make().arrange(store)
    await attempt.ready()
    before = standing(store)

    async def nothing_is_left(k: int, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how a call ended that was cancelled at suspension {k}")
        before.check(f"the store after a cancellation at suspension {k}")

    suspensions = await cancelled_at_every_suspension(attempt.call, nothing_is_left, again_after=again_after)
    expect(suspensions, "expected: a call on a database suspends\nseen:     no suspension")
    await attempt.accept("what was made when nobody cancelled")
