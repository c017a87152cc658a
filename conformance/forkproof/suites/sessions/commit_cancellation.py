"""Commits that are cancelled in the middle of their work on a file or database (S-TXN-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, Short
from forkproof.instruments.fault_scenes import Slow
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle, stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker, Subject, records
from forkproof.suites.sessions.attempts import LARGE, LOG, PLAN
from forkproof.suites.sessions.file_attempts import Upgrades
from forkproof.suites.sessions.sweeping import share
from forkstore.contract.addresses import branch_tip
from forkstore.contract.writes import CommitResult, EntryInsert, ListAppend, ValueSet, Write

TEXTS = {"small": "früh", "large": LARGE}
ROUNDS = 100
"""More rounds of the loop than a short commit takes where no thread is waited for."""
AGAIN = {"once": None, "again_at_once": 1, "again_later": 3}


class _Commits:
    """Commits of one session, each with an entry of its own, which tells afterwards whether its commit was made."""

    def __init__(self, subject: Subject, text: str = "früh") -> None:
        self.subject = subject
        self._text = text
        self._number = 0
        self.subject.model.look_at([(LOG.namespace, LOG.key), (PLAN.namespace, PLAN.key)])

    @property
    def marker(self) -> str:
        """The id of the entry of the commit that comes next, or was made last."""
        return f"marker-{self._number}"

    def writes(self) -> list[Write]:
        """The writes of that commit."""
        entry = EntryInsert(records.message_entry(self.marker, self.subject.model.tip("main"), self._text))
        return [entry, ListAppend(LOG, self.marker), ValueSet(branch_tip("main"), self.marker), ValueSet(PLAN, 1)]

    async def commit(self) -> Any:
        """The commit, by itself: the model is told of it by `judge`."""
        return await self.subject.session.storage.commit(self.writes())

    async def judge(self, of: str) -> bool:
        """Breaks the clause unless the commit is wholly there or wholly absent, for good, and the next one is made.

        Gives whether it is there.
        """
        subject, writes = self.subject, self.writes()
        entry = (await subject.session.get_entries([self.marker])).get(self.marker)
        if entry is not None:
            seqs = list(range(entry["seq"], entry["seq"] + len(writes)))
            stats = await subject.session.get_stats()
            subject.follow(CommitResult(seqs[0], seqs, entry["timestamp"], stats), *writes)
        await subject.check(f"the session when {of} has reached its caller")
        await settle()
        await subject.check(f"the session a while after {of}")
        await subject.commit(ListAppend(LOG, self.marker))
        await subject.reopen()
        await subject.check(f"the session opened again after {of}")
        self._number += 1
        return entry is not None


@case("S-TXN-17", needs=("raw-commit", "fault-injection"))
@rows("fault", before=Cancel("before"), after=Cancel("after"))
@rows("text", TEXTS)
async def a_commit_cancelled_in_an_operation_is_whole(store: SessionMaker, fault: Cancel, text: str) -> None:
    """A commit that is cancelled inside an operation on its file or database, before or after the work of that was
    done, is wholly present or wholly absent for good when its cancellation reaches the caller, and the storage takes
    commits on.

    If this fails, look at: a line that was appended and is not in the state; a thread that goes on when its caller has
    left; a queue that is not handed on.
    """
    commits = _Commits(await store.linear_session(1), text)

    async def is_whole(_: int, hit: Hit, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how the commit ended that was cancelled in {hit}")
        await commits.judge(f"a cancellation in {hit}")

    part = share(store, int(fault.when == "after"), 2 if text != LARGE else 6)
    struck = await swept(commits.commit, store.faults, fault, is_whole, **part)
    expect(struck, "expected: a commit works on files or a database\nseen:     no operation")
    await commits.judge("no cancellation")


@case("S-TXN-17", needs=("raw-commit", "fault-injection"))
@rows("text", TEXTS)
@rows("again_after", AGAIN)
async def a_commit_cancelled_on_slow_files_is_whole(store: SessionMaker, text: str, again_after: int | None) -> None:
    """The same at every suspension of a commit whose every file call takes its time, and for a second cancellation
    while the first is dealt with.

    If this fails, look at: a shield around the file call and none around what follows it; a repair of the file that
    the second cancellation stops.
    """
    commits = _Commits(await store.linear_session(1), text)

    async def slowly() -> Any:
        store.faults.arm(Slow())
        return await commits.commit()

    async def is_whole(k: int, outcome: Stepped) -> None:
        store.faults.disarm()
        expect_equal(outcome.kind, "cancelled", of=f"how the commit ended that was cancelled at suspension {k}")
        await commits.judge(f"a cancellation at suspension {k}")

    suspensions = await cancelled_at_every_suspension(slowly, is_whole, again_after=again_after)
    expect(suspensions, "expected: a commit on slow files suspends\nseen:     no suspension")


@case("S-TXN-17", needs=("raw-commit", "fault-injection"))
@rows("trouble", before=Fail(), torn=Short(), behind=FailAfter())
async def a_failing_commit_that_is_cancelled_is_whole(store: SessionMaker, trouble: Fault) -> None:
    """A commit that fails in an operation and is cancelled at any suspension around it is wholly present or wholly
    absent for good, and the storage takes commits on.

    If this fails, look at: a failed line that a cancelled repair leaves in the file; an error that is lost together
    with what it should have undone.
    """
    commits = _Commits(await store.linear_session(1))
    whole = await stepped(lambda: _slowly(store, commits, trouble, 0))
    calls = store.faults.count
    store.faults.disarm()
    await commits.judge("no cancellation")
    expect_equal(whole.kind, "returned", of="how a commit on slow files ended")
    for at in range(1, calls + 1, 6 if store.faults.are_many else 1):
        k, outcome = 0, None
        while outcome is None or not outcome.untouched:
            k += 1
            outcome = await stepped(lambda at=at: _slowly(store, commits, trouble, at), k)  # type: ignore[misc]
            store.faults.disarm()
            of = f"a commit that fails at operation {at} and is cancelled at suspension {k}"
            made = await commits.judge(of)
            expect(outcome.kind != "returned" or made, f"{of}\nexpected: what returned is there\nseen:     it is not")
            expect(
                outcome.kind != "raised" or not made, f"{of}\nexpected: what failed is absent\nseen:     it is there"
            )


async def _slowly(store: SessionMaker, commits: _Commits, trouble: Fault, at: int) -> Any:
    store.faults.arm(Slow(trouble, at))
    return await commits.commit()


@case("S-TXN-17", "S-TXN-04", needs=("raw-commit", "fault-injection"))
@rows("cancelled", first=0, second=1, third=2)
async def a_cancelled_commit_leaves_the_others_alone(store: SessionMaker, cancelled: int) -> None:
    """Commits that wait beside one that is cancelled, whether that runs or waits too, are made, in their order.

    If this fails, look at: a queue that a cancelled caller holds on to, hands to nobody or to two; a running commit
    that is cut off by the cancellation of another.
    """
    subject = await store.linear_session(1)
    subject.model.look_at([(LOG.namespace, LOG.key)])
    for rounds in range(ROUNDS):
        store.faults.arm(Slow())
        texts = [f"{rounds}-{number}" for number in range(3)]
        tasks = [asyncio.create_task(subject.session.storage.commit([ListAppend(LOG, text)])) for text in texts]
        for _ in range(rounds):
            await asyncio.sleep(0)
        was_done = not tasks[cancelled].cancel()
        await asyncio.wait(tasks)
        store.faults.disarm()
        seen = ["cancelled" if task.cancelled() else _ending(task) for task in tasks]
        expected = ["cancelled" if n == cancelled and not was_done else "returned" for n in range(3)]
        expect_equal(seen, expected, of=f"three commits, number {cancelled + 1} cancelled after {rounds} rounds")
        await _follow(subject, texts)
        await subject.check(f"the session after a cancellation after {rounds} rounds")
        if was_done:
            break
    await subject.check_everywhere()


def _ending(task: asyncio.Task[Any]) -> str:
    """`returned`, or the name of the error's class."""
    error = task.exception()
    return "returned" if error is None else type(error).__name__


