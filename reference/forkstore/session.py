"""The concrete session and its branches, built on any Storage (spec section 9).

Public writers and mutation scopes share one line, so each has the session to itself; reads never wait for it
(S-QRY-18). A call is admitted, refused or queued in the first step of its coroutine; tasks therefore take effect in
the order of their first steps.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar, Unpack

from .admission import AdmittedReads, AdmittedStorage, Calls
from .closing import Closing
from .contract.addresses import Address, branch_tip, entry_label, session_name
from .contract.errors import (
    BranchExists,
    InvalidArgument,
    InvalidBranchName,
    InvalidValue,
    UnknownBranch,
    UnknownEntry,
)
from .contract.ids import IdGenerator
from .contract.queries import (
    BranchArguments,
    BranchQuery,
    FindArguments,
    FindQuery,
    check_entry_id,
    first_only,
)
from .contract.records import ABSENT, Absent, Json, Record, refuse_pending
from .contract.store import SessionMetadata, Storage
from .contract.text import text_fault
from .contract.writes import CommitResult, EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet, Write
from .mutations import CallbackScope, ExclusiveUse, MutationLine, MutationScope

T = TypeVar("T")


class Session(AdmittedReads):
    """An open session over any Storage.

    `release` is called once at the end of closing, however closing ends (S-SESS-17).

    From the first step of `close` on every other call raises SessionClosed (S-SESS-13).
    """

    def __init__(
        self, metadata: SessionMetadata, storage: Storage, id_generator: IdGenerator, release: Callable[[], None]
    ) -> None:
        self.metadata = metadata
        self.id_generator = id_generator
        self._calls = Calls(metadata.id)
        super().__init__(storage, self._calls)
        self._line = MutationLine(metadata.id)
        self._release = release
        self._closing = Closing(self._refuse_new_calls, self._settle_and_close)
        self.storage = AdmittedStorage(storage, self._calls, self._closing.close)

    async def get_entry(self, entry_id: str) -> Record | None:
        """One entry, or None. Raises InvalidQuery. Keeps S-QRY-17."""
        return (await self.get_entries([check_entry_id(entry_id)])).get(entry_id)

    async def get_name(self) -> str | None:
        """The name of the session, or None. Keeps S-QRY-17."""
        row = await self.get_value(session_name())
        return None if row is None else row.value

    async def get_label(self, entry_id: str) -> str | None:
        """The label of an entry, or None. Raises InvalidAddress. Keeps S-QRY-17."""
        row = await self.get_value(entry_label(entry_id))
        return None if row is None else row.value

    async def find_entries(self, **query: Unpack[FindArguments]) -> list[Record]:
        """Entries of the whole session, newest first unless asked otherwise.

        Raises InvalidQuery. Keeps S-QRY-09, S-QRY-14.
        """
        return await self.scan_entries(**FindQuery(**query).scan())

    async def find_entry(self, **query: Unpack[FindArguments]) -> Record | None:
        """The first entry that `find_entries` would give, or None. Raises InvalidQuery. Keeps S-QRY-15."""
        query["limit"] = first_only(query.get("limit"))
        return next(iter(await self.find_entries(**query)), None)

    async def branch(self, name: str) -> Branch | None:
        """The branch of that name, or None if it has no tip row (S-SESS-01). Raises InvalidBranchName (S-SESS-03)."""
        branch = Branch(self, _check_branch_name(name))
        return None if await self.get_value(branch.tip_address) is None else branch

    async def create_branch(self, name: str, at: str | None) -> Branch:
        """A new branch with its tip at an entry, or with a null tip. Keeps S-SESS-02 to S-SESS-05.

        Raises InvalidBranchName, BranchExists, UnknownEntry, and InvalidArgument when `at` is neither a str nor None.
        """
        branch = Branch(self, _check_branch_name(name))
        if at is not None and type(at) is not str:
            raise InvalidArgument("at", "is neither an entry id nor None")
        async with ExclusiveUse(self._line):
            if await self._storage.get_value(branch.tip_address) is not None:
                raise BranchExists(name)
            if at is not None and not await self._storage.get_entries([at]):
                raise UnknownEntry(at)
            await self._storage.commit([ValueSet(branch.tip_address, at)])
        return branch

    async def set_value(self, address: Address, value: Json) -> CommitResult:
        """Set a scalar in one commit of its own. Raises InvalidValue. Keeps S-SESS-06, S-VAL-01."""
        return await self._write(ValueSet(address, value))

    async def delete_value(self, address: Address) -> CommitResult:
        """Delete a scalar in one commit of its own. Raises InvalidValue. Keeps S-SESS-06, S-VAL-02."""
        return await self._write(ValueDelete(address))

    async def append_list(self, address: Address, value: Json) -> CommitResult:
        """Append to a list in one commit of its own. Raises InvalidValue. Keeps S-SESS-06."""
        return await self._write(ListAppend(address, value))

    async def delete_list(self, address: Address) -> CommitResult:
        """Delete a list in one commit of its own. Raises InvalidValue. Keeps S-SESS-06, S-LIST-06."""
        return await self._write(ListDelete(address))

    async def set_name(self, name: str | None) -> CommitResult:
        """Name the session, or with None remove the name. Raises InvalidArgument, InvalidValue. Keeps S-SESS-07."""
        return await self._write(_set_or_delete(session_name(), "name", name))

    async def set_label(self, entry_id: str, label: str | None) -> CommitResult:
        """Label an entry, known or not, or with None remove the label. Keeps S-SESS-07.

        Raises InvalidAddress, InvalidArgument, InvalidValue.
        """
        return await self._write(_set_or_delete(entry_label(entry_id), "label", label))

    async def begin_mutation(self) -> MutationScope:
        """Exclusive use of the session until the scope's `end`. Raises SessionClosed. Keeps S-MUT-01."""
        await self._line.enter()
        return MutationScope(self._storage, self._calls, self._line)

    async def mutate(self, callback: Callable[[CallbackScope], Awaitable[T]]) -> T:
        """Runs the callback with exclusive use of the session, and gives its value or error (S-MUT-07).

        Raises InvalidArgument when the callback is not callable or does not give an awaitable. A public writer that
        the callback awaits never runs, because it waits for this very scope (S-MUT-08).
        """
        if not callable(callback):
            raise InvalidArgument("callback", "is not callable")
        await self._line.enter()
        scope = CallbackScope(self._storage, self._calls, self._line)
        try:
            outcome = callback(scope)
            if not inspect.isawaitable(outcome):
                raise InvalidArgument("callback", "does not give an awaitable; make it a coroutine function")
            value: T = await outcome
        finally:
            scope.end_now()
        await scope.wait_for_commit()
        return value

    async def close(self) -> None:
        """Closes the session: queued scopes are rejected, the running scope and all admitted calls are waited for.

        So it must not be awaited inside a scope of the same session, which it would wait for.

        Every further call has the outcome of the first, and cancelling a caller does not stop the closing. Keeps
        S-SESS-13 to S-SESS-18.
        """
        await self._closing.close()

    @property
    def is_closing(self) -> bool:
        """Whether closing has begun."""
        return self._closing.begun

    def _refuse_new_calls(self) -> None:
        self._calls.refuse_new()
        self._line.close()

    async def _settle_and_close(self) -> None:
        try:
            await self._line.idle()
            await self._calls.settled()
            await self._storage.close()
        finally:
            self._release()

    async def _write(self, write: Write) -> CommitResult:
        async with ExclusiveUse(self._line):
            return await self._storage.commit([write])

    async def append_entry(self, branch: Branch, fields: Record) -> str:
        """Inserts an entry below the branch's tip and moves the tip to it, in one commit (S-SESS-08, S-SESS-09)."""
        await self._line.enter()  # what ExclusiveUse does, without its two coroutines: most commits come through here
        try:
            row = await self._storage.get_value(branch.tip_address)
            if row is None:
                raise UnknownBranch(branch.name)
            entry_id = self.id_generator.next()
            entry = {"id": entry_id, "parentId": row.value, **fields}
            refuse_pending(entry)
            await self._storage.commit([EntryInsert(entry), ValueSet(branch.tip_address, entry_id)])
            return entry_id
        finally:
            self._line.leave()


