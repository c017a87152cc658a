"""Lists: order, limits, cursors, pages, deletion (section 7)."""

from __future__ import annotations

from typing import Any, Literal

from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidQuery
from forkstore.contract.writes import ListAppend, ListDelete, ValueSet

Order = Literal["asc", "desc"]

LOG = list_address("garden.log", "beds")
"""The list that most cases use."""


async def _values(subject: Subject, **query: Any) -> list[Any]:
    return [element.value for element in await subject.session.read_list(LOG, **query)]


async def _seqs(subject: Subject, **query: Any) -> list[int]:
    return [element.seq for element in await subject.session.read_list(LOG, **query)]


async def _numbered(store: SessionMaker, count: int) -> Subject:
    """A session whose list LOG holds 0 … count−1, with other writes between the appends so that sequences have gaps."""
    subject = await store.create()
    for number in range(count):
        await subject.commit(ListAppend(LOG, number), ListAppend(list_address("garden.log", "other"), -number))
    return subject


@case("S-LIST-01")
async def elements_are_ordered_by_sequence(store: SessionMaker) -> None:
    """`read_list` gives elements by sequence, ascending unless asked for `desc`.

    If this fails, look at: an order by value or key; a descending read that reverses one page only; a default of
    `desc`.
    """
    subject = await _numbered(store, 12)
    expect_equal(await _values(subject), list(range(12)), of="the list in its default order")
    expect_equal(await _values(subject, order="asc"), list(range(12)), of="the list with order='asc'")
    expect_equal(await _values(subject, order="desc"), list(range(11, -1, -1)), of="the list with order='desc'")
    await subject.check_everywhere()


@case("S-LIST-01")
async def the_order_inside_one_commit_survives_reopening(store: SessionMaker) -> None:
    """Elements that one commit appended keep the order of its writes, in the session that is opened again too.

    If this fails, look at: rows without an order of their own; an index by value; a replay that sorts by timestamp.
    """
    subject = await store.create()
    written = ["z", "a", "m", "", "Z", "é", "a"]
    await subject.commit(*(ListAppend(LOG, value) for value in written))
    expect_equal(await _values(subject), written, of="the list, live")
    await subject.reopen()
    expect_equal(await _values(subject), written, of="the list, after reopening")


@case("S-LIST-02")
@rows("order", ascending="asc", descending="desc")
async def a_read_without_a_limit_gives_a_thousand(store: SessionMaker, order: str) -> None:
    """Without a limit at most 1,000 elements come back: the first 1,000 in the asked order.

    If this fails, look at: a missing default limit; a limit applied before the order.
    """
    subject = await store.create()
    await subject.commit(*(ListAppend(LOG, number) for number in range(1_001)))
    numbers = list(range(1_001)) if order == "asc" else list(range(1_000, -1, -1))
    expect_equal(await _values(subject, order=order), numbers[:1_000], of="a read without a limit")


@case("S-LIST-02")
async def a_limit_above_ten_thousand_counts_as_ten_thousand(store: SessionMaker) -> None:
    """A limit above 10,000 is taken as 10,000, and one of 10,000 is met.

    If this fails, look at: a limit handed on unchanged; a larger limit refused; the cap counted in bytes or pages.
    """
    subject = await store.create()
    await subject.commit(*(ListAppend(LOG, number) for number in range(10_002)))
    for limit in (10_000, 10_001, 2**40, 2**63, 2**70):
        seen = await _values(subject, limit=limit)
        expect_equal(len(seen), 10_000, of=f"the number of elements with limit={limit}")
        expect_equal(seen[-1], 9_999, of=f"the last element with limit={limit}")


@case("S-LIST-03")
@rows(
    "query",
    limit_zero={"limit": 0},
    limit_negative={"limit": -1},
    limit_none={"limit": None},
    limit_true={"limit": True},
    limit_fraction={"limit": 1.0},
    limit_text={"limit": "10"},
    cursor_negative={"cursor": -1},
    cursor_true={"cursor": True},
    cursor_fraction={"cursor": 1.5},
    cursor_text={"cursor": "1"},
    order_unknown={"order": "newest_first"},
    order_upper={"order": "ASC"},
    order_none={"order": None},
    order_number={"order": 1},
)
async def a_malformed_query_is_refused(store: SessionMaker, query: dict[str, Any]) -> None:
    """A limit that is no int of at least 1, a cursor that is neither None nor an int of at least 0, and an unknown
    order raise `InvalidQuery`, on a full list and on an absent one alike.

    If this fails, look at: bool taken for an int; 0 or a negative limit handed to a database that reads it as "all";
    checks skipped when the list is absent.
    """
    subject = await _numbered(store, 3)
    (field,) = query
    for address in (LOG, list_address("garden.log", "absent")):
        with refused(InvalidQuery, field=field):
            await subject.session.read_list(address, **query)
    await subject.check()


