"""Mutants of the suites `branches`, `appends` and `messages`."""

from __future__ import annotations

import asyncio
from typing import Any

from forkstore.contract.addresses import branch_tip, branch_tip_prefix, lane_state, session_name
from forkstore.contract.errors import BranchExists, InvalidBranchName, PendingMessage, UnknownBranch, UnknownEntry
from forkstore.contract.records import Record
from forkstore.contract.writes import CommitResult, EntryInsert, ValueSet, Write
from forkstore.mutations import ExclusiveUse
from forkstore.session import Branch, Session
from tests.mutants.catalogue import Mutant


class ANullTipIsNoBranch(Mutant):
    """Lie: a branch with a null tip is not found."""

    kills = "S-SESS-01"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            found = await super().branch(name)
            return None if found is None or await found.get_tip_id() is None else found


class ABranchIsALane(Mutant):
    """Lie: a new branch gets a state at once."""

    kills = "S-SESS-02"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def create_branch(self, name: str, at: str | None) -> Branch:
            branch = await super().create_branch(name, at)
            await self.set_value(lane_state(name), {"currentOperationId": None, "lastOperationId": None, "inbox": []})
            return branch


class BlankNamesAreRefused(Mutant):
    """Lie: a name of blanks is no name."""

    kills = "S-SESS-03"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def create_branch(self, name: str, at: str | None) -> Branch:
            if isinstance(name, str) and not name.strip(" "):
                raise InvalidBranchName(name, "is blank")
            return await super().create_branch(name, at)


class NamesAreCheckedBeforeTheLine(Mutant):
    """Lie: whether a name is taken is looked at before the scope is granted."""

    kills = "S-SESS-04"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def create_branch(self, name: str, at: str | None) -> Branch:
            branch = Branch(self, name)
            if await self.get_value(branch.tip_address) is not None:
                raise BranchExists(name)
            await asyncio.sleep(0)
            await self.set_value(branch.tip_address, at)
            return branch


class ABranchMayStartAnywhere(Mutant):
    """Lie: a branch may be made at an unknown entry."""

    kills = "S-SESS-05"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def create_branch(self, name: str, at: str | None) -> Branch:
            try:
                return await super().create_branch(name, at)
            except UnknownEntry:
                await self.set_value(branch_tip(name), at)
                return Branch(self, name)


class WritersGoPastTheLine(Mutant):
    """Lie: a public writer does not wait for the scope that is held."""

    kills = "S-SESS-06"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def _write(self, write: Write) -> CommitResult:
            return await self._storage.commit([write])


class NoNameIsANullName(Mutant):
    """Lie: `set_name(None)` stores null."""

    kills = "S-SESS-07"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def set_name(self, name: str | None) -> CommitResult:
            return await self.set_value(session_name(), name)


class AnAppendIsTwoCommits(Mutant):
    """Lie: an append commits the entry, then the tip."""

    kills = "S-SESS-08"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def append_entry(self, branch: Branch, fields: Record) -> str:
            async with ExclusiveUse(self._line):
                row = await self._storage.get_value(branch.tip_address)
                if row is None:
                    raise UnknownBranch(branch.name)
                entry_id = self.id_generator.next()
                await self._storage.commit([EntryInsert({"id": entry_id, "parentId": row.value, **fields})])
                await self._storage.commit([ValueSet(branch.tip_address, entry_id)])
                return entry_id


class ATipIsRemembered(Mutant):
    """Lie: an append goes below the tip as it was when the branch object was made."""

    kills = "S-SESS-08"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            found = await super().branch(name)
            return None if found is None else _Remembering(self, name, await found.get_tip_id())

        async def append_entry(self, branch: Branch, fields: Record) -> str:
            if not isinstance(branch, _Remembering):
                return await super().append_entry(branch, fields)
            async with ExclusiveUse(self._line):
                entry_id = self.id_generator.next()
                entry = {"id": entry_id, "parentId": branch.tip, **fields}
                await self._storage.commit([EntryInsert(entry), ValueSet(branch.tip_address, entry_id)])
                branch.tip = entry_id
                return entry_id


class _Remembering(Branch):
    def __init__(self, session: Session, name: str, tip: str | None) -> None:
        super().__init__(session, name)
        self.tip = tip


class TipsMoveTogether(Mutant):
    """Lie: an append moves every branch that has the same tip."""

    kills = "S-SESS-09"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def append_entry(self, branch: Branch, fields: Record) -> str:
            tip = await branch.get_tip_id()
            entry_id = await super().append_entry(branch, fields)
            for row in await self.scan_values(branch_tip_prefix()):
                if row.value == tip:
                    await self.set_value(row.address, entry_id)
            return entry_id


class PendingMessagesAreTaken(Mutant):
    """Lie: `append_message` takes a pending message."""

    kills = "S-SESS-10"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def append_entry(self, branch: Branch, fields: Record) -> str:
            entry_id = self.id_generator.next()
            entry = {"id": entry_id, "parentId": await branch.get_tip_id(), **fields}
            await self.storage.commit([EntryInsert(entry), ValueSet(branch.tip_address, entry_id)])
            return entry_id


class DeferredIsPending(Mutant):
    """Lie: a deferred message counts as pending."""

    kills = "S-SESS-11"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            return None if await super().branch(name) is None else _RefusesDeferred(self, name)


class _RefusesDeferred(Branch):
    async def append_message(self, message: Record) -> str:
        if message.get("stopReason") == "deferred":
            raise PendingMessage
        return await super().append_message(message)


class AMissingTipIsNull(Mutant):
    """Lie: a branch whose tip row is gone has a null tip."""

    kills = "S-SESS-12"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def branch(self, name: str) -> Branch | None:
            return None if await super().branch(name) is None else _Lenient(self, name)


class _Lenient(Branch):
    async def get_tip_id(self) -> Any:
        try:
            return await super().get_tip_id()
        except UnknownBranch:
            return None
