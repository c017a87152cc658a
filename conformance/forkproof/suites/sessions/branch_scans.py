"""Walks from an entry to its root: order, stop, filters, cursor, limit, structures (section 8: S-QRY-05 to 10).

Every query of a systematic product of parameters is compared with `evaluating.walked`, the section in a few lines.
"""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.evaluating import NOT_GIVEN, PATH, Query, queries, structure, walk_session, walked
from forkstore.contract.errors import UnknownEntry
from forkstore.contract.forks import BranchFork

ORDERS = {"newest_first": "newest_first", "oldest_first": "oldest_first"}
STOPS: tuple[Query, ...] = (
    {},
    {"stop_at_id": "answer"},
    {"stop_at_id": "note"},
    {"stop_at_id": "root"},
    {"stop_at_id": "left-leaf"},
    {"stop_at_id": "no-such-entry"},
    {"stop_at_type": "message"},
    {"stop_at_type": "custom"},
    {"stop_at_type": "compaction"},
    {"stop_at_type": "branch_summary"},
    {"stop_at_type": "no-such-type"},
    {"stop_at_id": "trunk", "stop_at_type": "custom"},
    {"stop_at_id": "rain", "stop_at_type": "branch_summary"},
    {"stop_at_id": None, "stop_at_type": None},
)
FILTERS: tuple[Query, ...] = (
    {},
    {"type": "message"},
    {"type": "compaction"},
    {"type": "branch_summary"},
    {"type": "custom"},
    {"type": "no-such-type"},
    {"custom_type": "weather"},
    {"custom_type": "no-such-type"},
    {"type": "custom", "custom_type": "note"},
    {"type": "message", "custom_type": "weather"},
    {"type": None, "custom_type": None},
)
LIMITS = (NOT_GIVEN, None, 0, 1, 2, 3, len(PATH), 100)


def _ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


async def _expect_answer(subject: Subject, start: str, query: Query) -> None:
    seen = await subject.session.scan_branch(start, **query)
    expected = walked(subject.model, start, **query)
    expect_equal(_ids(seen), _ids(expected), of=f"scan_branch from {start!r} with {query}")
    expect_equal(seen, expected, of=f"the entries of scan_branch from {start!r} with {query}")


def _cursors(subject: Subject) -> tuple[Any, ...]:
    """Sequences of the first, a middle and the last entry, one between two, and two beyond the ends."""
    first, middle, last = (subject.model.entry(id)["seq"] for id in (PATH[0], PATH[5], PATH[-1]))
    return (NOT_GIVEN, 0, first, middle, middle + 1, last, 2**70)


@case("S-QRY-05")
@rows("start", unknown="no-such-entry", empty_text="", usage_row="usage-1", branch_name="main", other_case="ROOT")
async def an_unknown_start_is_refused(store: SessionMaker, start: str) -> None:
    """A scan from an id that names no entry raises `UnknownEntry`, whatever else is asked, a limit of 0 too; through
    the session, its storage and a mutation scope alike.

    If this fails, look at: an empty answer for an unknown start; a limit of 0 answered at once; usage rows found as
    entries.
    """
    subject = await store.bushy_session()
    session = subject.session
    for query in queries(order=(NOT_GIVEN, *ORDERS), limit=(NOT_GIVEN, 0), stop_at_id=(NOT_GIVEN, start)):
        for scan in (session.scan_branch, session.scan_branch_structure, session.storage.scan_branch):
            with refused(UnknownEntry, entry_id=start):
                await scan(start, **query)
    scope = await session.begin_mutation()
    with refused(UnknownEntry, entry_id=start):
        await scope.scan_branch(start)
    await scope.end()
    await subject.check()


@case("S-QRY-06")
async def a_scan_walks_from_the_start_to_the_root(store: SessionMaker) -> None:
    """From every entry, on a branch or not, the scan gives that entry and its ancestors to the root and nothing else,
    newest first unless `oldest_first` is asked.

    If this fails, look at: siblings or later entries by sequence; a walk that starts at a tip; a root left out; a
    default order of oldest first.
    """
    subject = await walk_session(store)
    for start in subject.model.entries:
        for query in queries(order=(NOT_GIVEN, *ORDERS)):
            await _expect_answer(subject, start, query)
    await subject.reopen()
    for query in queries(order=(NOT_GIVEN, *ORDERS)):
        await _expect_answer(subject, "answer", query)


@case("S-QRY-06")
async def a_scan_walks_a_fork_as_it_walks_its_source(store: SessionMaker) -> None:
    """In a fork the walk gives the copied path, in both orders.

    If this fails, look at: parents looked up in the source; an index that the fork does not fill.
    """
    source = await walk_session(store)
    fork = await source.fork(BranchFork("main"))
    for query in queries(order=tuple(ORDERS)):
        seen = _ids(await fork.session.scan_branch("answer", **query))
        expect_equal(seen, _ids(walked(source.model, "answer", **query)), of=f"scan_branch of the fork with {query}")


