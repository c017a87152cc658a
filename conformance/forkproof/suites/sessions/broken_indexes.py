"""A session whose path runs through two segments, and the ways in which its rows are broken: for the suites on damage.

Its entries are those of the third case of section 30, so the index is known by heart: `r`: r, k, a, x, no base;
`b`: a, b, base `r` at 2, the sequence of the compaction k. The lane `main` has its tip at b, `side` at x.
"""

from __future__ import annotations

from collections.abc import Callable

from forkproof.makers import SessionMaker, Subject, records
from forkproof.makers.raw_databases import RawDatabases, path_of
from forkstore.contract.store import SessionMetadata

Break = Callable[[RawDatabases, SessionMetadata], object]
"""Changes rows of the session, so that the path of its branch `main` is broken."""


async def two_segments(store: SessionMaker) -> Subject:
    """The session, whole; and beside the tree another root `lone`, which no damage touches."""
    subject = await store.empty_session()
    kinds = (("r", None), ("k", "r"), ("a", "k"), ("x", "a"), ("b", "a"), ("lone", None))
    for id, parent in kinds:
        compacts = id == "k"
        await subject.insert(
            records.compaction_entry(id, parent) if compacts else records.custom_entry(id, parent, "note", id)
        )
    for branch, tip in (("main", "b"), ("side", "x"), ("lone", "lone")):
        await subject.set_tip(branch, tip)
        await subject.configure(branch)
    return subject


def _sets(table: str, where: str, **values: object) -> Break:
    return lambda databases, of: databases.change_session(of, table, values, where)


def _removes(table: str, where: str) -> Break:
    return lambda databases, of: databases.remove_rows(of, table, where)


def _adds_a_stranger(databases: RawDatabases, of: SessionMetadata) -> None:
    """Puts x between the rows of the segment `b`."""
    held = {"session_id": of.id, "branch_id": "b", "entry_id": "x", "entry_seq": 4, "entry_type": "custom"}
    databases.insert_rows(path_of(of), "branch_entries", held)


UNHELD: dict[str, Break] = {
    "no-row": _removes("branch_entries", "entry_id = 'b'"),
    "no-segment": _removes("branch_meta", "branch_id = 'b'"),
    "above-its-tip": _sets("branch_meta", "branch_id = 'b'", tip_seq=1),
    "below-its-base": _sets("branch_meta", "branch_id = 'b'", base_seq=10_000),
}
"""No segment holds the tip of `main` within its bounds."""

BASELESS: dict[str, Break] = {
    "base-without-sequence": _sets("branch_meta", "branch_id = 'b'", base_seq=None),
}
"""A base without `base_seq`."""

MISSING: dict[str, Break] = {
    "compaction": _removes("entries", "id = 'k'"),
    "root": _removes("entries", "id = 'r'"),
    "copied-entry": _removes("entries", "id = 'a'"),
    "in-both-tables": lambda databases, of: (
        databases.remove_rows(of, "entries", "id = 'a'"),
        databases.remove_rows(of, "branch_entries", "entry_id = 'a'"),
    ),
    "unknown-parent": _sets("entries", "id = 'a'", parent_id="nobody"),
    "unknown-parent-of-the-root": _sets("entries", "id = 'r'", parent_id="nobody"),
}
"""A parent on the path of `main` is missing."""

CYCLES: dict[str, Break] = {
    "root-below-the-tip": _sets("entries", "id = 'r'", parent_id="b"),
    "entry-of-itself": _sets("entries", "id = 'r'", parent_id="r"),
    "base-of-itself": _sets("branch_meta", "branch_id = 'b'", base_branch_id="b"),
    "bases-in-a-circle": _sets("branch_meta", "branch_id = 'r'", base_branch_id="b", base_seq=1),
}
"""Parents or bases that lead back."""

BROKEN: dict[str, Break] = {
    "unknown-base": _sets("branch_meta", "branch_id = 'b'", base_branch_id="nobody"),
    "base-too-low": _sets("branch_meta", "branch_id = 'b'", base_seq=1),
    "sequence-without-base": _sets("branch_meta", "branch_id = 'r'", base_seq=1),
    "row-of-the-base-missing": _removes("branch_entries", "branch_id = 'r' AND entry_id = 'k'"),
    "copied-row-missing": _removes("branch_entries", "branch_id = 'b' AND entry_id = 'a'"),
    "a-stranger-on-the-path": _adds_a_stranger,
    "another-sequence": _sets("branch_entries", "branch_id = 'b' AND entry_id = 'a'", entry_seq=4),
    "base-sequence-of-text": _sets("branch_meta", "branch_id = 'b'", base_seq="two"),
    "tip-sequence-of-text": _sets("branch_meta", "branch_id = 'b'", tip_seq="five"),
}
"""Rows of the branch index that do not fit each other, or the entries."""
