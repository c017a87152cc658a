"""Calls that fail at their work on files or databases, and what the next call with the same id finds (sections 12 and
20).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.fault_scenes import Slow
from forkproof.instruments.racing import Ended
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Attempt, Creates, Deletes, Forks, Opens
from forkproof.suites.sessions.sweeping import share, share_of

Make = Callable[[], Attempt]

FAULTS: dict[str, Fault] = {"torn": Short(), "behind": FailAfter(), "cancelled": Cancel("after")}
PAIRS: dict[str, tuple[Fault, Fault]] = {
    "torn-twice": (Short(), Short()),
    "failed-and-cancelled": (FailAfter(), Cancel("after")),
    "cancelled-and-failed": (Cancel("after"), Fail()),
}
SHARES = 12
"""Of a database's operations a row strikes one in so many times the number of rows: other suites strike the rest."""
CALLS: dict[str, Make] = {
    "create": Creates,
    "open": Opens,
    "branch-fork-of-open": lambda: Forks(BRANCH, closed=False),
    "tree-fork-of-closed": lambda: Forks(TREE, closed=True),
}


@case("S-OWN-09", needs=("fault-injection",))
@rows("make", {**CALLS, "delete": Deletes})
@rows("fault", FAULTS)
async def a_call_that_failed_has_released_its_reservation(store: SessionMaker, make: Make, fault: Fault) -> None:
    """When a create, open, fork or delete fails, or is cancelled, at any operation, the session is not reserved any
    more at the very moment at which its caller learns of it: the same call, made in the same step, succeeds.

    If this fails, look at: a reservation that is given back on success, or in a task of its own; cleanup that nobody
    awaits.
    """
    attempt = await make().arrange(store)
    part = share_of(store, fault, FAULTS, by=SHARES)
    first, stride = part.get("first", 1), part.get("stride", 1)
    for n in range(first, 1_000, stride):
        await attempt.ready()
        ending, hit, second = await asyncio.create_task(_twice(store, attempt, fault, n))
        if hit is None:
            expect(n > first, "expected: a call that works on files or a database\nseen:     no operation")
            return
        if ending.error is not None:
            _expect_released(attempt, second, f"the call made again at once after {hit} ({ending.word})")
        await attempt.accept(f"what a call gave, {hit}")


async def _twice(store: SessionMaker, attempt: Attempt, fault: Fault, n: int) -> tuple[Ended, Hit | None, Ended]:
    """The call, struck at its n-th file operation, and in the same step the call again if it failed."""
    store.faults.arm(fault, at=n, sparse=store.faults.are_many, caller=asyncio.current_task())
    first = await _ended(attempt)
    hit = store.faults.hit
    store.faults.disarm()
    if hit is None or first.error is None:
        return first, hit, first
    return first, hit, await _ended(attempt)


async def _ended(attempt: Attempt) -> Ended:
    try:
        return Ended(value=await attempt.call())
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - how it ended is what is asked
        return Ended(error=error)


def _expect_released(attempt: Attempt, again: Ended, of: str) -> None:
    # What was deleted, and reported as failed, is gone: that answer needs no reservation.
    released = ("returned", "SessionNotFound") if isinstance(attempt, Deletes) else ("returned",)
    expect(again.word in released, f"{of}\nexpected: {' or '.join(released)}\nseen:     {again.word}: {again.error}")


@case("S-FORK-FAIL-04", needs=("fault-injection",))
@rows("make", CALLS)
@rows("pair", PAIRS)
async def a_third_attempt_succeeds(store: SessionMaker, make: Make, pair: tuple[Fault, Fault]) -> None:
    """Two failures in a row on one id, at the same operation, whichever that is, do not keep a third attempt from
    succeeding.

    If this fails, look at: leftovers of the first failure that the second stumbles over; a temporary file whose name is
    not new each time; a reservation that is counted.
    """
    attempt = await make().arrange(store)
    first, second = pair

    async def may_succeed(_: int, hit: Hit, outcome: Stepped) -> None:
        if outcome.kind != "returned":
            again = await stepped(lambda: _armed(store, attempt, second, hit.number))
            store.faults.disarm()
            if again.kind != "returned":
                third = await stepped(attempt.call)
                seen = f"{third.kind} {third.error!r}"
                expect(third.kind == "returned", f"{hit}, twice\nexpected: the third succeeds\nseen:     {seen}")
        await attempt.accept(f"what was made after {hit}, twice")

    await attempt.ready()
    part = share(store, list(PAIRS.values()).index(pair), len(PAIRS) * SHARES)
    struck = await swept(attempt.call, store.faults, first, may_succeed, **part)
    expect(struck, "expected: a call that works on files or a database\nseen:     no operation")


async def _armed(store: SessionMaker, attempt: Attempt, fault: Fault, at: int) -> Any:
    store.faults.arm(fault, at=at, sparse=store.faults.are_many, caller=asyncio.current_task())
    return await attempt.call()


@case("S-FORK-FAIL-05", needs=("fault-injection",))
@rows("make", CALLS)
async def a_call_cancelled_on_slow_files_leaves_nothing(store: SessionMaker, make: Make) -> None:
    """Cancelling create, open or fork at any suspension, where every file call takes its time, leaves nothing behind:
    another repository lists what it listed before, and the same call succeeds at once.

    If this fails, look at: a destination that stays when the cancellation comes behind its publication; a reader or a
    handle that nobody has; cleanup for errors and not for cancellation.
    """
    attempt = await make().arrange(store)
    beside = await store.open_second_repo() if store.durable else store.repo
    before = await beside.list()

    async def nothing_is_left(k: int, outcome: Stepped) -> None:
        store.faults.disarm()
        expect_equal(outcome.kind, "cancelled", of=f"how the call ended that was cancelled at suspension {k}")
        expect_equal(await beside.list(), before, of=f"the list after a cancellation at suspension {k}")
        again = await stepped(attempt.call)
        expect_equal(again.kind, "returned", of=f"the call made again after a cancellation at suspension {k}")
        await attempt.accept(f"what was made after a cancellation at suspension {k}")

    suspensions = await cancelled_at_every_suspension(lambda: _slowly(store, attempt), nothing_is_left)
    store.faults.disarm()
    expect(suspensions, "expected: a call on slow files suspends\nseen:     no suspension")
    await attempt.accept("what was made when nobody cancelled")


async def _slowly(store: SessionMaker, attempt: Attempt) -> Any:
    store.faults.arm(Slow())
    return await attempt.call()
