"""What stands on the disk of a store, as the suites of leftovers and cleanup ask for it, on files and in databases."""

from __future__ import annotations

from typing import Protocol

from forkproof.expect import expect_equal
from forkproof.harness import works_on_a_database
from forkproof.instruments.byteguard import tree
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.kill import Killed
from forkproof.instruments.racing import ended
from forkproof.instruments.stepping import Stepped
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.attempts import NEW, Attempt, Makes
from forkstore.contract.forks import TreeFork


class Standing(Protocol):
    """What stood there at one moment."""

    def check(self, of: str) -> None:
        """Breaks the clause unless it stands there now, and nothing else."""
        ...


def standing(store: SessionMaker) -> Standing:
    """What stands there now: the tree of session files, or the directory of the databases with their rows.

    >>> before = standing(store)
    >>> before.check("the store after a fork that failed")
    """
    if works_on_a_database(store.harness):
        # Imported where it is needed: stores on files need no SQLite.
        from forkproof.instruments.store_picture import store_picture

        return store_picture(store.databases.directory)
    return tree(store.root)


class StandsAsBefore:
    """After each call that failed: what stood there stands there and nothing else, and the next call is made ready."""

    def __init__(self, store: SessionMaker, attempt: Attempt) -> None:
        self.store, self.attempt = store, attempt
        self.before: Standing

    async def ready(self) -> None:
        """Makes the next call ready."""
        await self.attempt.ready()
        self.before = standing(self.store)

    async def __call__(self, _: int, hit: Hit, outcome: Stepped) -> None:
        self.store.faults.disarm()
        if outcome.kind == "returned":
            await self.attempt.accept(f"what a call gave that returned in spite of {hit}")
        else:
            await self.attempt.forgive()
            self.before.check(f"the store after a call that ended at {hit}")
        await self.ready()


async def expect_free(store: SessionMaker, attempt: Makes, of: str) -> None:
    """Breaks the clause unless a create and then the fork onto the id succeed."""
    created = await ended(store.repo.create(id=NEW, **store.create_options))
    expect_equal(created.word, "returned", of=f"a create of the id {of}")
    subject = store.subject(created.value, SessionModel())
    await subject.close()
    await store.repo.delete(subject.metadata)
    forked = await ended(attempt.call())
    expect_equal(forked.word, "returned", of=f"a fork onto the id {of}")
    await attempt.accept(f"what was forked {of}")


async def expect_made_anew(store: SessionMaker, source: Subject, run: Killed) -> None:
    """Breaks the clause unless only the source is listed after a process was killed that made a session of the run's
    name, and a create and then a fork of it take that id, each good and deleted afterwards.
    """
    await store.assert_only_known_sessions(source)
    for number in range(2):
        made = await ended(
            store.repo.fork(source.metadata, TreeFork(id=run.name))
            if number
            else store.repo.create(id=run.name, **store.create_options)
        )
        expect_equal(made.word, "returned", of=f"{'a fork' if number else 'a create'} onto the id, after {run}")
        model = source.model.fork(TreeFork(), source.id) if number else SessionModel()
        subject = store.subject(made.value, model)
        await subject.reopen()
        await subject.check("what was made with the id")
        await store.assert_only_known_sessions(source, subject)
        await subject.close()
        await store.repo.delete(subject.metadata)
