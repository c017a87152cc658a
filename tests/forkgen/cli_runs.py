"""Arguments of the command `forkgen`, and processes that run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from forkgen.cli import main
sys.exit(main())
"""


def make(name: str, *arguments: str, seed: object = 1, size: object = 5) -> list[str]:
    """The arguments that make a session."""
    return ["make", name, "--seed", str(seed), "--size", str(size), *arguments]


def here() -> list[str]:
    """The names in the working directory."""
    return sorted(path.name for path in Path().iterdir())


def start(program: str, *arguments: str, directory: Path, stderr: int = subprocess.PIPE, **variables: str) -> Any:
    """A program that runs beside the test, with the packages that the test has."""
    paths = [str(path.absolute() if path.parts else ROOT) for path in map(Path, sys.path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TERM": "xterm", "COLUMNS": "100"} | variables
    command = [sys.executable, "-c", program, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=directory, env=environment, text=True, stdout=pipe, stderr=stderr)
