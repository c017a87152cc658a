"""A session under test, together with the model that says what it must hold."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from forkproof.expect import expect_equal
from forkproof.instruments.proxies import handle_of, unwatched
from forkproof.makers import records
from forkproof.oracle.model import SessionModel
from forkproof.oracle.reading import read_state
from forkproof.oracle.state import Location, LogicalState, Record, copied
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.forks import ForkOptions
from forkstore.contract.store import CallbackScope, Session, SessionMetadata
from forkstore.contract.writes import CommitResult, EntryInsert, ListAppend, UsageInsert, ValueSet, Write

if TYPE_CHECKING:
    from forkproof.makers.maker import SessionMaker


class Subject:
    """A session and its model. What goes through the subject the model follows by itself.

    >>> subject = await store.linear_session(3)
    >>> await subject.append("main", "one more")
    >>> await subject.check_everywhere()
    """

    def __init__(self, store: SessionMaker, session: Session, model: SessionModel) -> None:
        self.store = store
        self.session = session
        self.model = model
        self.metadata: SessionMetadata = session.metadata
        self._minted = len(model.entries) + len(model.ledger)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.metadata.id

    async def commit(self, *writes: Write) -> CommitResult:
        """One commit through a mutation scope: any of the six writes, reserved namespaces included, without a seam."""
        kept = kept_writes(writes)

        async def attempt(scope: CallbackScope) -> CommitResult:
            return await scope.commit(list(writes))

        return self.follow(await self.session.mutate(attempt), *kept)

    async def raw_commit(self, *writes: Write) -> CommitResult:
        """One commit on the storage itself (seam `raw-commit`)."""
        kept = kept_writes(writes)
        return self.follow(await self.session.storage.commit(list(writes)), *kept)

    def follow(self, result: CommitResult, *writes: Write) -> CommitResult:
        """Tells the model of a commit that was made past the subject: `subject.follow(await session.set_value(a, 1),
        ValueSet(a, 1))`.
        """
        self.model.apply(writes, result)
        return result

    async def append(
        self,
        branch: str,
        text: str = "water the beans — 水をやる 🌱",
        *,
        entry: Record | None = None,
        id: str | None = None,
    ) -> str:
        """One commit that inserts a message (or `entry`, whose parent becomes the tip) and moves the branch's tip to
        it; gives its id.

        The branch need not exist. The entry's id is `id`, that of `entry`, or a readable new one.
        """
        new = dict(entry) if entry is not None else records.message_entry(id or self.new_id(), None, text)
        new["parentId"] = self.model.tip(branch)
        await self.commit(EntryInsert(new), ValueSet(branch_tip(branch), new["id"]))
        return str(new["id"])

    async def append_message(self, branch: str, message: Record) -> str:
        """`branch.append_message` of the store itself; the model learns id, time and sequence from the entry as it is
        read back.
        """
        found = await self.session.branch(branch)
        if found is None:
            raise LookupError(f"the case's branch {branch!r} does not exist")
        parent, kept = self.model.tip(branch), copied(message)
        entry_id = await found.append_message(message)
        stored = await self.session.get_entry(entry_id) or {}
        entry = {"id": entry_id, "parentId": parent, "type": "message", "message": kept}
        seq = int(stored.get("seq", 0))
        result = CommitResult(seq, [seq, seq + 1], stored.get("timestamp", 0), await self.session.get_stats())
        self.follow(result, EntryInsert(entry), ValueSet(branch_tip(branch), entry_id))
        return entry_id

    async def insert(self, *entries: Record) -> CommitResult:
        """One commit that inserts entries and moves no tip."""
        return await self.commit(*(EntryInsert(entry) for entry in entries))

    async def spend(self, id: str | None = None, entry_id: str | None = None, **fields: Any) -> CommitResult:
        """One commit that adds a usage row."""
        return await self.commit(UsageInsert(records.usage_row(id or self.new_id("usage"), entry_id, **fields)))

    async def set_tip(self, branch: str, entry_id: str | None) -> CommitResult:
        """Moves a branch's tip, or makes the branch."""
        return await self.commit(ValueSet(branch_tip(branch), entry_id))

    async def create_branch(self, name: str, at: str | None) -> None:
        """`session.create_branch` of the store itself; the model learns the sequence from the tip row."""
        await self.session.create_branch(name, at)
        row = await self.session.get_value(branch_tip(name))
        seq = 0 if row is None else row.seq
        self.follow(CommitResult(seq, [seq], 0, await self.session.get_stats()), ValueSet(branch_tip(name), at))

    async def configure(self, branch: str, *, state: Record | None = None, thinking: str = "off") -> CommitResult:
        """Makes a branch a lane: configuration and state rows, in one commit."""
        return await self.commit(
            ValueSet(lane_config(branch), records.lane_configuration(thinking)),
            ValueSet(lane_state(branch), state if state is not None else records.idle_lane_state()),
        )

    async def fork(self, options: ForkOptions) -> Subject:
        """The destination of `repo.fork`, with the model of what it must hold. The source need not be open."""
        session = await self.store.repo.fork(self.metadata, options)
        return Subject(self.store, session, self.model.fork(options, self.id))

    async def close(self) -> None:
        """Closes the session."""
        await self.session.close()

    async def reopen(self, *, elsewhere: bool = False) -> None:
        """Closes the session and opens it again; `elsewhere` with another repository object (durable harnesses
        only).
        """
        await self.close()
        await self.open(elsewhere=elsewhere)

    async def open(self, *, elsewhere: bool = False) -> None:
        """Opens the closed session again. Other sessions of the case have to be closed before one is opened
        `elsewhere`.
        """
        repo = await self.store.reopen_repo() if elsewhere else self.store.repo
        self.session = await repo.open(self.metadata)

    async def state(self) -> LogicalState:
        """What the live session shows, read in full."""
        inner = unwatched(self.session)
        self.store.trace.note_full_reading(handle_of(self.session))
        return await read_state(inner, self._locations(), self.model)

    async def check(self, of: str = "the session, read in full") -> None:
        """Breaks the clause unless the live session shows exactly what the model holds, and its sequences rise."""
        expect_equal(await self.state(), self.model.state(), of=of)

    async def check_everywhere(self) -> None:
        """`check` live, then closed and opened again; with a durable harness also through another repository object.

        The session is open again afterwards. With a durable harness, close the case's other sessions first.
        """
        await self.check("the open session, read in full")
        await self.reopen()
        await self.check("the session after closing and opening it again")
        if self.store.durable:
            await self.reopen(elsewhere=True)
            await self.check("the session opened by another repository object")

    def new_id(self, what: str = "entry") -> str:
        """A readable id that the case has not used yet: `entry-7`."""
        self._minted += 1
        return f"{what}-{self._minted}"

    def _locations(self) -> Collection[Location]:
        return self.model.touched


def kept_writes(writes: Collection[Write]) -> tuple[Write, ...]:
    """Copies of the writes as they are now: what the model follows, whatever becomes of the objects handed to the
    store.
    """
    return tuple(_kept(write) for write in writes)


def _kept(write: Write) -> Write:
    if isinstance(write, EntryInsert):
        return EntryInsert(copied(write.entry))
    if isinstance(write, UsageInsert):
        return UsageInsert(copied(write.row))
    if isinstance(write, ValueSet | ListAppend):
        return type(write)(write.address, copied(write.value))
    return write
