"""Line readers that failed and cancelled calls would leave open (section 20): a file that nobody can let go of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, FailAfter, Fault, Hit
from forkproof.instruments.fault_scenes import Slow
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Attempt, Creates, Forks, Opens
from forkproof.suites.sessions.file_attempts import MAKING, OpensTorn, Upgrades

Make = Callable[[], Attempt]

CALLS: dict[str, Make] = {
    "create": Creates,
    "open": Opens,
    "branch-fork-of-open": lambda: Forks(BRANCH, closed=False),
    "tree-fork-of-closed": lambda: Forks(TREE, closed=True),
}


class _NoneIsOpen:
    """Counts the readers of one call: those opened since it was made ready and not closed."""

    def __init__(self, store: SessionMaker, attempt: Attempt) -> None:
        self._store, self._attempt = store, attempt

    async def ready(self) -> None:
        """Makes the next call ready."""
        self._store.faults.disarm()
        await self._attempt.ready()
        self._store.files.forget()

    async def check(self, outcome: Stepped, of: str) -> None:
        """Breaks the clause when a reader is open: after a call that failed, or after its session was closed."""
        self._store.faults.disarm()
        if outcome.kind == "returned":
            await self._attempt.accept(f"what a call gave, {of}")
        await self._attempt.leave()
        left = [reader.path for reader in self._store.files.open_readers]
        expect_equal(left, [], of=f"the files that are still read {of}")
        await self.ready()


@case("S-FORK-FAIL-08", needs=("fault-injection", "spy-files", "raw-files"), kinds=("jsonl",))
@rows(
    "make", {**CALLS, "open-torn": OpensTorn, "fork-from-elsewhere": MAKING["fork-from-elsewhere"], "upgrade": Upgrades}
)
@rows("fault", failing=FailAfter(), cancelled=Cancel("after"))
async def a_failed_call_leaves_no_reader_open(store: SessionMaker, make: Make, fault: Fault) -> None:
    """A fork, a create, an open or an upgrade that fails or is cancelled at any of its file calls has closed every line
    reader that it had opened; what they keep open is closed with the session.

    If this fails, look at: a reader that was opened by a call that was cancelled behind it; a first scan that stays
    open when the second fails; the reader that an open session keeps.
    """
    attempt = await make().arrange(store)
    readers = _NoneIsOpen(store, attempt)
    await readers.ready()

    async def none_is_open(_: int, hit: Hit, outcome: Stepped) -> None:
        await readers.check(outcome, f"after a call that was struck at {hit}")

    struck = await swept(attempt.call, store.faults, fault, none_is_open)
    expect(struck, "expected: a call that works on files\nseen:     no file call")


@case("S-FORK-FAIL-05", needs=("fault-injection", "spy-files"), kinds=("jsonl",))
@rows("make", CALLS)
async def a_cancelled_call_leaves_no_reader_open(store: SessionMaker, make: Make) -> None:
    """A create, open or fork that is cancelled at any suspension, where every file call takes its time, leaves no line
    reader open.

    If this fails, look at: a reader whose opening was done when the cancellation came; a closing that is cancelled.
    """
    attempt = await make().arrange(store)
    readers = _NoneIsOpen(store, attempt)
    await readers.ready()

    async def slowly() -> Any:
        store.faults.arm(Slow())
        return await attempt.call()

    async def none_is_open(k: int, outcome: Stepped) -> None:
        await readers.check(outcome, f"after a cancellation at suspension {k}")

    suspensions = await cancelled_at_every_suspension(slowly, none_is_open)
    expect(suspensions, "expected: a call on slow files suspends\nseen:     no suspension")
