"""A second process that works on command: what it does is there, what it cannot do is told, and nothing of it stays."""

import asyncio
import os

import pytest

from forkproof.expect import ClauseBroken, expect_equal
from forkproof.harness import HarnessError, SessionHarness
from forkproof.instruments.live_writer import LiveWriter
from forkproof.instruments.trace import Trace
from forkproof.instruments.write_forms import form_of, write_of
from forkproof.makers import SessionMaker, records
from forkstore.contract.addresses import branch_tip, list_address, session_name, value_address
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet
from forkstore.testing import JsonlHarness
from tests.forkproof import live_stores

pytestmark = pytest.mark.one_python

BEDS = list_address("garden.log", "beds")
WRITES = (
    EntryInsert(records.message_entry("new", None, "früh 🌱")),
    ValueSet(branch_tip("main"), "new"),
    UsageInsert(records.usage_row("cost")),
    ListAppend(BEDS, {"bed": [1, 2.5, None]}),
    ListDelete(BEDS),
    ValueSet(value_address("garden.plan", "x"), None),
    ValueDelete(session_name()),
)


def run(steps, tmp_path):
    async def whole():
        store = await SessionMaker(JsonlHarness(tmp_path), Trace()).start()
        return await steps(store)

    return asyncio.run(whole())


@pytest.mark.parametrize("write", WRITES, ids=lambda write: type(write).__name__)
def test_writes_come_out_of_their_forms(write):
    assert write_of(form_of(write)) == write


def test_it_commits_to_a_session_that_stood_and_to_one_of_its_own(tmp_path):
    async def steps(store):
        subject = await store.linear_session(2)
        await subject.close()
        async with LiveWriter.started(store.harness) as writer:
            await writer.open(subject.metadata)
            result = await writer.commit(*WRITES)
            subject.follow(result, *WRITES)
            second = await writer.commit(WRITES[3])
            subject.follow(second, WRITES[3])
        await subject.open()
        await subject.check_everywhere()
        async with LiveWriter.started(store.harness) as writer:
            made = await writer.create("walk")
            await writer.commit_often(3)
        session = await store.repo.open(made)
        elements = await session.read_list(list_address("garden.live", "beds"))
        expect_equal([element.value for element in elements], [0, 1, 2], of="the list")
        await store.repo.close()

    run(steps, tmp_path)


def test_several_processes_are_let_go_at_once(tmp_path):
    async def steps(store):
        async with LiveWriter.started(store.harness) as one, LiveWriter.started(store.harness) as other:
            await asyncio.gather(one.create("one"), other.create("other"))
            await asyncio.gather(one.commit_often(2), other.commit_often(2))
        assert await store.listed_ids() == ["one", "other"]

    run(steps, tmp_path)


def test_a_refusal_breaks_the_clause_and_the_process_goes_on(tmp_path):
    async def steps(store):
        async with LiveWriter.started(store.harness) as writer:
            await writer.create("walk")
            with pytest.raises(ClauseBroken, match=r"a second process\nexpected: does the order 'commit'\nseen: +Inv"):
                await writer.commit(EntryInsert({"id": "no type", "parentId": None}))
            await writer.commit_often(1)

    run(steps, tmp_path)


@pytest.mark.parametrize(
    ("harness", "error", "told"),
    [
        (live_stores.Dying, ClauseBroken, "seen:     exit code 3\nout of petals"),
        (live_stores.Unmade, HarnessError, "in a second process: LookupError: no disk"),
        (live_stores.Silent, ClauseBroken, "seen:     no answer within 0.1 s"),
    ],
)
def test_a_process_that_fails_is_loud(tmp_path, monkeypatch, harness, error, told):
    if harness is live_stores.Silent:
        monkeypatch.setattr("forkproof.instruments.live_writer.CEILING_SECONDS", 0.1)

    async def steps():
        # The answer to the start comes from a process that was not yet asked anything; a silent one is late at once.
        async with LiveWriter.started(harness(tmp_path)) as writer:
            await writer.create("walk")

    with pytest.raises(error) as seen:
        asyncio.run(steps())
    assert told in str(seen.value)


def test_a_harness_that_no_other_process_can_make_is_named(tmp_path):
    class Local(SessionHarness):
        pass

    async def steps():
        async with LiveWriter.started(Local(tmp_path)):
            raise AssertionError("started")

    with pytest.raises(HarnessError, match="cannot be found by another process"):
        asyncio.run(steps())


def test_a_block_that_fails_leaves_no_process(tmp_path):
    seen = []

    async def steps(store):
        async with LiveWriter.started(store.harness) as writer:
            await writer.create("walk")
            seen.append(writer.process_id)
            raise LookupError("the case is over")

    with pytest.raises(LookupError):
        run(steps, tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(seen[0], 0)
