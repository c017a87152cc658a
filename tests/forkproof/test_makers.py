"""The makers: every state is what its model says, everywhere, and holds what its name promises."""

import asyncio

import pytest

from forkproof.expect import ClauseBroken
from forkproof.harness import SessionHarness
from forkproof.instruments.clocks import Clock
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker, records
from forkproof.makers.case_instruments import CaseInstruments
from forkproof.makers.states import ANY_STATE
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import EntryInsert, ListAppend, ValueSet

PLACE = value_address("garden.plan", "extra")


class Memory(SessionHarness):
    """The reference's memory backend."""

    async def open_repo(self, seams):
        return MemorySessionRepo(now=seams.clock, fork_probe=seams.probe)


class Durable(Memory):
    """A store that outlives its repository object, as far as a test needs one."""

    durable = True

    async def open_repo(self, seams):
        repo = MemorySessionRepo()

        async def stays_open():
            pass

        repo.close = stays_open
        self.repo = getattr(self, "repo", repo)
        return self.repo


@pytest.fixture
def harness(tmp_path):
    return Memory(tmp_path)


def run(harness, steps, **instruments):
    async def whole():
        return await steps(await SessionMaker(harness, Trace(), CaseInstruments(**instruments)).start())

    return asyncio.run(whole())


@pytest.mark.parametrize("state", ANY_STATE)
def test_every_state_is_what_its_model_says(harness, state):
    async def steps(store):
        subject = await ANY_STATE[state](store)
        await subject.check_everywhere()
        await subject.commit(ValueSet(PLACE, state))
        await subject.check()

    run(harness, steps)


@pytest.mark.parametrize("state", ANY_STATE)
def test_every_state_forks_as_its_model_says(harness, state):
    async def steps(store):
        source = await ANY_STATE[state](store)
        copy = await source.fork(TreeFork())
        await copy.append("main", "after the fork")
        await copy.check_everywhere()
        await source.check()
        if "main" in source.model.branches():
            await (await source.fork(BranchFork("main"))).check_everywhere()

    run(harness, steps)


def test_states_are_the_same_every_time(harness):
    async def steps(store):
        return [(await make(store)).model.state() for make in (ANY_STATE["rich"], ANY_STATE["bushy"])]

    clock = Clock()
    first, second = run(harness, steps, clock=clock), run(harness, steps, clock=clock)
    assert first == second


def test_the_rich_source_has_everything(harness):
    async def steps(store):
        return (await store.rich_session()).model

    model = run(harness, steps)
    namespaces = {namespace for namespace, _ in model.scalars} | {namespace for namespace, _ in model.lists}
    assert {
        "pi.branch.tip",
        "pi.lane.config",
        "pi.lane.state",
        "pi.result",
        "pi.op.meta",
        "pi.op.state",
        "pi.op.tool_args",
        "pi.op.tool_memo",
        "pi.op.preparation",
        "pi.pending.entry",
        "pi.pending.tool_output",
        "pi.pending.assistant_frame",
        "pi.session.name",
        "pi.entry.label",
    } <= namespaces
    reachable = {entry["id"] for branch in model.branches() for entry in model.path(model.tip(branch))}
    assert {"lost", "unreachable"} <= set(model.entries) - reachable
    assert len(model.branches()) >= 5
    assert len(model.ledger) == 3
    assert {row.value["type"] for row in model.entries.values()} == {
        "message",
        "compaction",
        "branch_summary",
        "custom",
    }
    assert model.elements(list_address("garden.log", "gone")) == []
    assert model.elements(list_address("garden.log", "again")) == [f"second life {n}" for n in range(3)]


def test_the_large_source_is_large(harness):
    async def steps(store):
        return (await store.large_session()).model

    model = run(harness, steps)
    assert len(model.entries) >= 5_000
    assert len(model.path(model.tip("main"))) == 5_000


@pytest.mark.parametrize("lie", ["scalar", "list", "entry", "tip"])
def test_a_check_notices_what_the_model_does_not_know(harness, lie):
    async def steps(store):
        subject = await store.rich_session()
        subject.model.look_at([("app", "new")])
        write = {
            "scalar": ValueSet(value_address("garden.plan", "secret"), 1),
            "list": ListAppend(list_address("app", "new"), 1),
            "entry": EntryInsert(records.message_entry("secret", None)),
            "tip": ValueSet(value_address("pi.branch.tip", "secret"), None),
        }[lie]

        async def attempt(scope):
            await scope.commit([write])

        await subject.session.mutate(attempt)
        with pytest.raises(ClauseBroken):
            await subject.check()

    run(harness, steps)


def test_the_stores_own_append_is_followed(harness):
    async def steps(store):
        subject = await store.linear_session(2)
        entry = await subject.append_message("main", records.assistant_message("done"))
        assert subject.model.tip("main") == entry
        await subject.raw_commit(EntryInsert(records.custom_entry("c", entry)))
        await subject.spend(entry_id="c")
        subject.follow(await subject.session.set_value(PLACE, 1), ValueSet(PLACE, 1))
        await subject.check_everywhere()

    run(harness, steps)


def test_a_list_longer_than_a_page_is_read_whole(harness):
    async def steps(store):
        subject = await store.create()
        await subject.commit(*(ListAppend(list_address("app"), n) for n in range(10_001)))
        assert len((await subject.state()).lists["app", ""]) == 10_001
        await subject.check()

    run(harness, steps)


def test_only_known_sessions_are_listed(harness):
    async def steps(store):
        first, second = await store.create("a"), await store.create("b")
        await store.assert_only_known_sessions(second, first)
        assert [metadata.id for metadata in await store.list()] != []
        with pytest.raises(ClauseBroken):
            await store.assert_only_known_sessions(first)
        with pytest.raises(ClauseBroken):
            await store.assert_only_known_sessions(first, second, first)

    run(harness, steps)


def test_a_store_with_a_working_directory_gets_it_on_create(tmp_path):
    class Placed(Memory):
        cwd = "/srv/garden"

        async def open_repo(self, seams):
            repo = MemorySessionRepo()
            create = repo.create

            async def with_cwd(*, cwd, **options):
                self.asked = cwd
                return await create(**options)

            repo.create = with_cwd
            return repo

    async def steps(store):
        await store.create()
        assert store.create_options == {"cwd": "/srv/garden"}

    harness = Placed(tmp_path)
    run(harness, steps)
    assert harness.asked == "/srv/garden"


def test_another_repository_is_for_durable_harnesses_only(harness, tmp_path):
    async def refused(store):
        with pytest.raises(LookupError, match="not durable"):
            await store.open_second_repo()

    async def steps(store):
        subject = await store.bushy_session()
        await subject.check_everywhere()
        assert len(store.repos) == 2

    run(harness, refused)
    run(Durable(tmp_path), steps)


def test_messages_are_fresh_and_of_every_role():
    roles = records.messages_of_every_role()
    assert {role: message["role"] for role, message in roles.items()} == {role: role for role in roles}
    assert records.messages_of_every_role()["user"] is not roles["user"]
    assert [records.assistant_message("x", stop_reason=reason)["stopReason"] for reason in records.SETTLED] == list(
        records.SETTLED
    )
