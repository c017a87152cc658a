"""The recipe `benchmark` against the facts of appendix A, written out again here."""

from __future__ import annotations

import asyncio

from forkgen import check_session, recipe
from forkgen.recipes.benchmark import CLOCK, lookup_ids, mixed_append, session_id
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import branch_tip, lane_config, lane_state
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, UsageInsert, ValueSet


def test_entries_are_those_of_the_appendix() -> None:
    *seeding, lane = recipe("benchmark")(0, 1_000)
    assert [len(transaction) for transaction in seeding] == [250] * 4
    inserts = [write for transaction in seeding for write in transaction]
    for index in (0, 1, 249, 250, 999):
        entry_id = f"benchmark-entry-{index:08d}"
        text = f"{entry_id}:" + "x" * (256 - len(entry_id) - 1)
        assert len(text) == 256
        assert inserts[index] == EntryInsert(
            {
                "id": entry_id,
                "parentId": None if index == 0 else f"benchmark-entry-{index - 1:08d}",
                "type": "message",
                "message": {
                    "role": "user",
                    "content": [{"type": "text", "text": text}],
                    "timestamp": 1650000000000,
                },
            }
        )
    model = {"provider": "benchmark", "modelId": "benchmark"}
    assert lane == [
        ValueSet(branch_tip("main"), "benchmark-entry-00000999"),
        ValueSet(lane_config("main"), {"model": model, "thinkingLevel": "off", "activeToolNames": []}),
        ValueSet(lane_state("main"), {"currentOperationId": None, "lastOperationId": None, "inbox": []}),
    ]


def test_the_last_commit_of_entries_holds_the_rest() -> None:
    assert [len(transaction) for transaction in recipe("benchmark")(0, 501)] == [250, 250, 1, 3]


def test_the_clock_and_the_session_ids_are_those_of_the_appendix() -> None:
    assert CLOCK == 1700000000000
    assert [session_id(index) for index in (0, 1, 9_999)] == [
        "benchmark-session-00000000",
        "benchmark-session-00000001",
        "benchmark-session-00009999",
    ]


def test_the_lookup_ids_are_spread_from_the_first_to_the_last() -> None:
    asked = lookup_ids(10_000)
    assert len(asked) == len(set(asked)) == 100
    assert asked[0] == "benchmark-entry-00000000"
    assert asked[1] == "benchmark-entry-00000101"
    assert asked[50] == "benchmark-entry-00005050"
    assert asked[99] == "benchmark-entry-00009999"
    assert set(asked) <= set(recipe("benchmark")(0, 10_000).expectation.entry_ids())


def test_the_mixed_append_is_an_entry_a_tip_and_a_usage_row() -> None:
    entry, tip, usage = mixed_append()
    assert isinstance(entry, EntryInsert)
    assert isinstance(usage, UsageInsert)
    assert entry.entry["id"] == "benchmark-entry-00001000"
    assert entry.entry["parentId"] == "benchmark-entry-00000999"
    assert tip == ValueSet(branch_tip("main"), "benchmark-entry-00001000")
    spent = usage.row["usage"]
    counts = [spent[name] for name in ("input", "output", "cacheRead", "cacheWrite", "totalTokens")]
    assert counts == [1_000, 250, 500, 0, 1_250]
    assert 0 < spent["cost"]["total"] < 0.01


def test_the_mixed_append_continues_the_set_of_1000_and_its_forks_are_complete() -> None:
    async def measured() -> None:
        generated = recipe("benchmark")(0, 1_000)
        repo = MemorySessionRepo(now=lambda: CLOCK)
        session = await repo.create(id=session_id(0))
        for transaction in generated:
            await session.storage.commit(transaction)
        await check_session(session, generated.expectation)
        for options in (TreeFork(), BranchFork("main")):
            fork = await repo.fork(session.metadata, options)
            await check_session(fork, generated.expectation.fork(options))
            assert fork.metadata.parent_session_id == session_id(0)
        result = await session.storage.commit(mixed_append())
        assert len(result.seqs) == 3
        assert result.stats.message_count == 1_001
        await repo.close()

    asyncio.run(measured())
