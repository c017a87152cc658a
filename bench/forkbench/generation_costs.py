"""What it costs to generate a session and to write it to a file, as ratios to a plain loop over the same messages.

Run with `python -m forkbench.generation_costs`. The loop builds every message of the recipe `benchmark` and encodes it
with the contract's codec; for the file it also writes the bytes, and what it is set against is the whole command
`forkgen make`, run in this process. Each time is measured against its loop in alternating
turns of one run, because machines are noisy and ratios are less so; the ratio is the median over the pairs. Every
answer is checked: a lost message ends the run without a figure.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from statistics import median
from time import perf_counter_ns

from forkbench.session_costs import Figure, WrongAnswer
from forkgen import Generated, recipe
from forkgen.cli import main as forkgen
from forkstore.contract.codec import encode
from forkstore.contract.records import Record

GENERATE_BOUND = 2.0
"""Making the transactions, against the plain loop: at least half as fast."""
FILE_BOUND = 3.0
"""Making the session file, against the plain loop that writes its bytes."""
LANE_WRITES = 3
"""Writes of the recipe beside its entries: tip, configuration and state."""


def message(index: int) -> Record:
    """The message of one entry of the recipe, as anyone would build it."""
    text = f"benchmark-entry-{index:08d}:".ljust(256, "x")
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_650_000_000_000}


def generate_cost(entries: int = 100_000, pairs: int = 7) -> Figure:
    """The transactions, made and dropped. Raises WrongAnswer when one is lost."""
    generated = recipe("benchmark")(0, entries)

    def loop() -> int:
        return sum(bool(encode(message(index), "message")) for index in range(entries))

    def generate() -> int:
        return sum(map(len, generated)) - LANE_WRITES

    return _figure("benchmark transactions / plain loop", loop, generate, GENERATE_BOUND, entries, pairs)


def file_cost(directory: Path, entries: int = 100_000, pairs: int = 7) -> Figure:
    """The session file, made by the command. Raises WrongAnswer when an entry is lost."""
    generated = recipe("benchmark")(0, entries)
    plain, session = directory / "plain.jsonl", directory / "session.jsonl"

    def loop() -> int:
        with plain.open("wb") as file:
            file.writelines(encode(message(index), "message") + b"\n" for index in range(entries))
        return entries

    def make() -> int:
        request = ["make", "benchmark", "--seed", "0", "--size", str(entries), "-o", str(session), "--force"]
        with redirect_stdout(StringIO()):
            code = forkgen(request)
        if code:
            raise WrongAnswer(f"forkgen ended with exit code {code}")
        return entries

    figure = _figure("benchmark session file / plain loop with its bytes", loop, make, FILE_BOUND, entries, pairs)
    _check_file(session, generated)
    return figure


def _check_file(path: Path, generated: Generated) -> None:
    with path.open("rb") as file:
        next(file)
        records = [record for line in file for record in _records(json.loads(line))]
    ids = [record["id"] for record in records if record["kind"] == "entry"]
    if ids != list(generated.expectation.entry_ids()):
        raise WrongAnswer(f"the file holds {len(ids)} entries, not the {generated.expectation.entry_count} made")


def _records(line: Record | list[Record]) -> list[Record]:
    """The records of a transaction; one alone stands for itself."""
    return line if isinstance(line, list) else [line]


def _figure(
    name: str, loop: Callable[[], int], work: Callable[[], int], bound: float, entries: int, pairs: int
) -> Figure:
    times = [_pair(loop, work, entries, work_first=bool(turn % 2)) for turn in range(pairs)]
    return Figure(
        name,
        median(work_ns / loop_ns for loop_ns, work_ns in times),
        bound,
        {
            "work µs per entry": median(work_ns for _, work_ns in times) / entries / 1_000,
            "loop µs per entry": median(loop_ns for loop_ns, _ in times) / entries / 1_000,
        },
    )


def _pair(loop: Callable[[], int], work: Callable[[], int], entries: int, *, work_first: bool) -> tuple[int, int]:
    """Nanoseconds of one turn of each, with the garbage collector off. Raises WrongAnswer for another count."""
    spent = {}
    for turn in (work, loop) if work_first else (loop, work):
        gc.collect()
        gc.disable()
        begun = perf_counter_ns()
        count = turn()
        spent[turn] = perf_counter_ns() - begun
        gc.enable()
        if count != entries:
            raise WrongAnswer(f"{count} messages were made, not {entries}")
    return spent[loop], spent[work]


def measure(directory: Path, entries: int = 100_000, pairs: int = 7) -> list[Figure]:
    """Both figures; files go to the directory. Raises WrongAnswer."""
    return [generate_cost(entries, pairs), file_cost(directory, entries, pairs)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, or 1 when a bound is broken."""
    parser = argparse.ArgumentParser(prog="forkbench.generation_costs", description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON to this file")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        figures = measure(Path(directory))
    for figure in figures:
        parts = ", ".join(f"{name} {value:,.2f}" for name, value in figure.details.items())
        verdict = "kept" if figure.kept else "BROKEN"
        print(f"{figure.name}: {figure.value:,.3f} (bound {figure.bound:,g}: {verdict}; {parts})")
    if asked.output is not None:
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        written = {"python": sys.version.split()[0], "figures": [asdict(figure) for figure in figures]}
        asked.output.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
