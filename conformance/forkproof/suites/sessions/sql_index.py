"""The branch index after every commit and every fork: what the insert rules give, and nothing else (section 30)."""

from __future__ import annotations

from collections.abc import Iterable

from forkgen import recipe
from forkproof.case import case, in_any_state, rows
from forkproof.expect import expect_equal
from forkproof.makers import SessionMaker, Subject, records
from forkproof.oracle.branch_index import BranchIndex, Held, Segment
from forkproof.oracle.database_rows import index_of_rows
from forkproof.suites.sessions.forking import from_open_and_closed
from forkstore.contract.addresses import branch_tip
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.writes import EntryInsert, ValueSet, Write

BOTH = ("raw-files", "raw-commit")
Tree = tuple[tuple[str, str | None, str], ...]
"""Entries in the order of their commits: id, parent, type."""


def _entry(id: str, parent: str | None, kind: str) -> records.Record:
    if kind == "compaction":
        return records.compaction_entry(id, parent)
    return records.custom_entry(id, parent) if kind == "custom" else records.message_entry(id, parent)


def _segment(rows_: str, tip_seq: int, base: str | None = None, base_seq: int | None = None) -> Segment:
    """`r@1 k@2:compaction`: the rows of a segment, which ends at the last of them."""
    held = []
    for word in rows_.split():
        id, _, rest = word.partition("@")
        seq, _, kind = rest.partition(":")
        held.append(Held(id, int(seq), kind or "message"))
    return Segment(held[-1].id, tip_seq, base, base_seq, held)


TABLE: dict[str, tuple[Tree, BranchIndex]] = {
    "one-path": (
        (("r", None, "message"), ("c", "r", "message")),
        {"r": _segment("r@1 c@2", 2)},
    ),
    "two-paths": (
        (("r", None, "message"), ("a", "r", "message"), ("b", "r", "message")),
        {"r": _segment("r@1 a@2", 2), "b": _segment("r@1 b@3", 3)},
    ),
    "compaction": (
        (
            ("r", None, "message"),
            ("k", "r", "compaction"),
            ("a", "k", "message"),
            ("x", "a", "message"),
            ("b", "a", "message"),
        ),
        {"r": _segment("r@1 k@2:compaction a@3 x@4", 4), "b": _segment("a@3 b@5", 5, "r", 2)},
    ),
}
"""The three cases of section 30, and what the index holds in the end."""


@case("S-SQL-IDX-01")
@rows("tree", TABLE)
async def the_table_of_the_contract_gives_its_segments(store: SessionMaker, tree: tuple[Tree, BranchIndex]) -> None:
    """The three cases of the table of section 30 give exactly the segments that stand there, with their rows, tips and
    bases.

    If this fails, look at: the compaction's own segment taken for the base; a base copied along; a tip that stays
    behind.
    """
    entries, segments = tree
    subject = await store.empty_session()
    for one in entries:
        await subject.insert(_entry(*one))
    found = index_of_rows(store.databases.session_rows(subject.metadata))
    expect_equal(found, segments, of="the branch index")


async def _grown(store: SessionMaker, entries: Iterable[tuple[str, str | None, str]]) -> Subject:
    """A session whose entries are committed one by one; the index is right after each of them."""
    subject = await store.empty_session()
    for id, parent, kind in entries:
        await subject.insert(_entry(id, parent, kind))
        store.databases.check_index(subject.metadata)
    return subject


def _compacted(length: int, every: int) -> Tree:
    """A path with a compaction every few entries, and two branches from every entry of it."""
    path = tuple(
        (f"p{n}", f"p{n - 1}" if n else None, "compaction" if n % every == every - 1 else "message")
        for n in range(length)
    )
    sides = tuple((f"{side}{n}", f"p{n}", "message") for side in ("left", "right") for n in range(length))
    deeper = tuple((f"deep{n}", f"left{n}", "compaction" if n % 2 else "custom") for n in range(length))
    beside = tuple((f"beside{n}", f"left{n}", "message") for n in range(length))
    return (*path, *sides, *deeper, *beside)


TREES: dict[str, Tree] = {
    "several-roots": (
        ("r", None, "message"),
        ("s", None, "compaction"),
        ("a", "r", "message"),
        ("b", "s", "message"),
        ("c", "s", "message"),
        ("t", None, "custom"),
        ("d", "a", "message"),
        ("e", "r", "message"),
    ),
    "the-compaction-is-the-parent": (
        ("r", None, "message"),
        ("k", "r", "compaction"),
        ("a", "k", "message"),
        ("b", "k", "message"),
        ("c", "k", "compaction"),
        ("d", "k", "message"),
        ("e", "c", "message"),
        ("f", "c", "message"),
    ),
    "a-compaction-as-root": (
        ("k", None, "compaction"),
        ("a", "k", "message"),
        ("b", "k", "message"),
        ("c", "b", "message"),
        ("d", "b", "message"),
    ),
    "a-newer-compaction-beside-the-path": (
        ("r", None, "message"),
        ("k", "r", "compaction"),
        ("a", "k", "message"),
        ("l", "a", "compaction"),
        ("x", "l", "message"),
        ("b", "a", "message"),
        ("c", "b", "message"),
        ("d", "b", "message"),
        ("e", "l", "message"),
    ),
    "bases-on-bases": (
        ("r", None, "message"),
        ("k1", "r", "compaction"),
        ("a", "k1", "message"),
        ("x", "a", "message"),
        ("b", "a", "message"),
        ("k2", "b", "compaction"),
        ("c", "k2", "message"),
        ("y", "c", "message"),
        ("d", "c", "message"),
        ("k3", "d", "compaction"),
        ("e", "k3", "message"),
        ("z", "e", "message"),
        ("f", "e", "message"),
        ("g", "a", "message"),
        ("h", "d", "message"),
    ),
    "compacted": _compacted(9, 4),
    "many-children": (("r", None, "message"), *((f"c{n}", "r", "message") for n in range(30))),
}
"""Trees with borders of segments in every place."""


