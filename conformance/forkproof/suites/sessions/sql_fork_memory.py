"""What a fork holds in memory while it copies: a batch, and nothing that grows with its source (S-FORK-STR-05).

S-FORK-STR-04 is asked of every store with a probe in `jsonl_fork_memory`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import expect
from forkproof.makers import SessionMaker
from forkproof.makers.records import message_entry
from forkproof.suites.sessions.fork_peaks import fork_peak
from forkstore.contract.addresses import entry_label, list_address, value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet, Write

MEBIBYTE = 2**20
FEW, MANY = 1_000, 10_000
PER_COMMIT = 250


def _entries(count: int) -> list[Write]:
    """One path."""
    parents = [None, *(f"n{number}" for number in range(count))]
    return [EntryInsert(message_entry(f"n{n}", parents[n], f"message {n}")) for n in range(count)]


def _all_kinds(count: int) -> list[Write]:
    """A path with branches that diverge behind one compaction after the other, so as many segments, each on the one
    before; and labels, values and elements.
    """
    writes: list[Write] = []
    parent = None
    for number in range(count // 6):
        entry = {"type": "compaction", "summary": "", "retainedTail": [], "tokensBefore": 0, "fromHook": False}
        writes.append(EntryInsert({"id": f"k{number}", "parentId": parent, **entry}))
        writes.append(EntryInsert(message_entry(f"side{number}", f"k{number}", "aside")))
        writes.append(EntryInsert(message_entry(f"n{number}", f"k{number}", "on")))
        writes.append(ValueSet(entry_label(f"n{number}"), "label"))
        writes.append(ValueSet(value_address(f"garden.{number}"), number))
        writes.append(ListAppend(list_address("garden.log", f"day:{number % 100}"), number))
        parent = f"n{number}"
    return writes


SOURCES: dict[str, Callable[[int], list[Write]]] = {"entries": _entries, "rows-of-all-kinds": _all_kinds}
"""The writes of sources of so many rows; the tip of `main` goes to the last entry."""


async def _session(store: SessionMaker, writes: list[Write]) -> Session:
    """A session of these writes with a lane `main`; made without a model, which nobody needs."""
    session = await store.repo.create(**store.create_options)
    last = [write.entry["id"] for write in writes if isinstance(write, EntryInsert)][-1]
    lane: list[Write] = [ValueSet(value_address(f"pi.lane.{part}", "main"), {}) for part in ("config", "state")]
    writes = [*writes, *lane, ValueSet(value_address("pi.branch.tip", "main"), last)]
    for start in range(0, len(writes), PER_COMMIT):
        await session.mutate(_committing(writes[start : start + PER_COMMIT]))
    return session


def _committing(writes: list[Write]) -> Callable[..., Awaitable[object]]:
    return lambda scope: scope.commit(writes)


@case("S-FORK-STR-05")
@rows("writes", SOURCES)
async def memory_does_not_grow_with_the_number_of_rows(
    store: SessionMaker, writes: Callable[[int], list[Write]]
) -> None:
    """Between 1,000 and 10,000 entries the peak memory of a fork up to `before_publish` grows by at most 2 MiB, in both
    scopes; so it does between as many rows of all kinds, entries of thousands of segments among them.

    If this fails, look at: rows that are fetched all at once; a set of the ids that were copied; segments, labels or
    places that are collected before the copying.
    """
    sources = [await _session(store, writes(count)) for count in (FEW, MANY)]
    await fork_peak(store, sources[0], TreeFork())  # what is made once only is made here
    for options in (TreeFork(), BranchFork("main")):
        small, large = [await fork_peak(store, source, options) for source in sources]
        seen = f"{(large - small) / MEBIBYTE:.2f} MiB"
        expect(large - small <= 2 * MEBIBYTE, f"{options!r}\nexpected: at most 2 MiB more\nseen:     {seen}")
