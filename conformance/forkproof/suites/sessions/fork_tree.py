"""Tree scope: every entry, every branch as it is, every application row (section 15)."""

from __future__ import annotations

from itertools import product
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import busy_lane_state, custom_entry, idle_lane_state, lane_configuration, message_entry
from forkproof.suites.sessions.forking import expect_sound, forked, from_open_and_closed
from forkstore.contract.addresses import (
    Address,
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    list_address,
    session_name,
    value_address,
)
from forkstore.contract.errors import DataOnlyBranch
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, ValueDelete, ValueSet

LANE_ROWS = (branch_tip, lane_config, lane_state)
"""Addresses of the rows of a lane."""

TIPS: dict[str, Any] = {
    "null": None,
    "unknown-id": "names-no-entry",
    "empty-text": "",
    "usage-row": "usage-1",
    "number": 7,
    "array": ["tip"],
    "object": {"z": "tip", "a": None},
}
"""What a tip row may hold besides the id of an entry."""

SCALARS: dict[tuple[str, str], Any] = {
    ("garden.plan", ""): "the empty key",
    ("garden.plan", "null"): None,
    ("garden.plan", "row:3:süd — 水"): {"z": 1, "a": [True, 1, 1.0, -0.5, None, {}]},
    ("garden.plan", "\uffff\U00010000"): 2**63 - 1,
    ("garden.plan", "main"): "the name of a branch",
    ("garden.plan", "tip"): "the id of an entry",
    ("garden", ""): False,
    ("garden", "null"): 0,
    ("Garden", ""): "",
    ("pi2.branch.tip", "main"): "left",
    ("PI.lane.state", "main"): {"inbox": [1]},
    (" ", " "): [],
    ("🌿.plan", "🌿"): "letters beyond 16 bits",
}


async def _value(subject: Subject, address: Address) -> list[Any]:
    """The current value as a list of one, or an empty list: so that null and absent differ."""
    row = await subject.session.get_value(address)
    return [] if row is None else [row.value]


@case("S-FORK-TREE-01", needs=())
@from_open_and_closed
async def every_entry_is_copied(store: SessionMaker, source_is: str) -> None:
    """A tree fork holds all entries in their order: those of every branch, of every root, and those that no tip
    reaches.

    If this fails, look at: entries collected by walking from the tips; one root only; entries ordered by branch.
    """
    source = await store.bushy_session()
    await source.set_tip("second", None)
    await source.insert(custom_entry("after-all", "lost-leaf"), message_entry("third-root", None))
    written = [entry["id"] for entry in await source.session.scan_entries()]
    fork = await forked(source, TreeFork(), source_is)
    copied = await fork.session.scan_entries()
    expect_equal([entry["id"] for entry in copied], written, of="the ids of the fork's entries, in order")
    await expect_sound(fork, source)


@case("S-FORK-TREE-01", needs=())
@from_open_and_closed
async def entries_without_any_branch_are_copied(store: SessionMaker, source_is: str) -> None:
    """A session without a branch gives a fork with all its entries and without a branch.

    If this fails, look at: a walk that needs a tip; a branch made up for the fork.
    """
    source = await store.create()
    await source.insert(message_entry("one", None), message_entry("two", "one"), message_entry("other", None))
    fork = await forked(source, TreeFork(), source_is)
    expect_equal(len(await fork.session.scan_entries()), 3, of="the number of entries in the fork")
    await expect_sound(fork, source)


@case("S-FORK-TREE-02", needs=())
@from_open_and_closed
@rows("tip", TIPS)
async def every_tip_is_copied_as_it_is(store: SessionMaker, tip: Any, source_is: str) -> None:
    """Every tip row is copied, whatever it holds, of branches of any name, with lane rows and without.

    If this fails, look at: null tips left out; tips that are checked against the entries; names that are changed.
    """
    source = await store.bushy_session()
    names = ("", "odd", "ünï:코드", " ", "main ")
    await source.commit(*(ValueSet(branch_tip(name), tip) for name in names))
    await source.commit(ValueSet(branch_tip("main"), tip))
    fork = await forked(source, TreeFork(), source_is)
    for name in (*names, "main"):
        expect_equal(await _value(fork, branch_tip(name)), [tip], of=f"the tip of {name!r}", ordered=True)
    for name, kept in (("left", "left-leaf"), ("right", "right"), ("second", "second-leaf")):
        expect_equal(await _value(fork, branch_tip(name)), [kept], of=f"the tip of {name!r}")
    await expect_sound(fork, source)


