"""Mutants of the suite `fork_destination`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from forkstore.contract.addresses import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, LANE_STATE, SESSION_NAME
from forkstore.contract.codec import decode, encode
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.store import SessionMetadata
from forkstore.state import EntryRecord, SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.states import applications, copy_of, tip_of, with_entries


class _Lie(Mutant):
    """Base of lies about a destination when it is made."""

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        self.spoil(source, destination, options)
        return destination, count

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        """The lie."""


class EveryForkIsNamedMain(_Lie):
    """Lie: the branch of a branch fork is called `main`."""

    kills = "S-FORK-DST-01"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        if isinstance(options, BranchFork):
            for namespace in (BRANCH_TIP, LANE_CONFIG, LANE_STATE):
                rows = destination.scalars[namespace]
                rows["main"] = rows.pop(options.branch)


class ConfigurationsOfAllLanesComeAlong(_Lie):
    """Lie: a branch fork holds the configuration of every lane."""

    kills = "S-FORK-DST-01"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        destination.scalars.setdefault(LANE_CONFIG, {}).update(source.scalars.get(LANE_CONFIG, {}))


class RowsKeyedByTheBranchComeAlong(_Lie):
    """Lie: a branch fork takes the application scalars whose key is the branch."""

    kills = "S-FORK-DST-02"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        for namespace in applications(source.scalars):
            row = source.scalar(namespace, getattr(options, "branch", ""))
            if row is not None and isinstance(options, BranchFork):
                destination.scalars.setdefault(namespace, {})[options.branch] = row


class ListsWrittenBeforeTheForkPointComeAlong(_Lie):
    """Lie: a branch fork takes the elements that are older than its tip."""

    kills = "S-FORK-DST-02"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        if isinstance(options, BranchFork) and destination.entry_order:
            newest = destination.entry_order[-1].seq
            for namespace in applications(source.lists):
                for key, elements in source.lists[namespace].items():
                    older = [one for one in elements if one.seq < newest]
                    if older:
                        destination.lists.setdefault(namespace, {})[key] = older


class RowsNewerThanTheForkPointAreLeftOut(_Lie):
    """Lie: name and labels that were set after the fork point are not copied."""

    kills = "S-FORK-DST-03"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        if isinstance(options, BranchFork) and destination.entry_order:
            newest = destination.entry_order[-1].seq
            for namespace in (SESSION_NAME, ENTRY_LABEL):
                rows = destination.scalars.pop(namespace, {})
                destination.scalars[namespace] = {key: row for key, row in rows.items() if row.seq < newest}


class AbsentDataBecomesNull(_Lie):
    """Lie: a custom entry without data is copied with null."""

    kills = "S-FORK-DST-04"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        with_entries(destination, [_with_data(entry) for entry in destination.entry_order])


def _with_data(entry: EntryRecord) -> EntryRecord:
    fields: dict[str, Any] = decode(entry.text)
    if entry.type != "custom" or "data" in fields:
        return entry
    return msgspec.structs.replace(entry, text=encode({**fields, "data": None}, "a lie"))


class CopiedEntriesGetTheTimeOfTheTip(_Lie):
    """Lie: all copied entries carry one time."""

    kills = "S-FORK-DST-04"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        entries = destination.entry_order
        if entries:
            time = entries[-1].timestamp
            with_entries(destination, [msgspec.structs.replace(entry, timestamp=time) for entry in entries])


class TheLedgerIsCopied(_Lie):
    """Lie: a fork starts with the source's usage rows."""

    kills = "S-FORK-DST-06"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        destination.usage_rows, destination.usage = dict(source.usage_rows), source.usage


class TheSumOfUsageIsCopied(_Lie):
    """Lie: the statistics of a fork go on from those of the source, without its rows."""

    kills = "S-FORK-DST-06"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        destination.usage = source.usage


class MessagesOfTheSourceAreCounted(_Lie):
    """Lie: a branch fork counts the messages of the whole source."""

    kills = "S-FORK-DST-06"

    def spoil(self, source: SessionState, destination: SessionState, options: ForkOptions) -> None:
        destination.message_count = source.message_count


class TheFirstSessionIsTheParent(Mutant):
    """Lie: a fork of a fork names the session that was there first."""

    kills = "S-FORK-DST-07"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Any:
        session = await super().fork(metadata, options)
        first = metadata.parent_session_id or metadata.id
        session.metadata = replace(session.metadata, parent_session_id=first)
        return session


class AForkIsAsOldAsItsSource(Mutant):
    """Lie: the time of the source is taken over."""

    kills = "S-FORK-DST-07"

    async def fork(self, metadata: SessionMetadata, options: ForkOptions) -> Any:
        session = await super().fork(metadata, options)
        session.metadata = replace(session.metadata, created_at=metadata.created_at)
        return session


class AnOldNameIsCopied(Mutant):
    """Lie: a branch fork looks at the source as it was when the tip was written, where it still knows."""

    kills = "S-FORK-DST-03"

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        if isinstance(options, BranchFork):
            source = copy_of(source)
            tip = source.entries.get(tip_of(source, options.branch) or "")
            name = source.scalar(SESSION_NAME, "")
            if tip is not None and name is not None and name.seq > tip.seq:
                del source.scalars[SESSION_NAME]
        return super().fork_state(source, options)
