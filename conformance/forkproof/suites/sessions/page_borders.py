"""More rows than any page, and counts that fill a page exactly: nothing is lost at a border (sections 7, 8 and 15)."""

from __future__ import annotations

from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import custom_entry, lane_configuration, usage_row
from forkproof.suites.sessions.forking import forked, from_open_and_closed
from forkstore.contract.addresses import branch_tip, entry_label, lane_config, list_address, value_address
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet

MANY, SOME = 10_003, 1_203
"""More than the largest page of a list, and more than the usual one."""

LOG = list_address("garden.log", "beds")


async def _all_elements(subject: Subject) -> list[Any]:
    found: list[Any] = []
    cursor = 0
    while page := await subject.session.read_list(LOG, limit=10_000, cursor=cursor):
        found += [element.value for element in page]
        cursor = page[-1].seq
    return found


@case("S-QRY-11", "S-QRY-12", needs=())
async def a_scan_without_a_limit_gives_all_entries(store: SessionMaker) -> None:
    """Without a limit every entry comes back, however many there are, live and after reopening.

    If this fails, look at: the limit of lists applied to scans; a page that is not continued.
    """
    subject = await store.create()
    ids = [f"n{number}" for number in range(MANY)]
    await subject.commit(*(EntryInsert(custom_entry(id, None)) for id in ids))
    for _ in ("live", "reopened"):
        expect_equal([one["id"] for one in await subject.session.scan_entries()], ids, of="the scan of all entries")
        found = await subject.session.find_entries(limit=None)
        expect_equal([one["id"] for one in found], ids[::-1], of="the entries that are found")
        await subject.reopen()


@case("S-QRY-11", "S-QRY-12", needs=())
async def a_scan_without_a_limit_gives_the_whole_ledger(store: SessionMaker) -> None:
    """Without a limit every usage row comes back, however many there are, live and after reopening.

    If this fails, look at: the limit of lists applied to scans; a page that is not continued.
    """
    subject = await store.create()
    ids = [f"u{number}" for number in range(SOME)]
    await subject.commit(*(UsageInsert(usage_row(id)) for id in ids))
    for _ in ("live", "reopened"):
        expect_equal([one["id"] for one in await subject.session.scan_usage()], ids, of="the ids of the ledger")
        await subject.reopen()


@case("S-REPO-06")
async def more_rows_than_a_page_are_there_after_reopening(store: SessionMaker) -> None:
    """Entries, usage rows, scalars and elements beyond a page are there after reopening.

    If this fails, look at: an open that reads a table through one page; the default limit of `read_list`.
    """
    subject = await store.create()
    numbers = range(SOME)
    await subject.commit(*(ListAppend(LOG, number) for number in range(MANY)))
    await subject.commit(*(ValueSet(value_address("garden.plan", f"{number:05}"), number) for number in numbers))
    await subject.commit(*(EntryInsert(custom_entry(f"n{number}", None)) for number in numbers))
    await subject.commit(*(UsageInsert(usage_row(f"u{number}")) for number in numbers))
    await subject.reopen()
    session = subject.session
    expect_equal(await _all_elements(subject), list(range(MANY)), of="the list after reopening")
    scalars = await session.scan_values(value_address("garden.plan"))
    expect_equal([row.value for row in scalars], list(numbers), of="the scalars after reopening")
    expect_equal(len(await session.scan_entries()), SOME, of="the number of entries after reopening")
    expect_equal(len(await session.scan_usage()), SOME, of="the number of usage rows after reopening")


@case("S-LIST-02")
@rows("order", ascending="asc", descending="desc")
async def a_read_with_a_cursor_alone_gives_a_thousand(store: SessionMaker, order: Any) -> None:
    """A cursor does not lift the limit: without one of its own the read gives the next 1,000.

    If this fails, look at: a default limit for the first page only.
    """
    subject = await store.create()
    result = await subject.commit(*(ListAppend(LOG, number) for number in range(1_203)))
    cursor = result.seqs[99] if order == "asc" else result.seqs[-100]
    numbers = list(range(100, 1_203)) if order == "asc" else list(range(1_102, -1, -1))
    page = await subject.session.read_list(LOG, order=order, cursor=cursor)
    expect_equal([element.value for element in page], numbers[:1_000], of="a read with a cursor and no limit")


