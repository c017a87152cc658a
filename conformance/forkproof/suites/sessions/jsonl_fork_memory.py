"""What a fork holds in memory while it copies: the structure of its source, and no payload (S-FORK-STR-04, -06)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from forkproof.case import case, rows
from forkproof.expect import expect
from forkproof.makers import SessionMaker
from forkproof.makers.records import idle_lane_state, lane_configuration, message_entry
from forkproof.suites.sessions.fork_peaks import fork_peak
from forkstore.contract.addresses import branch_tip, lane_config, lane_state, list_address, value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.store import Session
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet, Write

KIBIBYTE = 2**10
MEBIBYTE = 2**20
FIVE = 5
"""Writes of a commit, as S-FORK-STR-04 says."""
SLACK = 128 * KIBIBYTE
"""What the peaks of two forks of equal structure may differ by."""
TEXT = "x" * 2_000

Writes = Sequence[Write]


def _messages(count: int, characters: int) -> list[Write]:
    """One path of so many messages of so many characters each."""
    numbers = range(count)
    parents = [None, *(f"n{number}" for number in numbers)]
    texts = (f"n{number}:".ljust(characters, "x") for number in numbers)
    return [EntryInsert(message_entry(f"n{n}", parents[n], text)) for n, text in zip(numbers, texts, strict=True)]


async def _session(store: SessionMaker, writes: Writes, per_commit: int = FIVE) -> Session:
    """A lane `main` at the last entry among these writes; made without a model, which would hold them twice."""
    session = await store.repo.create(**store.create_options)
    for start in range(0, len(writes), per_commit):
        await _commit(session, writes[start : start + per_commit])
    entries = [write.entry["id"] for write in writes if isinstance(write, EntryInsert)]
    tip = ValueSet(branch_tip("main"), entries[-1] if entries else None)
    config = ValueSet(lane_config("main"), lane_configuration())
    await _commit(session, [tip, config, ValueSet(lane_state("main"), idle_lane_state())])
    return session


async def _commit(session: Session, writes: Writes) -> None:
    await session.mutate(lambda scope: scope.commit(list(writes)))


async def _growths(
    store: SessionMaker, small: Writes, large: Writes, per_commit: int = FIVE
) -> AsyncIterator[tuple[str, int]]:
    """By how many bytes the peak grows from the small source to the large one: in both scopes, open and closed."""
    await fork_peak(
        store, await _session(store, _messages(FIVE, 256)), TreeFork()
    )  # what is made once only is made here
    sources = [await _session(store, writes, per_commit) for writes in (small, large)]
    for source_is in ("open", "closed"):
        for options in (TreeFork(), BranchFork("main")):
            peaks = [await fork_peak(store, source, options) for source in sources]
            yield f"{options!r} of the {source_is} source", peaks[1] - peaks[0]
        for source in sources:
            await source.close()


@case("S-FORK-STR-04")
async def memory_does_not_grow_with_payload(store: SessionMaker) -> None:
    """Between 1,000 entries of 256 characters and 1,000 of 8,192, committed five at a time, the peak memory of a fork
    up to `before_publish` grows by at most 2 MiB, in both scopes and from an open and a closed source.

    If this fails, look at: lines or records that are kept for the second scan; batches counted in writes alone; a
    destination that is collected before it is written.
    """
    async for of, grown in _growths(store, _messages(1_000, 256), _messages(1_000, 8_192)):
        seen = f"{grown / MEBIBYTE:.1f} MiB"
        expect(grown <= 2 * MEBIBYTE, f"{of}\nexpected: a peak that grows by at most 2 MiB\nseen:     {seen}")


PLAN, LOG = value_address("garden.plan"), list_address("garden.log")


def _short_life(n: int) -> list[Write]:
    """A place of its own, set and left."""
    place = value_address("garden.plan", f"row:{n}")
    return [ValueSet(place, n), ValueDelete(place)]


DEAD: dict[str, Callable[[int], list[Write]]] = {
    "superseded": lambda n: [ValueSet(PLAN, n), ValueSet(PLAN, -n)],
    "set-and-deleted": lambda n: [ValueSet(PLAN, n), ValueDelete(PLAN)],
    "one-element-lists": lambda n: [ListDelete(LOG), ListAppend(LOG, n)],
    "longer-lists": lambda n: [ListDelete(LOG) if n % 25 == 0 else ListAppend(LOG, -n), ListAppend(LOG, n)],
    "many-places": _short_life,
}
"""The two writes of the n-th round of histories that leave next to nothing."""


@case("S-FORK-STR-06")
@rows("rounds", DEAD)
async def dead_history_takes_no_memory(store: SessionMaker, rounds: Callable[[int], list[Write]]) -> None:
    """Between 1,000 and 6,000 writes that are dead by the end, the peak memory of a fork up to `before_publish` stays
    the same: sets that were superseded, values and lists that were deleted.

    If this fails, look at: an index of every record; places that are kept when nothing is left there; a set of dead
    sequences.
    """
    short, long = ([write for n in range(count) for write in rounds(n)] for count in (500, 3_000))
    same = f"a peak that stays the same (within {SLACK // KIBIBYTE} KiB)"
    async for of, grown in _growths(store, short, long, per_commit=250):
        expect(grown <= SLACK, f"{of}\nexpected: {same}\nseen:     {grown // KIBIBYTE:,} KiB more")


GROWING: dict[str, Callable[[int], list[Write]]] = {
    "entries": lambda count: _messages(count, 2_000),
    "values": lambda count: [ValueSet(value_address("garden.plan", f"row:{n}"), TEXT) for n in range(count)],
    "namespaces": lambda count: [ValueSet(value_address(f"garden.plan.{n}"), TEXT) for n in range(count)],
    "elements": lambda count: [ListAppend(list_address("garden.log"), TEXT) for _ in range(count)],
    "lists": lambda count: [ListAppend(list_address("garden.log", f"day:{n}"), TEXT) for n in range(count)],
}
"""Sources of so many entries, addresses or elements, each with 2,000 characters of payload."""

FEW, MANY = 200, 700


@case("S-FORK-STR-06")
@rows("grow", GROWING)
async def memory_grows_by_little_a_row(store: SessionMaker, grow: Callable[[int], list[Write]]) -> None:
    """Between 200 and 700 entries, addresses or surviving elements of 2,000 characters each, the peak memory of a
    fork up to `before_publish` grows by at most 1 KiB for each, in both scopes and from an open and a closed source.

    If this fails, look at: payloads in the structural index; rows of lists or values that are kept although entries are
    not.
    """
    async for of, grown in _growths(store, grow(FEW), grow(MANY)):
        each = grown / (MANY - FEW)
        expect(each <= KIBIBYTE, f"{of}\nexpected: at most 1,024 bytes more for each\nseen:     {each:,.0f} bytes")
