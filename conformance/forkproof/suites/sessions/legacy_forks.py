"""Forks of closed legacy v3 sources: as a tree, by the branch `main`, and never at an entry."""

from __future__ import annotations

from forkgen.legacy import LegacyFile
from forkgen.legacy.records import id_of
from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, Subject
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.ledger import zero_usage
from forkproof.suites.sessions.legacy_judging import (
    POSITIONS,
    Position,
    about,
    expect_fork_refused,
    forked,
    gone,
    in_every_room,
    normalized_of,
    opened,
    planted,
)
from forkproof.suites.sessions.legacy_own_files import RICH
from forkstore.contract.errors import (
    DataOnlyBranch,
    LegacyEntryId,
    UnknownBranch,
)
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

OTHER_NAMES = {
    "other": "other",
    "empty": "",
    "capitals": "MAIN",
    "blank": "main ",
    "look-alike": "mаin",  # noqa: RUF001 - a Cyrillic letter, on purpose
    "root": "root",
    "session": "shed-7",
    "record": id_of(15),
}


@case("S-V3-24")
@rows("position", at="at", before="before")
async def a_closed_v3_source_has_no_ids_to_fork_at(store: SessionMaker, position: Position) -> None:
    """A fork of a closed v3 source with any `entry_id` raises LegacyEntryId and leaves all as it was: an id that an
    earlier opening or an earlier fork showed, the old id in the file, the tip, and an id that names nothing.

    If this fails, look at: ids compared with those of this reading; old ids that are mapped; a check that comes behind
    the search on the path.
    """
    session = planted(store, RICH)
    subject = await opened(session)
    shown = list(subject.model.entries)
    await subject.close()
    fork = await forked(session, BranchFork("main"))
    copied = list(fork.model.entries)
    await gone(fork)
    for id in (*shown, *copied[-2:], id_of(15), id_of(3), "no-such-entry", ""):
        told = {"session_id": "shed-7", "entry_id": id}
        await expect_fork_refused(session, BranchFork("main", id, position, "fork"), LegacyEntryId, **told)


@case("S-V3-24")
@in_every_room
async def no_v3_file_is_forked_at_an_id(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """The same for every v3 file, whatever its lane is like, and for branches that do not exist; there the branch may
    be named as the reason.

    If this fails, look at: a null tip without an entry to compare with; an `entry_id` that is dropped.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            whole = normalized_of(file).has_complete_lane
            main = (LegacyEntryId,) if whole else (LegacyEntryId, DataOnlyBranch)
            await expect_fork_refused(session, BranchFork("main", id_of(1), id="fork"), *main)
            await expect_fork_refused(session, BranchFork("other", id_of(1), id="fork"), LegacyEntryId, UnknownBranch)


@case("S-V3-25")
@in_every_room
async def a_closed_v3_source_is_forked_as_a_tree(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A tree fork of a closed v3 source holds every entry, value and label of it, with zero usage and an empty ledger;
    the source keeps its bytes.

    If this fails, look at: the imported usage carried over; entries of the path only; `main` given a lane it never had;
    labels that were replaced or cleared.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            with ByteGuard(session.path, of="the source of the fork"):
                fork = await forked(session, TreeFork())
                await _expect_fork(fork)
                await gone(fork)


async def _expect_fork(fork: Subject) -> None:
    """Breaks the clause unless the fork is as its model says, in its file too, with sequences that rise, and without
    ledger and usage.
    """
    await fork.check("the fork")
    stats = await fork.session.get_stats()
    expect_equal([stats.usage, await fork.session.scan_usage()], [zero_usage(), []], of="usage and ledger of the fork")
    lines = lines_of(fork.store.path_of(fork))
    expect_equal(lines.header.get("v"), 4, of="the format of the fork")
    kinds = sorted({f"{one['kind']} {one.get('op', '')}".strip() for one in lines.records})
    expect_equal([kind for kind in kinds if kind not in ("entry", "value set")], [], of="other records of the fork")
    seqs = [one["seq"] for one in lines.records]
    rises = seqs == sorted(set(seqs)) and (await fork.commit()).first_seq > max(seqs, default=0)
    expect(rises, f"expected: sequences that rise, and a next one above them\nseen:     {seqs}")
    replayed = model_of_records(lines.records, parent_session_id=fork.model.parent_session_id)
    expect_equal(replayed.state(), fork.model.state(), of="the records in the file of the fork")


@case("S-V3-25")
@rows("options", tree=TreeFork(), branch=BranchFork("main"), before=BranchFork("main", position="before"))
async def a_fork_of_a_v3_source_is_a_session_like_any_other(store: SessionMaker, options: ForkOptions) -> None:
    """A fork of a closed v3 source is read alike closed and opened again, by another repository object and by another
    process; it is written to and forked again, and its metadata names the v3 session as its parent.

    If this fails, look at: ids that change when the fork is opened; sequences that collide with the first commit; a
    fork that is still v3.
    """
    session = planted(store, RICH)
    fork = await forked(session, options)
    metadata = fork.metadata
    seen = (metadata.parent_session_id, metadata.legacy_parent_session_path, metadata.cwd, metadata.storage_version)
    expect_equal(seen, ("shed-7", None, "/srv/garden", 1), of="the metadata of the fork")
    point = await fork.append("main", "written to the fork")
    await fork.check_everywhere()
    again = await fork.fork(BranchFork("main", point))
    await again.check("the fork of the fork")
    await store.check_in_second_process(fork, again)


@case("S-V3-26")
@in_every_room
async def a_closed_v3_source_is_forked_by_its_branch(store: SessionMaker, files: tuple[LegacyFile, ...]) -> None:
    """A branch fork of `main` of a closed v3 source, without `entry_id`, holds the path of its tip, or for `before`
    that of the tip's parent, if the lane is complete; it raises DataOnlyBranch if not. The source keeps its bytes.

    If this fails, look at: a lane made up for the fork; entries off the path; labels of what stays behind; a null tip
    refused; usage carried over.
    """
    for file in files:
        with about(file):
            session = planted(store, file)
            for position in POSITIONS:
                options = BranchFork("main", position=position, id="fork")
                if not normalized_of(file).has_complete_lane:
                    await expect_fork_refused(session, options, DataOnlyBranch, name="main")
                    continue
                with ByteGuard(session.path, of="the source of the fork"):
                    fork = await forked(session, options)
                    await _expect_fork(fork)
                    await gone(fork)


@case("S-V3-26")
@rows("name", OTHER_NAMES)
async def no_other_branch_of_a_v3_source_exists(store: SessionMaker, name: str) -> None:
    """A branch fork of a closed v3 source by any other name raises UnknownBranch, in both positions.

    If this fails, look at: any name taken for the one branch; names that are trimmed or folded.
    """
    for position in POSITIONS:
        session = planted(store, RICH)
        await expect_fork_refused(session, BranchFork(name, None, position, "fork"), UnknownBranch, name=name)
