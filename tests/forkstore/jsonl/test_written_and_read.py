"""What a commit takes, opening reads: whatever the fields of a record are called and hold (S-VAL-04, S-ENT-04)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forkstore import (
    EntryInsert,
    JsonlSessionRepo,
    ListAppend,
    MemorySessionRepo,
    Session,
    UsageInsert,
    ValueSet,
    Write,
    list_address,
    value_address,
)
from forkstore.contract.records import Record, zero_usage
from tests.forkgen.strict_format4 import examine
from tests.forkstore.jsonl.decoding import QUIET
from tests.forkstore.jsonl.planted import bytes_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
STRUCTURAL = {"id", "parentId", "type", "customType", "seq", "timestamp", "kind", "usage", "adjustment", "entryId"}
PAYLOAD = ("message", "summary", "retainedTail", "tokensBefore", "fromId", "details", "usage", "data", "terminate")
OF_OTHERS = ("value", "op", "namespace", "key", "entryId", "adjustment", "retained_tail", "parent_id", "Kind", "")
NAMES = st.sampled_from([*PAYLOAD, *OF_OTHERS])
FIELDS = st.dictionaries(NAMES | TEXTS.filter(lambda name: name not in STRUCTURAL), VALUES, max_size=4)
TYPES = st.sampled_from(["message", "compaction", "branch_summary", "custom"])
NAMESPACES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@st.composite
def entries(draw: st.DrawFn) -> Write:
    kind = draw(TYPES)
    own: Record = {"id": draw(st.uuids().map(str)), "parentId": None, "type": kind}
    if kind == "custom":
        own["customType"] = draw(TEXTS)
    members = draw(st.permutations([*(draw(FIELDS) | own).items()]))
    return EntryInsert(dict(members))


@st.composite
def usage_rows(draw: st.DrawFn) -> Write:
    own: Record = {"id": draw(st.uuids().map(str)), "adjustment": draw(st.booleans())}
    own["usage"] = zero_usage() | {"input": draw(st.integers(0, 2**40)), "odd": draw(VALUES)}
    further = draw(st.dictionaries(TEXTS.filter(lambda name: name not in STRUCTURAL), VALUES, max_size=3))
    return UsageInsert(further | own)


WRITES = (
    entries()
    | usage_rows()
    | st.builds(lambda space, key, value: ValueSet(value_address(space, key), value), NAMESPACES, KEYS, VALUES)
    | st.builds(lambda space, key, value: ListAppend(list_address(space, key), value), NAMESPACES, KEYS, VALUES)
)


async def shown(session: Session, writes: list[Write]) -> str:
    """All that the writes can have left; repr tells numbers of all kinds apart and keeps the order of members."""
    places = [write.address for write in writes if isinstance(write, ValueSet | ListAppend)]
    rows: list[Any] = [
        await (session.get_value(place) if place.kind == "value" else session.read_list(place)) for place in places
    ]
    return repr((await session.find_entries(order="asc"), await session.scan_usage(), await session.get_stats(), rows))


@settings(QUIET, max_examples=100)
@given(st.lists(st.lists(WRITES, max_size=3), max_size=4))
def test_a_reopened_session_and_one_in_memory_show_what_was_committed(commits: list[list[Write]]) -> None:
    async def played(root: Path) -> None:
        writes = [write for commit in commits for write in commit]
        on_files, in_memory = JsonlSessionRepo(root, now=lambda: 5), MemorySessionRepo(now=lambda: 5)
        session = await on_files.create(id="walk-1", cwd="/srv/garden")
        model = await in_memory.create(id="walk-1")
        for commit in commits:
            result = await session.storage.commit(commit)
            assert repr(await model.storage.commit(commit)) == repr(result)
        expected = await shown(model, writes)
        assert await shown(session, writes) == expected
        await session.close()
        assert examine(bytes_of(session.metadata)).verdict == "opens"
        assert await shown(await on_files.open(session.metadata), writes) == expected
        await on_files.close()

    with TemporaryDirectory() as root:
        asyncio.run(played(Path(root)))