class Branch:
    """A named tip of a session. Every operation raises UnknownBranch when the tip row is gone (S-SESS-12)."""

    def __init__(self, session: Session, name: str) -> None:
        self.name = name
        self.tip_address = branch_tip(name)
        self._session = session

    async def get_tip_id(self) -> str | None:
        """The id of the tip, or None for a null tip. Raises UnknownBranch, SessionClosed."""
        row = await self._session.get_value(self.tip_address)
        if row is None:
            raise UnknownBranch(self.name)
        tip: str | None = row.value
        return tip

    async def find_entries(self, *, start: str | None = None, **query: Unpack[BranchArguments]) -> list[Record]:
        """The entries from the tip, or from any given entry, to the root; moves no tip (S-QRY-16).

        Raises UnknownBranch, UnknownEntry, InvalidQuery, SessionClosed.
        """
        tip = await self.get_tip_id()
        at = tip if start is None else start
        if at is None:
            BranchQuery("", **query)  # a wrong parameter is refused on an empty branch too
            return []
        return await self._session.scan_branch(at, **query)

    async def find_entry(self, *, start: str | None = None, **query: Unpack[BranchArguments]) -> Record | None:
        """The first entry that `find_entries` would give, or None. Raises as it does. Keeps S-QRY-15."""
        query["limit"] = first_only(query.get("limit"))
        return next(iter(await self.find_entries(start=start, **query)), None)

    async def append_message(self, message: Record) -> str:
        """Appends a message entry and gives its id (S-SESS-08).

        Raises PendingMessage (S-SESS-10), InvalidValue, UnknownBranch, SessionClosed.
        """
        if not isinstance(message, dict):
            raise InvalidValue("message", "is not an object")
        return await self._session.append_entry(self, {"type": "message", "message": message})

    async def append_custom_entry(self, custom_type: str, data: Json | Absent = ABSENT) -> str:
        """Appends a custom entry and gives its id; without `data` the entry has none (S-SESS-08, S-ENT-05).

        Raises InvalidValue, UnknownBranch, SessionClosed.
        """
        fields: Record = {"type": "custom", "customType": custom_type}
        if data is not ABSENT:
            fields["data"] = data
        return await self._session.append_entry(self, fields)


def _check_branch_name(name: str) -> str:
    fault = text_fault(name, allow_nul=False)
    if fault is None and not name:
        fault = "is empty"
    if fault is not None:
        raise InvalidBranchName(name, fault)
    return name


def _set_or_delete(address: Address, argument: str, text: str | None) -> Write:
    if text is None:
        return ValueDelete(address)
    if type(text) is not str:
        raise InvalidArgument(argument, "is neither a string nor None")
    return ValueSet(address, text)
