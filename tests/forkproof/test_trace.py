"""The trace records what was called and in what order, changes nothing about it, and stays small."""

import asyncio
import gc
import weakref

import pytest

from forkproof.instruments.proxies import unwatched
from forkproof.instruments.rendering import Rendering
from forkproof.instruments.trace import LAST_KEPT, OPERATIONS_KEPT, Trace
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import UnknownEntry
from forkstore.contract.forks import BranchFork
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import EntryInsert, ListAppend, ValueDelete, ValueSet

PLACE = value_address("garden.plan")


def words(trace):
    return [operation.in_words() for operation in trace.operations]


def test_operations_are_recorded_in_order_with_their_outcome():
    async def run():
        trace = Trace()
        repo = trace.watch_repo(MemorySessionRepo())
        session = await repo.create(id="s")
        await session.set_value(PLACE, {"k": [1, None, "é"]})
        with pytest.raises(UnknownEntry):
            await session.create_branch("main", at="nothing")
        branch = await session.create_branch("main", at=None)
        await branch.get_tip_id()
        await session.storage.get_value(PLACE)
        return trace

    trace = asyncio.run(run())
    told = words(trace)
    assert told[0] == "repo.create(id='s') → returned session1"
    assert "session1.set_value(value_address('garden.plan', ''), {'k': [1, None, 'é']}) → returned" in told[1]
    assert "raised UnknownEntry" in told[2]
    assert told[3].endswith("→ returned branch1")
    assert told[4] == "branch1.get_tip_id() → returned None"
    assert told[5].startswith("session1.storage.get_value(")
    assert trace.calls == 6


def test_arguments_are_recorded_as_they_were_at_the_call():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()
        value = ["first"]
        await session.set_value(PLACE, value)
        value.append("later")
        return words(trace)

    assert "later" not in asyncio.run(run())[1]


def test_the_inner_call_is_made_in_the_first_step():
    steps = []

    class Repo:
        async def create(self, *, id):
            steps.append(id)
            await asyncio.sleep(0)

    async def run():
        repo = Trace().watch_repo(Repo())
        tasks = [asyncio.ensure_future(repo.create(id=name)) for name in "abc"]
        plain = asyncio.ensure_future(asyncio.sleep(0))
        await plain
        seen = list(steps)
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(run()) == ["a", "b", "c"]


def test_starts_and_ends_share_one_order():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()
        scope = await session.begin_mutation()
        waiting = asyncio.ensure_future(session.set_value(PLACE, 1))
        await asyncio.sleep(0)
        await scope.end()
        await waiting
        return trace.operations

    _, begin, waiting, end = asyncio.run(run())
    assert begin.ended < waiting.started < end.started < end.ended
    assert waiting.ended > end.started


def test_a_cancelled_call_is_recorded_as_cancelled():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()
        scope = await session.begin_mutation()
        waiting = asyncio.ensure_future(session.begin_mutation())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await scope.end()
        return trace.operations[2]

    assert asyncio.run(run()).kind == "cancelled"


def test_callbacks_get_a_recorded_scope_that_has_no_end():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()

        async def callback(scope):
            assert not hasattr(scope, "end")
            await scope.commit([ValueSet(PLACE, 1)])
            return "value"

        assert await session.mutate(callback) == "value"
        scope = await session.begin_mutation()
        assert hasattr(scope, "end")
        await scope.end()
        return trace

    trace = asyncio.run(run())
    assert [one.handle for one in trace.operations if one.method == "commit"] == ["scope1"]
    assert trace.operations[1].scope == "scope1"
    assert trace.open_scopes == {}


def test_other_attributes_pass_through():
    async def run():
        repo = MemorySessionRepo()
        watched = Trace().watch_repo(repo)
        watched.mark = 5
        assert repo.mark == 5
        assert unwatched(watched) is repo
        assert unwatched(repo) is repo
        session = await watched.create(id="s")
        assert session.metadata is unwatched(session).metadata
        with pytest.raises(AttributeError):
            _ = session.no_such_attribute

    asyncio.run(run())


def test_one_object_has_one_proxy():
    async def run():
        session = await Trace().watch_repo(MemorySessionRepo()).create()
        assert session.storage is session.storage
        first, second = await session.create_branch("main", None), await session.branch("main")
        assert (first is second) == (unwatched(first) is unwatched(second))

    asyncio.run(run())


def test_wrong_arguments_reach_the_caller_as_the_backends_own_error():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()
        with pytest.raises(TypeError):
            await session.set_value()

    asyncio.run(run())


def test_a_closed_session_is_not_kept_alive():
    async def run():
        trace = Trace()
        repo = trace.watch_repo(MemorySessionRepo())
        session = await repo.create(id="s")
        assert list(trace.open_sessions) == ["session1"]
        inner = weakref.ref(unwatched(session))
        await session.close()
        assert trace.open_sessions == {}
        await repo.delete(trace.made["s", None])
        assert trace.made == {}
        del session
        gc.collect()
        return inner()

    assert asyncio.run(run()) is None


def test_the_recording_is_bounded():
    async def run():
        trace = Trace()
        session = await trace.watch_repo(MemorySessionRepo()).create()
        for _ in range(OPERATIONS_KEPT + 10):
            await session.get_stats()
        await session.set_value(PLACE, "x" * 5_000_000)
        await session.append_list(list_address("garden.log"), [[n] * 10 for n in range(5_000)])
        return trace

    trace = asyncio.run(run())
    assert (len(trace.operations), trace.cut, len(trace.last)) == (OPERATIONS_KEPT, True, LAST_KEPT)
    assert all(len(operation.arguments) < 50_000 for operation in trace.last)
    assert all(len(operation.in_words()) < 1_000 for operation in trace.last)
    assert trace.last[-1].shortened
    assert trace.last[-2].arguments == f"value_address('garden.plan', ''), text_of(5000000, {'x' * 60!r})"


class Odd:
    def __repr__(self):
        raise ValueError("no repr")


@pytest.mark.parametrize(
    "value", [Odd(), {1, 2}, object(), int("9" * 4_000), [Odd()], lambda: None, type("T", (str,), {})()]
)
def test_what_cannot_be_written_down_is_left_out(value):
    rendering = Rendering()
    assert "left_out(" in rendering.text(value)
    assert rendering.shortened


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        1.5,
        "é\ud800\u2028\0",
        b"x",
        [],
        (1,),
        {"a": {"b": [None]}},
        EntryInsert({"id": "e"}),
        ListAppend(list_address("a", "b"), 1),
        ValueDelete(PLACE),
        BranchFork("main", entry_id="e", position="before"),
        ABSENT,
    ],
)
def test_what_can_be_written_down_reads_back(value):
    rendering = Rendering()
    text = rendering.text(value)
    if isinstance(value, bytes):
        assert rendering.shortened
    else:
        assert (eval(text, dict(globals())), rendering.shortened) == (value, False)


def test_depth_is_bounded():
    deep = []
    for _ in range(250):
        deep = [deep]
    rendering = Rendering()
    compile(rendering.text(deep), "recorded", "eval")
    assert rendering.shortened
