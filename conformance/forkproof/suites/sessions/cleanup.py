"""The cleanup of calls that fail at their file work: shielded, awaited, and never the last word (section 20)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import Tree, tree
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.fault_scenes import Gone, Slow
from forkproof.instruments.racing import ended
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle, stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import NEW, TREE, Attempt, Creates, Forks
from forkproof.suites.sessions.file_attempts import MAKING, OpensTorn

Make = Callable[[], Attempt]

CALLS: dict[str, Make] = {
    "create": lambda: Creates(elsewhere=True),
    "open-torn": OpensTorn,
    "fork": lambda: Forks(TREE, closed=True),
}
AGAIN = {"again-at-once": 1, "again-later": 3}
"""How many suspensions after the first cancellation the second one comes."""
FAILING_AT = ("write_file", "publish_file", "rename_file")
"""The file calls whose failure is followed by the most cleanup."""


class _Cleaned:
    """A call on slow files, and what must be true when it has ended: the file tree is as it was, no file call comes
    afterwards, and the same call succeeds at once.
    """

    def __init__(self, store: SessionMaker, attempt: Attempt) -> None:
        self._store, self._attempt = store, attempt
        self._before: Tree

    async def ready(self) -> None:
        """Makes the next call ready."""
        await self._attempt.ready()
        self._before = tree(self._store.root)

    async def slowly(self, slow: Slow = Slow()) -> Any:  # noqa: B008 - it is frozen
        """The call."""
        self._store.faults.arm(slow)
        return await self._attempt.call()

    async def check(self, outcome: Stepped, of: str) -> None:
        """Breaks the clause unless all is cleaned up."""
        made = self._store.faults.count
        if outcome.kind != "returned":
            await self._attempt.forgive()
            self._before.check(f"the file tree when {of} has reached the caller")
        await settle()
        expect_equal(self._store.faults.count, made, of=f"the file calls up to the end of {of}, and a while later")
        self._store.faults.disarm()
        if outcome.kind != "returned":
            again = await ended(self._attempt.call())
            expect_equal(again.word, "returned", of=f"the call made again after {of}")
        await self._attempt.accept(f"what was made after {of}")
        await self.ready()


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("make", CALLS)
@rows("again_after", AGAIN)
async def a_second_cancellation_does_not_stop_the_cleanup(store: SessionMaker, make: Make, again_after: int) -> None:
    """A create, open or fork is cancelled at any suspension, where every file call takes its time, and once more during
    its cleanup: the cleanup goes on to its end, and only then does the cancellation reach the caller. The file tree is
    as it was at that very moment, and no file call comes afterwards.

    If this fails, look at: cleanup that is awaited without a shield; a shield that its caller does not wait for; each
    step of the cleanup shielded for itself, so that the second cancellation falls between two.
    """
    cleaned = _Cleaned(store, await make().arrange(store))
    await cleaned.ready()

    async def is_cleaned(k: int, outcome: Stepped) -> None:
        of = f"a cancellation at suspension {k}, and again {again_after} later,"
        expect_equal(outcome.kind, "cancelled", of=f"how a call ended with {of}")
        await cleaned.check(outcome, of)

    suspensions = await cancelled_at_every_suspension(cleaned.slowly, is_cleaned, again_after=again_after)
    expect(suspensions, "expected: a call on slow files suspends\nseen:     no suspension")


@case("S-FORK-FAIL-06", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("make", CALLS)
async def a_cancellation_does_not_stop_the_cleanup_of_a_failure(store: SessionMaker, make: Make) -> None:
    """A create, open or fork fails while it stages, writes or publishes, and is cancelled at any suspension before or
    behind that: the cleanup goes on to its end, and the error or the cancellation reaches the caller only then.

    If this fails, look at: cleanup of failures that is awaited without a shield; an error handler that a cancellation
    leaves half done.
    """
    cleaned = _Cleaned(store, await make().arrange(store))
    await cleaned.ready()
    whole = await stepped(cleaned.slowly)
    names = [hit.name for hit in store.faults.hits]
    await cleaned.check(whole, "a call that nothing struck")
    for at in sorted({names.index(name) + 1 for name in FAILING_AT if name in names}):
        k, outcome = 0, None
        while outcome is None or not outcome.untouched:
            k += 1
            outcome = await stepped(partial(cleaned.slowly, Slow(Short(), at, names[at - 1])), k)
            await cleaned.check(outcome, f"a failing {names[at - 1]}, cancelled at suspension {k},")


FIRST: dict[str, tuple[Fault, str]] = {
    "failing": (Fail("permission_denied"), "raised"),
    "failing-behind": (FailAfter("permission_denied"), "raised"),
    "cancelled": (Cancel("after"), "cancelled"),
}


@case("S-FORK-FAIL-07", kinds=("jsonl",), needs=("fault-injection", "raw-files"))
@rows("make", {name: MAKING[name] for name in ("create-elsewhere", "open", "open-torn", "tree-fork-of-closed")})
@rows("first", FIRST)
async def a_failing_cleanup_is_not_the_last_word(store: SessionMaker, make: Make, first: tuple[Fault, str]) -> None:
    """A create, open or fork fails, or is cancelled, at any of its file calls, and from then on every file call fails,
    those of the cleanup too: the first error, or the cancellation, reaches the caller, and nothing stays reserved.

    If this fails, look at: an exception in an `except` or `finally` that takes the place of the first; the closing of a
    reader outside the part that keeps quiet; a reservation that is given back behind the cleanup.
    """
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

    struck = await swept(attempt.call, store.faults, Gone(fault), is_the_first)
    expect(struck, "expected: a call that works on files\nseen:     no file call")


async def _expect_first(store: SessionMaker, attempt: Attempt, fault: Fault, outcome: Stepped) -> None:
    """The error comes from the first failure; one that does not end a call by itself is none."""
    told = [hit for hit in store.faults.hits if hit.error is not None]
    if outcome.kind == "cancelled" or outcome.error is None or not told:
        return
    first, cause = told[0], outcome.error.__cause__
    if cause is not first.error and await _is_borne(store, attempt, fault, first):
        return
    seen = f"{outcome.error!r} from {cause!r}"
    expect(cause is first.error, f"{first}, and all that followed\nexpected: {first.error!r}\nseen:     {seen}")


async def _is_borne(store: SessionMaker, attempt: Attempt, fault: Fault, hit: Hit) -> bool:
    """Whether a call returns in spite of that one failure."""
    await attempt.ready()
    store.faults.arm(fault, at=hit.number)
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
