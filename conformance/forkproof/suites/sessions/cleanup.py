"""The cleanup of calls that fail at their work: shielded, awaited, and never the last word (section 20)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.fault_scenes import Gone, Slow
from forkproof.instruments.racing import ended
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle, stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import NEW, TREE, Attempt, Creates, Forks, Opens
from forkproof.suites.sessions.file_attempts import MAKING, OpensTorn
from forkproof.suites.sessions.standing import Standing, standing
from forkproof.suites.sessions.sweeping import share

Make = Callable[[], Attempt]

CALLS: dict[str, Make] = {
    "create": lambda: Creates(elsewhere=True),
    "open": Opens,
    "fork": lambda: Forks(TREE, closed=True),
}
AGAIN = {"again-at-once": 1, "again-later": 3}
"""How many suspensions after the first cancellation the second one comes."""
FAILING_AT = ("write_file", "publish_file", "rename_file", "connect", "write")
"""The operations whose failure is followed by the most cleanup, the last one of each name."""


class _Cleaned:
    """A call on slow files, or on a database, and what must be true when it has ended: what stood there stands there
    and nothing else, no operation comes afterwards, and the same call succeeds at once.
    """

    def __init__(self, store: SessionMaker, attempt: Attempt) -> None:
        self._store, self._attempt = store, attempt
        self._before: Standing

    async def ready(self) -> None:
        """Makes the next call ready."""
        await self._attempt.ready()
        self._before = standing(self._store)

    async def slowly(self, slow: Slow = Slow()) -> Any:  # noqa: B008 - it is frozen
        """The call."""
        self._store.faults.arm(slow)
        return await self._attempt.call()

    async def check(self, outcome: Stepped, of: str) -> None:
        """Breaks the clause unless all is cleaned up."""
        made = self._store.faults.count
        if outcome.kind != "returned":
            await self._attempt.forgive()
            self._before.check(f"the store when {of} has reached the caller")
        await settle()
        expect_equal(self._store.faults.count, made, of=f"the operations up to the end of {of}, and a while later")
        self._store.faults.disarm()
        if outcome.kind != "returned":
            again = await ended(self._attempt.call())
            expect_equal(again.word, "returned", of=f"the call made again after {of}")
        await self._attempt.accept(f"what was made after {of}")
        await self.ready()


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl", "sqlite"))
@rows("make", CALLS)
@rows("again_after", AGAIN)
async def a_second_cancellation_does_not_stop_the_cleanup(store: SessionMaker, make: Make, again_after: int) -> None:
    """A create, open or fork is cancelled at any suspension, where every file call takes its time, and once more during
    its cleanup: the cleanup goes on to its end, and only then does the cancellation reach the caller. What stood there
    stands there at that very moment, and no operation comes afterwards.

    If this fails, look at: cleanup that is awaited without a shield; a shield that its caller does not wait for; each
    step of the cleanup shielded for itself, so that the second cancellation falls between two.
    """
    await _expect_cleaned(store, make, again_after)


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("again_after", AGAIN)
async def a_second_cancellation_does_not_stop_the_cleanup_of_a_repair(store: SessionMaker, again_after: int) -> None:
    """The same for an open that repairs a torn tail.

    If this fails, look at: a temporary file of the repair that the second cancellation leaves.
    """
    await _expect_cleaned(store, OpensTorn, again_after)


async def _expect_cleaned(store: SessionMaker, make: Make, again_after: int) -> None:
    cleaned = _Cleaned(store, await make().arrange(store))
    await cleaned.ready()

    async def is_cleaned(k: int, outcome: Stepped) -> None:
        of = f"a cancellation at suspension {k}, and again {again_after} later,"
        expect_equal(outcome.kind, "cancelled", of=f"how a call ended with {of}")
        await cleaned.check(outcome, of)

    suspensions = await cancelled_at_every_suspension(cleaned.slowly, is_cleaned, again_after=again_after)
    expect(suspensions, "expected: a call on slow files or a database suspends\nseen:     no suspension")


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl", "sqlite"))
@rows("make", CALLS)
async def a_cancellation_does_not_stop_the_cleanup_of_a_failure(store: SessionMaker, make: Make) -> None:
    """A create, open or fork fails while it stages, writes or publishes, and is cancelled at any suspension before or
    behind that: the cleanup goes on to its end, and the error or the cancellation reaches the caller only then.

    If this fails, look at: cleanup of failures that is awaited without a shield; an error handler that a cancellation
    leaves half done.
    """
    await _expect_failure_cleaned(store, make)


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
async def a_cancellation_does_not_stop_the_cleanup_of_a_failed_repair(store: SessionMaker) -> None:
    """The same for an open that repairs a torn tail.

    If this fails, look at: a temporary file of the repair that the cancellation leaves.
    """
    await _expect_failure_cleaned(store, OpensTorn)


async def _expect_failure_cleaned(store: SessionMaker, make: Make) -> None:
    cleaned = _Cleaned(store, await make().arrange(store))
    await cleaned.ready()
    whole = await stepped(cleaned.slowly)
    names = [hit.name for hit in store.faults.hits]
    await cleaned.check(whole, "a call that nothing struck")
    for at in sorted({len(names) - names[::-1].index(name) for name in FAILING_AT if name in names}):
        k, outcome = 0, None
        while outcome is None or not outcome.untouched:
            k += 1
            outcome = await stepped(partial(cleaned.slowly, Slow(Short(), at, names[at - 1])), k)
            await cleaned.check(outcome, f"a failing {names[at - 1]}, cancelled at suspension {k},")


SHARES = 5
"""Of a database's operations a row strikes one in so many times the number of faults."""
FIRST: dict[str, tuple[Fault, str]] = {
    "failing": (Fail("permission_denied"), "raised"),
    "failing-behind": (FailAfter("permission_denied"), "raised"),
    "cancelled": (Cancel("after"), "cancelled"),
}


