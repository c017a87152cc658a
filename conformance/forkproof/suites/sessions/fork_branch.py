"""Branch scope: which branches can be forked, what their lane rows may hold, and what is taken along (section 14)."""

from __future__ import annotations

from typing import Any, Literal

from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.records import busy_lane_state, idle_lane_state, lane_configuration, message_entry
from forkproof.suites.sessions.forking import expect_refused, expect_sound, forked, from_open_and_closed
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.errors import DataOnlyBranch, EntryNotOnBranch, UnknownBranch
from forkstore.contract.forks import BranchFork
from forkstore.contract.writes import EntryInsert, ValueDelete, ValueSet

Position = Literal["at", "before"]

CONTENTS: dict[str, Any] = {
    "null": None,
    "zero": 0,
    "empty-text": "",
    "empty-array": [],
    "other-members": {"z": [None, 1.5], "a": {"inbox": "full"}},
}
"""What a lane row may hold although the shapes of section 4.2 say otherwise."""


async def _ids(subject: Subject) -> list[str]:
    return [entry["id"] for entry in await subject.session.scan_entries()]


@case("S-FORK-BR-01", "S-FORK-FAIL-01")
@from_open_and_closed
@rows(
    "branch",
    unknown="no-such-branch",
    empty="",
    other_case="Main",
    shorter="mai",
    longer="main2",
    padded=" main",
    decomposed="u\u0308ni\u0308:코드",
    name_of_an_entry="e1",
    state_without_tip="state-only",
    lane_without_tip="lane-only",
    tip_deleted="removed",
)
async def a_branch_without_a_tip_is_unknown(store: SessionMaker, branch: str, source_is: str) -> None:
    """A branch fork of a name without a tip row raises `UnknownBranch`, whatever lane rows the name has, and before
    the fork point is looked at.

    If this fails, look at: a default branch for unknown names; names that are trimmed, folded or normalized; a lane
    found by its configuration or state; a deleted tip taken for a null one.
    """
    source = await store.linear_session(2)
    for name in ("ünï:코드", "lane-only", "removed"):
        await source.configure(name)
    await source.commit(ValueSet(lane_state("state-only"), idle_lane_state()))
    await source.commit(ValueSet(branch_tip("ünï:코드"), "e2"), ValueSet(branch_tip("removed"), "e2"))
    await source.commit(ValueDelete(branch_tip("removed")))
    await expect_refused(source, BranchFork(branch, id="fork"), source_is, UnknownBranch, name=branch)
    options = BranchFork(branch, entry_id="no-such-entry", position="before", id="fork")
    await expect_refused(source, options, source_is, UnknownBranch, name=branch)


@case("S-FORK-BR-02", "S-FORK-FAIL-01", needs=())
@from_open_and_closed
@rows(
    "branch",
    tip_alone="data",
    null_tip_alone="null",
    created_by_the_session="created",
    without_state="half",
    without_configuration="no-config",
    state_deleted="state-deleted",
    configuration_deleted="config-deleted",
)
async def a_branch_without_configuration_or_state_is_refused(store: SessionMaker, branch: str, source_is: str) -> None:
    """A branch whose configuration row or state row is missing raises `DataOnlyBranch`, at and before its tip.

    If this fails, look at: only one of the two rows looked for; rows of another lane taken; rows made up where they
    are missing; deleted rows counted.
    """
    source = await store.linear_session(2)
    await source.create_branch("created", "e2")
    await source.commit(
        ValueSet(branch_tip("data"), "e2"),
        ValueSet(branch_tip("null"), None),
        ValueSet(branch_tip("half"), "e2"),
        ValueSet(lane_config("half"), lane_configuration()),
        ValueSet(branch_tip("no-config"), "e2"),
        ValueSet(lane_state("no-config"), idle_lane_state()),
        ValueSet(branch_tip("state-deleted"), "e2"),
        ValueSet(branch_tip("config-deleted"), "e2"),
    )
    await source.configure("state-deleted")
    await source.configure("config-deleted")
    await source.commit(ValueDelete(lane_state("state-deleted")), ValueDelete(lane_config("config-deleted")))
    tip = source.model.tip(branch)
    for options in (
        BranchFork(branch, id="fork"),
        BranchFork(branch, position="before", id="fork"),
        BranchFork(branch, entry_id=tip, id="fork"),
    ):
        await expect_refused(source, options, source_is, DataOnlyBranch, name=branch)


