"""Races keep the order of first steps, and a fork that never reaches its gate breaks the clause instead of waiting."""

from __future__ import annotations

import asyncio

import pytest

from forkproof.expect import ClauseBroken
from forkproof.instruments.gates import GateProbe
from forkproof.instruments.racing import ended, raced, words
from forkstore import MemorySessionRepo
from forkstore.contract.errors import SessionExists
from forkstore.contract.forks import TreeFork


def test_first_steps_come_in_the_order_of_the_calls() -> None:
    steps: list[int] = []

    async def call(number: int) -> int:
        steps.append(number)
        await asyncio.sleep(0)
        steps.append(number + 10)
        return number

    async def race() -> list[int]:
        return [ending.value for ending in await raced(*(call(number) for number in range(3)))]

    assert asyncio.run(race()) == [0, 1, 2]
    assert steps == [0, 1, 2, 10, 11, 12]


def test_errors_are_endings() -> None:
    async def race() -> list[str]:
        repo = MemorySessionRepo()
        endings = await raced(repo.create(id="s"), repo.create(id="s"))
        again = await ended(repo.create(id="s"))
        assert isinstance(again.error, SessionExists)
        return words([*endings, again])

    assert asyncio.run(race()) == ["returned", "SessionExists", "SessionExists"]


def test_a_fork_that_passes_its_gate_by_is_told_at_once() -> None:
    async def fork_without_a_probe() -> None:
        gate = GateProbe().park("before_publish")
        repo = MemorySessionRepo()
        source = await repo.create()
        fork = asyncio.create_task(repo.fork(source.metadata, TreeFork()))
        await gate.reached_by(fork)

    with pytest.raises(ClauseBroken, match="the fork awaits before_publish"):
        asyncio.run(fork_without_a_probe())
