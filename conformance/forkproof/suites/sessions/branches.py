"""Branches: what is one, how one is made, which names it may have, and what is left when its tip row is gone
(section 9: S-SESS-01 to 05, 12).
"""

from __future__ import annotations

import asyncio
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.makers.states import ANY_STATE
from forkproof.suites.sessions.appending import branch_of, mark
from forkproof.suites.sessions.committing import SMALL_STATES
from forkstore.contract.addresses import branch_tip, lane_config, lane_state, list_address, value_address
from forkstore.contract.errors import BranchExists, InvalidBranchName, UnknownBranch, UnknownEntry
from forkstore.contract.store import Branch
from forkstore.contract.writes import CommitResult, ListAppend, ValueDelete, ValueSet


async def _create_branch(subject: Subject, name: str, at: str | None) -> Branch:
    """`create_branch`; the model follows one commit of one write, with the sequence that the tip row carries."""
    branch = await subject.session.create_branch(name, at)
    row = await subject.session.get_value(branch_tip(name))
    expect(row is not None, "expected: a tip row of the new branch\nseen:     none")
    seq = 0 if row is None else row.seq
    result = CommitResult(seq, [seq], 0, await subject.session.get_stats())
    subject.follow(result, ValueSet(branch_tip(name), at))
    return branch


@case("S-SESS-01")
@rows("state", SMALL_STATES)
async def a_branch_is_what_has_a_tip_row(store: SessionMaker, state: str) -> None:
    """`session.branch` gives a branch of that name exactly where a tip row is, a null tip included, and None for every
    other name, one with configuration, state, an entry or a session of that name included.

    If this fails, look at: a null tip taken for no branch; lanes told by their configuration; names trimmed or folded.
    """
    subject = await ANY_STATE[state](store)
    for name in subject.model.branches():
        branch = await branch_of(subject, name)
        expect_equal(branch.name, name, of="the name of the branch")
        expect_equal(await branch.get_tip_id(), subject.model.tip(name), of=f"the tip of {name!r}")
    others = ("state-only", "Main", " main", "main\n", "tip", "e1", "pi.branch.tip", subject.id, "no-such-branch")
    for name in others:
        expect_equal(await subject.session.branch(name), None, of=f"session.branch({name!r})")


@case("S-SESS-01")
async def other_rows_make_no_branch(store: SessionMaker) -> None:
    """Configuration, state, a list at the tip's address and a deleted tip make no branch; a null tip does.

    If this fails, look at: rows of other namespaces asked; a list taken for a scalar; a deleted row that still counts.
    """
    subject = await store.bushy_session()
    await subject.configure("half")
    await subject.commit(
        ValueSet(value_address("garden.plan", "half"), "tip"),
        ListAppend(list_address("pi.branch.tip", "half"), "tip"),
        ValueDelete(branch_tip("left")),
        ValueSet(branch_tip("null"), None),
    )
    for name in ("half", "left"):
        expect_equal(await subject.session.branch(name), None, of=f"session.branch({name!r})")
    expect_equal(await (await branch_of(subject, "null")).get_tip_id(), None, of="the tip of the branch 'null'")


@case("S-SESS-02", "S-SESS-05")
@rows("at", tip="tip", root="root", unreachable="lost-leaf", null=None)
async def a_new_branch_is_one_write(store: SessionMaker, at: str | None) -> None:
    """`create_branch` makes one commit that holds exactly one write, the tip: no configuration, no state, no entry.

    If this fails, look at: a lane made at once; a null tip that is left out; a commit before the one that counts.
    """
    subject = await store.bushy_session()
    next_seq = await mark(subject)
    branch = await _create_branch(subject, "new", at)
    expect_equal((branch.name, await branch.get_tip_id()), ("new", at), of="name and tip of the new branch")
    expect_equal(await mark(subject), next_seq + 2, of="the sequence after the new branch and one write")
    for address in (lane_config("new"), lane_state("new")):
        expect_equal(await subject.session.get_value(address), None, of=f"the row at {address}")
    await subject.check_everywhere()


@case("S-SESS-02", needs=("clock",))
async def a_new_branch_is_one_commit(store: SessionMaker) -> None:
    """`create_branch` reads the clock once, as one commit does.

    If this fails, look at: a second commit for what belongs to the branch.
    """
    subject = await store.bushy_session()
    readings = store.clock.readings
    await _create_branch(subject, "new", "tip")
    expect_equal(store.clock.readings - readings, 1, of="the readings of the clock")


@case("S-SESS-03")
@rows(
    "name",
    empty="",
    none=None,
    number=1,
    boolean=True,
    bytes=b"main",
    list=["main"],
    nul="ma\x00in",
    only_nul="\x00",
    high_surrogate="\ud800",
    low_surrogate="main\udfff",
)
async def a_name_that_is_none_is_refused(store: SessionMaker, name: Any) -> None:
    """`branch` and `create_branch` refuse a name that is empty, no text, or holds U+0000 or a lone surrogate, with
    `InvalidBranchName`, and nothing is written.

    If this fails, look at: None for such a name; an error of the database; the refusal of an address instead.
    """
    subject = await store.bushy_session()
    next_seq = await mark(subject)
    with refused(InvalidBranchName, name=name):
        await subject.session.branch(name)
    for at in ("tip", None):
        with refused(InvalidBranchName, name=name):
            await subject.session.create_branch(name, at)
    expect_equal(await mark(subject), next_seq + 1, of="the sequence after the refusals and one write")
    await subject.check_everywhere()