@case("S-FORK-BR-03", needs=())
@from_open_and_closed
@rows("content", CONTENTS)
async def the_content_of_configuration_and_state_is_not_checked(
    store: SessionMaker, content: Any, source_is: str
) -> None:
    """Whatever the configuration and the state of the named branch hold, a null included, the fork succeeds, takes
    the configuration as it is and starts idle.

    If this fails, look at: a null or falsy value taken for a missing row; rows parsed into objects; a state that is
    edited where it should be replaced.
    """
    source = await store.bushy_session()
    await source.commit(ValueSet(lane_config("main"), content), ValueSet(lane_state("main"), content))
    fork = await forked(source, BranchFork("main"), source_is)
    row = await fork.session.get_value(lane_config("main"))
    expect_equal(None if row is None else [row.value], [content], of="the configuration in the fork", ordered=True)
    await expect_sound(fork, source)


@case("S-FORK-BR-03", needs=())
@from_open_and_closed
@rows("position", at="at", before="before")
@rows("tip", {**CONTENTS, "unknown-id": "names-no-entry", "id-of-a-usage-row": "usage-1", "number": 7, "true": True})
async def a_tip_that_names_no_entry_is_forked_as_it_is(
    store: SessionMaker, tip: Any, position: Position, source_is: str
) -> None:
    """The content of the tip is not checked either: a tip that names no entry is copied as it is, and null with
    `before`; the fork holds no entries.

    If this fails, look at: a tip looked up without asking whether it is there; a tip assumed to be text; entries taken
    from elsewhere when the path is empty.
    """
    source = await store.bushy_session()
    await source.commit(ValueSet(branch_tip("main"), tip))
    fork = await forked(source, BranchFork("main", position=position), source_is)
    row = await fork.session.get_value(branch_tip("main"))
    expect_equal(None if row is None else [row.value], [tip if position == "at" else None], of="the tip of the fork")
    expect_equal(await _ids(fork), [], of="the entries of the fork")
    await expect_sound(fork, source)


@case("S-FORK-BR-03", "S-FORK-BR-04", needs=())
@from_open_and_closed
async def a_tip_that_names_no_entry_can_be_named_and_nothing_else(store: SessionMaker, source_is: str) -> None:
    """A tip that names no entry is a fork point when it is named; any stored entry is off that branch.

    If this fails, look at: the fork point looked for in the tree and not compared with the tip; a whole tree searched
    when the path is empty.
    """
    source = await store.bushy_session()
    await source.set_tip("main", "names-no-entry")
    refusal = {"entry_id": "root", "branch": "main"}
    await expect_refused(source, BranchFork("main", entry_id="root", id="f"), source_is, EntryNotOnBranch, **refusal)
    fork = await forked(source, BranchFork("main", entry_id="names-no-entry"), source_is)
    await expect_sound(fork, source)


@case("S-FORK-BR-03", needs=())
@from_open_and_closed
@rows("content", CONTENTS)
async def rows_of_other_lanes_are_not_looked_at(store: SessionMaker, content: Any, source_is: str) -> None:
    """Broken rows of other lanes never make a branch fork fail, and never reach it: contents of any kind, tips that
    name nothing, lanes with one row missing.

    If this fails, look at: all lanes read before one is chosen; an audit of the whole table; a prefix of the branch's
    name that matches others.
    """
    source = await store.bushy_session()
    for lane in ("left", "main2", "mai", ""):
        await source.commit(
            ValueSet(branch_tip(lane), content),
            ValueSet(lane_config(lane), content),
            ValueSet(lane_state(lane), content),
        )
    await source.commit(ValueDelete(lane_config("second")), ValueSet(lane_config("no-tip"), content))
    await source.commit(ValueSet(lane_state("no-tip"), content), ValueSet(lane_state("state-alone"), content))
    await expect_sound(await forked(source, BranchFork("main"), source_is), source)


