"""The calls of a store that work on files, as the suites of faults make them: again and again, with a fault at another
place each time.

An attempt knows what its call needs, makes it, judges what it gave, and puts everything back, so that the next one can
be made. What a failed call must leave is for the suites to say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final

from forkproof.expect import expect_equal
from forkproof.instruments.racing import ended
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.raw_files import path_of
from forkproof.oracle.model import SessionModel
from forkproof.suites.sessions.appending import branch_of, follow_append
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

NEW: Final = "new"
"""The id of every session that an attempt makes."""
LOG: Final = list_address("garden.log")
PLAN: Final = value_address("garden.plan")
LARGE: Final = "x" * 200_000
"""A text of more than any chunk or batch."""
BRANCH: Final = BranchFork("main", id=NEW)
TREE: Final = TreeFork(id=NEW)


class Attempt(ABC):
    """One call: `arrange` once; then `ready`, `call` and, when it returned, `accept`, as often as one likes."""

    store: SessionMaker
    value: Any = None
    """What the last call gave; None when it gave nothing."""

    async def arrange(self, store: SessionMaker) -> Attempt:
        """Makes what all calls need."""
        self.store = store
        return self

    async def ready(self) -> None:  # noqa: B027 - most attempts need none
        """Makes what the next call needs."""

    async def call(self) -> Any:
        """The call."""
        self.value = None
        self.value = await self.made()
        return self.value

    @abstractmethod
    async def made(self) -> Any:
        """The bare call."""

    @abstractmethod
    async def accept(self, of: str) -> None:
        """Breaks the clause unless the call gave what it must give; puts everything back."""

    @property
    def destination(self) -> Path:
        """The session file that the last call made, or may change."""
        return path_of(self.value.metadata)

    async def forgive(self) -> None:  # noqa: B027 - most attempts need none
        """Puts back what a failed call may have changed for good."""

    async def leave(self) -> None:  # noqa: B027 - most attempts need none
        """Closes the session that the call was made on, where there is one."""


class Makes(Attempt):
    """A call that makes the session `new`."""

    @abstractmethod
    def model(self) -> SessionModel:
        """What the session must hold."""

    async def accept(self, of: str) -> None:
        subject = self.store.subject(self.value, self.model())
        await subject.check(of)
        await subject.close()
        await self.store.repo.delete(subject.metadata)


class Creates(Makes):
    """`create`; `elsewhere` in a new working directory each time, where there are any."""

    def __init__(self, *, elsewhere: bool = False) -> None:
        self._elsewhere = elsewhere
        self._number = 0

    async def ready(self) -> None:
        self._number += 1

    async def made(self) -> Any:
        options = self.store.create_options
        if self._elsewhere and "cwd" in options:
            options["cwd"] = f"/srv/orchard-{self._number}"
        return await self.store.repo.create(id=NEW, **options)

    def model(self) -> SessionModel:
        return SessionModel()


class Opens(Attempt):
    """`open` of a closed session."""

    subject: Subject

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.subject = await store.linear_session(2, id="source")
        await self.subject.close()
        return await super().arrange(store)

    async def made(self) -> Any:
        return await self.store.repo.open(self.subject.metadata)

    async def accept(self, of: str) -> None:
        self.subject.session = self.value
        await self.subject.check(of)
        await self.subject.close()


class Forks(Makes):
    """`fork` of an open or a closed session of the store's own."""

    def __init__(self, options: ForkOptions, *, closed: bool, further: int = 0) -> None:
        self.options = options
        self.closed = closed
        self.further = further
        """So many entries are in the source beside the little that is always there."""
        self.source: Subject

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.source = await self.shaped(store)
        if self.closed:
            await self.source.close()
        return await super().arrange(store)

    async def shaped(self, store: SessionMaker) -> Subject:
        """The open source."""
        source = await store.linear_session(1, id="source")
        parents = ["e1", *(f"n{number}" for number in range(self.further))]
        chain = [records.custom_entry(f"n{number}", parent) for number, parent in enumerate(parents[:-1])]
        await source.commit(*map(EntryInsert, chain), ValueSet(branch_tip("main"), parents[-1]))
        return source

    async def made(self) -> Any:
        return await self.store.repo.fork(self.source.metadata, self.options)

    def model(self) -> SessionModel:
        return self.source.model.fork(self.options, self.source.id)


class Deletes(Attempt):
    """`delete` of a closed session, which is made anew when it is gone."""

    subject: Subject

    async def ready(self) -> None:
        if "doomed" not in await self.store.listed_ids():
            self.subject = await self.store.linear_session(1, id="doomed")
            await self.subject.close()

    async def made(self) -> Any:
        await self.store.repo.delete(self.subject.metadata)
        return "deleted"

    async def accept(self, of: str) -> None:
        expect_equal("doomed" in await self.store.listed_ids(), False, of=f"whether it is listed: {of}")


class Lists(Attempt):
    """`list` of three sessions."""

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.subjects = [await store.linear_session(1, id=id) for id in ("a", "b", "c")]
        await self.subjects[0].close()
        return await super().arrange(store)

    async def made(self) -> Any:
        return await self.store.repo.list()

    async def accept(self, of: str) -> None:
        expect_equal(sorted(metadata.id for metadata in self.value), ["a", "b", "c"], of=of)


class Commits(Attempt):
    """A commit with a text of this length, on a session that is opened anew each time."""

    def __init__(self, text: str = "früh") -> None:
        self._text = text
        self.subject: Subject
        self.writes: list[Write] = []

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.subject = await store.linear_session(1, id="source")
        return await super().arrange(store)

    async def ready(self) -> None:
        await self.leave()
        await self.subject.open()
        self.writes = [ListAppend(LOG, self.subject.new_id()), ValueSet(PLAN, self._text)]
        self.subject.model.look_at([(LOG.namespace, LOG.key), (PLAN.namespace, PLAN.key)])

    async def made(self) -> Any:
        return await self.subject.session.mutate(lambda scope: scope.commit(self.writes))

    async def leave(self) -> None:
        await ended(self.subject.session.close())

    async def accept(self, of: str) -> None:
        self.subject.follow(self.value, *self.writes)
        await self.subject.check(of)
        await self.subject.reopen()
        await self.subject.check(f"{of}, opened again")


class Appends(Commits):
    """`append_message` of a branch, found by its name."""

    async def made(self) -> Any:
        branch = await branch_of(self.subject)
        return await branch.append_message(records.user_message("früh"))

    async def accept(self, of: str) -> None:
        await follow_append(self.subject, "main", self.value, type="message", message=records.user_message("früh"))
        await self.subject.check(of)


class Reads(Commits):
    """Every read of an open session."""

    async def made(self) -> Any:
        return await self.subject.state()

    async def accept(self, of: str) -> None:
        expect_equal(self.value, self.subject.model.state(), of=of)


class Closes(Attempt):
    """`close` of an open session."""

    subject: Subject

    async def arrange(self, store: SessionMaker) -> Attempt:
        self.subject = await store.linear_session(1, id="source")
        await self.subject.close()
        return await super().arrange(store)

    async def ready(self) -> None:
        await ended(self.subject.session.close())
        await self.subject.open()

    async def made(self) -> Any:
        await self.subject.session.close()
        return "closed"

    async def accept(self, of: str) -> None:
        await self.subject.open()
        await self.subject.check(of)
        await self.subject.close()