NAMES = {
    "blank": " ",
    "blanks-around": " main ",
    "tab": "\t",
    "newline": "ma\nin",
    "dots": "..",
    "slashes": "a/b\\c",
    "percent": "%",
    "colon": "a:b:",
    "reserved": "pi",
    "namespace": "pi.branch.tip",
    "head": "HEAD",
    "null-text": "null",
    "proto": "__proto__",
    "dash": "-",
    "other-case": "MAIN",
    "composed": "é",
    "decomposed": "e\u0301",
    "emoji": "🌱",
    "last-of-the-plane": "\uffff",
    "long": "n" * 5_000,
    "quote": "'\";--",
}


@case("S-SESS-03")
async def every_other_name_is_legal_and_none_is_special(store: SessionMaker) -> None:
    """Every other text names a branch of its own, live and after reopening: blanks, dots, separators, reserved words,
    other case, other Unicode forms, great length.

    If this fails, look at: names trimmed, folded or normalized; a name that is built into a path or a statement; a
    default branch that cannot be made.
    """
    subject = await store.bushy_session(branch="trunk-line")
    ids = list(subject.model.entries)
    for number, name in enumerate((*NAMES.values(), "main")):
        await _create_branch(subject, name, ids[number % len(ids)])
    await subject.check_everywhere()
    for name in (*NAMES.values(), "main"):
        branch = await branch_of(subject, name)
        expect_equal(await branch.get_tip_id(), subject.model.tip(name), of=f"the tip of {name!r}")


@case("S-SESS-04")
@rows(
    "name",
    lane="main",
    busy="busy",
    data_only="data",
    null_tip="null",
    moved_back="back",
    blank=" ",
    dangling="dangling",
)
@rows("at", entry="e1", null=None)
async def the_name_of_a_branch_is_taken(store: SessionMaker, name: str, at: str | None) -> None:
    """`create_branch` with the name of an existing branch raises `BranchExists` and writes nothing, whatever the tip of
    that branch is.

    If this fails, look at: a null tip taken for no branch; a tip that is set before the check.
    """
    subject = await store.lanes_session()
    next_seq = await mark(subject)
    with refused(BranchExists, name=name):
        await subject.session.create_branch(name, at)
    expect_equal(await mark(subject), next_seq + 1, of="the sequence after the refusal and one write")
    await subject.check_everywhere()


@case("S-SESS-04")
async def of_concurrent_calls_with_one_name_one_succeeds(store: SessionMaker) -> None:
    """Of calls with one name that do not wait for each other exactly one makes the branch; the others raise
    `BranchExists` and write nothing.

    If this fails, look at: a check before the scope is granted; a suspension between check and commit.
    """
    subject = await store.bushy_session()
    next_seq = await mark(subject)
    ats = ("left", "tip", None, "root", "tip")
    tasks = [asyncio.create_task(subject.session.create_branch("new", at)) for at in ats]
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    winners = [at for at, outcome in zip(ats, outcomes, strict=True) if not isinstance(outcome, BaseException)]
    expect_equal(len(winners), 1, of="the number of calls that succeeded")
    losers = [type(outcome).__name__ for outcome in outcomes if isinstance(outcome, BaseException)]
    expect_equal(losers, ["BranchExists"] * 4, of="what the other calls raised")
    result = CommitResult(next_seq, [next_seq], 0, await subject.session.get_stats())
    subject.follow(result, ValueSet(branch_tip("new"), winners[0]))
    expect_equal(await mark(subject), next_seq + 2, of="the sequence after the new branch and one write")
    await subject.check_everywhere()


@case("S-SESS-05")
@rows("at", unknown="no-such-entry", empty_text="", usage_row="usage-1", branch_name="main", other_case="TIP")
async def a_branch_at_an_unknown_entry_is_refused(store: SessionMaker, at: str) -> None:
    """`create_branch` at an id that names no entry raises `UnknownEntry` and writes nothing; the name stays free.

    If this fails, look at: a tip that is not checked; an empty id taken for None; usage rows found as entries.
    """
    subject = await store.bushy_session()
    next_seq = await mark(subject)
    with refused(UnknownEntry, entry_id=at):
        await subject.session.create_branch("new", at)
    expect_equal(await subject.session.branch("new"), None, of="the branch after the refusal")
    expect_equal(await mark(subject), next_seq + 1, of="the sequence after the refusal and one write")
    await _create_branch(subject, "new", "tip")
    await subject.check_everywhere()


OPERATIONS: dict[str, Any] = {
    "get_tip_id": lambda branch: branch.get_tip_id(),
    "find_entries": lambda branch: branch.find_entries(),
    "find_entries-start": lambda branch: branch.find_entries(start="root"),
    "find_entry": lambda branch: branch.find_entry(),
    "find_entry-start": lambda branch: branch.find_entry(start="root"),
    "append_message": lambda branch: branch.append_message(made.user_message("too late")),
    "append_custom_entry": lambda branch: branch.append_custom_entry("weather", {"mm": 1}),
}


@case("S-SESS-12", needs=())
@rows("operation", OPERATIONS)
@rows("name", lane="main", null_tip="null")
async def a_branch_without_its_tip_row_is_unknown(store: SessionMaker, operation: Any, name: str) -> None:
    """Every operation of a branch object whose tip row was deleted raises `UnknownBranch` and writes nothing; with the
    row back the same object works again.

    If this fails, look at: a tip kept in the object; a missing row taken for a null tip; an append that makes the
    branch anew.
    """
    subject = await store.bushy_session()
    await subject.set_tip("null", None)
    branch = await branch_of(subject, name)
    await subject.commit(ValueDelete(branch_tip(name)))
    next_seq = await mark(subject)
    with refused(UnknownBranch, name=name):
        await operation(branch)
    expect_equal(await mark(subject), next_seq + 1, of="the sequence after the refusal and one write")
    await subject.check()
    await subject.set_tip(name, "trunk")
    expect_equal(await branch.get_tip_id(), "trunk", of="the tip after the row came back")
    await subject.check_everywhere()
