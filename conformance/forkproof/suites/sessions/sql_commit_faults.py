"""Commits that fail in a database, and the others that want to write there (S-SQL-TXN-02)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.own_connections import can_write_at_once
from forkproof.instruments.stepping import Stepped
from forkproof.instruments.sweep import swept
from forkproof.makers import SessionMaker, Subject, records
from forkproof.suites.sessions.attempts import LARGE, LOG, PLAN
from forkproof.suites.sessions.sweeping import share
from forkstore.contract.errors import DuplicateId, SessionStoreError, UnknownParent
from forkstore.contract.writes import CommitResult, EntryInsert, ListAppend, ValueSet, Write

FAULTS: dict[str, Fault] = {
    "before": Fail(),
    "torn": Short(),
    "behind": FailAfter(),
    "full": NoSpace(),
    "refused": Fail("permission_denied"),
    "cancelled": Cancel("after"),
}
TEXTS = {"small": "früh", "large": LARGE}


def _database(subject: Subject) -> Path:
    expect(isinstance(subject.metadata.path, str), "expected: metadata with the path of its database\nseen:     none")
    return Path(str(subject.metadata.path))


@case("S-SQL-TXN-02", needs=("fault-injection",))
@rows("fault", FAULTS)
@rows("text", TEXTS)
async def after_a_failed_commit_another_connection_can_write(store: SessionMaker, fault: Fault, text: str) -> None:
    """When a commit that failed at any operation has reached its caller, another connection gets the write lock at
    once.

    If this fails, look at: a transaction that is rolled back on some paths only; one that stays open because its commit
    failed; a rollback in a task that nobody awaits.
    """
    subject = await store.linear_session(1)
    subject.model.look_at([(LOG.namespace, LOG.key), (PLAN.namespace, PLAN.key)])
    tried = 0

    def writes() -> list[Write]:
        return [ListAppend(LOG, f"try-{tried}"), ValueSet(PLAN, text)]

    async def others_can_write(_: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal tried
        can_write = can_write_at_once(_database(subject))
        expect(
            can_write, f"a commit that {outcome.kind}, struck at {hit}\nexpected: no write lock\nseen:     it is held"
        )
        store.faults.room()
        if outcome.kind == "returned":
            subject.follow(outcome.value, *writes())
        elif outcome.kind == "cancelled":
            await _follow_if_made(subject, writes())
        tried += 1
        await subject.check(f"the session, its commit struck at {hit}")

    struck = await swept(
        lambda: subject.session.storage.commit(writes()),
        store.faults,
        fault,
        others_can_write,
        **share(store, list(FAULTS.values()).index(fault), of=2),
    )
    expect(struck, "expected: a commit works on its database\nseen:     no operation")


async def _follow_if_made(subject: Subject, writes: list[Write]) -> None:
    """Tells the model of a cancelled commit that was made all the same."""
    append: Any = writes[0]
    newest = await subject.session.read_list(LOG, order="desc", limit=1)
    if newest and newest[0].value == append.value:
        seqs = list(range(newest[0].seq, newest[0].seq + len(writes)))
        stats = await subject.session.get_stats()
        subject.follow(CommitResult(seqs[0], seqs, 0, stats), *writes)


REFUSED: dict[str, tuple[type[SessionStoreError], list[Write]]] = {
    "duplicate": (DuplicateId, [ListAppend(LOG, 1), EntryInsert(records.message_entry("e1", None))]),
    "parent": (UnknownParent, [ListAppend(LOG, 1), EntryInsert(records.message_entry("new", "nobody"))]),
}


@case("S-SQL-TXN-02", needs=("fault-injection",))
@rows("refusal", REFUSED)
async def after_a_refused_commit_another_connection_can_write(
    store: SessionMaker, refusal: tuple[type[SessionStoreError], list[Write]]
) -> None:
    """The same for a commit that the store refuses when some of its rows are written already.

    If this fails, look at: a refusal that leaves the transaction open for the next commit to go on with.
    """
    kind, writes = refusal
    subject = await store.linear_session(1)
    subject.model.look_at([(LOG.namespace, LOG.key)])
    with refused(kind):
        await subject.session.storage.commit(writes)
    expect_equal(
        can_write_at_once(_database(subject)), True, of="whether another connection gets the write lock at once"
    )
    await subject.check("the session after the refused commit")
