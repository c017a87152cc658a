"""What the kit does with stores on files it does with stores on databases, in both layouts: other processes, scripts
that replay a failure, and rows past the store.
"""

import asyncio
import subprocess
import sys

import pytest

from forkproof.case import case
from forkproof.expect import ClauseBroken
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.live_writer import LiveWriter
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker, records
from forkproof.makers.raw_databases import path_of, session_row
from forkproof.makers.states import ANY_STATE
from forkproof.oracle.database_rows import state_of_rows
from forkproof.runner import run_case
from forkproof.verdict import Outcome
from forkstore.contract.addresses import branch_tip, session_name
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import EntryInsert, ValueSet
from forkstore.testing import SqliteHarness, SqliteSharedHarness

pytestmark = pytest.mark.one_python


@pytest.fixture(params=[SqliteHarness, SqliteSharedHarness], ids=lambda harness: harness.name)
def harness(request, tmp_path):
    return request.param(tmp_path)


def run(harness, steps):
    async def whole():
        store = await SessionMaker(harness, Trace()).start()
        try:
            await steps(store)
        finally:
            await store.repo.close()

    asyncio.run(whole())


def test_a_second_process_reads_an_open_session_and_a_closed_one(harness):
    async def steps(store):
        subject = await store.rich_session()
        await store.check_in_second_process(subject)
        await subject.close()
        await store.check_in_second_process(subject)

    run(harness, steps)


def test_a_second_process_that_cannot_read_breaks_the_clause(harness):
    async def steps(store):
        subject = await store.linear_session(2)
        store.databases.change_session(subject.metadata, "entries", {"payload": "[]"}, "id = 'e1'")
        with pytest.raises(ClauseBroken, match=r"a second process\nexpected: .*\nseen: +CorruptSession"):
            await store.check_in_second_process(subject)

    run(harness, steps)


def test_a_live_writer_commits_beside_an_open_session(harness):
    async def steps(store):
        subject = await store.linear_session(2)
        writes = (EntryInsert(records.message_entry("new", "e2")), ValueSet(branch_tip("main"), "new"))
        named = ValueSet(session_name(), "the pond")
        async with LiveWriter.started(store.harness) as writer:
            await writer.open(subject.metadata)
            subject.follow(await writer.commit(*writes), *writes)
            await subject.check("the open session, after another process has committed")
            await subject.append("main", "in between")
            subject.follow(await writer.commit(named), named)
        await subject.check_everywhere()

    run(harness, steps)


@pytest.mark.parametrize("state", ["rich", "lists", "fork-of-fork"])
def test_the_rows_of_any_state_tell_it(harness, state):
    async def steps(store):
        subject = await ANY_STATE[state](store)
        rows = store.databases.session_rows(subject.metadata)
        assert state_of_rows(rows) == subject.model.state()
        store.databases.check_index(subject.metadata)

    run(harness, steps)


def test_looking_past_a_closed_session_leaves_its_bytes(harness):
    async def steps(store):
        subject = await store.linear_session(2)
        await subject.close()
        path = path_of(subject.metadata)
        assert path == store.databases.place(subject.id)
        assert store.databases.databases() == [path]
        with ByteGuard(path, root=harness.directory):
            store.databases.session_rows(subject.metadata)
            store.databases.picture(path)

    run(harness, steps)


def test_what_a_case_changed_is_gone_after_it(harness):
    async def damages(store):
        """Leaves a session that the store cannot delete, and one that nobody made."""
        subject = await store.linear_session(2)
        await subject.close()
        store.databases.change_session(subject.metadata, "sessions", {"storage_version": 2})
        store.databases.make(store.databases.directory / "further.sqlite", session_row("further"))

    (bound,) = case("S-REPO-08", needs=("raw-files",))(damages).variants()
    result = run_case(bound, harness)
    assert (result.outcome, result.detail) == (Outcome.HELD, "")
    assert [path for path in harness.directory.rglob("*") if path.is_file()] == []


def test_a_reproducer_replays_on_a_database(harness, tmp_path):
    async def fails(store):
        """Fails when all is done."""
        source = await store.linear_session(2)
        await (await source.fork(TreeFork())).append("main", "in the fork")
        raise ClauseBroken("expected: rain\nseen:     sun")

    (bound,) = case("S-FORK-TREE-01", needs=("clock",))(fails).variants()
    result = run_case(bound, harness, reproducers=tmp_path / "reproducers")
    command = [sys.executable, "-W", "error", "-X", "utf8", result.reproducer]
    replayed = subprocess.run(command, cwd="/", capture_output=True, text=True, encoding="utf-8", check=False)
    assert replayed.stderr == ""
    assert (replayed.returncode, "all operations came to the same" in replayed.stdout) == (0, True), replayed.stdout
