"""The cost figures: shapes, checked answers, exit codes. How fast this machine is, no test asks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from forkbench import session_costs
from forkbench.figures import Figure, WrongAnswer
from forkbench.session_costs import append_cost, fork_costs, main
from forkstore import MemorySessionRepo
from forkstore.memory.storage import MemoryStorage


def test_an_append_is_measured_against_the_floor_loop() -> None:
    figure = asyncio.run(append_cost(MemorySessionRepo(), {}, pairs=2, block=10))
    assert figure.value > 0
    assert figure.bound == 6
    assert set(figure.details) == {"append µs", "floor µs"}


def test_a_fork_is_measured_in_time_and_memory() -> None:
    time, memory = asyncio.run(fork_costs(MemorySessionRepo(), {}, entries=300, pairs=2))
    assert time.value > 0
    assert 300 < time.details["bytes per entry"] < 360
    assert memory.details["peak bytes"] >= memory.details["kept bytes"] > 0


class LosesCommits(MemorySessionRepo):
    """Acknowledges a message that it does not count."""

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def get_stats(self) -> Any:
            stats = await super().get_stats()
            return type(stats)(max(0, stats.message_count - 1), stats.usage)


class ForksNothing(MemorySessionRepo):
    """Gives a fork without the entries."""

    def fork_state(self, source: Any, options: Any) -> Any:
        empty, _ = super().fork_state(source, options)
        return type(empty)(), 0


@pytest.mark.parametrize("repo", [LosesCommits, ForksNothing])
def test_a_wrong_answer_gives_no_figure(repo: type[MemorySessionRepo]) -> None:
    async def measured() -> None:
        await append_cost(repo(), {}, pairs=1, block=3)
        await fork_costs(repo(), {}, entries=10, pairs=1)

    with pytest.raises(WrongAnswer):
        asyncio.run(measured())


def test_the_figures_are_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def measured(*_: object) -> list[Figure]:
        return [Figure("work / least work", 1.5, 2.0, {"work µs": 3.0})]

    monkeypatch.setattr(session_costs, "measure", measured)
    written = tmp_path / "new" / "costs.json"
    assert main(["memory", "-o", str(written)]) == 0
    assert capsys.readouterr().out == "memory: work / least work: 1.500 (bound 2: kept; work µs 3.00)\n"
    (figure,) = json.loads(written.read_text())["figures"]
    assert figure == {"name": "work / least work", "value": 1.5, "bound": 2.0, "details": {"work µs": 3.0}}


def test_a_broken_bound_fails_the_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured(*_: object) -> list[Figure]:
        return [Figure("work / least work", 2.5, 2.0, {})]

    monkeypatch.setattr(session_costs, "measure", measured)
    assert main(["memory"]) == 1
    assert "BROKEN" in capsys.readouterr().out


def test_an_unknown_target_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memroy"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
