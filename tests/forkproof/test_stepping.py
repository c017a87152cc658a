"""Stepping cancels at every suspension, really cancels the awaited future, and stops at the call that is not hit."""

import asyncio

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.clocks import START, Clock
from forkproof.instruments.gates import GateProbe
from forkproof.instruments.memory import MemoryMeter
from forkproof.instruments.stepping import cancelled_at_every_suspension, settle, stepped


async def sleeps(times, log=None):
    for number in range(times):
        if log is not None:
            log.append(number)
        await asyncio.sleep(0)
    return "done"


@pytest.mark.parametrize("times", [0, 1, 2, 7])
def test_every_suspension_is_hit_once(times):
    async def run():
        hit, log = [], []

        async def check(k, outcome):
            hit.append((k, outcome.kind, outcome.suspensions, outcome.cancelled_at, list(log)))
            log.clear()

        count = await cancelled_at_every_suspension(lambda: sleeps(times, log), check)
        return count, hit

    count, hit = asyncio.run(run())
    assert count == times
    assert hit == [(k, "cancelled", k, (k,), list(range(k))) for k in range(1, times + 1)]


def test_an_untouched_call_gives_its_value():
    outcome = asyncio.run(stepped(lambda: sleeps(3)))
    assert (outcome.kind, outcome.value, outcome.suspensions, outcome.untouched) == ("returned", "done", 3, True)


def test_the_awaited_future_is_cancelled():
    async def run():
        future = asyncio.get_running_loop().create_future()

        async def waits():
            await asyncio.sleep(0)
            await future

        outcome = await stepped(waits, 2)
        return outcome.kind, future.cancelled()

    assert asyncio.run(run()) == ("cancelled", True)


def test_a_shielded_cleanup_can_be_cancelled_a_second_time():
    async def run():
        ended = []

        async def cleanup():
            await sleeps(3)
            ended.append(True)

        async def call():
            try:
                await asyncio.Event().wait()
            finally:
                task = asyncio.ensure_future(cleanup())
                while not task.done():
                    try:
                        await asyncio.shield(task)
                    except asyncio.CancelledError:
                        continue

        outcome = await stepped(call, 1, 2)
        return outcome.kind, outcome.cancelled_at, ended

    assert asyncio.run(run()) == ("cancelled", (1, 2), [True])


def test_again_after_counts_from_the_first_cancellation():
    async def run():
        points = []

        async def call():
            try:
                await sleeps(2)
            finally:
                await sleeps(3)

        async def check(k, outcome):
            points.append(outcome.cancelled_at)

        await cancelled_at_every_suspension(call, check, again_after=2)
        return points

    assert asyncio.run(run()) == [(1, 3), (2, 4), (3,), (4,), (5,)]


def test_a_call_that_swallows_the_cancellation_is_seen_as_returned():
    async def run():
        kinds = []

        async def swallows():
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                return "swallowed"

        async def check(k, outcome):
            kinds.append((outcome.kind, outcome.value, outcome.untouched))

        return await cancelled_at_every_suspension(swallows, check), kinds

    assert asyncio.run(run()) == (1, [("returned", "swallowed", False)])


def test_an_error_of_the_untouched_call_is_raised():
    async def fails():
        await asyncio.sleep(0)
        raise OSError("no disk")

    async def check(k, outcome):
        assert outcome.kind == "cancelled"

    with pytest.raises(OSError, match="no disk"):
        asyncio.run(cancelled_at_every_suspension(fails, check))


def test_a_failing_check_passes():
    async def check(k, outcome):
        raise ClauseBroken(f"at {k}")

    with pytest.raises(ClauseBroken, match="at 1"):
        asyncio.run(cancelled_at_every_suspension(lambda: sleeps(2), check))


def test_an_endless_call_ends_at_the_limit():
    async def check(k, outcome):
        pass

    with pytest.raises(ClauseBroken, match="after 5 suspensions"):
        asyncio.run(cancelled_at_every_suspension(lambda: sleeps(100), check, limit=5))


def test_settle_lets_what_is_ready_run():
    async def run():
        log = []
        task = asyncio.ensure_future(sleeps(5, log))
        await settle()
        assert task.done()
        return log

    assert asyncio.run(run()) == [0, 1, 2, 3, 4]


def test_a_clock_moves_only_when_told():
    clock = Clock()
    assert (clock(), clock(), clock.readings) == (START, START, 2)
    clock.advance(5)
    clock.back(7)
    assert clock() == START - 2
    clock.set(1)
    assert (clock(), clock.readings) == (1, 4)


def test_a_gate_parks_one_arrival():
    async def run():
        probe = GateProbe()
        gate = probe.park("before_publish")
        first = asyncio.ensure_future(probe.before_publish())
        await gate.reached()
        await probe.before_publish()
        assert not first.done()
        gate.release()
        await first
        await probe.batch_copied(3)
        await probe.batch_copied(4)
        return probe.calls, probe.copied, probe.count("before_publish")

    calls = [("before_publish", None)] * 2 + [("batch_copied", 3), ("batch_copied", 4)]
    assert asyncio.run(run()) == (calls, 7, 2)


def test_a_probe_can_fail_and_act():
    async def run():
        probe, log = GateProbe(), []

        async def acts():
            log.append("acted")

        probe.run("boundary_captured", acts)
        probe.fail("boundary_captured", OSError("on demand"))
        await probe.boundary_captured()
        with pytest.raises(OSError, match="on demand"):
            await probe.boundary_captured()
        await probe.boundary_captured()
        probe.park("before_publish")
        probe.release_all()
        await probe.before_publish()
        return log

    assert asyncio.run(run()) == ["acted"]


def test_the_meter_tells_peak_from_held():
    with MemoryMeter() as meter:
        passing = bytearray(4_000_000)
        assert meter.read_peak() >= 4_000_000
        del passing
        kept = bytearray(1_000_000)
    assert 1_000_000 <= meter.held < 2_000_000
    assert 4_000_000 <= meter.peak < 5_000_000
    assert len(kept) == 1_000_000
