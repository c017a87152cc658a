"""What it costs to generate a session and to write it to a file, as ratios to a plain loop over the same messages.

Run with `python -m forkbench.generation_costs`. The loop builds every message of the recipe `benchmark` and encodes it
with the contract's codec; for the file it also writes the bytes, and what it is set against is the whole command
`forkgen make`, run in this process. Each time is measured against its loop in alternating turns of one run. Every
answer is checked: a lost message ends the run without a figure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from forkgen import Generated, recipe
from forkgen.cli import main as forkgen
from forkstore.contract.codec import encode
from forkstore.contract.records import Record

from .command import run
from .figures import Figure, WrongAnswer
from .rounds import Rounds

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
    """Raises WrongAnswer when a turn makes another count of messages."""
    rounds = Rounds(pairs, "loop", "work")
    for turn in rounds:
        make = work if turn.side == "work" else loop
        with turn.each(entries):
            count = make()
        if count != entries:
            raise WrongAnswer(f"{count} messages were made, not {entries}")
    return Figure(
        name,
        rounds.ratio("work", "loop"),
        bound,
        {
            "work µs per entry": rounds.median_us("work"),
            "loop µs per entry": rounds.median_us("loop"),
        },
    )


def measure(directory: Path, entries: int = 100_000, pairs: int = 7) -> list[Figure]:
    """Both figures; files go to the directory. Raises WrongAnswer."""
    return [generate_cost(entries, pairs), file_cost(directory, entries, pairs)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures and writes them to `-o FILE`. Exit code 0, or 1 when a bound is broken."""
    parser = argparse.ArgumentParser(prog="forkbench.generation_costs", description=__doc__.partition("\n")[0])
    return run(parser, lambda _, directory: measure(directory), arguments)


if __name__ == "__main__":
    sys.exit(main())