@case("S-QRY-01")
async def a_large_request_keeps_its_order(store: SessionMaker) -> None:
    """2,003 known ids come back in the order of the request, which is not that of the entries.

    If this fails, look at: a request split into parts that answer in stored order.
    """
    subject = await store.create()
    ids = [f"n{number}" for number in range(2_003)]
    await subject.commit(*(EntryInsert(custom_entry(id, None)) for id in ids))
    asked = ids[::2][::-1] + ids[1::2]
    expect_equal(list(await subject.session.get_entries(asked)), asked, of="the order of the answer")


@case("S-FORK-TREE-06")
async def more_scalars_than_the_largest_page_are_copied(store: SessionMaker) -> None:
    """10,003 scalars in one namespace are all in the fork, and exactly 1,000 in another.

    If this fails, look at: one page of rows copied; a last page that is full and left out.
    """
    source = await store.create()
    await source.commit(*(ValueSet(value_address("garden.plan", f"{number:05}"), number) for number in range(MANY)))
    await source.commit(*(ValueSet(value_address("garden.exact", f"{number:05}"), number) for number in range(1_000)))
    fork = await source.fork(TreeFork())
    for namespace, count in (("garden.plan", MANY), ("garden.exact", 1_000)):
        copied = await fork.session.scan_values(value_address(namespace))
        expect_equal([row.value for row in copied], list(range(count)), of=f"the values of {namespace} in the fork")


@case("S-FORK-TREE-07")
@from_open_and_closed
@rows("count", one=1, hundred=100, batch=250, thousand=1_000, three_thousand=3_000)
async def a_list_that_fills_its_pages_is_copied(store: SessionMaker, count: int, source_is: str) -> None:
    """A list whose length is exactly that of a page or batch is copied whole.

    If this fails, look at: a last page that is full and taken for none; a batch flushed only when it overflows.
    """
    source = await store.create()
    await source.commit(*(ListAppend(LOG, number) for number in range(count)))
    fork = await forked(source, TreeFork(), source_is)
    expect_equal(await _all_elements(fork), list(range(count)), of="the list in the fork")


@case("S-FORK-CLS-02")
@from_open_and_closed
async def more_labels_than_a_page_are_copied(store: SessionMaker, source_is: str) -> None:
    """2,003 labels of copied entries are all in the fork.

    If this fails, look at: one page of labels copied; a list of ids that is too long for one statement.
    """
    source = await store.create()
    ids = [f"n{number:04}" for number in range(2_003)]
    await source.commit(*(EntryInsert(custom_entry(id, None)) for id in ids))
    await source.commit(*(ValueSet(entry_label(id), id) for id in ids))
    fork = await forked(source, TreeFork(), source_is)
    copied = await fork.session.scan_values(value_address("pi.entry.label"))
    expect_equal([row.value for row in copied], ids, of="the labels of the fork")


@case("S-FORK-TREE-02", "S-FORK-TREE-03", needs=())
@from_open_and_closed
async def more_branches_than_a_page_are_copied(store: SessionMaker, source_is: str) -> None:
    """1,203 branches and the configurations of their lanes are all in the fork.

    If this fails, look at: one page of branches copied.
    """
    source = await store.linear_session()
    names = [f"b{number:04}" for number in range(1_203)]
    await source.commit(*(ValueSet(branch_tip(name), "e2") for name in names))
    await source.commit(*(ValueSet(lane_config(name), lane_configuration()) for name in names))
    fork = await forked(source, TreeFork(), source_is)
    for namespace in ("pi.branch.tip", "pi.lane.config"):
        copied = [row.address.key for row in await fork.session.scan_values(value_address(namespace, "b"))]
        expect_equal(copied, names, of=f"the rows of {namespace} in the fork")


@case("S-REPO-11")
async def many_sessions_are_listed(store: SessionMaker) -> None:
    """123 sessions are all listed, and after one was deleted and another made, exactly those that there are.

    If this fails, look at: a list of one page; a list kept until the number of sessions changes.
    """
    subjects = [await store.create() for _ in range(123)]
    for subject in subjects[:100]:
        await subject.close()
    await store.assert_only_known_sessions(*subjects)
    gone = subjects.pop(0)
    await store.repo.delete(gone.metadata)
    subjects.append(await store.create())
    await store.assert_only_known_sessions(*subjects)
