"""From a command line to figures: the same for every room that can be run."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from forkproof.verdict import TargetError

from .figures import Figure

TARGET: Final = "a registered backend, or package.module:Class of a session harness"
"""What a command says of an argument that names a target."""


def run(
    parser: ArgumentParser, measure: Callable[[Namespace, Path], list[Figure]], arguments: Sequence[str] | None
) -> int:
    """Measures in a directory made for it; prints the figures, and writes them to `-o FILE`.

    `measure` gets what the parser has read, and the directory. Exit code 0, 1 when a bound is broken, 2 for a target
    that cannot be found or measured.
    """
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON to this file")
    asked = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as directory:
            figures = measure(asked, Path(directory))
    except TargetError as error:
        print(f"forkbench: {error}", file=sys.stderr)
        return 2
    facts = vars(asked)
    output: Path | None = facts.pop("output")
    for figure in figures:
        print(f"{facts['target']}: {figure}" if "target" in facts else figure)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        shown = [asdict(figure) for figure in figures]
        written = {**facts, "python": sys.version.split()[0], "figures": shown}
        output.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    return 0 if all(figure.kept for figure in figures) else 1