@case("S-FORK-TREE-03")
@from_open_and_closed
async def lanes_keep_their_configuration_and_become_idle(store: SessionMaker, source_is: str) -> None:
    """Every lane keeps its name and its configuration, member for member in order, and starts idle, however busy its
    source is; the source stays busy.

    If this fails, look at: configurations of all lanes but one dropped; a configuration rebuilt from known members;
    states copied; the idle state written into the source.
    """
    source = await store.lanes_session()
    odd = {"z": {"modelId": "m", "provider": None}, "activeToolNames": [], "thinkingLevel": 3, "a": 1.0}
    await source.commit(ValueSet(lane_config("busy"), odd), ValueSet(lane_state("back"), busy_lane_state("op-7")))
    fork = await forked(source, TreeFork(), source_is)
    for lane in ("main", "busy", "back", "empty", "ünï:코드", " ", "main "):
        kept = [source.model.value(lane_config(lane))]
        expect_equal(await _value(fork, lane_config(lane)), kept, of=f"the configuration of {lane!r}", ordered=True)
        idle = [idle_lane_state()]
        expect_equal(await _value(fork, lane_state(lane)), idle, of=f"the state of {lane!r}", ordered=True)
    await expect_sound(fork, source)


@case("S-FORK-TREE-04", needs=())
@from_open_and_closed
@rows("content", usual=lane_configuration(), null=None, text="garbage", other_members={"z": 1, "a": [None]})
async def lane_rows_are_projected_one_by_one(store: SessionMaker, content: Any, source_is: str) -> None:
    """Each lane row counts for itself: whatever is there alone or with others is copied (a state becomes idle), and
    what is not there is not made up, whatever the rows hold.

    If this fails, look at: lanes audited or completed; a state made for every tip; rows without a tip dropped; null
    contents taken for missing rows.
    """
    source = await store.linear_session(2)
    lanes: dict[str, set[str]] = {}
    for has in product((False, True), repeat=3):
        present = {address.__name__ for address, there in zip(LANE_ROWS, has, strict=True) if there}
        name = "+".join(sorted(present)) or "nothing"
        lanes[name] = present
        await source.commit(*(ValueSet(row(name), content) for row in LANE_ROWS if row.__name__ in present))
    fork = await forked(source, TreeFork(), source_is)
    for name, present in lanes.items():
        for row in LANE_ROWS:
            value = idle_lane_state() if row is lane_state else content
            expected = [value] if row.__name__ in present else []
            expect_equal(await _value(fork, row(name)), expected, of=f"{row.__name__}({name!r})", ordered=True)
    await expect_sound(fork, source)


@case("S-FORK-TREE-05")
@from_open_and_closed
async def a_data_only_branch_stays_data_only(store: SessionMaker, source_is: str) -> None:
    """A branch with a tip alone, or with one of its lane rows missing, is the same in the fork, and a branch fork of
    it is refused there too.

    If this fails, look at: configuration or state given to every branch; data-only branches dropped.
    """
    source = await store.lanes_session()
    await source.create_branch("created", "e2")
    fork = await forked(source, TreeFork(), source_is)
    for branch in ("data", "null", "half", "dangling", "created"):
        expect(await fork.session.branch(branch) is not None, f"expected: branch {branch!r}\nseen:     no such branch")
        with refused(DataOnlyBranch, name=branch):
            await store.repo.fork(fork.metadata, BranchFork(branch))
    await expect_sound(fork, source)


@case("S-FORK-TREE-06")
@from_open_and_closed
async def every_current_application_scalar_is_copied(store: SessionMaker, source_is: str) -> None:
    """Every current application scalar is in the fork with its value: null values, empty keys, keys with colons and
    letters of any script, namespaces that look like others; overwritten values and deleted rows are not.

    If this fails, look at: null or falsy values dropped; keys split at a colon; names compared without case; the first
    value copied and not the current one.
    """
    source = await store.bushy_session()
    gone = value_address("garden.plan", "deleted")
    await source.commit(*(ValueSet(value_address(*place), "overwritten") for place in SCALARS), ValueSet(gone, 1))
    await source.commit(*(ValueSet(value_address(*place), value) for place, value in SCALARS.items()))
    await source.commit(ValueDelete(gone))
    fork = await forked(source, TreeFork(), source_is)
    for place, value in SCALARS.items():
        expect_equal(await _value(fork, value_address(*place)), [value], of=f"the scalar at {place!r}", ordered=True)
    expect_equal(await _value(fork, gone), [], of="the deleted scalar")
    await expect_sound(fork, source)


