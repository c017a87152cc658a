"""A tiny store of lines in a database for the tests of the kills, with a harness that a child process can import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from forkproof.harness import Connect, Seams, SessionHarness
from forkproof.instruments.kill_child import KillStage
from tests.forkproof.sql_fault_place import connect

LINES = ("tulip", "rose", "daisy")


class SqlLineStore:
    """Keeps lines in `garden.sqlite`: what is written is stored when `add` returns."""

    def __init__(self, directory: Path, connect: Connect) -> None:
        self._connection = connect(str(directory / "garden.sqlite"), "create")
        self._connection.execute("CREATE TABLE IF NOT EXISTS lines (name TEXT, line TEXT)")

    def add(self, name: str, line: str) -> None:
        """Adds a line."""
        self._connection.execute("INSERT INTO lines VALUES (?, ?)", (name, line))


class SqlLineHarness(SessionHarness):
    """Opens a `SqlLineStore`."""

    kinds = frozenset({"sqlite"})

    async def open_repo(self, seams: Seams) -> Any:
        return SqlLineStore(self.directory, connect if seams.connect is None else seams.connect(connect))


async def three_lines(stage: KillStage) -> None:
    """Adds the lines one after the other."""
    store: Any = stage.repo
    for line in LINES:
        store.add(stage.name, line)
        stage.acknowledged(line)


def stored(directory: Path, name: str) -> list[str]:
    """The lines of one run, read past everything."""
    connection = apsw.Connection(str(directory / "garden.sqlite"))
    try:
        return [line for (line,) in connection.execute("SELECT line FROM lines WHERE name = ?", (name,))]
    finally:
        connection.close()
