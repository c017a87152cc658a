"""The figures of generating: shapes, checked answers, exit codes. How fast this machine is, no test asks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from forkbench import generation_costs
from forkbench.figures import Figure, WrongAnswer
from forkbench.generation_costs import file_cost, generate_cost, main, message
from forkgen import recipe
from forkgen.commands import make_file
from forkgen.jsonl import write_session
from forkgen.recipes.benchmark import Benchmark


def test_the_loop_builds_the_messages_of_the_recipe() -> None:
    entries = list(recipe("benchmark")(0, 3).expectation.entries())
    assert [entry["message"] for entry in entries] == [message(index) for index in range(3)]


@pytest.mark.parametrize("entries", [251, 300])
def test_both_costs_are_measured(tmp_path: Path, entries: int) -> None:
    generate, file = generate_cost(entries, pairs=2), file_cost(tmp_path, entries, pairs=2)
    assert (generate.bound, file.bound) == (2, 3)
    for figure in (generate, file):
        assert figure.value > 0
        assert set(figure.details) == {"work µs per entry", "loop µs per entry"}


def test_a_lost_entry_gives_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Benchmark.transactions
    monkeypatch.setattr(Benchmark, "transactions", lambda self: iter([*written(self)][1:]))
    with pytest.raises(WrongAnswer, match="50 messages were made, not 300"):
        generate_cost(300, pairs=1)


def test_an_entry_that_is_lost_on_its_way_to_the_file_gives_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loses(path: Path, transactions: Iterable[Any], **header: Any) -> None:
        write_session(path, [*transactions][1:], **header)

    monkeypatch.setattr(make_file, "write_session", loses)
    with pytest.raises(WrongAnswer, match="the file holds 50 entries"):
        file_cost(tmp_path, 300, pairs=1)


def test_a_command_that_fails_gives_no_figure(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").mkdir()
    with pytest.raises(WrongAnswer, match="exit code 2"):
        file_cost(tmp_path, 300, pairs=1)


@pytest.mark.parametrize(("value", "code", "word"), [(1.5, 0, "kept"), (2.5, 1, "BROKEN")])
def test_the_figures_are_printed_and_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    value: float,
    code: int,
    word: str,
) -> None:
    monkeypatch.setattr(generation_costs, "measure", lambda _: [Figure("work / loop", value, 2.0, {"work µs": 3.0})])
    written = tmp_path / "new" / "costs.json"
    assert main(["-o", str(written)]) == code
    assert capsys.readouterr().out == f"work / loop: {value:.3f} (bound 2: {word}; work µs 3.00)\n"
    (figure,) = json.loads(written.read_text())["figures"]
    assert figure["value"] == value
