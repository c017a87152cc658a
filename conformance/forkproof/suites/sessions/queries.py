"""Reads of the whole session: by id, by prefix, by sequence; and that no read waits (section 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.suites.sessions.appending import branch_of
from forkproof.suites.sessions.evaluating import NOT_GIVEN, queries, scanned, walk_session
from forkproof.suites.sessions.racing import Yardstick, all_end
from forkstore.contract.addresses import Address, list_address, session_name, value_address
from forkstore.contract.forks import BranchFork
from forkstore.contract.store import Session, ValueRow
from forkstore.contract.writes import ListAppend, ValueDelete, ValueSet


@case("S-QRY-01")
@rows(
    "ids",
    stored_order=["root", "trunk", "tip", "left"],
    other_order=["left", "tip", "second-root", "lost-leaf", "root"],
    repeated=["tip", "root", "tip", "tip", "root"],
    unknown_among=["no-such-entry", "tip", "", "root", "TIP", "usage-1", "main"],
    only_unknown=["no-such-entry", "usage-1"],
    empty=[],
)
async def get_entries_gives_the_known_ids_in_requested_order(store: SessionMaker, ids: list[str]) -> None:
    """Known entries come back in requested order, each once and whole; unknown ids are left out.

    If this fails, look at: the order of the table; None for an unknown id; a repeated id at its last place.
    """
    subject = await store.bushy_session()
    known = [id for id in dict.fromkeys(ids) if id in subject.model.entries]
    expected = {id: subject.model.entry(id) for id in known}
    for moment in ("live", "reopened"):
        seen = await subject.session.get_entries(ids)
        expect_equal(list(seen), known, of=f"the ids that came back, {moment}")
        expect_equal(seen, expected, of=f"the entries that came back, {moment}")
        await subject.reopen()


@case("S-QRY-01")
async def get_entries_knows_only_its_own_session(store: SessionMaker) -> None:
    """Entries of a source that a fork did not take, and entries of other sessions, are unknown.

    If this fails, look at: a table of entries asked without the session's id.
    """
    source = await store.bushy_session()
    fork = await source.fork(BranchFork("main", entry_id="trunk"))
    seen = await fork.session.get_entries(["tip", "trunk", "left-leaf", "root"])
    expect_equal(list(seen), ["trunk", "root"], of="the ids that the fork knows")


@case("S-QRY-02")
async def get_entries_takes_forty_thousand_ids(store: SessionMaker) -> None:
    """A request with 40,000 ids succeeds, and finds what stands at its ends and in its middle, in order.

    If this fails, look at: a limit of the database on parameters of one statement; parts answered out of order.
    """
    subject = await store.linear_session(5)
    ids = [f"unknown-{number}" for number in range(40_000)]
    for place, id in ((0, "e4"), (998, "e2"), (20_000, "e5"), (32_767, "e1"), (39_999, "e3")):
        ids[place] = id
    seen = await subject.session.get_entries(ids)
    expected = {id: subject.model.entry(id) for id in ("e4", "e2", "e5", "e1", "e3")}
    expect_equal(list(seen), list(expected), of="the ids that came back")
    expect_equal(seen, expected, of="the entries of 40,000 ids")


PREFIXES = (
    "",
    "a",
    "A",
    "ab",
    "a%",
    "a_",
    "a*",
    "a?",
    "[",
    "a\\",
    "é",
    "e",
    " ",
    "a\uffff",
    "\U0010ffff",
    "row:1",
    "zz",
)
KEYS = (
    *PREFIXES,
    *(f"{prefix}{more}" for prefix in PREFIXES for more in ("b", "%", "\uffff", "\U0010ffff", "\U00010000 more")),
    "e\u0301",
    "row:10",
    "row:2",
    "ROW:1",
    "\ue000",
    "\U00010000",
    "\ud7ff",
    "\x7f",
    "'\"",
)


async def _keyed(store: SessionMaker) -> tuple[Subject, dict[str, ValueRow]]:
    """A session with a scalar at every key, neighbours around them, and the rows that must come back by key."""
    subject = await store.create()
    keys = sorted(set(KEYS), key=lambda key: key[::-1])
    result = await subject.commit(*(ValueSet(value_address("garden.plan", key), key) for key in keys))
    expected = {
        key: ValueRow(value_address("garden.plan", key), key, seq) for key, seq in zip(keys, result.seqs, strict=True)
    }
    others = [
        ValueSet(value_address(name, "ab"), name) for name in ("garden", "garden.pla", "garden.plan2", "GARDEN.PLAN")
    ]
    await subject.commit(
        *others, ValueSet(value_address("garden.plan", "abc"), 1), ListAppend(list_address("garden.plan", "abd"), 1)
    )
    await subject.commit(ValueDelete(value_address("garden.plan", "abc")))
    return subject, expected


@case("S-QRY-03")
async def scan_values_gives_the_keys_with_the_prefix(store: SessionMaker) -> None:
    """The scan gives the current scalars of exactly the given namespace whose key starts with exactly the given text;
    the empty one matches all. Lists, deleted scalars and other namespaces are not among them.

    If this fails, look at: wildcards of LIKE or GLOB in a key; LIKE without case; a prefix of the namespace; an upper
    bound made of the prefix and one letter.
    """
    subject, expected = await _keyed(store)
    for moment in ("live", "reopened"):
        for prefix in (*PREFIXES, "no-such-prefix"):
            seen = await subject.session.scan_values(value_address("garden.plan", prefix))
            found = {key: row for key, row in expected.items() if key.startswith(prefix)}
            expect_equal({row.address.key: row for row in seen}, found, of=f"the scan of {prefix!r}, {moment}")
        await subject.reopen()


@case("S-QRY-03")
async def scan_values_has_no_limit(store: SessionMaker) -> None:
    """The scan gives all rows, however many there are, and nothing for a namespace without any.

    If this fails, look at: the default limit of lists; a page that is not continued.
    """
    subject = await store.create()
    await subject.commit(*(ValueSet(value_address("garden.plan", f"{n:05}"), n) for n in range(10_050)))
    seen = await subject.session.scan_values(value_address("garden.plan"))
    expect_equal([row.value for row in seen], list(range(10_050)), of="the values of all rows")
    expect_equal(await subject.session.scan_values(value_address("garden")), [], of="the scan of an empty namespace")


@case("S-QRY-04")
async def scan_values_is_ordered_by_code_point(store: SessionMaker) -> None:
    """Rows come by key in the order of code points, so U+E000 comes before U+10000, whatever the order of the sets.

    If this fails, look at: an order by UTF-16 units; a collation of a language; an order by sequence.
    """
    subject, expected = await _keyed(store)
    for moment in ("live", "reopened"):
        for prefix in PREFIXES:
            seen = await subject.session.scan_values(value_address("garden.plan", prefix))
            keys = sorted(key for key in expected if key.startswith(prefix))
            expect_equal([row.address.key for row in seen], keys, of=f"the keys of the scan of {prefix!r}, {moment}")
        await subject.reopen()


@case("S-QRY-11", needs=())
async def scan_entries_covers_the_whole_session(store: SessionMaker) -> None:
    """The scan gives all entries, reachable or not, by sequence; both bounds are inclusive and need not belong to an
    entry; type and custom type filter, and the limit counts what is left.

    If this fails, look at: entries reached from a tip only; an exclusive bound; an order by id or time; a limit before
    the filters.
    """
    subject = await walk_session(store)
    entries = [subject.model.entry(id) for id in subject.model.entries]
    first, middle, last = entries[0]["seq"], entries[13]["seq"], entries[-1]["seq"]
    bounds = (NOT_GIVEN, None, 0, first, middle, middle + 1, last, last + 7, 2**70)
    for query in (
        *queries(order=(NOT_GIVEN, "asc", "desc"), from_seq=bounds, to_seq=bounds, limit=(NOT_GIVEN, 0, 3)),
        *queries(order=("asc", "desc"), type=(NOT_GIVEN, "message", "custom", "other"), limit=(NOT_GIVEN, 2)),
        *queries(order=("asc", "desc"), custom_type=("weather", "note", "other"), from_seq=(NOT_GIVEN, middle)),
    ):
        seen = await subject.session.scan_entries(**query)
        expect_equal(seen, scanned(entries, **query), of=f"scan_entries with {query}")


@case("S-QRY-11", needs=())
async def scan_usage_covers_the_whole_ledger(store: SessionMaker) -> None:
    """The scan gives every usage row by sequence, whole, with inclusive bounds and a limit.

    If this fails, look at: rows by entry; rows without an entry left out; an exclusive bound.
    """
    subject = await walk_session(store)
    await subject.spend("no-entry", usage=made.usage(reasoning=1), details={"why": None})
    ledger = [{**row.value, "seq": row.seq} for row in subject.model.ledger.values()]
    first, middle, last = ledger[0]["seq"], ledger[3]["seq"], ledger[-1]["seq"]
    bounds = (NOT_GIVEN, None, 0, first, middle, middle + 1, last, 2**70)
    for query in queries(order=(NOT_GIVEN, "asc", "desc"), from_seq=bounds, to_seq=bounds, limit=(NOT_GIVEN, 0, 2)):
        seen = await subject.session.scan_usage(**query)
        expect_equal(seen, scanned(ledger, **query), of=f"scan_usage with {query}")


@case("S-QRY-17")
@rows("reopened", live=False, reopened=True)
async def single_reads_give_none_when_there_is_nothing(store: SessionMaker, reopened: bool) -> None:
    """`get_entry` of an unknown id or a usage row, `get_name` without a name and `get_label` without a label give
    None; so do name and label that were deleted.

    If this fails, look at: an error for an unknown id; empty text for no text; a usage row given as an entry.
    """
    subject = await store.bushy_session()
    await subject.commit(ValueSet(session_name(), "to be deleted"))
    await subject.commit(ValueDelete(session_name()))
    subject.follow(
        await subject.session.set_label("root", "start"), ValueSet(value_address("pi.entry.label", "root"), "start")
    )
    if reopened:
        await subject.reopen()
    for id in ("no-such-entry", "usage-1", "", "ROOT"):
        expect_equal(await subject.session.get_entry(id), None, of=f"get_entry({id!r})")
    expect_equal(await subject.session.get_name(), None, of="the name of a session without one")
    for id in ("trunk", "no-such-entry", "", "roo"):
        expect_equal(await subject.session.get_label(id), None, of=f"get_label({id!r})")
    expect_equal(await subject.session.get_label("root"), "start", of="the label that is there")
    expect_equal(await subject.session.get_entry("root"), subject.model.entry("root"), of="the entry that is there")


PLAN: Address = value_address("garden.plan")
READS: dict[str, Callable[[Session], Awaitable[Any]]] = {
    "get_entries": lambda session: session.get_entries(["root"]),
    "get_entry": lambda session: session.get_entry("root"),
    "get_value": lambda session: session.get_value(PLAN),
    "scan_values": lambda session: session.scan_values(PLAN),
    "read_list": lambda session: session.read_list(list_address("garden.log")),
    "scan_branch": lambda session: session.scan_branch("tip"),
    "scan_branch_structure": lambda session: session.scan_branch_structure("tip"),
    "scan_entries": lambda session: session.scan_entries(),
    "scan_usage": lambda session: session.scan_usage(),
    "get_stats": lambda session: session.get_stats(),
    "find_entries": lambda session: session.find_entries(),
    "find_entry": lambda session: session.find_entry(),
    "get_name": lambda session: session.get_name(),
    "get_label": lambda session: session.get_label("root"),
    "branch": lambda session: session.branch("main"),
    "storage.scan_entries": lambda session: session.storage.scan_entries(),
    "storage.get_value": lambda session: session.storage.get_value(PLAN),
}


@case("S-QRY-18")
@rows("read", READS)
async def a_read_does_not_wait_for_the_mutation_line(
    store: SessionMaker, read: Callable[[Session], Awaitable[Any]]
) -> None:
    """While a scope is held and a writer waits behind it, every read ends.

    If this fails, look at: one lock for reads and writers; reads that take a scope.
    """
    subject = await store.bushy_session()
    other = await store.bushy_session()
    await _expect_no_wait(subject, lambda: read(subject.session), lambda: read(other.session))


@case("S-QRY-18")
@rows("member", get_tip_id="get_tip_id", find_entries="find_entries", find_entry="find_entry")
async def a_read_of_a_branch_does_not_wait_for_the_mutation_line(store: SessionMaker, member: str) -> None:
    """The reads of a branch end while a scope is held, too.

    If this fails, look at: a tip that is read under the lock of the writers.
    """
    subject = await store.bushy_session()
    other = await store.bushy_session()
    branches = [await branch_of(one) for one in (subject, other)]
    await _expect_no_wait(subject, *(getattr(branch, member) for branch in branches))


async def _expect_no_wait(subject: Subject, read: Callable[[], Awaitable[Any]], elsewhere: Yardstick) -> None:
    """Reads while a scope is held. The same read of another session tells how long a read takes."""

    async def reading() -> Any:
        return await read()

    scope = await subject.session.begin_mutation()
    writer = asyncio.create_task(subject.session.set_value(PLAN, 1))
    task = asyncio.create_task(reading())
    ended = await all_end([task], elsewhere)
    await scope.end()
    await asyncio.gather(writer, task)
    expect(ended, "expected: the read ends while a scope is held\nseen:     it waits for the scope")
