"""Finds of a session and of a branch (section 8: S-QRY-14 to 16)."""

from __future__ import annotations

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.appending import branch_of
from forkproof.suites.sessions.evaluating import NOT_GIVEN, PATH, Query, found, queries, walk_session, walked
from forkstore.contract.errors import UnknownEntry

KINDS: tuple[Query, ...] = (
    {},
    {"type": "message"},
    {"type": "custom"},
    {"type": "no-such-type"},
    {"custom_type": "weather"},
    {"type": "custom", "custom_type": "note"},
    {"type": "message", "custom_type": "note"},
    {"type": None, "custom_type": None},
)


def _session_queries(subject: Subject) -> list[Query]:
    entries = [subject.model.entry(id)["seq"] for id in subject.model.entries]
    cursors = (NOT_GIVEN, None, 0, entries[9], entries[9] + 1, entries[-1])
    pages = list(queries(order=(NOT_GIVEN, "asc", "desc"), cursor=cursors, limit=(NOT_GIVEN, 0, 1, 4)))
    return [{**kind, **page} for kind in KINDS for page in pages]


def _branch_queries(subject: Subject) -> list[Query]:
    middle = subject.model.entry(PATH[5])["seq"]
    stops: tuple[Query, ...] = ({}, {"stop_at_id": "note"}, {"stop_at_type": "compaction"}, {"stop_at_id": "left-leaf"})
    pages = list(
        queries(order=(NOT_GIVEN, "newest_first", "oldest_first"), cursor=(NOT_GIVEN, middle), limit=(NOT_GIVEN, 0, 2))
    )
    return [{**stop, **kind, **page} for stop in stops for kind in KINDS for page in pages]


@case("S-QRY-14", "S-QRY-09")
async def a_find_searches_the_whole_session(store: SessionMaker) -> None:
    """`find_entries` searches all entries, reachable or not, newest first unless `asc` is asked; filters, the
    exclusive cursor and the limit apply in this order.

    If this fails, look at: a search of one branch; a default of `asc`; an inclusive cursor; a limit before the
    filters.
    """
    subject = await walk_session(store)
    for query in _session_queries(subject):
        seen = await subject.session.find_entries(**query)
        expect_equal(seen, found(subject.model, **query), of=f"find_entries with {query}")
    await subject.reopen()
    expect_equal(await subject.session.find_entries(), found(subject.model), of="find_entries after reopening")


@case("S-QRY-14")
async def a_find_in_a_session_without_entries_is_empty(store: SessionMaker) -> None:
    """Without entries `find_entries` gives an empty list.

    If this fails, look at: None for nothing; an error for an empty table.
    """
    subject = await store.empty_session()
    for query in queries(order=(NOT_GIVEN, "asc"), cursor=(NOT_GIVEN, 0, 1), type=(NOT_GIVEN, "message")):
        expect_equal(await subject.session.find_entries(**query), [], of=f"find_entries with {query}")


@case("S-QRY-15")
async def find_entry_gives_the_first_that_would_be_found(store: SessionMaker) -> None:
    """`session.find_entry` gives the first entry that `find_entries` would give with the same parameters, or None, a
    limit of 0 included.

    If this fails, look at: a default order of its own; the limit of the caller ignored; an error for nothing.
    """
    subject = await walk_session(store)
    for query in _session_queries(subject):
        expected = next(iter(found(subject.model, **query)), None)
        expect_equal(await subject.session.find_entry(**query), expected, of=f"find_entry with {query}")


@case("S-QRY-15")
async def find_entry_of_a_branch_gives_the_first_that_would_be_found(store: SessionMaker) -> None:
    """`branch.find_entry` gives the first entry that its `find_entries` would give, or None.

    If this fails, look at: a search of the whole session; a stop that is forgotten.
    """
    subject = await walk_session(store)
    branch = await branch_of(subject, "main")
    for query in _branch_queries(subject):
        expected = next(iter(walked(subject.model, "answer", **query)), None)
        expect_equal(await branch.find_entry(**query), expected, of=f"branch.find_entry with {query}")
    await subject.set_tip("null", None)
    expect_equal(await (await branch_of(subject, "null")).find_entry(), None, of="find_entry at a null tip")


@case("S-QRY-16")
async def a_find_of_a_branch_starts_at_its_tip(store: SessionMaker) -> None:
    """`branch.find_entries` walks from the tip to the root, newest first, with the parameters of `scan_branch`, and
    gives what that scan would give.

    If this fails, look at: a default order of oldest first; a tip that was read when the object was made; a search of
    the whole session.
    """
    subject = await walk_session(store)
    branch = await branch_of(subject, "main")
    for query in _branch_queries(subject):
        seen = await branch.find_entries(**query)
        expect_equal(seen, walked(subject.model, "answer", **query), of=f"branch.find_entries with {query}")
    for name in ("left", "right", "second"):
        seen = await (await branch_of(subject, name)).find_entries()
        expect_equal(seen, walked(subject.model, str(subject.model.tip(name))), of=f"find_entries of {name!r}")
    await subject.set_tip("main", "trunk")
    expect_equal(await branch.find_entries(), walked(subject.model, "trunk"), of="find_entries after the tip went back")
    await subject.check_everywhere()


@case("S-QRY-16")
@rows("name", full="main", null="null")
async def a_find_of_a_branch_may_start_anywhere(store: SessionMaker, name: str) -> None:
    """A given start is where the walk begins, on the branch or off it, and no tip moves; a branch with a null tip
    gives nothing without one.

    If this fails, look at: a start that has to be on the branch; a find that moves the tip; a null tip that raises.
    """
    subject = await walk_session(store)
    await subject.set_tip("null", None)
    branch = await branch_of(subject, name)
    for start in ("answer", "rain", "root", "left-leaf", "lost-leaf", "second-leaf", "beside-note", "child-of-tip"):
        for query in queries(order=(NOT_GIVEN, "oldest_first"), limit=(NOT_GIVEN, 2), type=(NOT_GIVEN, "message")):
            seen = await branch.find_entries(start=start, **query)
            expect_equal(seen, walked(subject.model, start, **query), of=f"find_entries from {start!r} with {query}")
    if name == "null":
        for query in queries(order=(NOT_GIVEN, "oldest_first"), limit=(NOT_GIVEN, 0, 1), start=(NOT_GIVEN, None)):
            expect_equal(await branch.find_entries(**query), [], of=f"find_entries at a null tip with {query}")
    await subject.check_everywhere()


@case("S-QRY-16", "S-QRY-05")
@rows("start", unknown="no-such-entry", empty_text="", usage_row="usage-1")
async def a_find_of_a_branch_refuses_an_unknown_start(store: SessionMaker, start: str) -> None:
    """A start that names no entry raises `UnknownEntry`, the empty text too.

    If this fails, look at: an empty start taken for none; an empty answer for an unknown start.
    """
    subject = await store.bushy_session()
    for member in ("find_entries", "find_entry"):
        with refused(UnknownEntry, entry_id=start):
            await getattr(await branch_of(subject, "main"), member)(start=start)
    await subject.check()