@case("S-QRY-06")
@rows("order", ORDERS)
async def a_long_path_is_walked_to_its_root(store: SessionMaker, order: str) -> None:
    """A path of more than a thousand entries is walked to its end.

    If this fails, look at: recursion; a limit on the depth of a recursive query; a limit of a thousand by default.
    """
    subject = await store.large_session(1_300)
    await _expect_answer(subject, "n1299", {"order": order})
    await _expect_answer(subject, "side-leaf", {"order": order})


@case("S-QRY-07")
@rows("order", ORDERS)
async def a_scan_ends_with_the_stop_entry(store: SessionMaker, order: str) -> None:
    """The walk ends with the first entry, in the asked order, whose id or type is the stop; without such an entry it
    goes to the end. When both are given, the one that is met first ends it.

    If this fails, look at: the stop entry left out; the last of several entries of a type; the stop looked for
    newest first in every order; both stops asked of one entry.
    """
    subject = await walk_session(store)
    for start in ("answer", "summary", "compaction", "root", "left-leaf", "second-leaf", "beside-rain"):
        for stop in STOPS:
            await _expect_answer(subject, start, {"order": order, **stop})


@case("S-QRY-08")
@rows("order", ORDERS)
async def filters_apply_after_the_stop_was_found(store: SessionMaker, order: str) -> None:
    """Type and custom type filter what the walk gave up to its stop; an entry that is filtered out stops it all the
    same.

    If this fails, look at: a stop that is looked for among the filtered entries; filters joined by "or"; a custom
    type that matches entries of other types.
    """
    subject = await walk_session(store)
    for start in ("answer", "more-rain"):
        for stop in STOPS:
            for chosen in FILTERS:
                await _expect_answer(subject, start, {"order": order, **stop, **chosen})


@case("S-QRY-09")
@rows("order", ORDERS)
async def cursor_and_limit_apply_last(store: SessionMaker, order: str) -> None:
    """The cursor is exclusive: newest first it keeps lower sequences, oldest first higher ones, and it need not belong
    to an entry. It comes after stop and filters, and the limit counts what is left.

    If this fails, look at: an inclusive cursor; a cursor that moves the start, so that the stop is missed; a limit
    that counts filtered entries; one direction for both orders.
    """
    subject = await walk_session(store)
    cursors = _cursors(subject)
    for stop in (STOPS[0], STOPS[2], STOPS[6], STOPS[9], STOPS[12]):
        for chosen in (FILTERS[0], FILTERS[1], FILTERS[4], FILTERS[6], FILTERS[8]):
            for page in queries(cursor=cursors, limit=LIMITS[2:6]):
                await _expect_answer(subject, "answer", {"order": order, **stop, **chosen, **page})
    for page in queries(cursor=cursors, limit=LIMITS):
        await _expect_answer(subject, "answer", {"order": order, **page})


@case("S-QRY-09")
@rows("order", ORDERS)
@rows("limit", one=1, two=2, three=3, all=10)
async def pages_of_a_scan_give_every_entry_once(store: SessionMaker, order: str, limit: int) -> None:
    """Pages that continue from the last returned sequence give the whole filtered path once, in order, and end.

    If this fails, look at: an inclusive cursor; a page that is cut before it is filtered.
    """
    subject = await walk_session(store)
    query: Query = {"order": order, "type": "custom", "stop_at_type": "compaction", "limit": limit}
    seen: list[str] = []
    while page := await subject.session.scan_branch("answer", **query):
        seen += _ids(page)
        query["cursor"] = page[-1]["seq"]
        if len(seen) > len(PATH):
            break
    whole = _ids(walked(subject.model, "answer", order=order, type="custom", stop_at_type="compaction"))
    expect_equal(seen, whole, of=f"all pages of {limit}, {order}")


@case("S-QRY-10")
@rows("order", ORDERS)
async def structures_are_those_of_the_entries(store: SessionMaker, order: str) -> None:
    """`scan_branch_structure` gives for every query the structures of exactly the entries that `scan_branch` gives:
    the structural fields and nothing of the payload.

    If this fails, look at: a second implementation of the walk; a payload that comes with it; `customType` null on
    other entries.
    """
    subject = await walk_session(store)
    cursors = _cursors(subject)
    for stop in STOPS:
        for chosen in (FILTERS[0], FILTERS[1], FILTERS[4], FILTERS[6], FILTERS[9]):
            for page in queries(cursor=(cursors[0], cursors[3]), limit=(NOT_GIVEN, 0, 2)):
                await _expect_structures(subject, "answer", {"order": order, **stop, **chosen, **page})
    for start in subject.model.entries:
        await _expect_structures(subject, start, {"order": order})


async def _expect_structures(subject: Subject, start: str, query: Query) -> None:
    seen = await subject.session.scan_branch_structure(start, **query)
    expected = [structure(entry) for entry in walked(subject.model, start, **query)]
    expect_equal(seen, expected, of=f"scan_branch_structure from {start!r} with {query}")
