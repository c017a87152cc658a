"""Commits that fail in the work on their file or database: nothing of them stays, and the session goes on (sections 5
and 23).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import CHANGES, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.fault_scenes import Gone
from forkproof.instruments.racing import ended, raced
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.file_lines import lines_of
from forkproof.suites.sessions.attempts import LARGE, LOG, PLAN
from forkproof.suites.sessions.committing import all_six
from forkproof.suites.sessions.sweeping import share_of
from forkstore.contract.addresses import branch_tip
from forkstore.contract.errors import StoreIOError
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

SHARES = {"nothing": 0.0, "a_byte": 0.004, "half": 0.5, "all_but_the_end": 0.9999, "everything": 1.0}
"""How much of a line of some hundred bytes is written when its commit fails."""
FAULTS: dict[str, Fault] = {
    "before": Fail(),
    "behind": FailAfter(),
    **{name: Short(share) for name, share in SHARES.items()},
}
TEXTS = {"small": "früh", "large": LARGE}


async def _commit(subject: Subject, writes: Sequence[Write]) -> Any:
    """The bare commit: the model is told of it when it is known to have succeeded."""
    return await subject.session.mutate(lambda scope: scope.commit(list(writes)))


async def _expect_next_if_any(subject: Subject, of: str) -> None:
    """The next commit in this session takes the next sequence; behind a torn line it may fail (S-JSONL-TAIL-07)."""
    expected, write = subject.model.next_seq, ListAppend(LOG, of)
    later = await ended(_commit(subject, [write]))
    expect(later.word in ("returned", "StoreIOError"), f"after {of}\nexpected: a commit\nseen:     {later.word}")
    if later.error is None:
        expect_equal(later.value.first_seq, expected, of=f"the sequence of the commit after {of}")
        subject.follow(later.value, write)


async def _expect_next(subject: Subject, of: str) -> None:
    """The next commit takes the next sequence."""
    expected = subject.model.next_seq
    result = await subject.commit(ListAppend(LOG, of))
    expect_equal(result.first_seq, expected, of=f"the sequence of the commit after {of}")


@case("S-TXN-02", needs=("fault-injection",))
@rows("fault", FAULTS)
@rows("text", TEXTS)
async def a_failed_commit_changes_nothing(store: SessionMaker, fault: Fault, text: str) -> None:
    """A commit that fails in any operation on its file or database, before its work, in the middle of it or behind it,
    leaves entries, ledger, scalars, lists, statistics and the next sequence as they were: live and opened again.

    If this fails, look at: a state that is changed before the file; a line that was written whole and reported as
    failed; a transaction that stays open; a sequence that is used up.
    """
    subject = await store.bushy_session()
    tried = 0

    def writes() -> list[Write]:
        return [*all_six(f"try-{tried}"), ValueSet(PLAN, text)]

    subject.model.look_at((one.address.namespace, one.address.key) for one in writes() if hasattr(one, "address"))
    subject.model.look_at([(LOG.namespace, LOG.key)])

    async def is_as_before(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal tried
        if outcome.kind == "returned":
            subject.follow(outcome.value, *writes())
        tried += 1
        await subject.check(f"the open session, its commit struck at {hit}")
        await _expect_next_if_any(subject, f"one that {hit} struck")
        await subject.reopen()
        await subject.check(f"the session opened again, its commit struck at {hit}")
        await _expect_next(subject, f"one that {hit} struck")

    struck = await swept(
        lambda: _commit(subject, writes()), store.faults, fault, is_as_before, **share_of(store, fault, FAULTS)
    )
    expect(struck, "expected: a commit works on files or a database\nseen:     no operation")


@case("S-TXN-04", needs=("raw-commit", "fault-injection"))
@rows("fault", FAULTS)
async def commits_behind_a_failed_one_are_made(store: SessionMaker, fault: Fault) -> None:
    """Of commits that wait for each other, one of which fails in an operation, the others are made, in their order and
    with consecutive sequences. Behind one that failed in the middle of its line they may fail too, with
    `StoreIOError`.

    If this fails, look at: a queue that stops at an error; sequences given before the work is done; a state that holds
    what the failed commit wrote.
    """
    subject = await store.linear_session(1)
    torn = isinstance(fault, Short) and fault.share > 0
    tried = 0

    def writes(number: int) -> list[Write]:
        return [ListAppend(LOG, f"{tried}-{number}"), ValueSet(PLAN, number)]

    async def three() -> Any:
        return await raced(*(subject.session.storage.commit(writes(number)) for number in range(3)))

    async def others_are_made(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal tried
        endings = outcome.value
        for number, ending in enumerate(endings):
            if ending.error is None:
                subject.follow(ending.value, *writes(number))
        seen = [ending.word for ending in endings]
        failed = [number for number, word in enumerate(seen) if word == "StoreIOError"]
        one = failed in ([0], [1], [2], []) and seen.count("returned") == 3 - len(failed)
        rest = torn and bool(failed) and seen[failed[0] :] == ["StoreIOError"] * len(failed)
        told = f"three commits, one struck at {hit}\nexpected: one fails, the others are made\nseen:     {seen}"
        expect(one or rest, told)
        tried += 1
        await subject.check(f"the session after {hit} struck one of three commits")
        await subject.reopen()

    subject.model.look_at([(LOG.namespace, LOG.key), (PLAN.namespace, PLAN.key)])
    struck = await swept(three, store.faults, fault, others_are_made, **share_of(store, fault, FAULTS))
    least = 1 if store.faults.are_many else 3
    expect(
        struck >= least, f"expected: each of three commits works on files or a database\nseen:     {struck} operations"
    )
    await subject.reopen()


@case("S-JSONL-TAIL-07", needs=("fault-injection", "raw-files"))
@rows("share", SHARES)
@rows("jammed", {"cut-at-once": False, "cut-later": True})
async def a_failed_line_is_never_part_of_the_session(store: SessionMaker, share: float, jammed: bool) -> None:
    """After a commit that failed in the middle of its line, also where nothing can be cut off for a while, a later
    commit starts on a line of its own or fails with `StoreIOError`; the failed line is part of neither the open
    session, nor its fork, nor the session opened again.

    If this fails, look at: an append onto the torn line; a failed line that was complete and stays; a size that is
    taken from the file after the failure; a tail that is cut only when the file is opened.
    """
    subject = await store.linear_session(1)
    path = store.path_of(subject)
    lost: list[Write] = [EntryInsert(records.message_entry("lost", "e1")), ValueSet(branch_tip("main"), "lost")]
    store.faults.arm(Gone(Short(share)) if jammed else Short(share), names=CHANGES)
    with refused(StoreIOError):
        await _commit(subject, lost)
    await subject.check("the open session after the failed commit")
    if jammed:
        await _expect_later(subject, "a commit while nothing can be changed")
    store.faults.disarm()
    fork = await subject.fork(TreeFork())
    await fork.check("a fork of the open session")
    await _expect_later(subject, "a commit afterwards")
    await subject.reopen()
    await subject.check("the session opened again")
    await _expect_next(subject, "one that failed in the middle of its line")
    names = [record.get("id") for record in lines_of(path).records]
    expect("lost" not in names, f"{path}\nexpected: no record of the failed commit\nseen:     {names}")


@case("S-JSONL-TAIL-07", needs=("fault-injection", "raw-files"))
@rows("share", SHARES)
async def a_failed_line_does_not_outlive_the_session(store: SessionMaker, share: float) -> None:
    """A commit failed in the middle of its line, and nothing could be cut off then: when the session is closed and
    opened again, the failed line is not part of it, and the file holds whole lines without it.

    If this fails, look at: a close that leaves what only the next commit would have cut off; a failed line that was
    complete, and is read.
    """
    subject = await store.linear_session(1)
    path = store.path_of(subject)
    store.faults.arm(Gone(Short(share)), names=CHANGES)
    with refused(StoreIOError):
        await _commit(subject, [EntryInsert(records.message_entry("lost", "e1")), ValueSet(branch_tip("main"), "lost")])
    store.faults.disarm()
    await subject.reopen()
    await subject.check("the session opened again")
    names = [record.get("id") for record in lines_of(path).records]
    expect("lost" not in names, f"{path}\nexpected: no record of the failed commit\nseen:     {names}")
    await _expect_next(subject, "one that failed before the session was closed")


async def _expect_later(subject: Subject, of: str) -> None:
    """A commit behind a failed one: it is made, on a line of its own, or fails with `StoreIOError`."""
    write = ListAppend(LOG, of)
    later = await ended(_commit(subject, [write]))
    expect(later.word in ("returned", "StoreIOError"), f"{of}\nexpected: it is made, or fails\nseen:     {later.word}")
    if later.error is None:
        subject.follow(later.value, write)
        values = [record.get("value") for record in lines_of(subject.store.path_of(subject)).records]
        expect_equal(values[-1], of, of="the last record of the file")
    subject.model.look_at([(LOG.namespace, LOG.key)])
    await subject.check(f"the open session after {of}")


@case("S-TXN-18", needs=("fault-injection",))
@rows("share", SHARES)
@rows("text", TEXTS)
async def a_full_disk_loses_nothing(store: SessionMaker, share: float, text: str) -> None:
    """A commit that finds the disk full fails with the code `no_space`; all earlier data stays readable as long as it
    is full, and once there is room commits succeed again, in the same session.

    If this fails, look at: a session that refuses every commit after one failure; a torn line that is never cut off; a
    state that is ahead of the file.
    """
    subject, other = await store.bushy_session(), await store.linear_session()
    await other.close()
    for _ in range(2):
        store.faults.arm(NoSpace(share))
        for number in range(3):
            with refused(StoreIOError, code="no_space"):
                await _commit(subject, [*all_six(f"full-{number}"), ValueSet(PLAN, text)])
            await subject.check(f"the open session on a full disk, after {number + 1} failed commits")
        await store.assert_only_known_sessions(subject, other)
        await other.open()
        await other.check("another session, opened on a full disk")
        await other.close()
        store.faults.room()
        await _expect_next(subject, "the disk was full")
    await subject.check_everywhere()


@case("S-TXN-18", needs=("fault-injection",))
async def a_session_is_readable_on_a_full_disk(store: SessionMaker) -> None:
    """A session whose commit found no room for a single byte can be closed, opened and read on the full disk.

    If this fails, look at: an open that writes although there is nothing to repair; a close that fails.
    """
    subject = await store.bushy_session()
    store.faults.arm(NoSpace(0.0))
    with refused(StoreIOError, code="no_space"):
        await _commit(subject, all_six("full"))
    await subject.reopen()
    await subject.check("the session, opened on a full disk")
    with refused(StoreIOError, code="no_space"):
        await _commit(subject, all_six("full"))
    store.faults.room()
    await subject.commit(*all_six("room"))
    await subject.check_everywhere()
