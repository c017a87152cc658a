"""Mutants of the suite `commit_refusals`."""

from __future__ import annotations

from typing import get_args

from forkstore.contract.errors import UnknownParent
from forkstore.contract.writes import CommitResult, EntryInsert, UsageInsert, Write
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant


class IgnoresWhatIsNoWrite(Mutant):
    """Lie: what is none of the six writes is left out of the commit."""

    kills = "S-TXN-01"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit([write for write in writes if isinstance(write, get_args(Write))])


class WritesUpToTheRefusal(Mutant):
    """Lie: the writes before a refused one stay."""

    kills = "S-TXN-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            seqs: list[int] = []
            result = await super().commit([])
            first = result.first_seq
            for write in writes:
                result = await super().commit([write])
                seqs += result.seqs
            return CommitResult(first, seqs, result.timestamp, result.stats)


class ARefusalTakesASequence(Mutant):
    """Lie: a refused commit uses up a sequence."""

    kills = "S-TXN-02"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            try:
                return await super().commit(writes)
            except Exception:
                self._state.next_seq += 1
                raise


class AnEmptyParentIsARoot(Mutant):
    """Lie: the empty text as parent means none."""

    kills = "S-TXN-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit([self._rooted(write) for write in writes])

        def _rooted(self, write: Write) -> Write:
            if isinstance(write, EntryInsert) and write.entry.get("parentId") == "" and "" not in self._state.entries:
                return EntryInsert({**write.entry, "parentId": None})
            return write


class EntriesMayFollowUsageRows(Mutant):
    """Lie: a usage row is a parent like an entry."""

    kills = "S-TXN-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit([self._rooted(write) for write in writes])

        def _rooted(self, write: Write) -> Write:
            if isinstance(write, EntryInsert) and write.entry.get("parentId") in self._state.usage_rows:
                return EntryInsert({**write.entry, "parentId": None})
            return write


class TheSameAgainIsFine(Mutant):
    """Lie: an entry that is stored already with equal content is taken again."""

    kills = "S-TXN-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            known = await self.get_entries([w.entry["id"] for w in writes if isinstance(w, EntryInsert)])
            return await super().commit([write for write in writes if not self._is_known(write, known)])

        def _is_known(self, write: Write, known: dict[str, dict[str, object]]) -> bool:
            if not isinstance(write, EntryInsert) or write.entry["id"] not in known:
                return False
            stored = known[write.entry["id"]]
            return all(stored.get(name) == value for name, value in write.entry.items())


class TheParentIsAskedFirst(Mutant):
    """Lie: an unknown parent is told before a taken id."""

    kills = "S-TXN-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            for write in writes:
                if isinstance(write, EntryInsert) and write.entry.get("parentId") == "no-such-entry":
                    raise UnknownParent(write.entry["id"], "no-such-entry")
            return await super().commit(writes)


class ANamespaceForEachKind(Mutant):
    """Lie: usage rows and entries may have one id."""

    kills = "S-TXN-11"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            return await super().commit([self._renamed(write) for write in writes])

        def _renamed(self, write: Write) -> Write:
            if isinstance(write, UsageInsert) and write.row.get("id") in self._state.entries:
                return UsageInsert({**write.row, "id": f"{write.row['id']}'"})
            return write
