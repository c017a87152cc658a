"""A child dies beneath its database, and what it acknowledged is there."""

import asyncio

import pytest

from forkproof.instruments.fault_kinds import CHANGES
from forkproof.instruments.kill import Play, Point, killed
from forkproof.instruments.kill_sweep import expect_acknowledged, killed_at_every_operation
from forkproof.instruments.sql_operations import CHANGES as SQL_CHANGES
from forkproof.instruments.sql_operations import WAL
from tests.forkproof.sql_kill_store import LINES, SqlLineHarness, stored, three_lines

pytestmark = pytest.mark.one_python
BOTH_WORLDS = tuple(sorted(CHANGES | SQL_CHANGES))


@pytest.fixture
def harness(tmp_path):
    made = SqlLineHarness(tmp_path)
    asyncio.run(killed(Play(made, three_lines), Point()))
    return made


@pytest.mark.parametrize("when", ["before", "middle", "after"])
def test_it_dies_in_the_operation(harness, tmp_path, when):
    point = Point(operation=4, when=when, names=BOTH_WORLDS, paths=WAL)
    run = asyncio.run(killed(Play(harness, three_lines), point))
    assert (run.hit.number, run.hit.name, run.hit.world) == (4, "write", "database")
    assert run.hit.path == str(tmp_path / "garden.sqlite-wal")
    told = len(run.acknowledged)
    assert 0 < told < 3
    assert stored(tmp_path, run.name)[:told] == list(LINES[:told])


def test_every_run_of_operations_is_met_once(harness, tmp_path):
    seen = []

    async def nothing_is_lost(run):
        seen.append(run.hit.name)
        expect_acknowledged(stored(tmp_path, run.name), run, LINES, of="the lines")

    whole = asyncio.run(
        killed_at_every_operation(
            Play(harness, three_lines), nothing_is_lost, when="after", names={"connect", "write"}, sparse=True
        )
    )
    assert (whole.acknowledged, whole.operations, len(seen)) == (LINES, len(seen), len(seen))
    assert seen[0] == "connect"
    assert "write" in seen