async def _follow(subject: Subject, texts: Sequence[str]) -> None:
    """Tells the model of those commits whose text is in the list, in the order of the texts."""
    found = {element.value: element.seq for element in await subject.session.read_list(LOG, order="desc", limit=3)}
    stats = await subject.session.get_stats()
    for text in texts:
        if text in found:
            subject.follow(CommitResult(found[text], [found[text]], 0, stats), ListAppend(LOG, text))


@case("S-TXN-17", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
async def an_upgrade_cancelled_in_a_file_call_is_whole(store: SessionMaker) -> None:
    """The first commit of a legacy v3 session, cancelled inside any of its file calls, behind the work of that: either
    the file is the old one and the session as before, or the file is the new one and the session shows the commit.

    If this fails, look at: a rename that is done and cancelled; a state that is changed by the caller's task.
    """
    attempt = Upgrades()
    await attempt.arrange(store)
    await attempt.ready()

    async def is_whole(_: int, hit: Hit, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how the upgrade ended that was cancelled in {hit}")
        await _expect_whole_upgrade(attempt, f"an upgrade that was cancelled in {hit}")

    struck = await swept(attempt.call, store.faults, Cancel("after"), is_whole)
    expect(struck, "expected: an upgrade works on files\nseen:     no file call")


@case("S-TXN-17", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("again_after", AGAIN)
async def an_upgrade_cancelled_on_slow_files_is_whole(store: SessionMaker, again_after: int | None) -> None:
    """The same at every suspension of an upgrade whose every file call takes its time, and for a second cancellation.

    If this fails, look at: a publisher whose cleanup is not shielded; an upgrade that is shielded up to its rename.
    """
    attempt = Upgrades()
    await attempt.arrange(store)
    await attempt.ready()

    async def slowly() -> Any:
        store.faults.arm(Slow())
        return await attempt.call()

    async def is_whole(k: int, outcome: Stepped) -> None:
        store.faults.disarm()
        expect_equal(outcome.kind, "cancelled", of=f"how the upgrade ended that was cancelled at suspension {k}")
        await _expect_whole_upgrade(attempt, f"an upgrade that was cancelled at suspension {k}")

    suspensions = await cancelled_at_every_suspension(slowly, is_whole, again_after=again_after)
    expect(suspensions, "expected: an upgrade on slow files suspends\nseen:     no suspension")


async def _expect_whole_upgrade(attempt: Upgrades, of: str) -> None:
    """File and session agree on whether the commit was made; if it was not, it is made now. The next is made ready."""
    session, path = attempt.opened.session, attempt.destination
    was_made = path.read_bytes() != attempt.legacy.case.contents
    elements = await session.read_list(LOG)
    expect_equal(len(elements), int(was_made), of=f"the elements of the commit that the session shows, after {of}")
    left = [one.name for one in path.parent.iterdir() if one != path]
    expect_equal(left, [], of=f"what stands beside the file, after {of}")
    if was_made:
        seq = elements[0].seq
        attempt.value = CommitResult(seq, [seq], 0, await session.get_stats())
    else:
        await attempt.opened.check(f"the session, after {of}")
        await attempt.call()
    await attempt.accept(f"the session with its first commit, after {of}")
    await attempt.ready()
