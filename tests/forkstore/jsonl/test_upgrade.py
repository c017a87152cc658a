"""The commit that ends a session's legacy form (S-V3-19 to S-V3-23)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forkgen.legacy import Verdict, legacy_files
from forkgen.legacy.records import assistant_message, model, record, text_of, thinking, user
from forkgen.legacy.records import header as legacy_header
from forkproof.instruments.fault_kinds import Cancel, Fail, FailAfter, Fault, Hit, NoSpace, Short
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, stepped
from forkproof.instruments.sweep import swept
from forkstore import EntryInsert, Session, TreeFork, UsageInsert, ValueSet, value_address
from forkstore.contract.errors import (
    DuplicateId,
    InvalidValue,
    LegacySourceOpen,
    SessionFileChanged,
    StoreIOError,
    UnknownParent,
)
from forkstore.contract.ids import Uuid7Generator
from forkstore.contract.records import Record
from forkstore.contract.store import SessionMetadata
from tests.forkgen.strict_format4 import examine
from tests.forkstore.jsonl.changes import ACTS, Foreign, at_every_moment, content_of
from tests.forkstore.jsonl.decoding import usage_line
from tests.forkstore.jsonl.moments import slow_files
from tests.forkstore.jsonl.planted import GARDEN, bytes_of, path_of, plant
from tests.forkstore.jsonl.stores import Store, closing
from tests.forkstore.jsonl.trees import tree

pytestmark = pytest.mark.asyncio
NOTE = value_address("app", "note")
USAGE = json.loads(usage_line())["usage"]
SHED = text_of(
    legacy_header(id="walk-1", parentSession="../gone.jsonl"),
    model(1, None),
    thinking(2, 1),
    user(3, 2),
    record(4, "message", 3, message=assistant_message(4, USAGE)),
    record(5, "label", 4, targetId="0b10c003", label="früh"),
)
ENTRY: Record = {"id": "new", "parentId": None, "type": "message", "message": {}}


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with closing(Store(tmp_path / "sessions")) as store:
        yield store


async def opened(store: Store, data: bytes = SHED) -> Session:
    return await store.repo.open(plant(store.root, data))


async def shown(session: Session) -> str:
    """All that a session shows."""
    entries, rows = await session.find_entries(order="asc"), await session.scan_usage()
    return repr((entries, rows, await session.get_stats(), await session.get_value(NOTE)))


async def next_seq(session: Session) -> int:
    return (await session.storage.commit([])).first_seq


async def upgrade(session: Session) -> Any:
    return await session.storage.commit([ValueSet(NOTE, 1), EntryInsert(ENTRY)])


async def test_the_file_holds_the_header_the_normalized_writes_and_one_line_of_the_commit(tmp_path: Path) -> None:
    """S-V3-19, S-V3-20."""
    async with closing(Store(tmp_path / "sessions", now=lambda: 1_760_000_100_000)) as store:
        session = await opened(store)
        before = await session.find_entries(order="asc")
        first = await next_seq(session)
        result = await upgrade(session)
        header, *lines = [json.loads(line) for line in bytes_of(session.metadata).splitlines()]
        assert [*header][5:] == ["cwd", "legacyParentSessionPath", "nextSeq"]
        assert (header["nextSeq"], header["legacyParentSessionPath"]) == (first, "../gone.jsonl")
        assert [{"kind": "entry", **entry} for entry in before] == lines[: len(before)]
        *derived, (usage, *callers) = lines[len(before) :]
        assert [row["seq"] for row in derived] == [*range(len(before) + 1, first)]
        assert {name: usage[name] for name in ("seq", "usage", "adjustment", "details")} == {
            "seq": first,
            "usage": USAGE,
            "adjustment": True,
            "details": {"source": "v3-import"},
        }
        assert "entryId" not in usage
        assert (result.first_seq, result.seqs) == (first + 1, [first + 1, first + 2])
        assert [row["seq"] for row in callers] == result.seqs
        assert result.timestamp == 1_760_000_100_000
        assert result.stats == await session.get_stats()
        assert examine(bytes_of(session.metadata)).verdict == "opens"


OPENING = {case.name: case for case in legacy_files() if case.verdict is Verdict.OPENS}


@pytest.mark.parametrize("name", [name for name in OPENING if not name.startswith("torn-at-byte-")])
async def test_every_legacy_file_shows_the_same_after_its_upgrade_and_after_reopening(name: str, store: Store) -> None:
    """S-V3-20, S-V3-23."""
    case = OPENING[name]
    path = case.write_to(path_of(plant(store.root)).parent)
    metadata = SessionMetadata(id=case.id, created_at=case.created_at, cwd=case.cwd, path=str(path))
    session = await store.repo.open(metadata)
    entries, stats, title = await session.find_entries(), await session.get_stats(), await session.get_name()
    labels = [await session.get_label(entry["id"]) for entry in entries]
    await session.set_value(NOTE, 1)
    assert await session.get_stats() == stats
    again = await reopened(store, session)
    assert await again.find_entries() == entries
    assert (await again.get_stats(), await again.get_name()) == (stats, title)
    assert [await again.get_label(entry["id"]) for entry in entries] == labels
    assert (await again.scan_usage())[0]["usage"] == stats.usage


async def reopened(store: Store, session: Session) -> Session:
    mine = await shown(session)
    await session.close()
    again = await store.repo.open(session.metadata)
    assert await shown(again) == mine
    return again


async def test_only_a_commit_with_writes_upgrades(store: Store) -> None:
    """S-V3-02, S-V3-22, S-V3-23."""
    session = await opened(store)
    await session.storage.commit([])
    with pytest.raises(LegacySourceOpen):
        await store.repo.fork(session.metadata, TreeFork())
    assert bytes_of(session.metadata) == SHED
    ids = [entry["id"] for entry in await session.find_entries(order="asc")]
    await session.set_name("shed")
    fork = await store.repo.fork(session.metadata, TreeFork())
    assert [entry["id"] for entry in await fork.find_entries(order="asc")] == ids


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (EntryInsert(ENTRY | {"parentId": "0b10c003"}), UnknownParent),
        (EntryInsert(ENTRY | {"id": "known"}), DuplicateId),
        (UsageInsert({"id": "known", "usage": USAGE, "adjustment": False}), DuplicateId),
        (ValueSet(NOTE, {1}), InvalidValue),
    ],
)
async def test_a_refused_commit_upgrades_nothing(write: Any, error: type[Exception], store: Store) -> None:
    """S-V3-21; ids of the old form name nothing."""
    session = await opened(store)
    known = (await session.find_entries())[0]["id"]
    if isinstance(write, EntryInsert):
        write = EntryInsert({name: known if value == "known" else value for name, value in write.entry.items()})
    elif isinstance(write, UsageInsert):
        write = UsageInsert(write.row | {"id": known})
    before, first = await shown(session), await next_seq(session)
    store.spy.forget()
    with pytest.raises(error):
        await session.storage.commit([write])
    assert store.spy.changes() == []
    assert (await shown(session), await next_seq(session), bytes_of(session.metadata)) == (before, first, SHED)
    assert (await upgrade(session)).first_seq == first + 1


async def test_the_caller_may_not_have_the_id_of_the_usage_row(tmp_path: Path) -> None:
    class Fixed(Uuid7Generator):
        def next(self, timestamp_ms: int | None = None) -> str:
            return "fixed" if timestamp_ms == 5 else super().next(timestamp_ms)

    async with closing(Store(tmp_path / "sessions", now=lambda: 5, id_generator=Fixed())) as store:
        session = await opened(store)
        with pytest.raises(DuplicateId):
            await session.storage.commit([EntryInsert(ENTRY | {"id": "fixed"})])
        assert bytes_of(session.metadata) == SHED
        await upgrade(session)


FAULTS: dict[str, Fault] = {
    "fails": Fail("permission_denied"),
    "fails late": FailAfter("unknown"),
    "short": Short(0.5),
    "no space": NoSpace(),
    "cancelled": Cancel("before"),
    "cancelled late": Cancel("after"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_upgrade_that_fails_anywhere_has_not_happened_or_happened_wholly(fault: str, store: Store) -> None:
    """S-V3-21, S-TXN-17: the retry of a failed one gets the same sequences and ids."""
    session = await opened(store)
    before, first = await shown(session), await next_seq(session)
    done = 0

    async def check(n: int, hit: Hit, outcome: Stepped) -> None:
        nonlocal session, before, done
        store.faults.room()
        if bytes_of(session.metadata) == SHED:
            assert outcome.kind in ("raised", "cancelled"), str(hit)
            assert (await shown(session), await next_seq(session)) == (before, first), str(hit)
        else:
            done += 1
            assert outcome.kind in ("returned", "cancelled"), str(hit)
            assert await next_seq(session) == first + 3, str(hit)
            await (await reopened(store, session)).close()
            session = await opened(store)
            before = await shown(session)
        if outcome.kind == "raised":
            assert isinstance(outcome.error, StoreIOError), str(hit)
            assert outcome.error.__cause__ is hit.error, str(hit)
        assert len(store.spy.open_readers) == 1, str(hit)
        assert [*tree(store.root)] == ["--srv-garden--", "--srv-garden--/planted.jsonl"], str(hit)

    hits = await swept(lambda: upgrade(session), store.faults, FAULTS[fault], check)
    assert hits >= (2 if fault == "no space" else 8)
    assert (await session.scan_usage())[0]["seq"] == first
    assert [entry["id"] for entry in await session.find_entries()] != []


@pytest.mark.parametrize("again_after", [None, 1, 3])
async def test_an_upgrade_that_is_cancelled_anywhere_is_wholly_there_or_not_at_all(
    again_after: int | None, tmp_path: Path
) -> None:
    """S-TXN-17, with files that suspend in every call."""
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        session = await opened(store)
        first = await next_seq(session)

        async def whole_or_absent(k: int, outcome: Stepped) -> None:
            nonlocal session
            assert outcome.kind == "cancelled", k
            absent = bytes_of(session.metadata) == SHED
            assert await next_seq(session) == (first if absent else first + 3), k
            assert len(store.spy.open_readers) == 1, k
            assert [*tree(store.root)] == ["--srv-garden--", "--srv-garden--/planted.jsonl"], k
            if not absent:
                await (await reopened(store, session)).close()
                session = await opened(store)

        suspensions = await cancelled_at_every_suspension(
            lambda: upgrade(session), whole_or_absent, again_after=again_after
        )
        assert suspensions >= 3


async def test_commits_behind_an_upgrade_wait_for_it(tmp_path: Path) -> None:
    """S-TXN-03; the second one finds a session in format 4."""
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        session = await opened(store)
        first = await next_seq(session)
        calls = [asyncio.ensure_future(session.storage.commit([ValueSet(NOTE, number)])) for number in range(3)]
        fork = asyncio.ensure_future(store.repo.fork(session.metadata, TreeFork("fork")))
        results = await asyncio.gather(*calls)
        assert [result.seqs for result in results] == [[first + 1], [first + 2], [first + 3]]
        row = await (await fork).get_value(NOTE)
        assert row is not None
        assert row.value == 2


@pytest.mark.parametrize("act", ACTS)
async def test_what_others_write_or_put_there_meanwhile_is_not_replaced(act: str, store: Store) -> None:
    """S-JSONL-FMT-16: an upgrade replaces the file that was read, or nothing."""
    sessions: list[Session] = []

    async def prepare(metadata: Any) -> Session:
        sessions.append(await store.repo.open(metadata))
        return sessions[-1]

    async def check(path: Path, foreign: Foreign, outcome: Stepped) -> None:
        session = sessions.pop()
        if outcome.kind == "raised":
            assert isinstance(outcome.error, SessionFileChanged), outcome.error
            with pytest.raises(SessionFileChanged):
                await upgrade(session)
        if foreign.acted:
            assert content_of(path) == foreign.left
        await session.close()

    assert await at_every_moment(store, SHED, ACTS[act], upgrade, check, prepare=prepare) >= 2


async def test_a_big_upgrade_is_written_in_batches(store: Store) -> None:
    many = text_of(*(user(number, number - 1 or None, "x" * 2_000) for number in range(1, 600)))
    session = await opened(store, text_of(legacy_header(id="walk-1")) + many)
    store.spy.forget()
    await upgrade(session)
    writes = [call.size or 0 for call in store.spy.calls if call.name in ("write_file", "append_file")]
    assert len(writes) >= 4
    assert max(writes) < 512 * 1024
    assert len(await (await reopened(store, session)).find_entries()) == 600


async def test_metadata_of_an_upgraded_session_names_the_same_file(store: Store) -> None:
    session = await opened(store)
    await upgrade(session)
    await session.close()
    (listed,) = await store.repo.list()
    assert replace(listed, modified_at=None) == replace(session.metadata, modified_at=None)
    assert listed.cwd == GARDEN
    assert path_of(listed).name == "planted.jsonl"


async def test_a_cancelled_caller_in_the_line_behind_an_upgrade_was_never_there(tmp_path: Path) -> None:
    async with closing(Store(tmp_path / "sessions", slow_files())) as store:
        session = await opened(store)
        running = asyncio.ensure_future(upgrade(session))
        await asyncio.sleep(0)
        outcome = await stepped(lambda: session.storage.commit([ValueSet(NOTE, "never")]), 1)
        assert outcome.kind == "cancelled"
        await running
        row = await session.get_value(NOTE)
        assert row is not None
        assert row.value == 1