@case("S-SQL-IDX-01")
@rows("tree", TREES)
async def the_index_is_right_after_every_commit(store: SessionMaker, tree: Tree) -> None:
    """After every commit of a tree that diverges at, above and below compactions the index holds exactly what the
    insert rules give; a fork of it in either scope has the index that the rules give for its own entries.

    If this fails, look at: a chain that is followed past its upper bound; the newest compaction of the session taken
    for that of the chain; the smaller of two holders; rows copied from the base.
    """
    subject = await _grown(store, tree)
    await subject.set_tip("main", tree[-1][0])
    await subject.configure("main")
    await subject.reopen()
    await subject.insert(records.message_entry("after-reopening", tree[len(tree) // 2][0]))
    store.databases.check_index(subject.metadata)
    for options in (TreeFork(), BranchFork("main")):
        fork = await subject.fork(options)
        store.databases.check_index(fork.metadata)
        await fork.insert(*(records.message_entry(f"new-{number}", tree[-1][0]) for number in range(2)))
        store.databases.check_index(fork.metadata)
        await fork.check_everywhere()


@case("S-SQL-IDX-01", needs=BOTH)
async def the_entries_of_one_commit_are_indexed_in_their_order(store: SessionMaker) -> None:
    """Entries of one commit are indexed like entries of several, in their order, other writes between them.

    If this fails, look at: an index that is written per commit; sequences counted without the other writes.
    """
    tree = _compacted(6, 3)
    subject = await store.empty_session()
    half = len(tree) // 2
    for part in (tree[:half], tree[half:]):
        writes: list[Write] = []
        for one in part:
            writes += [EntryInsert(_entry(*one)), ValueSet(branch_tip("main"), one[0])]
        await subject.raw_commit(*writes)
        store.databases.check_index(subject.metadata)
    await subject.check_everywhere()


SIZES = {"compacted": 60, "wide": 40, "bushy": 60, "deep": 40}


@case("S-SQL-IDX-01", needs=BOTH)
@rows("name", {name: name for name in SIZES})
async def generated_sessions_have_the_right_index(store: SessionMaker, name: str) -> None:
    """The sessions of a generator, with compactions, wide and bushy, have the right index after every commit, and so
    have their forks.

    If this fails, look at: the first commit after which it is wrong; the branch that the fork is of.
    """
    subject = await store.empty_session()
    generated = recipe(name)(seed=3, size=SIZES[name])
    for transaction in generated:
        await subject.raw_commit(*transaction)
        store.databases.check_index(subject.metadata)
    await subject.close()
    lanes = {key for namespace, key in subject.model.scalars if namespace == "pi.lane.state"}
    branches = sorted(lanes & set(subject.model.branches()))[:3]
    forks: list[ForkOptions] = [TreeFork(), *(BranchFork(branch) for branch in branches)]
    for options in forks:
        fork = await subject.fork(options)
        store.databases.check_index(fork.metadata)
        await fork.close()


@case("S-SQL-IDX-01")
@in_any_state
async def the_index_is_right_in_any_state(subject: Subject) -> None:
    """In any state the index is what the rules give for the stored entries: of sessions, of forks, of forks of forks.

    If this fails, look at: an index that a fork copies instead of building it; a batch of a large session.
    """
    subject.store.databases.check_index(subject.metadata)


@case("S-SQL-IDX-01")
@from_open_and_closed
async def a_branch_fork_is_indexed_as_one_path(store: SessionMaker, source_is: str) -> None:
    """The index of a branch fork knows one path: one segment with all its entries, whatever compactions and branches
    the source had.

    If this fails, look at: segments of the source that are copied; a fork that hangs on the source's base.
    """
    tree = TREES["bases-on-bases"]
    subject = await _grown(store, tree)
    await subject.set_tip("main", "h")
    await subject.configure("main")
    if source_is == "closed":
        await subject.close()
    fork = await subject.fork(BranchFork("main"))
    found = index_of_rows(store.databases.session_rows(fork.metadata))
    segments = {name: ([row.id for row in one.rows], one.tip, one.base) for name, one in found.items()}
    path = [entry["id"] for entry in fork.model.path("h")][::-1]
    expect_equal(segments, {path[0]: (path, "h", None)}, of="the segments of the fork")