@case("S-FORK-TREE-06")
@from_open_and_closed
async def more_scalars_than_a_page_are_copied(store: SessionMaker, source_is: str) -> None:
    """2,003 scalars in one namespace are all in the fork.

    If this fails, look at: one page or one batch of rows copied; the last, smaller batch left out.
    """
    source = await store.create()
    await source.commit(*(ValueSet(value_address("garden.plan", f"row:{n}"), n) for n in range(2_003)))
    fork = await forked(source, TreeFork(), source_is)
    copied = await fork.session.scan_values(value_address("garden.plan"))
    expect_equal(sorted(row.value for row in copied), list(range(2_003)), of="the values of the fork")


@case("S-FORK-TREE-07")
@from_open_and_closed
async def surviving_elements_are_copied_in_order(store: SessionMaker, source_is: str) -> None:
    """Lists hold their surviving elements in order; a list that was deleted and appended to again holds only what came
    after; a deleted list stays absent, and a scalar at the same place is apart.

    If this fails, look at: elements found although their list was deleted; elements sorted by value or key; one table
    for scalars and lists.
    """
    source = await store.lists_session()
    fork = await forked(source, TreeFork(), source_is)
    expected: dict[str, list[Any]] = {
        "kept": [{"n": number} for number in range(5)],
        "gone": [],
        "again": [f"second life {number}" for number in range(3)],
        "busy": [2, 2.0],
        "": [None, True, 0, -0.5, "é", [], {}, [[{"a": None}]]],
    }
    for key, values in expected.items():
        elements = await fork.session.read_list(list_address("garden.log", key))
        expect_equal([element.value for element in elements], values, of=f"the list {key!r}", ordered=True)
    await expect_sound(fork, source)


@case("S-FORK-TREE-07")
@from_open_and_closed
async def lists_longer_than_any_page_are_copied(store: SessionMaker, source_is: str) -> None:
    """A list of 10,003 elements is copied whole, beside one of a single element.

    If this fails, look at: elements read through one page of 1,000 or 10,000; a batch cut at its last element.
    """
    source = await store.create()
    long, short = list_address("garden.log", "long"), list_address("garden.log", "short")
    await source.commit(*(ListAppend(long, number) for number in range(10_003)), ListAppend(short, "alone"))
    fork = await forked(source, TreeFork(), source_is)
    first = await fork.session.read_list(long, limit=10_000)
    rest = await fork.session.read_list(long, limit=10_000, cursor=first[-1].seq if first else None)
    expect_equal([element.value for element in first + rest], list(range(10_003)), of="the long list in the fork")
    expect_equal([one.value for one in await fork.session.read_list(short)], ["alone"], of="the short list")


@case("S-FORK-TREE-08")
@from_open_and_closed
@rows("emptied", never_written=False, everything_deleted_again=True)
async def a_session_without_data_gives_a_session_without_data(
    store: SessionMaker, emptied: bool, source_is: str
) -> None:
    """The tree fork of a session without data has no entries, branches, values, lists or spending, also when all that
    was there has been deleted.

    If this fails, look at: a branch or a lane made up; an empty source refused; deleted rows brought back.
    """
    source = await store.create()
    if emptied:
        log, plan = list_address("garden.log"), value_address("garden.plan")
        values = (branch_tip("main"), lane_config("main"), lane_state("main"), session_name(), entry_label("e"), plan)
        await source.commit(*(ValueSet(address, None) for address in values), ListAppend(log, 1))
        await source.commit(*(ValueDelete(address) for address in values), ListDelete(log))
    fork = await forked(source, TreeFork(), source_is)
    await expect_sound(fork, source)
    await fork.commit(EntryInsert(message_entry("first", None)))
    await fork.check("the fork after its first commit")
