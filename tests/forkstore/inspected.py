"""The command `forkstore inspect`, run in the process of a test or beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from forkstore.inspect import main

ROOT = Path(__file__).parents[2]
HEADER = b'{"v":4,"kind":"header","id":"walk-1","storageVersion":1,"createdAt":1760000000123,"cwd":"/srv/garden"}\n'
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from forkstore.inspect import main
sys.exit(main())
"""


def run(*arguments: object) -> tuple[object, str, str]:
    """Exit code, stdout and stderr of the command with these arguments."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code
    return code, out.getvalue(), err.getvalue()


def inspected(path: Path) -> dict[str, Any]:
    """The JSON document of a file; its exit code says whether there are findings, and nothing else is said."""
    code, out, err = run("inspect", path, "--json")
    document: dict[str, Any] = json.loads(out)
    assert (code, err) == (1 if document["errors"] + document["notes"] else 0, "")
    return document


def file_of(directory: Path, *lines: bytes, header: bytes = HEADER) -> Path:
    """A file of a header and lines."""
    path = directory / "walk.jsonl"
    path.write_bytes(header + b"".join(line + b"\n" for line in lines))
    return path


def file_of_empty_lines(directory: Path, count: int) -> Path:
    """A file with so many lines that hold no record: three bytes each, and all the work that a line is."""
    path = directory / "walk.jsonl"
    path.write_bytes(HEADER + b"[]\n" * count)
    return path


def start(*arguments: object, stderr: int = subprocess.PIPE, **variables: str) -> subprocess.Popen[str]:
    """The command beside the test, with the packages that the test has."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=pipe, stderr=stderr)


def drained(terminal: int) -> str:
    """What is left to read of a terminal whose other side is closed; closes it."""
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 1000)
        except OSError:
            chunk = b""
        if not chunk:
            os.close(terminal)
            return text.decode()
        text += chunk
