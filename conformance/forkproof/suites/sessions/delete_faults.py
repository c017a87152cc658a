"""Deletes that fail or are cancelled in the middle of their work on a file or database (S-REPO-19)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.fault_scenes import Slow
from forkproof.instruments.racing import ended
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import Deletes
from forkproof.suites.sessions.sweeping import share_of
from forkstore.contract.errors import SessionNotFound

FAULTS: dict[str, Fault] = {
    "cancelled-before": Cancel("before"),
    "cancelled-behind": Cancel("after"),
    "failing": Fail(),
    "torn": Short(),
    "failing-behind": FailAfter(),
}


async def _deleting(store: SessionMaker) -> Deletes:
    attempt = Deletes()
    await attempt.arrange(store)
    await attempt.ready()
    return attempt


async def _expect_whole(attempt: Deletes, of: str) -> None:
    """The session is wholly there, or wholly gone, and its id free; then the next delete is made ready."""
    store, subject = attempt.store, attempt.subject
    if subject.id in await store.listed_ids():
        opened = await ended(subject.open())
        expect_equal(opened.word, "returned", of=f"opening the session that is still listed after {of}")
        await subject.check(f"the session that is still listed after {of}")
        await subject.close()
    else:
        with refused(SessionNotFound, session_id=subject.id):
            await store.repo.open(subject.metadata)
        made = await ended(store.repo.create(id=subject.id, **store.create_options))
        expect_equal(made.word, "returned", of=f"a create of the id after {of}")
        await store.subject(made.value, SessionModel(touched=set(subject.model.touched))).check(f"it, after {of}")
        await made.value.close()
        await store.repo.delete(made.value.metadata)
    await attempt.ready()


@case("S-REPO-19", needs=("fault-injection",))
@rows("fault", FAULTS)
async def a_delete_that_an_operation_ends_is_whole(store: SessionMaker, fault: Fault) -> None:
    """A delete that is cancelled or fails at any operation on its file or database, before the work of that, in the
    middle of it or behind it, leaves the session wholly there or wholly gone, and not reserved.

    If this fails, look at: a delete that empties the file first; a reservation that is kept; a session that is gone and
    still in a register.
    """
    attempt = await _deleting(store)

    async def is_whole(_: int, hit: Hit, outcome: Stepped) -> None:
        if isinstance(fault, Cancel):
            expect_equal(outcome.kind, "cancelled", of=f"how the delete ended that was cancelled in {hit}")
        await _expect_whole(attempt, f"a delete that {hit} ended")

    struck = await swept(attempt.call, store.faults, fault, is_whole, **share_of(store, fault, FAULTS))
    expect(struck, "expected: a delete works on files or a database\nseen:     no operation")
    await attempt.accept("a delete that nothing struck")


@case("S-REPO-19", needs=("fault-injection",))
@rows("again_after", once=None, again_at_once=1, again_later=3)
async def a_delete_cancelled_on_slow_files_is_whole(store: SessionMaker, again_after: int | None) -> None:
    """The same at every suspension of a delete whose every file call takes its time, and for a second cancellation.

    If this fails, look at: a delete in several steps that are not shielded; a reservation that is given back before the
    delete has ended.
    """
    attempt = await _deleting(store)

    async def slowly() -> Any:
        store.faults.arm(Slow())
        return await attempt.call()

    async def is_whole(k: int, outcome: Stepped) -> None:
        store.faults.disarm()
        expect_equal(outcome.kind, "cancelled", of=f"how the delete ended that was cancelled at suspension {k}")
        await _expect_whole(attempt, f"a delete that was cancelled at suspension {k}")

    suspensions = await cancelled_at_every_suspension(slowly, is_whole, again_after=again_after)
    store.faults.disarm()
    expect(suspensions, "expected: a delete on slow files suspends\nseen:     no suspension")
    await attempt.accept("a delete that nobody cancelled")
