"""Death at one operation after the other, or at points that a seed draws: what was acknowledged must be there."""

import asyncio

import pytest

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError
from forkproof.instruments.fault_kinds import CHANGES
from forkproof.instruments.kill import Killed, Play, Point
from forkproof.instruments.kill_sweep import expect_acknowledged, killed_at_every_operation, killed_at_seeded_points
from tests.forkproof import kill_stores
from tests.forkproof.kill_stores import LINES, four_lines, stored


@pytest.fixture
def harness(tmp_path):
    return kill_stores.LineHarness(tmp_path)


def sweep(harness, *, scenario=four_lines, **asked):
    """Sweeps a scenario; a fresh store must show what was acknowledged. Gives the runs and the one that ended."""
    runs = []

    async def nothing_is_lost(seen):
        runs.append(seen)
        expect_acknowledged(await stored(harness, seen.name), seen, LINES, of="the lines")

    whole = asyncio.run(killed_at_every_operation(Play(harness, scenario), nothing_is_lost, **asked))
    return runs, whole


@pytest.mark.parametrize("when", ["before", "middle", "after"])
def test_every_operation_is_the_last_once(harness, when):
    runs, whole = sweep(harness, when=when)
    assert [seen.hit.number for seen in runs] == [1, 2, 3, 4]
    assert [len(seen.acknowledged) for seen in runs] == [0, 1, 2, 3]
    assert (whole.ended, whole.operations, whole.acknowledged) == (True, 4, LINES)


def test_a_store_that_loses_acknowledged_data_is_seen(tmp_path):
    with pytest.raises(ClauseBroken) as refusal:
        sweep(kill_stores.ForgetfulHarness(tmp_path))
    assert str(refusal.value).startswith("the lines, of a process killed before file operation 1, append_file ")
    assert "after 1 acknowledged steps" in str(refusal.value)


def test_a_store_that_shows_a_part_of_a_step_is_seen(tmp_path):
    with pytest.raises(ClauseBroken) as refusal:
        sweep(kill_stores.TearingHarness(tmp_path), when="middle")
    _, *told = str(refusal.value).splitlines()
    assert told == ["expected: no further step, or the first of ['tulip']", "seen:     ['tul']"]


@pytest.mark.parametrize(
    ("acknowledged", "seen", "in_flight", "holds"),
    [
        (0, [], 1, True),
        (2, ["tulip", "rose"], 1, True),
        (2, ["tulip", "rose", "daisy"], 1, True),
        (2, ["tulip", "rose", "daisy", "poppy"], 2, True),
        (4, list(LINES), 1, True),
        (2, ["tulip", "rose", "daisy"], 0, False),
        (2, ["tulip", "rose", "daisy", "poppy"], 1, False),
        (2, ["tulip"], 1, False),
        (2, ["rose", "tulip"], 1, False),
        (2, ["tulip", "rose", "poppy"], 2, False),
        (2, ["tulip", "rose", "rose"], 1, False),
        (4, [*LINES, "x"], 1, False),
    ],
)
def test_what_may_be_there(acknowledged, seen, in_flight, holds):
    run = Killed(Point(operation=1), LINES[:acknowledged])
    if holds:
        expect_acknowledged(seen, run, LINES, of="the lines", in_flight=in_flight)
    else:
        with pytest.raises(ClauseBroken, match="the lines, of a process killed after"):
            expect_acknowledged(seen, run, LINES, of="the lines", in_flight=in_flight)


def test_a_stride_leaves_operations_out_for_a_reason(harness):
    runs, _ = sweep(harness, stride=2, because="all appends are alike")
    assert [seen.hit.number for seen in runs] == [1, 3]


@pytest.mark.parametrize("because", ["", "  "])
def test_a_stride_without_a_reason_is_refused(harness, because):
    with pytest.raises(ValueError, match="says why"):
        sweep(harness, stride=2, because=because)


def test_only_named_operations_are_counted(harness):
    runs, whole = sweep(harness, names=CHANGES - {"append_file"})
    assert (runs, whole.operations) == ([], 0)


def test_a_sweep_that_sees_no_operation_at_all_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"nothing of the scenario went through seams\.files or seams\.connect"):
        sweep(kill_stores.SeamlessHarness(tmp_path))


def test_each_run_is_prepared_by_name(harness, tmp_path):
    prepared = []

    async def prepare(name):
        prepared.append(name)
        (tmp_path / f"{name}.lines").write_text("heather\n", encoding="utf-8")

    async def check(seen):
        assert await stored(harness, seen.name) == ["heather", *seen.acknowledged]

    asyncio.run(killed_at_every_operation(Play(harness, four_lines), check, prepare=prepare))
    assert prepared == [f"before-{number}" for number in range(1, 7)]


def test_a_scenario_without_end_breaks_the_clause(harness):
    with pytest.raises(ClauseBroken, match="an operation after 2 others"):
        sweep(harness, limit=2)


def test_the_first_error_of_two_children_is_raised(harness):
    with pytest.raises(ClauseBroken, match="a rose\nseen:     before-1"):
        sweep(harness, scenario=kill_stores.breaks)


@pytest.mark.parametrize(
    ("seed", "drawn"),
    [
        (1, ["before-4", "after-2", "middle-2", "acknowledgement-1", "acknowledgement-4", "middle-3"]),
        (2, ["acknowledgement-3", "acknowledgement-4", "middle-3", "before-2", "before-4", "after-3"]),
    ],
)
def test_a_seed_draws_points_of_both_kinds(harness, seed, drawn):
    async def nothing_is_lost(seen):
        expect_acknowledged(await stored(harness, seen.name), seen, LINES, of="the lines")

    runs = asyncio.run(killed_at_seeded_points(Play(harness, four_lines), nothing_is_lost, seed=seed, count=6))
    assert [seen.name for seen in runs] == ["whole", *drawn]
    assert [seen.ended for seen in runs] == [True] + [False] * 6


def test_a_seeded_store_that_loses_data_is_seen(tmp_path):
    forgetful = kill_stores.ForgetfulHarness(tmp_path)

    async def nothing_is_lost(seen):
        expect_acknowledged(await stored(forgetful, seen.name), seen, LINES, of="the lines")

    with pytest.raises(ClauseBroken, match="the lines, of a process killed"):
        asyncio.run(killed_at_seeded_points(Play(forgetful, four_lines), nothing_is_lost, seed=1, count=6))


def test_a_scenario_that_acknowledges_nothing_proves_nothing(harness):
    async def check(seen):
        assert seen.ended

    with pytest.raises(ClauseBroken, match="acknowledges steps"):
        asyncio.run(killed_at_seeded_points(Play(harness, kill_stores.acknowledges_nothing), check, seed=1, count=2))
