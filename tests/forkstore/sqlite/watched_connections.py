"""Connections that are counted, and that do something, or fail, at a statement of a test's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from forkstore.sqlite.connect import Mode, open_connection


class WatchedConnections:
    """`connect` is for the repository's option of that name.

    `opened` lists path and mode of every connection. `before` is called before every statement with its text.
    """

    def __init__(self) -> None:
        self.opened: list[tuple[str, Mode]] = []
        self.failed: str | None = None
        """The statement that was last made to fail."""
        self.before: Callable[[str], object] = lambda _: None
        self._connections: list[apsw.Connection] = []
        self._statements = 0
        self._armed_at: int | None = None
        self._act: Callable[[], object] = lambda: None

    def connect(self, path: str, mode: Mode) -> apsw.Connection:
        connection = open_connection(path, mode)
        self.opened.append((Path(path).name, mode))
        self._connections.append(connection)
        connection.exec_trace = self._trace
        return connection

    def at(self, statement: int, act: Callable[[], object]) -> None:
        """Calls `act` before the n-th statement from now on."""
        self._statements, self._armed_at, self._act = 0, statement, act

    def fail_at(self, statement: int) -> None:
        """The n-th statement from now on raises apsw.FullError."""
        self.at(statement, _fail)

    def disarm(self) -> None:
        self._armed_at = None

    @property
    def newest(self) -> apsw.Connection:
        """The connection that was opened last."""
        return self._connections[-1]

    @property
    def still_open(self) -> int:
        """How many connections nobody has closed."""
        return sum(_is_open(connection) for connection in self._connections)

    def _trace(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        self.before(statement)
        self._statements += 1
        if self._statements == self._armed_at:
            self._armed_at, self.failed = None, statement
            self._act()
        return True


def _fail() -> None:
    raise apsw.FullError("no room")


def _is_open(connection: apsw.Connection) -> bool:
    try:
        connection.total_changes()
    except apsw.ConnectionClosedError:
        return False
    return True


@contextmanager
def plain(path: Path) -> Iterator[apsw.Connection]:
    """A connection of the test's own, with SQLite's defaults."""
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        with suppress(apsw.Error):
            connection.close()
