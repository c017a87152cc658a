"""A long life of a family of sessions, from a seed: commits, branches, labels, lists, forks of forks, deletes.

The same seed makes the same calls on every store, so two stores can only differ in their answers. The scenario judges
the answers by the models: what a commit gives back, which forks are refused and how. What the sessions hold is for the
case to judge, after every step.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from forkproof.expect import expect_equal
from forkproof.instruments.clocks import Clock
from forkproof.makers import records
from forkproof.makers.maker import SessionMaker
from forkproof.makers.subject import Subject
from forkproof.oracle.classifier import ForkRefused
from forkstore.contract.addresses import branch_tip, entry_label, list_address, session_name, value_address
from forkstore.contract.errors import SessionStoreError
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import (
    EntryInsert,
    ListAppend,
    ListDelete,
    UsageInsert,
    ValueDelete,
    ValueSet,
    Write,
)

BRANCHES = ("main", "side", "ünï:코드")
KEYS = ("", "beds", "süd:3")
MOST_SESSIONS = 6


class Scenario:
    """Takes one step at a time.

    >>> scenario = Scenario(store, seed=1)
    >>> for _ in range(100):
    ...     for subject in await scenario.step():
    ...         await subject.check()

    With `clock` every step may move it, and the times in all answers are judged.
    """

    def __init__(self, store: SessionMaker, seed: int, clock: Clock | None = None) -> None:
        self.store = store
        self.clock = clock
        self.opened: list[Subject] = []
        self.closed: list[Subject] = []
        self._chance = random.Random(seed)
        self._made = 0
        self._steps: list[tuple[int, Callable[[Subject], Awaitable[tuple[Subject, ...]]]]] = [
            (8, self._append),
            (5, self._write),
            (2, self._make_branch),
            (2, self._configure),
            (2, self._move_tip),
            (6, self._fork),
            (2, self._close),
            (2, self._open),
            (1, self._delete),
        ]

    async def step(self) -> tuple[Subject, ...]:
        """One step. Gives the open sessions that it had to do with: those to look at."""
        if self.clock is not None:
            self.clock.advance(self._chance.choice((0, 0, 1, 1_000, -400)))
        if not self.opened:
            return await self._begin()
        weights = [weight for weight, _ in self._steps]
        ((_, act),) = self._chance.choices(self._steps, weights)
        return await act(self._chance.choice(self.opened))

    async def _begin(self) -> tuple[Subject, ...]:
        if self.closed and self._chance.random() < 0.5:
            return await self._open(self.closed[0])
        subject = await self.store.create(self._name("session"))
        self.opened.append(subject)
        await subject.configure("main")
        await self._commit(subject, ValueSet(branch_tip("main"), None))
        return (subject,)

    async def _append(self, subject: Subject) -> tuple[Subject, ...]:
        branch = self._chance.choice(BRANCHES)
        parent, id = subject.model.tip(branch), self._name("entry")
        entry = self._chance.choice(
            (
                records.message_entry(id, parent, f"{id} — grün"),
                records.message_entry(id, parent, message=records.assistant_message(id)),
                records.custom_entry(id, parent, data={"z": self._made, "a": [None, 0.5]}),
                records.compaction_entry(id, parent),
                records.branch_summary_entry(id, parent, parent),
            )
        )
        await self._commit(subject, EntryInsert(entry), ValueSet(branch_tip(branch), id))
        return (subject,)

    async def _write(self, subject: Subject) -> tuple[Subject, ...]:
        await self._commit(subject, *(self._any_write(subject) for _ in range(self._chance.randint(0, 5))))
        return (subject,)

    def _any_write(self, subject: Subject) -> Write:
        key, number = self._chance.choice(KEYS), self._chance.randint(0, 99)
        plan, log = value_address("garden.plan", key), list_address("garden.log", key)
        label = entry_label(self._any_entry(subject) or "unknown-entry")
        return self._chance.choice(
            (
                ValueSet(plan, self._chance.choice((None, number, number / 8, {"n": number}, []))),
                ValueDelete(plan),
                ListAppend(log, number),
                ListAppend(log, None),
                ListDelete(log),
                ValueSet(label, f"label {number}"),
                ValueDelete(label),
                ValueSet(session_name(), f"name {number}"),
                ValueDelete(session_name()),
                UsageInsert(records.usage_row(self._name("usage"), self._any_entry(subject))),
                EntryInsert(records.message_entry(self._name("entry"), self._any_entry(subject))),
                ValueSet(value_address("pi.op.state", f"op-{number}"), {"at": "tools"}),
            )
        )

    async def _make_branch(self, subject: Subject) -> tuple[Subject, ...]:
        branch = self._chance.choice(BRANCHES)
        if branch not in subject.model.branches():
            await subject.create_branch(branch, self._any_entry(subject))
        return (subject,)

    async def _configure(self, subject: Subject) -> tuple[Subject, ...]:
        state = self._chance.choice((records.idle_lane_state(), records.busy_lane_state()))
        await subject.configure(
            self._chance.choice(BRANCHES), state=state, thinking=self._chance.choice(("off", "max"))
        )
        return (subject,)

    async def _move_tip(self, subject: Subject) -> tuple[Subject, ...]:
        await subject.set_tip(self._chance.choice(BRANCHES), self._any_entry(subject))
        return (subject,)

    async def _fork(self, subject: Subject) -> tuple[Subject, ...]:
        if len(self.opened) + len(self.closed) >= MOST_SESSIONS:
            return await self._delete(subject)
        source = self._chance.choice([*self.opened, *self.closed])
        options = self._any_options(source)
        try:
            source.model.fork(options, source.id)
        except ForkRefused as refusal:
            await self._expect_refused(source, options, refusal)
            return (source,) if source in self.opened else ()
        fork = await source.fork(options)
        self.opened.append(fork)
        if self.clock is not None:
            expect_equal(fork.metadata.created_at, self.clock.at, of="the time of a fork")
        return (fork, source) if source in self.opened else (fork,)

    def _any_options(self, source: Subject) -> ForkOptions:
        id = self._name("fork")
        if self._chance.random() < 0.3:
            return TreeFork(id=id)
        entry = self._any_entry(source) if self._chance.random() < 0.4 else None
        position = self._chance.choice(("at", "at", "before"))
        return BranchFork(self._chance.choice(BRANCHES), entry, "before" if position == "before" else "at", id)

    async def _expect_refused(self, source: Subject, options: ForkOptions, refusal: ForkRefused) -> None:
        seen = "no refusal"
        try:
            await self.store.repo.fork(source.metadata, options)
        except SessionStoreError as error:
            told = {name: getattr(error, name, "no such attribute") for name in refusal.attributes}
            seen = str(ForkRefused(type(error).__name__, **told))
        expect_equal(seen, str(refusal), of=f"the answer to a fork of {source.id!r} by {options!r}")

    async def _close(self, subject: Subject) -> tuple[Subject, ...]:
        await subject.close()
        self.opened.remove(subject)
        self.closed.append(subject)
        return ()

    async def _open(self, subject: Subject) -> tuple[Subject, ...]:
        if not self.closed:
            return (subject,)
        found = self._chance.choice(self.closed)
        await found.open()
        self.closed.remove(found)
        self.opened.append(found)
        return (found,)

    async def _delete(self, subject: Subject) -> tuple[Subject, ...]:
        """Deletes a session, often one that others were forked from; the forks are looked at."""
        gone = self._chance.choice([*self.opened, *self.closed])
        if gone in self.opened:
            await self._close(gone)
        self.closed.remove(gone)
        await self.store.repo.delete(gone.metadata)
        return tuple(one for one in self.opened if one.metadata.parent_session_id == gone.id)

    async def _commit(self, subject: Subject, *writes: Write) -> None:
        """Commits, and judges the result by the model."""
        first = subject.model.next_seq
        result = await subject.commit(*writes)
        start = result.first_seq if first is None else first
        expected = (start, list(range(start, start + len(writes))))
        expect_equal((result.first_seq, result.seqs), expected, of="first and all sequences that a commit gave")
        state = subject.model.state()
        expect_equal(result.stats.message_count, state.message_count, of="the message count that a commit gave")
        expect_equal(result.stats.usage, state.usage, of="the usage that a commit gave")
        if self.clock is not None:
            expect_equal(result.timestamp, self.clock.at, of="the time that a commit gave")

    def _any_entry(self, subject: Subject) -> str | None:
        return self._chance.choice([None, *subject.model.entries])

    def _name(self, what: str) -> str:
        self._made += 1
        return f"{what}-{self._made}"