@case("S-FORK-BR-09")
@from_open_and_closed
@rows(
    "branch",
    main=("main", ["root", "trunk", "fork-point", "tip"]),
    left=("left", ["root", "trunk", "fork-point", "left", "left-leaf"]),
    second=("second", ["second-root", "second-leaf"]),
)
async def a_shared_path_brings_nothing_of_the_others(
    store: SessionMaker, branch: tuple[str, list[str]], source_is: str
) -> None:
    """The fork holds the path of its branch and nothing else, though other branches share the path, came earlier or
    later, or have other roots.

    If this fails, look at: entries taken by sequence up to the tip; children of the path taken along; the path cut
    where another branch begins.
    """
    name, members = branch
    source = await store.bushy_session()
    fork = await forked(source, BranchFork(name), source_is)
    expect_equal(await _ids(fork), members, of=f"the entries of a fork of {name!r}")
    await expect_sound(fork, source)


@case("S-FORK-BR-09")
@from_open_and_closed
@rows(
    "move",
    back=("trunk", ["root", "trunk"]),
    to_the_root=("root", ["root"]),
    ahead=("child-of-tip", ["root", "trunk", "fork-point", "tip", "child-of-tip"]),
    to_a_sibling=("left", ["root", "trunk", "fork-point", "left"]),
    to_another_root=("second-leaf", ["second-root", "second-leaf"]),
    to_an_unreachable_entry=("lost-leaf", ["root", "lost", "lost-leaf"]),
    to_nothing=(None, []),
)
async def a_moved_tip_leaves_nothing_behind(
    store: SessionMaker, move: tuple[str | None, list[str]], source_is: str
) -> None:
    """Only where the tip stands now counts: after a move back, ahead, aside or to nothing, the fork holds the new
    path alone.

    If this fails, look at: the history of the tip followed; a branch index that grows and never shrinks; the first
    tip row read and not the current one.
    """
    tip, members = move
    source = await store.bushy_session()
    await source.set_tip("main", tip)
    fork = await forked(source, BranchFork("main"), source_is)
    expect_equal(await _ids(fork), members, of="the entries of the fork")
    await expect_sound(fork, source)


@case("S-FORK-BR-09")
@from_open_and_closed
async def an_abandoned_continuation_stays_out(store: SessionMaker, source_is: str) -> None:
    """After going back and continuing elsewhere the fork holds the new continuation only, also where old and new
    entries were written in turns.

    If this fails, look at: a range of sequences in place of the parents; state per step that is read up to the newest
    step; a reopened session that finds more than the live one.
    """
    source = await store.linear_session(3)
    await source.set_tip("main", "e1")
    await source.commit(ValueSet(branch_tip("old"), "e3"))
    for number in range(3):
        await source.append("main", f"new {number}", id=f"new-{number}")
        await source.append("old", f"old {number}", id=f"old-{number}")
    fork = await forked(source, BranchFork("main"), source_is)
    expect_equal(await _ids(fork), ["e1", "new-0", "new-1", "new-2"], of="the entries of the fork")
    await expect_sound(fork, source)


@case("S-FORK-BR-10")
@from_open_and_closed
@rows("branch", lane_of_a_running_operation="main", lane_with_an_inbox="busy")
@rows("position", at="at", before="before")
async def a_busy_lane_can_be_forked(store: SessionMaker, branch: str, position: Position, source_is: str) -> None:
    """A lane with an open operation, an open tool call and waiting inbox items can be forked, at its tip and one turn
    back; the fork is idle and takes no waiting work along.

    If this fails, look at: a busy lane refused; the inbox or the operation copied; the source's lane set idle.
    """
    source = await store.rich_session()
    await source.commit(
        EntryInsert(message_entry("busy-leaf", "left-leaf")),
        ValueSet(branch_tip("busy"), "busy-leaf"),
        ValueSet(lane_config("busy"), lane_configuration("low")),
        ValueSet(lane_state("busy"), busy_lane_state("op-2", "pending-1", "pending-2", "pending-3")),
    )
    fork = await forked(source, BranchFork(branch, position=position), source_is)
    row = await fork.session.get_value(lane_state(branch))
    expect_equal(None if row is None else row.value, idle_lane_state(), of="the state of the forked lane", ordered=True)
    await expect_sound(fork, source)
