"""What becomes the session name, the labels and the lane `main` of a legacy v3 file (section 26.2)."""

from __future__ import annotations

from typing import Any

from forkgen.legacy import LegacyFile
from forkgen.legacy.outcome import entry, label_deleted, label_set, lane, opens, tip
from forkgen.legacy.records import label, model, record, thinking, tools, user, user_message
from forkproof.case import case, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.legacy_judging import (
    about,
    expect_opens,
    in_every_room,
    normalized_of,
    opened,
    opening,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkstore.contract.addresses import branch_tip, branch_tip_prefix, lane_config, lane_state

Record = dict[str, Any]


def _one_message(name: str, records: list[Record], *derived: Record) -> LegacyFile:
    """A file whose only entry is record 1."""
    entries = [entry(1, 1, None, "message", message=user_message(1))]
    return opens(name, records, entries, derived, "S-V3-13 S-V3-14")


NAMED = {
    **opening("S-V3-13"),
    "name-cleared-off-the-path": _one_message(
        "name-cleared-off-the-path",
        [user(1, None), record(2, "session_info", 1, name="pruning"), record(3, "session_info", None), model(4, 1)],
        tip(1),
    ),
    "labels-over-several-remapped-targets": _one_message(
        "labels-over-several-remapped-targets",
        [
            user(1, None),
            model(2, 1),
            label(3, 2, 2, label="a"),
            tools(4, 3, "saw"),
            label(5, 4, 1),
            label(6, 5, 4, label="c"),
            label(7, 6, 3, label=""),
            label(8, 7, 5, label="e"),
        ],
        label_set(1, "a"),
        label_deleted(1),
        label_set(1, "c"),
        label_deleted(1),
        label_set(1, "e"),
        tip(1),
    ),
}
LANES = {
    **opening("S-V3-14"),
    "lane-behind-a-null-parent": _one_message(
        "lane-behind-a-null-parent",
        [model(2, None, "o-1"), thinking(3, 2, "low"), user(1, None), model(4, 1, "o-4"), thinking(5, 4, "high")],
        tip(1),
        *lane("o-4", "high"),
    ),
    "lane-of-the-last-record": _one_message(
        "lane-of-the-last-record",
        [user(1, None), model(2, 1), thinking(3, 2), tools(4, 3, "saw"), label(5, 1, 1, label="first")],
        label_set(1, "first"),
        tip(1),
    ),
    "rich-lane": RICH,
}


@case("S-V3-13")
@rows("file", NAMED)
async def names_and_labels_are_derived(store: SessionMaker, file: LegacyFile) -> None:
    """The last `session_info` of the file alone gives the name, or clears it; labels follow each other in file order on
    the entry that their target is mapped to, empty and absent texts clear, and a target that maps to null is skipped.

    If this fails, look at: the last name that is not empty; names and labels of the path only; labels by their old
    target, so that two targets of one entry do not meet; blanks taken for nothing; a superseded label without a
    sequence.
    """
    await expect_opens(store, file)


@case("S-V3-13")
async def names_and_labels_are_read_by_their_own_calls(store: SessionMaker) -> None:
    """`get_name` and `get_label` give the derived name and labels; entries without a label have none.

    If this fails, look at: derived values that the session's own calls do not find.
    """
    with about(RICH):
        subject = await opened(planted(store, RICH))
        expect_equal(await subject.session.get_name(), "pruning — früh", of="the name")
        labels = [await subject.session.get_label(entry["id"]) for entry in await subject.session.scan_entries()]
        expect_equal(labels, [None, "answer", "aside", *[None] * 6], of="the labels of the entries, in order")
        await subject.close()


@case("S-V3-14")
@rows("file", LANES)
async def the_lane_main_is_derived(store: SessionMaker, file: LegacyFile) -> None:
    """`main` always has a tip, the mapping of the last record of the file, null if it has none. It has a configuration
    and an idle state if both a model and a thinking level were chosen on the path from the last record to the root, and
    then the nearest choices of that path, with the tools of the nearest choice of tools, or none.

    If this fails, look at: the last choice in file order; choices off the path; a walk that starts at the tip instead
    of the last record, or ends at a null mapping; tools that are needed, or added up; a tip that is the last retained
    record.
    """
    await expect_opens(store, file)


@case("S-V3-14")
@in_every_room
async def main_is_the_only_branch(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A v3 session has the branch `main` and no other, with a tip; it has a configuration exactly if it has a state.

    If this fails, look at: no tip in a file without entries; a branch per leaf; a state without a configuration.
    """
    for file in files:
        with about(file):
            subject = await opened(planted(store, file))
            session, whole = subject.session, normalized_of(file).has_complete_lane
            tips = await session.scan_values(branch_tip_prefix())
            expect_equal([row.address for row in tips], [branch_tip("main")], of="the branches")
            found = [await session.get_value(address) for address in (lane_config("main"), lane_state("main"))]
            expect_equal([row is not None for row in found], [whole, whole], of="whether it has a lane")
            branch = await session.branch("main")
            expect_equal(branch and await branch.get_tip_id(), subject.model.tip("main"), of="the tip of `main`")
            await subject.close()
