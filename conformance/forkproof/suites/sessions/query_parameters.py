"""What the parameters of scans and finds may be (section 8: S-QRY-12, 13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.appending import branch_of
from forkproof.suites.sessions.evaluating import Query, walk_session
from forkstore.contract.errors import InvalidQuery

Read = Callable[[Subject, Query], Awaitable[Any]]


async def _branch_entries(subject: Subject, query: Query) -> Any:
    return await (await branch_of(subject)).find_entries(**query)


async def _branch_entry(subject: Subject, query: Query) -> Any:
    return await (await branch_of(subject)).find_entry(**query)


async def _null_tip_entries(subject: Subject, query: Query) -> Any:
    return await (await branch_of(subject, "null")).find_entries(**query)


async def _scope_scan(subject: Subject, query: Query) -> Any:
    scope = await subject.session.begin_mutation()
    try:
        return await scope.scan_branch("answer", **query)
    finally:
        await scope.end()


WALKS: dict[str, Read] = {
    "scan_branch": lambda subject, query: subject.session.scan_branch("answer", **query),
    "scan_branch_structure": lambda subject, query: subject.session.scan_branch_structure("answer", **query),
    "storage.scan_branch": lambda subject, query: subject.session.storage.scan_branch("answer", **query),
    "scope.scan_branch": _scope_scan,
    "branch.find_entries": _branch_entries,
}
SCANS: dict[str, Read] = {
    "scan_entries": lambda subject, query: subject.session.scan_entries(**query),
    "storage.scan_entries": lambda subject, query: subject.session.storage.scan_entries(**query),
}
LEDGERS: dict[str, Read] = {"scan_usage": lambda subject, query: subject.session.scan_usage(**query)}
FINDS: dict[str, Read] = {"find_entries": lambda subject, query: subject.session.find_entries(**query)}
MANY = {**WALKS, **SCANS, **LEDGERS, **FINDS}
ONE: dict[str, Read] = {
    "find_entry": lambda subject, query: subject.session.find_entry(**query),
    "branch.find_entry": _branch_entry,
}
NULL_TIP: dict[str, Read] = {"null-tip.find_entries": _null_tip_entries}

NO_TEXTS: tuple[Any, ...] = (1, True, b"message", ["message"], 1.0)
NO_SEQUENCES: tuple[Any, ...] = ("1", True, False, 1.0, [1])
NO_LIMITS: tuple[Any, ...] = (-1, True, False, 1.0, 2.5, "10", [], float("nan"))
WALK_ORDERS: tuple[Any, ...] = ("asc", "desc", "NEWEST_FIRST", "", None, 1, True, ["newest_first"])
SCAN_ORDERS: tuple[Any, ...] = ("newest_first", "oldest_first", "ASC", "", None, 1, False, ["asc"])


@case("S-QRY-12")
@rows("read", MANY)
async def a_limit_is_none_or_counts_from_zero(store: SessionMaker, read: Read) -> None:
    """A limit of None gives all, 0 gives nothing, and any other the first that many; one above the size, however
    large, gives all.

    If this fails, look at: 0 taken for "no limit"; a limit of the caller bound to a 64-bit column.
    """
    subject = await walk_session(store)
    whole = await read(subject, {})
    for limit in (None, 0, 1, 2, len(whole) - 1, len(whole), len(whole) + 1, 2**31, 2**63, 2**70):
        seen = await read(subject, {"limit": limit})
        expect_equal(seen, whole[:limit], of=f"the answer with limit={limit}")


@case("S-QRY-12")
@rows("read", {**MANY, **ONE, **NULL_TIP})
async def any_other_limit_is_refused(store: SessionMaker, read: Read) -> None:
    """A limit that is neither None nor an int of at least 0 raises `InvalidQuery`, bool included, in every scan and
    find.

    If this fails, look at: a negative limit handed to a database that reads it as "all"; True taken for 1; a limit
    that `find_entry` replaces unseen.
    """
    subject = await walk_session(store)
    await subject.set_tip("null", None)
    for limit in NO_LIMITS:
        with refused(InvalidQuery, field="limit"):
            await read(subject, {"limit": limit})
    await subject.check()


async def _expect_refusals(store: SessionMaker, read: Read, **wrong: tuple[Any, ...]) -> None:
    subject = await walk_session(store)
    await subject.set_tip("null", None)
    for field, values in wrong.items():
        for value in values:
            with refused(InvalidQuery, field=field):
                await read(subject, {field: value})
    await subject.check()


@case("S-QRY-13")
@rows("read", {**WALKS, "branch.find_entry": _branch_entry, **NULL_TIP})
async def a_malformed_walk_is_refused(store: SessionMaker, read: Read) -> None:
    """An unknown order, or a stop, filter or cursor of the wrong type, raises `InvalidQuery` that names it.

    If this fails, look at: orders of other scans taken as well; bool taken for an int; parameters checked only where
    entries are.
    """
    texts = dict.fromkeys(("stop_at_id", "stop_at_type", "type", "custom_type"), NO_TEXTS)
    await _expect_refusals(store, read, order=WALK_ORDERS, cursor=NO_SEQUENCES, **texts)


@case("S-QRY-13")
@rows("read", SCANS)
async def a_malformed_scan_is_refused(store: SessionMaker, read: Read) -> None:
    """An unknown order, or a filter or bound of the wrong type, raises `InvalidQuery` that names it.

    If this fails, look at: fractions rounded; text compared with numbers; an unknown order taken for `asc`.
    """
    texts = dict.fromkeys(("type", "custom_type"), NO_TEXTS)
    await _expect_refusals(store, read, order=SCAN_ORDERS, from_seq=NO_SEQUENCES, to_seq=NO_SEQUENCES, **texts)


@case("S-QRY-13")
async def a_malformed_scan_of_the_ledger_is_refused(store: SessionMaker) -> None:
    """An unknown order or a bound of the wrong type raises `InvalidQuery` that names it.

    If this fails, look at: checks that only the scan of entries makes.
    """
    wrong = {"order": SCAN_ORDERS, "from_seq": NO_SEQUENCES, "to_seq": NO_SEQUENCES}
    await _expect_refusals(store, LEDGERS["scan_usage"], **wrong)


@case("S-QRY-13")
@rows("read", {**FINDS, "find_entry": ONE["find_entry"]})
async def a_malformed_find_is_refused(store: SessionMaker, read: Read) -> None:
    """An unknown order, or a filter or cursor of the wrong type, raises `InvalidQuery` that names it.

    If this fails, look at: a cursor turned into a bound before it is checked.
    """
    texts = dict.fromkeys(("type", "custom_type"), NO_TEXTS)
    await _expect_refusals(store, read, order=SCAN_ORDERS, cursor=NO_SEQUENCES, **texts)


@case("S-QRY-13")
@rows("id", none=None, number=1, boolean=True, bytes=b"root", list=["root"])
async def an_id_that_is_no_text_is_refused(store: SessionMaker, id: Any) -> None:
    """An id of the wrong type raises `InvalidQuery`: the start of a walk, one of the ids of `get_entries`, the id of
    `get_entry`, the start of a find.

    If this fails, look at: ids compared as they are; an unhashable id that raises TypeError; None taken for "nothing".
    """
    subject = await walk_session(store)
    session = subject.session
    for scan in (session.scan_branch, session.scan_branch_structure, session.storage.scan_branch, session.get_entry):
        with refused(InvalidQuery):
            await scan(id)
    for ids in ([id], ["root", id], [id, "root"]):
        with refused(InvalidQuery):
            await session.get_entries(ids)
    if id is not None:
        with refused(InvalidQuery):
            await (await branch_of(subject)).find_entries(start=id)
    await subject.check()
