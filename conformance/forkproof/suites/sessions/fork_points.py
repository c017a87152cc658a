"""Branch scope: the fork point and the tip that the fork gets (section 14)."""

from __future__ import annotations

from typing import Literal

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.forking import expect_refused, expect_sound, forked, from_open_and_closed
from forkstore.contract.addresses import branch_tip
from forkstore.contract.errors import EntryNotOnBranch
from forkstore.contract.forks import BranchFork
from forkstore.contract.writes import ValueSet

Position = Literal["at", "before"]
POSITIONS: tuple[Position, ...] = ("at", "before")

PATH = ["root", "trunk", "fork-point", "tip"]
"""The path of the lane `main` in the bushy session, oldest first."""


async def _expect_tip(fork: Subject, branch: str, tip: str | None, members: list[str]) -> None:
    row = await fork.session.get_value(branch_tip(branch))
    expect_equal(None if row is None else [row.value], [tip], of="the tip row of the fork")
    entries = await fork.session.scan_entries()
    expect_equal([entry["id"] for entry in entries], members, of="the entries of the fork")


@case("S-FORK-BR-04", "S-FORK-FAIL-01")
@from_open_and_closed
@rows(
    "entry",
    unknown="no-such-entry",
    on_another_branch="left-leaf",
    beside_the_tip="right",
    under_another_root="second-root",
    unreachable="lost",
    newer_than_the_tip="child-of-tip",
    usage_row="usage-1",
    empty="",
    other_case="Tip",
    part_of_an_id="fork",
    name_of_the_branch="main",
)
async def a_fork_point_off_the_branch_is_refused(store: SessionMaker, entry: str, source_is: str) -> None:
    """An entry that is neither the tip nor one of its ancestors raises `EntryNotOnBranch`, and nothing is left behind.

    If this fails, look at: membership tested against the whole tree; the walk starting at the entry and not at the
    tip; an empty id taken for none; ids of usage rows looked up among entries; children of the tip accepted.
    """
    source = await store.bushy_session()
    for position in POSITIONS:
        options = BranchFork("main", entry_id=entry, position=position, id="fork")
        await expect_refused(source, options, source_is, EntryNotOnBranch, entry_id=entry, branch="main")


@case("S-FORK-BR-04", "S-FORK-FAIL-01")
@from_open_and_closed
@rows("entry", unknown="no-such-entry", first="e1", tip_of_others="e2", empty="")
async def a_null_tip_has_no_fork_point(store: SessionMaker, entry: str, source_is: str) -> None:
    """On a branch with a null tip any entry is off the branch.

    If this fails, look at: a null tip that means the whole tree; the entry used without a walk when there is no tip.
    """
    source = await store.linear_session(2)
    await source.set_tip("empty", None)
    await source.configure("empty")
    for position in POSITIONS:
        options = BranchFork("empty", entry_id=entry, position=position, id="fork")
        await expect_refused(source, options, source_is, EntryNotOnBranch, entry_id=entry, branch="empty")


@case("S-FORK-BR-04", "S-FORK-FAIL-01")
@from_open_and_closed
@rows("entry", next="e3", earlier_tip="e6")
async def where_the_tip_stood_earlier_is_off_the_branch(store: SessionMaker, entry: str, source_is: str) -> None:
    """After a tip was moved back, the entries that it left are no fork points any more.

    If this fails, look at: an index of the branch that keeps what the tip left; the history of tips searched.
    """
    source = await store.lanes_session()
    options = BranchFork("back", entry_id=entry, id="fork")
    await expect_refused(source, options, source_is, EntryNotOnBranch, entry_id=entry, branch="back")


@case("S-FORK-BR-05")
@from_open_and_closed
@rows("entry", omitted=None, tip="tip", parent="fork-point", older="trunk", root="root")
async def at_puts_the_tip_on_the_fork_point(store: SessionMaker, entry: str | None, source_is: str) -> None:
    """With `at`, which is the default, the fork's tip is the fork point, and the fork holds it and its ancestors.

    If this fails, look at: the fork point left out; the source's tip kept when an older entry is named; `before` as
    the default.
    """
    source = await store.bushy_session()
    tip = entry or "tip"
    members = PATH[: PATH.index(tip) + 1]
    fork = await forked(source, BranchFork("main", entry_id=entry), source_is)
    await _expect_tip(fork, "main", tip, members)
    explicit = await source.fork(BranchFork("main", entry_id=entry, position="at"))
    await _expect_tip(explicit, "main", tip, members)
    await explicit.close()
    await expect_sound(fork, source)


