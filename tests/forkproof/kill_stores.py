"""Tiny stores of lines for the tests of the kills, with harnesses and scenarios that a child process can import."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError, Seams, SessionHarness
from forkproof.instruments.kill_child import KillStage
from forkstore.contract.files import Files
from tests.forkproof.plain_files import PlainFiles


class LineStore:
    """Keeps a text of lines per name: what is written is on the disk when `add` returns. A torn line is not read."""

    def __init__(self, directory: Path, files: Files) -> None:
        self.directory = directory
        self.files = files

    def path(self, name: str) -> str:
        """The file of a text."""
        return str(self.directory / f"{name}.lines")

    async def add(self, name: str, line: str) -> None:
        """Adds a line."""
        await self.files.append_file(self.path(name), f"{line}\n".encode())

    async def read(self, name: str) -> list[str]:
        """The complete lines."""
        if not await self.files.exists(self.path(name)):
            return []
        text = (await self.files.read_all(self.path(name))).decode()
        return text.split("\n")[:-1]


class ForgetfulStore(LineStore):
    """Lie: acknowledges a line that it writes together with the next one."""

    waiting = ""

    async def add(self, name: str, line: str) -> None:
        if self.waiting:
            await super().add(name, f"{self.waiting}\n{line}")
        self.waiting = "" if self.waiting else line


class TearingStore(LineStore):
    """Lie: takes a torn line for a line."""

    async def read(self, name: str) -> list[str]:
        text = (await self.files.read_all(self.path(name))).decode() if await self.files.exists(self.path(name)) else ""
        return text.split("\n") if text and not text.endswith("\n") else text.split("\n")[:-1]


class LineHarness(SessionHarness):
    """The right store."""

    name = "lines"
    seams: Iterable[str] = ("fault-injection",)
    durable = True
    store: type[LineStore] = LineStore

    async def open_repo(self, seams: Seams) -> Any:
        """A store on the harness's directory."""
        files = PlainFiles()
        return self.store(self.directory, seams.files(files) if seams.files else files)


class ForgetfulHarness(LineHarness):
    """The store that loses what it acknowledged."""

    store = ForgetfulStore


class TearingHarness(LineHarness):
    """The store that shows what it never acknowledged."""

    store = TearingStore


class SeamlessHarness(LineHarness):
    """Takes no file capability."""

    seams = ()

    async def open_repo(self, seams: Seams) -> Any:
        """A store whose file work nobody sees."""
        return self.store(self.directory, PlainFiles())


class ConfiguredHarness(LineHarness):
    """Its class alone does not make it: it names what does."""

    target = "tests.forkproof.kill_stores:configured"

    def __init__(self, directory: Path, subdirectory: str) -> None:
        super().__init__(directory)
        self.subdirectory = subdirectory

    async def open_repo(self, seams: Seams) -> Any:
        """A store on a directory in the harness's."""
        return self.store(self.directory / self.subdirectory, PlainFiles())


def configured(directory: Path) -> ConfiguredHarness:
    """The one configuration that is used."""
    return ConfiguredHarness(directory, "below")


class BrokenHarness(LineHarness):
    """Opens nothing."""

    async def open_repo(self, seams: Seams) -> Any:
        """Refuses."""
        raise HarnessError("the disk is elsewhere")


async def stored(harness: LineHarness, name: str) -> list[str]:
    """What a fresh store shows."""
    store = await harness.open_repo(Seams())
    lines: list[str] = await store.read(name)
    return lines


LINES = ("tulip", "rose", "daisy", "poppy")


async def four_lines(stage: KillStage) -> None:
    """Adds four lines, one after the other."""
    store: Any = stage.repo
    for line in LINES:
        await store.add(stage.name, line)
        stage.acknowledged(line)


async def lines_of_the_case(stage: KillStage) -> None:
    """Adds the lines that the case asked for, and acknowledges what JSON can say."""
    store: Any = stage.repo
    print("a store may print what it likes", flush=True)
    for line in stage.arguments["lines"]:
        await store.add(stage.name, line)
        stage.acknowledged({"line": line, "lengths": [len(line), None, True]})


async def two_at_once(stage: KillStage) -> None:
    """Two texts grow side by side; their steps are acknowledged as they come."""
    store: Any = stage.repo

    async def grow(text: str) -> None:
        for line in LINES:
            await store.add(f"{stage.name}-{text}", line)
            await asyncio.sleep(0)
            stage.acknowledged([text, line])

    await asyncio.gather(grow("a"), grow("b"))


async def raises(stage: KillStage) -> None:
    """Adds a line, then fails."""
    await four_lines(stage)
    raise LookupError("no such flower")


async def breaks(stage: KillStage) -> None:
    """Sees a broken clause."""
    raise ClauseBroken(f"expected: a rose\nseen:     {stage.name}")


async def leaves_by_itself(stage: KillStage) -> None:
    """A store that ends the process."""
    stage.acknowledged("tulip")
    print("out of petals", file=sys.stderr, flush=True)
    os._exit(3)


async def dies_in_the_middle_of_a_line(stage: KillStage) -> None:
    """Two steps are told, and half of a third."""
    stage.acknowledged("tulip")
    stage.acknowledged("rose")
    os.write(stage.report.descriptor, b'["acknowledged", "dai')
    os.kill(os.getpid(), signal.SIGKILL)


async def never_ends(stage: KillStage) -> None:
    """Tells its process and stays."""
    stage.acknowledged(os.getpid())
    await asyncio.Event().wait()


async def acknowledges_nothing(stage: KillStage) -> None:
    """Adds a line and keeps quiet about it."""
    store: Any = stage.repo
    await store.add(stage.name, "tulip")
