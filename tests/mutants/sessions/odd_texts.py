"""Mutants of the suite `odd_texts`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forkstore.contract.addresses import ENTRY_LABEL, SESSION_NAME
from forkstore.contract.forks import BranchFork, ForkOptions
from forkstore.contract.records import Record
from forkstore.memory.storage import MemoryStorage
from forkstore.session import Branch, Session
from forkstore.state import SessionState
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import RewritingStorage
from tests.mutants.states import value_at, with_entries


class _Changing(Mutant):
    def change(self, destination: SessionState, options: ForkOptions) -> None:
        raise NotImplementedError

    def fork_state(self, source: SessionState, options: ForkOptions) -> tuple[SessionState, int]:
        destination, count = super().fork_state(source, options)
        self.change(destination, options)
        return destination, count


class TheEmptyIdEndsThePath(_Changing):
    """Lie: the path of a branch fork ends above the entry with the empty id."""

    kills = "S-FORK-BR-09"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        ids = [entry.id for entry in destination.entry_order]
        if isinstance(options, BranchFork) and "" in ids:
            with_entries(destination, destination.entry_order[ids.index("") + 1 :])


class IdsWithNulAreLost(_Changing):
    """Lie: entries with U+0000 in their ids are not copied."""

    kills = "S-FORK-TREE-01"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        with_entries(destination, [entry for entry in destination.entry_order if "\0" not in entry.id])


class IdsOfHigherPlanesAreLost(_Changing):
    """Lie: entries with letters beyond 16 bits in their ids are not copied."""

    kills = "S-FORK-TREE-01"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        with_entries(destination, [entry for entry in destination.entry_order if max(entry.id, default="") <= "\uffff"])


class EmptyNamesAreNotCopied(_Changing):
    """Lie: a name that is the empty text is not copied."""

    kills = "S-FORK-CLS-01"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        if value_at(destination, SESSION_NAME, "") == "":
            del destination.scalars[SESSION_NAME][""]


class EmptyLabelsAreNotCopied(_Changing):
    """Lie: labels that are the empty text are not copied."""

    kills = "S-FORK-CLS-02"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        for id in list(destination.scalars.get(ENTRY_LABEL, {})):
            if not value_at(destination, ENTRY_LABEL, id):
                del destination.scalars[ENTRY_LABEL][id]


class TheLabelOfTheEmptyIdIsNotCopied(_Changing):
    """Lie: the label of the entry with the empty id is not copied."""

    kills = "S-FORK-CLS-02"

    def change(self, destination: SessionState, options: ForkOptions) -> None:
        destination.scalars.get(ENTRY_LABEL, {}).pop("", None)


class TheEmptyIdIsNotLookedUp(Mutant):
    """Lie: `get_entries` leaves the empty id out."""

    kills = "S-QRY-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_entries(self, ids: Any) -> dict[str, Record]:
            return {id: entry for id, entry in (await super().get_entries(ids)).items() if id}


class EmptyNamesAreNone(Mutant):
    """Lie: a name that is the empty text is None."""

    kills = "S-QRY-17"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def get_name(self) -> str | None:
            return await super().get_name() or None


class TheEmptyTipIsNull(Mutant):
    """Lie: what is appended below the entry with the empty id becomes a root."""

    kills = "S-SESS-08"

    class session_class(Session):  # noqa: N801 - takes the place of an attribute
        async def append_entry(self, branch: Branch, fields: Record) -> str:
            root = {"parentId": None} if await branch.get_tip_id() == "" else {}
            return await super().append_entry(branch, {**fields, **root})


class _Filtering(Mutant):
    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        dropped = ""

        async def scan_branch(self, start: str, **query: Any) -> list[Record]:
            if query.get(self.dropped) == "":
                query[self.dropped] = None
            return await super().scan_branch(start, **query)


class EmptyTypesAreNoFilter(_Filtering):
    """Lie: a type that is the empty text filters nothing."""

    kills = "S-QRY-08"

    class storage_class(_Filtering.storage_class):  # noqa: N801 - takes the place of an attribute
        dropped = "type"


class EmptyCustomTypesAreNoFilter(_Filtering):
    """Lie: a custom type that is the empty text filters nothing."""

    kills = "S-QRY-08"

    class storage_class(_Filtering.storage_class):  # noqa: N801 - takes the place of an attribute
        dropped = "custom_type"


class TheEmptyIdStopsNothing(_Filtering):
    """Lie: a walk does not stop at the entry with the empty id."""

    kills = "S-QRY-07"

    class storage_class(_Filtering.storage_class):  # noqa: N801 - takes the place of an attribute
        dropped = "stop_at_id"


class StructuresWithoutEmptyCustomTypes(Mutant):
    """Lie: a structure has no custom type when that is the empty text."""

    kills = "S-QRY-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_branch_structure(self, start: str, **query: Any) -> list[Record]:
            found = await super().scan_branch_structure(start, **query)
            return [{name: value for name, value in one.items() if name != "customType" or value} for one in found]


class EmptyCustomTypesFilterNoScan(Mutant):
    """Lie: a custom type that is the empty text filters nothing in `scan_entries`."""

    kills = "S-QRY-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def scan_entries(self, **query: Any) -> list[Record]:
            return await super().scan_entries(**query | {"custom_type": query.get("custom_type") or None})


class _FieldRewriting(RewritingStorage):
    def entry(self, entry: Any) -> Any:
        return {name: value for name, value in entry.items() if not self.lost(name, value)}

    def row(self, row: Any) -> Any:
        return self.entry(row)

    def lost(self, name: str, value: Any) -> bool:
        raise NotImplementedError


class NullDetailsAreLost(Mutant):
    """Lie: details that are null are left out."""

    kills = "S-ENT-04"

    class storage_class(_FieldRewriting):  # noqa: N801 - takes the place of an attribute
        def lost(self, name: str, value: Any) -> bool:
            return name == "details" and value is None


class EmptySummariesAreLost(Mutant):
    """Lie: a summary that is the empty text is left out."""

    kills = "S-ENT-04"

    class storage_class(_FieldRewriting):  # noqa: N801 - takes the place of an attribute
        def lost(self, name: str, value: Any) -> bool:
            return name == "summary" and value == ""


class TokensAreIntegers(Mutant):
    """Lie: `tokensBefore` is kept in a column of integers."""

    kills = "S-ENT-04"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            tokens = entry.get("tokensBefore") if isinstance(entry, dict) else None
            return {**entry, "tokensBefore": int(tokens)} if type(tokens) is float else entry


class TheEmptySessionIdIsNone(Mutant):
    """Lie: a fork with the empty id gets a generated one."""

    kills = "S-REPO-03"

    async def fork(self, metadata: Any, options: ForkOptions) -> Session:
        if isinstance(getattr(options, "id", None), str):
            options = replace(options, id=options.id or None)
        return await super().fork(metadata, options)