@case("S-FORK-BR-05")
@from_open_and_closed
@rows("branch", letters_of_two_scripts="ünï:코드", blank=" ", blank_at_the_end="main ", moved_back="back", busy="busy")
async def every_lane_can_be_forked_by_its_name(store: SessionMaker, branch: str, source_is: str) -> None:
    """A lane of any name is found by exactly that name, and its fork carries the name.

    If this fails, look at: names trimmed or normalized; a name used as a pattern or a path; every fork named `main`.
    """
    source = await store.lanes_session()
    fork = await forked(source, BranchFork(branch), source_is)
    found = await fork.session.branch(branch)
    expect_equal(await found.get_tip_id() if found else "no branch", source.model.tip(branch), of="the fork's tip")
    await expect_sound(fork, source)


@case("S-FORK-BR-06")
@from_open_and_closed
@rows(
    "entry",
    omitted=(None, "fork-point"),
    tip=("tip", "fork-point"),
    parent=("fork-point", "trunk"),
    older=("trunk", "root"),
)
async def before_puts_the_tip_on_the_parent(store: SessionMaker, entry: tuple[str | None, str], source_is: str) -> None:
    """With `before` the fork's tip is the parent of the fork point, also of the tip when no entry is named, and the
    fork point is not in the fork.

    If this fails, look at: `before` ignored without an entry; the entry before in sequence taken for the parent; two
    steps back; the fork point copied along.
    """
    named, tip = entry
    source = await store.bushy_session()
    fork = await forked(source, BranchFork("main", entry_id=named, position="before"), source_is)
    await _expect_tip(fork, "main", tip, PATH[: PATH.index(tip) + 1])
    await expect_sound(fork, source)


@case("S-FORK-BR-06")
@from_open_and_closed
async def the_parent_need_not_be_the_entry_written_before(store: SessionMaker, source_is: str) -> None:
    """`before` follows the parent, wherever the parent lies in the order of writing.

    If this fails, look at: the neighbour in sequence taken for the parent.
    """
    source = await store.bushy_session()
    fork = await forked(source, BranchFork("left", entry_id="left-leaf", position="before"), source_is)
    await _expect_tip(fork, "left", "left", ["root", "trunk", "fork-point", "left"])
    await expect_sound(fork, source)


@case("S-FORK-BR-07")
@from_open_and_closed
@rows("root", first=("main", "root"), second=("second", "second-root"))
async def before_a_root_is_a_null_tip_without_entries(
    store: SessionMaker, root: tuple[str, str], source_is: str
) -> None:
    """`before` at a root gives a branch with a null tip and no entries; the branch is there all the same.

    If this fails, look at: a missing parent taken for an error; no tip row where the tip is null; the root kept.
    """
    branch, entry = root
    source = await store.bushy_session()
    fork = await forked(source, BranchFork(branch, entry_id=entry, position="before"), source_is)
    await _expect_tip(fork, branch, None, [])
    await expect_sound(fork, source)


@case("S-FORK-BR-07")
@from_open_and_closed
async def before_a_tip_that_is_a_root_is_a_null_tip(store: SessionMaker, source_is: str) -> None:
    """`before` without an entry, on a branch of one entry, gives a null tip; the fork can be written to at once.

    If this fails, look at: `before` that stops at the root; a first append that needs a parent.
    """
    source = await store.linear_session(1)
    fork = await forked(source, BranchFork("main", position="before"), source_is)
    await _expect_tip(fork, "main", None, [])
    await fork.append("main", "the first entry of the fork", id="first")
    await _expect_tip(fork, "main", "first", ["first"])
    await expect_sound(fork, source)


@case("S-FORK-BR-08")
@from_open_and_closed
@rows("position", at="at", before="before")
@rows("branch", never_set="empty", set_back_to_null="main")
async def a_null_tip_is_forked_as_a_null_tip(
    store: SessionMaker, branch: str, position: Position, source_is: str
) -> None:
    """A lane with a null tip, forked without an entry, gives a lane with a null tip and no entries, at and before.

    If this fails, look at: a null tip taken for a missing branch; the whole tree copied; `before` of nothing refused.
    """
    source = await store.linear_session(2)
    await source.configure("empty")
    await source.commit(ValueSet(branch_tip("empty"), None), ValueSet(branch_tip("main"), None))
    fork = await forked(source, BranchFork(branch, position=position), source_is)
    await _expect_tip(fork, branch, None, [])
    await expect_sound(fork, source)
