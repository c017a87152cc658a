"""Damaged databases: rows that lost a part, a branch index that does not hold together, another storage version."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forkproof.case import case, rows
from forkproof.expect import ClauseBroken, expect_equal, refused
from forkproof.instruments.byteguard import ByteGuard
from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.raw_databases import path_of
from forkproof.suites.sessions.broken_indexes import BASELESS, BROKEN, CYCLES, MISSING, UNHELD, Break, two_segments
from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import Session

Read = Callable[[Session], Awaitable[object]]

TYPELESS_READS: dict[str, Read] = {
    "get-entries": lambda session: session.get_entries(["e4", "note"]),
    "get-entry": lambda session: session.get_entry("note"),
    "scan-entries": lambda session: session.scan_entries(),
    "scan-entries-of-type": lambda session: session.scan_entries(type="custom"),
    "find-entries": lambda session: session.find_entries(),
    "scan-branch": lambda session: session.scan_branch("note"),
    "scan-branch-oldest-first": lambda session: session.scan_branch("note", order="oldest_first"),
    "structure": lambda session: session.scan_branch_structure("note"),
}
SOUND_READS: dict[str, Read] = {
    "get-entries": lambda session: session.get_entries(["e1", "e4"]),
    "scan-branch": lambda session: session.scan_branch("e4"),
    "scan-entries-of-type": lambda session: session.scan_entries(type="message"),
    "stats": lambda session: session.get_stats(),
    "name": lambda session: session.get_name(),
}


async def _expect_corrupt(subject: Subject, reads: dict[str, Read]) -> None:
    for name, read in reads.items():
        try:
            with refused(CorruptSession, path=str(path_of(subject.metadata)), line=None):
                await read(subject.session)
        except ClauseBroken as broken:
            raise ClauseBroken(f"the read {name!r} of what is damaged\n{broken}") from broken


async def _expect_sound(subject: Subject, reads: dict[str, Read]) -> None:
    for name, read in reads.items():
        try:
            await read(subject.session)
        except CorruptSession as error:
            raise ClauseBroken(f"the read {name!r} of other rows\nexpected: succeeds\nseen:     {error}") from error


@case("S-SQL-SCH-05")
async def a_custom_entry_without_its_type_is_corruption(store: SessionMaker) -> None:
    """Every read that meets a custom entry whose row has no `custom_type` raises `CorruptSession`, live and reopened;
    reads of other rows go on.

    If this fails, look at: a type of None that is handed on; a check in one of the ways to read an entry.
    """
    subject = await store.linear_session(4)
    await subject.insert(records.custom_entry("note", "e4", "note"))
    store.databases.change_session(subject.metadata, "entries", {"custom_type": None}, "id = 'note'")
    await _expect_corrupt(subject, TYPELESS_READS)
    await subject.reopen()
    await _expect_corrupt(subject, TYPELESS_READS)
    await _expect_sound(subject, SOUND_READS)


async def _of_branch(session: Session) -> object:
    branch = await session.branch("main")
    if branch is None:
        raise ClauseBroken("the branch main\nexpected: is there\nseen:     None")
    return await branch.find_entries()


WALKS: dict[str, Read] = {
    "newest-first": lambda session: session.scan_branch("b"),
    "oldest-first": lambda session: session.scan_branch("b", order="oldest_first"),
    "structure": lambda session: session.scan_branch_structure("b"),
    "structure-oldest-first": lambda session: session.scan_branch_structure("b", order="oldest_first"),
    "branch": _of_branch,
}
"""Walks over the whole path of the branch `main`."""


async def _expect_broken_walks(store: SessionMaker, damage: Break) -> Subject:
    """Breaks the rows of an open session; every walk over them raises, live and reopened, and others go on."""
    subject = await two_segments(store)
    damage(store.databases, subject.metadata)
    for _ in ("live", "reopened"):
        await _expect_corrupt(subject, WALKS)
        await _expect_sound(subject, {"another path": lambda session: session.scan_branch("lone")})
        await subject.reopen()
    return subject


@case("S-SQL-IDX-03", "S-QRY-19")
@rows("damage", UNHELD | BASELESS)
async def an_entry_that_no_segment_holds_is_corruption(store: SessionMaker, damage: Break) -> None:
    """A walk from an entry that no segment holds within its bounds, and one over a base without `base_seq`, raise
    `CorruptSession`, in both orders, with payload and without; walks on other paths go on.

    If this fails, look at: an entry without a segment taken for an unknown one; bounds that are not compared; a base
    without sequence taken for none.
    """
    await _expect_broken_walks(store, damage)


@case("S-SQL-IDX-03")
@rows("damage", UNHELD | BASELESS)
async def nothing_is_committed_below_an_entry_that_no_segment_holds(store: SessionMaker, damage: Break) -> None:
    """A commit that has to resolve the chain of such an entry, or one over a base without `base_seq`, raises
    `CorruptSession` and writes nothing.

    If this fails, look at: a segment without base for what could not be resolved; an index that is written after the
    entry.
    """
    subject = await two_segments(store)
    await subject.insert(records.message_entry("below", "b"))
    damage(store.databases, subject.metadata)
    found = store.databases.session_rows(subject.metadata)
    if any(row["tip_entry_id"] == "b" for row in found.branch_meta):
        raise LookupError("the parent is still the tip of a segment: its chain need not be resolved")
    before = store.databases.picture(path_of(subject.metadata))
    with refused(CorruptSession, path=str(path_of(subject.metadata))):
        await subject.insert(records.message_entry("beside", "b"))
    expect_equal(store.databases.picture(path_of(subject.metadata)), before, of="the rows after the refused commit")


@case("S-QRY-19")
@rows("damage", MISSING | CYCLES | BROKEN)
async def a_walk_over_a_broken_path_is_corruption(store: SessionMaker, damage: Break) -> None:
    """A walk that meets a missing parent, a cycle of parents or of bases, or rows of the index that do not fit each
    other, raises `CorruptSession`, and ends.

    If this fails, look at: a join that leaves out what is missing; parents that are never compared with the index; a
    walk from base to base without an end.
    """
    await _expect_broken_walks(store, damage)


async def _expect_refused_forks(store: SessionMaker, damage: Break, *forks: ForkOptions) -> None:
    """These forks of the damaged path raise and leave nothing, of the open source and of the closed one; another branch
    can be forked.
    """
    source = await two_segments(store)
    damage(store.databases, source.metadata)
    path = path_of(source.metadata)
    before = store.databases.picture(path)
    for _ in ("open", "closed"):
        for options in forks:
            with refused(CorruptSession, path=str(path)):
                await store.repo.fork(source.metadata, options)
        await source.close()
    await store.assert_only_known_sessions(source)
    expect_equal(store.databases.picture(path), before, of="the rows after the refused forks")
    lone = await source.fork(BranchFork("lone"))
    expect_equal([entry["id"] for entry in await lone.session.scan_entries()], ["lone"], of="the fork of another path")


@case("S-SQL-FORK-08", "S-SQL-IDX-03", needs=("raw-files",))
@rows("damage", UNHELD | BASELESS | CYCLES | BROKEN)
async def a_fork_over_a_broken_index_is_refused(store: SessionMaker, damage: Break) -> None:
    """A branch fork whose path runs through a broken index raises `CorruptSession` and leaves nothing, from an open
    source and from a closed one; another branch of the source can be forked.

    If this fails, look at: a path that ends where the index does; a base that is followed without its bounds; text
    compared with numbers.
    """
    await _expect_refused_forks(store, damage, BranchFork("main"))


@case("S-FORK-BR-11", kinds=("sqlite",))
@rows("damage", MISSING)
async def a_missing_parent_in_the_rows_is_corruption(store: SessionMaker, damage: Break) -> None:
    """A missing parent on the path from the tip raises `CorruptSession` and leaves nothing: below a copied entry, at
    the root, in the base; also before the tip.

    If this fails, look at: a join that leaves out what is missing; an entry without a parent taken for a root.
    """
    await _expect_refused_forks(store, damage, BranchFork("main"), BranchFork("main", position="before"))


VERSIONS = (2, 0, -1, 2**40)
CALLS: dict[str, Callable[[SessionMaker, Subject], Awaitable[object]]] = {
    "open": lambda store, source: store.repo.open(source.metadata),
    "delete": lambda store, source: store.repo.delete(source.metadata),
    "tree-fork": lambda store, source: store.repo.fork(source.metadata, TreeFork()),
    "branch-fork": lambda store, source: store.repo.fork(source.metadata, BranchFork("main")),
}


@case("S-REPO-08", kinds=("sqlite",))
@rows("call", CALLS)
async def a_row_of_another_storage_version_is_refused(
    store: SessionMaker, call: Callable[[SessionMaker, Subject], Awaitable[object]]
) -> None:
    """`open`, `delete` and `fork` of a session whose row has another storage version raise `UnsupportedVersion` and
    leave its bytes unchanged; other sessions go on.

    If this fails, look at: a version that is compared with "at most"; a version that is read after the first write; a
    fork that looks at nothing but entries.
    """
    source, other = await store.linear_session(3), await store.linear_session(2)
    await source.close()
    await other.close()
    path = path_of(source.metadata)
    for version in VERSIONS:
        store.databases.change_session(source.metadata, "sessions", {"storage_version": version})
        guard = ByteGuard(path, root=store.databases.directory, of="the database of another version")
        with guard, refused(UnsupportedVersion, path=str(path), version=version):
            await call(store, source)
    await other.open()
    await other.append("main", "beside a session of another version")
    await other.check()


@case("S-REPO-08", "S-SQL-FORK-01", kinds=("sqlite",), needs=("raw-files",))
@rows("options", branch=BranchFork("main"), tree=TreeFork())
async def an_open_source_whose_version_changed_is_not_forked(store: SessionMaker, options: ForkOptions) -> None:
    """The version of an open source is looked at by every fork anew.

    If this fails, look at: a version that was read when the source was opened.
    """
    source = await store.linear_session(3)
    store.databases.change_session(source.metadata, "sessions", {"storage_version": 2})
    with refused(UnsupportedVersion, path=str(path_of(source.metadata)), version=2):
        await store.repo.fork(source.metadata, options)
