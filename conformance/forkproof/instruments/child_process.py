"""A child process of a case: started, heard line by line, and gone when the call ends, whatever ended it.

Lines come through a pipe of their own. A child that dies in the middle of a line has not said that line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

GRACE = 10.0
"""Seconds in which a child that has closed its pipe is gone, before it is killed."""
LONGEST_LINE = 16 * 1024 * 1024
OUTPUT_SHOWN = 2_000


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code (negative for a signal), and the end of what it printed."""

    exit_code: int
    output: str


async def run_child(
    code: str, orders: Mapping[str, Any], hear: Callable[[bytes], bool], *, folders: Iterable[Path], ceiling: float
) -> Ended:
    """Runs Python code in a child and hears its lines until it is gone; a line for which `hear` gives True kills it.

    The child reads the orders as JSON from its standard input: those given, `report`, the descriptor for its lines, and
    `parent`, one that ends when this process does. It imports what this process can, and what the folders hold. Raises
    TimeoutError after `ceiling` seconds.

    >>> heard = []
    >>> say = "import json, os, sys; os.write(json.load(sys.stdin)['report'], b'hello\\n')"
    >>> await run_child(say, {}, lambda line: bool(heard.append(line)), folders=(), ceiling=30)
    Ended(exit_code=0, output='')
    """
    with tempfile.TemporaryFile() as output, _pipe() as (said, report), _pipe() as (parent, _ours):
        told = {**orders, "report": report.fileno(), "parent": parent.fileno()}
        process = _start(code, told, output, (report, parent), folders)
        try:
            report.close()
            parent.close()
            async with asyncio.timeout(ceiling):
                await _listen(said, process, hear)
            exit_code = _gone(process)
        finally:
            # Nothing here suspends: no cancellation comes between a child and its end.
            process.kill()
            process.wait()
        output.seek(0)
        return Ended(exit_code, output.read().decode(errors="replace")[-OUTPUT_SHOWN:].strip())


def _start(
    code: str, orders: Mapping[str, Any], output: IO[bytes], passed: tuple[IO[bytes], ...], folders: Iterable[Path]
) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as told:  # a file, not an argument: there is no limit to what a case passes on
        told.write(json.dumps(orders).encode())
        told.seek(0)
        return subprocess.Popen(  # noqa: S603 - the kit's own interpreter and code
            [sys.executable, "-c", code],
            stdin=told,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[one.fileno() for one in passed],
            env=child_environment(folders),
        )


def child_environment(folders: Iterable[Path]) -> dict[str, str]:
    """The environment of a child that imports what this process can, and what the folders hold."""
    here = [entry or str(Path.cwd()) for entry in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*here, *map(str, folders)]))}


async def _listen(said: IO[bytes], process: subprocess.Popen[bytes], hear: Callable[[bytes], bool]) -> None:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), said
    )
    try:
        while (line := await reader.readline()).endswith(b"\n"):
            if hear(line[:-1]):
                process.kill()
    finally:
        transport.close()


def _gone(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(writing, "wb", buffering=0) as writer:
        yield reader, writer