@case("S-LIST-04")
async def the_cursor_is_exclusive(store: SessionMaker) -> None:
    """The cursor is a sequence: `asc` gives what lies above it, `desc` what lies below it, and it need not belong to
    an element.

    If this fails, look at: `>=` in place of `>`; a cursor taken as a position; a cursor between two elements treated
    as unknown.
    """
    subject = await _numbered(store, 6)
    seqs = await _seqs(subject)
    for cursor in range(seqs[-1] + 3):
        above = [seq for seq in seqs if seq > cursor]
        below = [seq for seq in reversed(seqs) if seq < cursor]
        expect_equal(await _seqs(subject, cursor=cursor), above, of=f"ascending from cursor {cursor}")
        expect_equal(await _seqs(subject, cursor=cursor, order="desc"), below, of=f"descending from cursor {cursor}")
        expect_equal(await _seqs(subject, cursor=cursor, limit=2), above[:2], of=f"two elements from cursor {cursor}")
    expect_equal(await _seqs(subject, cursor=None), seqs, of="the list with cursor=None")


@case("S-LIST-04")
@rows("cursor", largest=2**53, beyond_64_bits=2**70)
async def a_cursor_beyond_every_sequence_is_legal(store: SessionMaker, cursor: int) -> None:
    """A cursor above every sequence gives nothing ascending and everything descending.

    If this fails, look at: a cursor bound to a 64-bit column without a check; an unknown cursor refused.
    """
    subject = await _numbered(store, 3)
    expect_equal(await _values(subject, cursor=cursor), [], of="ascending from beyond the end")
    expect_equal(await _values(subject, cursor=cursor, order="desc"), [2, 1, 0], of="descending from beyond the end")


@case("S-LIST-05")
@rows("order", ascending="asc", descending="desc")
@rows("limit", one=1, three=3, all_but_one=9, exact=10, more=11)
async def pages_give_every_element_once(store: SessionMaker, order: Order, limit: int) -> None:
    """Pages that continue from the last returned sequence give every element once, in order, and end.

    If this fails, look at: a cursor that counts elements; an inclusive cursor; pages that skip where sequences have
    gaps.
    """
    subject = await _numbered(store, 10)
    seen: list[Any] = []
    cursor: int | None = None
    while page := await subject.session.read_list(LOG, order=order, limit=limit, cursor=cursor):
        seen += [element.value for element in page]
        cursor = page[-1].seq
        if len(seen) > 10:
            break
    numbers = list(range(10)) if order == "asc" else list(range(9, -1, -1))
    expect_equal(seen, numbers, of=f"all pages of {limit}, {order}")


@case("S-LIST-06")
async def a_deleted_list_stays_deleted(store: SessionMaker) -> None:
    """Deleting a list removes all its elements for good: live, after reopening, and when it is appended to again.

    If this fails, look at: a delete that hides only what was read; a replay that ignores deletes; a page cache beside
    the rows.
    """
    subject = await _numbered(store, 8)
    await subject.commit(ListDelete(LOG))
    expect_equal(await _values(subject), [], of="the list after its deletion")
    await subject.reopen()
    expect_equal(await _values(subject), [], of="the deleted list after reopening")
    await subject.commit(ListAppend(LOG, "new"))
    expect_equal(await _values(subject), ["new"], of="the list appended to again")
    await subject.check_everywhere()


@case("S-LIST-06")
async def deleting_a_list_leaves_its_neighbours(store: SessionMaker) -> None:
    """A delete takes the one list at its address: lists at other keys and namespaces, longer keys included, keep
    their elements.

    If this fails, look at: a delete by key prefix; a delete by namespace alone.
    """
    subject = await store.create()
    neighbours = [
        ("garden.log", ""),
        ("garden.log", "bed"),
        ("garden.log", "beds2"),
        ("garden", "beds"),
        ("garden.log.x", "beds"),
    ]
    await subject.commit(ListAppend(LOG, 0), *(ListAppend(list_address(*place), place[1]) for place in neighbours))
    await subject.commit(ListDelete(LOG))
    await subject.check_everywhere()


@case("S-LIST-06")
@in_any_state
async def an_absent_list_reads_as_empty(subject: Subject) -> None:
    """An absent list reads as empty, and deleting it succeeds and changes nothing else, whatever else the session
    holds.

    If this fails, look at: an error for an unknown address; a delete that creates an empty list or a scalar.
    """
    absent = list_address("garden.log", "never-used")
    subject.model.look_at([("garden.log", "never-used")])
    expect_equal(await subject.session.read_list(absent), [], of="an absent list")
    subject.follow(await subject.session.delete_list(absent), ListDelete(absent))
    expect_equal(await subject.session.read_list(absent), [], of="an absent list, deleted")
    await subject.check_everywhere()


@case("S-LIST-06")
async def a_scalar_beside_the_list_survives_its_deletion(store: SessionMaker) -> None:
    """Deleting a list leaves the scalar at the same namespace and key alone.

    If this fails, look at: one table for both kinds without the kind in its key.
    """
    subject = await store.lists_session()
    await subject.commit(ListDelete(list_address("garden.log", "kept")))
    await subject.check_everywhere()
    await subject.commit(ValueSet(value_address("garden.log", "kept"), "still apart"))
    await subject.check()