@case("S-FORK-FAIL-07", needs=("fault-injection",))
@rows("make", {name: MAKING[name] for name in ("create-elsewhere", "open", "tree-fork-of-closed")})
@rows("first", FIRST)
async def a_failing_cleanup_is_not_the_last_word(store: SessionMaker, make: Make, first: tuple[Fault, str]) -> None:
    """A create, open or fork fails, or is cancelled, at any operation, and from then on every operation fails, those of
    the cleanup too: the first error, or the cancellation, reaches the caller, and nothing stays reserved.

    If this fails, look at: an exception in an `except` or `finally` that takes the place of the first; the closing of a
    reader outside the part that keeps quiet; a reservation that is given back behind the cleanup.
    """
    await _expect_first_word(store, make, first)


@case("S-FORK-FAIL-07", kinds=("jsonl",), needs=("fault-injection", "raw-files"))
@rows("first", FIRST)
async def a_failing_cleanup_of_a_repair_is_not_the_last_word(store: SessionMaker, first: tuple[Fault, str]) -> None:
    """The same for an open that repairs a torn tail.

    If this fails, look at: the removal of the temporary file outside the part that keeps quiet.
    """
    await _expect_first_word(store, OpensTorn, first)


async def _expect_first_word(store: SessionMaker, make: Make, first: tuple[Fault, str]) -> None:
    attempt, (fault, kind) = await make().arrange(store), first
    await attempt.ready()

    async def is_the_first(_: int, hit: Hit, outcome: Stepped) -> None:
        store.faults.disarm()
        if outcome.kind == "returned" and kind == "raised":
            await attempt.accept(f"what a call gave that returned in spite of {hit}")
        else:
            expect_equal(outcome.kind, kind, of=f"how a call ended that was struck at {hit}, with a cleanup that fails")
            await _expect_first(store, attempt, fault, outcome)
            await _expect_not_reserved(store, attempt, f"after {hit}, and a cleanup that failed")
        await attempt.ready()

    part = share(store, list(FIRST.values()).index(first), len(FIRST) * SHARES)
    struck = await swept(attempt.call, store.faults, Gone(fault), is_the_first, **part)
    expect(struck, "expected: a call that works on files or a database\nseen:     no operation")


async def _expect_first(store: SessionMaker, attempt: Attempt, fault: Fault, outcome: Stepped) -> None:
    """The error comes from the first failure; one that does not end a call by itself is none. Threads that work side by
    side each have a first one.
    """
    by_thread: dict[int, Hit] = {}
    for hit in store.faults.hits:
        if hit.error is not None:
            by_thread.setdefault(hit.thread, hit)
    told = list(by_thread.values())
    if outcome.kind == "cancelled" or outcome.error is None or not told:
        return
    first, cause = told[0], outcome.error.__cause__
    is_told = any(hit.is_told_by(cause) for hit in told)
    if not is_told and await _is_borne(store, attempt, fault, first):
        return
    seen = f"{outcome.error!r} from {cause!r}"
    expect(is_told, f"{first}, and all that followed\nexpected: {first.error!r}\nseen:     {seen}")


async def _is_borne(store: SessionMaker, attempt: Attempt, fault: Fault, hit: Hit) -> bool:
    """Whether a call returns in spite of that one failure."""
    await attempt.ready()
    store.faults.arm(fault, at=hit.number, sparse=store.faults.are_many)
    alone = await ended(attempt.call())
    store.faults.disarm()
    if alone.error is None:
        await attempt.accept(f"what a call gave that returned in spite of {hit}")
        await attempt.ready()
    return alone.error is None


async def _expect_not_reserved(store: SessionMaker, attempt: Attempt, of: str) -> None:
    """The same call succeeds; or what the cleanup could not take away is a session, which can be opened and deleted."""
    again = await ended(attempt.call())
    if again.word == "SessionExists":
        left = next((metadata for metadata in await store.list() if metadata.id == NEW), None)
        expect(left is not None, f"{of}\nexpected: the id is free, or listed\nseen:     neither")
        if left is not None:
            opened = await ended(store.repo.open(left))
            expect_equal(opened.word, "returned", of=f"opening what was left {of}")
            await opened.value.close()
            await store.repo.delete(left)
        again = await ended(attempt.call())
    expect_equal(again.word, "returned", of=f"the call made again {of}")
    await attempt.accept(f"what was made {of}")
