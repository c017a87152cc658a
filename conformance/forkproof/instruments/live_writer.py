"""A second process that works on the case's store on command: it creates or opens a session, commits, and answers.

The process makes the harness anew on the same directory, so its repository, its connections and its locks are its own.
Every order is answered; a refusal, a death and a silence break the clause, with what the process said.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import IO, Any, Final

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError
from forkproof.instruments.child_process import GRACE, LONGEST_LINE, OUTPUT_SHOWN, child_environment
from forkproof.instruments.kill import harness_target
from forkproof.instruments.write_forms import form_of
from forkproof.reproducer import import_folder
from forkstore.contract.records import SessionStats
from forkstore.contract.store import SessionMetadata
from forkstore.contract.writes import CommitResult, Write

CEILING_SECONDS: Final = 60.0
"""How long one answer may take: a net, as the runner's ceiling is for a case."""
CODE: Final = "from forkproof.instruments.live_writer_child import main; main()"


class LiveWriter:
    """One such process, with one session at most.

    >>> async with LiveWriter.started(store.harness) as writer:
    ...     await writer.open(source.metadata)
    ...     source.follow(await writer.commit(named), named)

    Orders that are gathered leave in one step, so several processes can be let go at once:

    >>> await asyncio.gather(*(writer.create(f"walk-{n}") for n, writer in enumerate(writers)))
    """

    def __init__(self, process: subprocess.Popen[bytes], answers: asyncio.StreamReader, output: IO[bytes]) -> None:
        self._process = process
        self._answers = answers
        self._output = output

    @classmethod
    @asynccontextmanager
    async def started(cls, harness: Any) -> AsyncIterator[LiveWriter]:
        """A process that has made the harness and opened nothing yet. It closes its store when the block ends well, and
        is gone when the block ends in any way.

        Raises HarnessError when the harness cannot be made there.
        """
        directory = getattr(harness, "directory", None)
        if directory is None:
            raise HarnessError(f"{type(harness).__name__} has no `directory`: another process cannot open its store")
        told = {"harness": harness_target(harness), "directory": str(directory)}
        reading, writing = os.pipe()
        with tempfile.TemporaryFile() as output, os.fdopen(reading, "rb", buffering=0) as said:
            process = _started(told, harness, output, writing)
            try:
                async with _listening(said) as answers:
                    writer = cls(process, answers, output)
                    await writer._answer("start")
                    yield writer
                    await writer._order("stop", None)
                _let_go(process)
            finally:
                # Nothing here suspends: no cancellation comes between the process and its end.
                process.kill()
                process.communicate()

    @property
    def process_id(self) -> int:
        """Its number in the operating system."""
        return self._process.pid

    async def create(self, id: str) -> SessionMetadata:
        """Creates a session there, and keeps it open."""
        return SessionMetadata(**await self._order("create", id))

    async def open(self, metadata: SessionMetadata) -> None:
        """Opens a session there, and keeps it open."""
        await self._order("open", asdict(metadata))

    async def commit(self, *writes: Write) -> CommitResult:
        """One commit of these writes to its session."""
        told = await self._order("commit", [form_of(write) for write in writes])
        stats = SessionStats(**told["stats"])
        return CommitResult(told["first_seq"], told["seqs"], told["timestamp"], stats)

    async def commit_often(self, count: int) -> None:
        """So many commits one after the other, each an element of the list `garden.live`, `beds`."""
        await self._order("commit_often", count)

    async def _order(self, word: str, value: object) -> Any:
        if self._process.stdin is None:
            raise TypeError("the process was started without an input")
        try:
            self._process.stdin.write(json.dumps([word, value]).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._broken(word, f"it is gone\n{self._printed()}") from error
        return await self._answer(word)

    async def _answer(self, word: str) -> Any:
        try:
            async with asyncio.timeout(CEILING_SECONDS):
                line = await self._answers.readline()
        except TimeoutError as error:
            raise self._broken(word, f"no answer within {CEILING_SECONDS:g} s") from error
        if not line.endswith(b"\n"):
            self._process.kill()
            raise self._broken(word, f"exit code {self._process.wait()}\n{self._printed()}")
        kind, value = json.loads(line)
        if kind == "harness":
            raise HarnessError(f"in a second process: {value}")
        if kind == "refused":
            raise self._broken(word, value)
        return value

    def _broken(self, word: str, seen: str) -> ClauseBroken:
        return ClauseBroken(f"a second process\nexpected: does the order {word!r}\nseen:     {seen}".rstrip())

    def _printed(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")[-OUTPUT_SHOWN:].strip()


def _started(told: dict[str, Any], harness: Any, output: IO[bytes], report: int) -> subprocess.Popen[bytes]:
    folder = import_folder(type(harness))
    try:
        process = subprocess.Popen(  # noqa: S603 - the kit's own interpreter and code
            [sys.executable, "-c", CODE],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[report],
            env=child_environment([] if folder is None else [folder]),
        )
    finally:
        os.close(report)
    if process.stdin is not None:
        process.stdin.write(json.dumps({**told, "report": report}).encode() + b"\n")
        process.stdin.flush()
    return process


@asynccontextmanager
async def _listening(said: IO[bytes]) -> AsyncIterator[asyncio.StreamReader]:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), said)
    try:
        yield reader
    finally:
        transport.close()


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Waits for a process that has said its last word; one that does not end is killed by the caller."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
