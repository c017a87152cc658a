"""The branch index against an independent model: what commits write, and what scans read (section 30)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.makers.records import branch_summary_entry, compaction_entry, custom_entry, message_entry
from forkproof.oracle.branch_index import IndexedEntry, branch_index
from forkstore.contract.errors import UnknownEntry
from forkstore.contract.records import Record
from forkstore.contract.writes import EntryInsert

from .opened import Opened, compaction, message, opened

pytestmark = pytest.mark.asyncio

MAKERS: dict[str, Callable[[str, str | None], Record]] = {
    "message": message_entry,
    "compaction": compaction_entry,
    "branch_summary": branch_summary_entry,
    "custom": custom_entry,
}
Planted = tuple[str, int | None]
"""The type of an entry, and how many entries before it its parent stands; None is a root."""


async def grown(storage: Opened, planted: list[Planted], per_commit: int) -> list[IndexedEntry]:
    """Commits a tree of entries e1, e2 and so on, some at a time."""
    inserts, entries = list[EntryInsert](), list[IndexedEntry]()
    for number, (kind, back) in enumerate(planted, start=1):
        parent = None if back is None or back >= number else f"e{number - back}"
        inserts.append(EntryInsert(MAKERS[kind](f"e{number}", parent)))
        entries.append(IndexedEntry(f"e{number}", parent, number, kind))
    for first in range(0, len(inserts), per_commit):
        await storage.commit([*inserts[first : first + per_commit]])
    return entries


async def check_index(storage: Opened, entries: list[IndexedEntry]) -> None:
    """The index is exactly what the model makes of the entries."""
    rows = await storage.rows("SELECT branch_id, entry_id, entry_seq, entry_type FROM branch_entries")
    metas = await storage.rows("SELECT branch_id, tip_entry_id, tip_seq, base_branch_id, base_seq FROM branch_meta")
    model = branch_index(entries)
    assert sorted(rows) == sorted((name, *row) for name, segment in model.items() for row in segment.rows)
    assert sorted(metas) == sorted(
        (name, segment.tip, segment.tip_seq, segment.base, segment.base_seq) for name, segment in model.items()
    )


@pytest.mark.parametrize(
    ("inserts", "segments"),
    [
        pytest.param([message("r", None), message("c", "r")], {"r": ("rc", None, None)}, id="a run"),
        pytest.param(
            [message("r", None), message("a", "r"), message("b", "r")],
            {"r": ("ra", None, None), "b": ("rb", None, None)},
            id="a divergence",
        ),
        pytest.param(
            [message("r", None), compaction("k", "r"), message("a", "k"), message("x", "a"), message("b", "a")],
            {"r": ("rkax", None, None), "b": ("ab", "r", 2)},
            id="a divergence behind a compaction",
        ),
        pytest.param(
            [message("r", None), compaction("k", "r"), message("a", "k"), message("b", "k")],
            {"r": ("rka", None, None), "b": ("b", "r", 2)},
            id="a divergence at a compaction",
        ),
        pytest.param(
            [message("r", None), message("s", None)], {"r": ("r", None, None), "s": ("s", None, None)}, id="roots"
        ),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
async def test_the_segments_of_the_contract_s_cases(
    tmp_path: Path, inserts: list[EntryInsert], segments: dict[str, tuple[str, str | None, int | None]], at_once: bool
) -> None:
    async with opened(tmp_path) as storage:
        for commit in [inserts] if at_once else [[insert] for insert in inserts]:
            await storage.commit([*commit])
        rows = await storage.rows("SELECT branch_id, entry_id FROM branch_entries ORDER BY branch_id, entry_seq")
        metas = await storage.rows("SELECT branch_id, tip_entry_id, base_branch_id, base_seq FROM branch_meta")
        assert {
            name: ("".join(entry for at, entry in rows if at == name), base, seq) for name, _, base, seq in metas
        } == segments
        assert all(segments[name][0].endswith(tip) for name, tip, _, _ in metas)


trees = st.lists(
    st.tuples(
        st.sampled_from(["message", "message", "compaction", "custom", "branch_summary"]),
        st.one_of(st.just(1), st.just(1), st.integers(1, 9), st.none()),
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.one_python
@settings(max_examples=25)
@given(trees, st.integers(1, 7), st.data())
async def test_any_tree_is_indexed_and_scanned_as_the_model_says(
    planted: list[Planted], per_commit: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as directory:
        async with opened(Path(directory)) as storage:
            entries = await grown(storage, planted, per_commit)
            await check_index(storage, entries)
            for _ in range(8):
                await check_scan(storage, entries, data.draw(queries(entries)))


def queries(entries: list[IndexedEntry]) -> st.SearchStrategy[dict[str, Any]]:
    """A start and any parameters of a scan, of which many touch the tree."""
    ids = st.sampled_from([entry.id for entry in entries])
    types = st.sampled_from(["message", "compaction", "custom", "odd"])
    numbers = st.integers(-1, len(entries) + 2)
    return st.fixed_dictionaries(
        {"start": ids, "order": st.sampled_from(["newest_first", "oldest_first"])},
        optional={
            "stop_at_id": ids,
            "stop_at_type": types,
            "type": types,
            "custom_type": st.sampled_from(["weather", "odd"]),
            "cursor": st.one_of(numbers, st.sampled_from([2**80, -(2**80)])),
            "limit": st.one_of(st.integers(0, 9), st.just(2**80)),
        },
    )


async def check_scan(storage: Opened, entries: list[IndexedEntry], query: dict[str, Any]) -> None:
    """A scan gives what walking the parents gives."""
    wanted = walked({entry.id: entry for entry in entries}, query)
    assert [entry["id"] for entry in await storage.scan_branch(**query)] == wanted, query
    structures = await storage.scan_branch_structure(**query)
    assert [entry["id"] for entry in structures] == wanted, query


def walked(entries: dict[str, IndexedEntry], query: dict[str, Any]) -> list[str]:
    """The evaluation of section 8, word by word."""
    newest_first, cursor = query["order"] == "newest_first", query.get("cursor")
    path, at = list[IndexedEntry](), entries.get(query["start"])
    while at is not None:
        path.append(at)
        at = None if at.parent_id is None else entries[at.parent_id]
    if not newest_first:
        path.reverse()
    stops = [
        place
        for place, entry in enumerate(path)
        if entry.id == query.get("stop_at_id") or entry.type == query.get("stop_at_type")
    ]
    found = path[: stops[0] + 1] if stops else path
    if "type" in query:
        found = [entry for entry in found if entry.type == query["type"]]
    if "custom_type" in query:
        found = [entry for entry in found if entry.type == "custom" and query["custom_type"] == "weather"]
    if cursor is not None:
        found = [entry for entry in found if (entry.seq < cursor if newest_first else entry.seq > cursor)]
    return [entry.id for entry in found][: query.get("limit")]


@pytest.mark.parametrize("start", ["nowhere", "", "\0", "\ud800"])
async def test_a_scan_from_an_unknown_start_is_refused(tmp_path: Path, start: str) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None)])
        for scan in (storage.scan_branch, storage.scan_branch_structure):
            with pytest.raises(UnknownEntry):
                await scan(start, limit=0)


async def test_parameters_that_no_stored_text_can_equal_find_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as storage:
        await storage.commit([message("a", None), message("b", "a")])
        assert len(await storage.scan_branch("b", stop_at_id="\ud800", stop_at_type="\udfff")) == 2
        assert await storage.scan_branch("b", type="\ud800") == []
        assert await storage.scan_branch("b", custom_type="\ud800") == []
        assert await storage.scan_entries(type="\ud800") == []
        assert list(await storage.get_entries(["b", "\ud800", "nowhere", "a", "b"])) == ["b", "a"]
