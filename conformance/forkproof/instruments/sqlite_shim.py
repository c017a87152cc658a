"""A layer between SQLite and the operating system, as a VFS of its own: every operation goes past `at`.

A store opens its connections by itself, and SQLite fixes the VFS of a connection when it is opened. So the layer is the
default VFS while a store's `connect` runs, and only then; whatever that connection opens later, its log, its journal,
a database that it attaches, goes through the layer too. `connect` may run in several threads at once: the default goes
back when the last of them has ended. Connections that are opened beside by somebody else name `BASE_VFS` to stay out.

Nothing is really synced: no test cuts the power, and what a killed process has written is there.

Shared memory and its locks are not seen: they stay with the base. So a busy database needs a real second connection.
Nor is what SQLite does not wait to hear of: a lock that is given back, the closing of a log or journal, and the putting
away of a log when the last connection is closed.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

import apsw

T = TypeVar("T")

BASE_VFS: Final = apsw.vfs_names()[0]
"""The VFS that is the default of this process without any layer."""
_NUMBERS: Final = itertools.count(1)
_LOCK: Final = threading.Lock()
_defaults: list[str] = []
"""The layers that are asked for as the default right now, the newest last."""


class At(Protocol):
    """Makes an operation by `act`, or something in its place; `part` makes a share (0 to 1) of it."""

    def __call__(
        self, name: str, path: str, act: Callable[[], T], part: Callable[[float], object] | None = None
    ) -> T: ...


class _Untouched:
    """Makes every operation as it is."""

    def __call__(self, name: str, path: str, act: Callable[[], T], part: object = None) -> T:
        return act()


class Shim(apsw.VFS):
    """One layer, under a name of its own.

    >>> shim = Shim(at)
    >>> with shim.as_default():
    ...     connection = apsw.Connection(path)
    >>> shim.unregister()

    An exception that `at` raises comes out of the call of the connection that asked for the operation; as a rule it is
    the same object. Connections that are open when it is unregistered go on.
    """

    _at: At = _Untouched()  # for connections that nobody closed: the collector takes attributes first

    def __init__(self, at: At) -> None:
        self.name = f"forkproof-shim-{next(_NUMBERS)}"
        self._at = at
        self._logs = _Logs()
        super().__init__(self.name, BASE_VFS)

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """What is opened meanwhile without naming a VFS, in any thread, is opened through this one."""
        with _LOCK:
            _defaults.append(self.name)
            apsw.set_default_vfs(self.name)
        try:
            yield
        finally:
            with _LOCK:
                _defaults.remove(self.name)
                apsw.set_default_vfs(_defaults[-1] if _defaults else BASE_VFS)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = _path(name)
        opened: list[ShimFile] = []

        def open_it() -> ShimFile:
            opened.append(ShimFile(self._at, self._logs, path, name, flags))
            return opened[0]

        try:
            return self._at("open", path, open_it)
        except BaseException:
            # Opened, and then reported as failed: SQLite will not close it.
            for file in opened:
                file.let_go()
            raise

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        def delete() -> None:
            super(Shim, self).xDelete(filename, syncdir)

        if self._logs.are_put_away(filename):
            delete()
        else:
            self._at("delete", filename, delete)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return self._at("access", pathname, lambda: super(Shim, self).xAccess(pathname, flags))


class ShimFile(apsw.VFSFile):
    """One open file; its shared memory is the base's."""

    _at: At = _Untouched()
    _is_closed = True

    def __init__(self, at: At, logs: _Logs, path: str, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(BASE_VFS, name, flags)
        self._at = at
        self._logs = logs
        self._path = path
        self._is_database = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        self._is_log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        self._is_closed = False
        if self._is_log:
            logs.opened(path)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        return self._made("read", lambda: super(ShimFile, self).xRead(amount, offset))

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        write = super().xWrite
        self._made(
            "write",
            lambda: write(data, offset),
            lambda share: write(bytes(data)[: int(len(data) * share)], offset),
        )

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        truncate, size = super().xTruncate, super().xFileSize
        self._made(
            "truncate",
            lambda: truncate(newsize),
            lambda share: truncate(size() + int((newsize - size()) * share)),
        )

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._made("sync", lambda: None)

    def xFileSize(self) -> int:  # noqa: N802
        return self._made("size", lambda: super(ShimFile, self).xFileSize())

    def xLock(self, level: int) -> None:  # noqa: N802
        if level == apsw.SQLITE_LOCK_EXCLUSIVE and self._logs.locked(self._path):
            try:
                super().xLock(level)
            except apsw.Error as error:
                # A connection that only reads cannot put a log away: SQLite leaves it. This one error is not raised.
                raise apsw.BusyError from error
        else:
            self._made("lock", lambda: super(ShimFile, self).xLock(level))

    def xUnlock(self, level: int) -> None:  # noqa: N802
        super().xUnlock(level)
        self._logs.unlocked(self._path)

    def xClose(self) -> None:  # noqa: N802
        try:
            if self._is_database:
                self._at("close", self._path, self.let_go)
        finally:
            # An operating system lets go of a file even when it reports an error.
            self.let_go()

    def let_go(self) -> None:
        """Closes it, once."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._is_log:
            self._logs.closed(self._path)
        self._logs.unlocked(self._path)
        super().xClose()

    def _made(self, name: str, act: Callable[[], T], part: Callable[[float], object] | None = None) -> T:
        return act() if self._logs.are_put_away(self._path) else self._at(name, self._path, act, part)


class _Logs:
    """Which databases put their write-ahead log away right now, as the last connection does when it is closed.

    SQLite takes no notice of what fails there: the log stays, and is read by whoever comes next. An exception of the
    layer would come out of the closing all the same, so nothing is struck while it goes on.
    """

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._put_away: set[str] = set()

    def opened(self, log: str) -> None:
        """A log was opened."""
        self._open[_database(log)] += 1

    def closed(self, log: str) -> None:
        """A log was closed."""
        self._open[_database(log)] -= 1

    def locked(self, database: str) -> bool:
        """A database is locked for one connection alone: gives whether it has a log, which is put away then."""
        has_log = self._open[database] > 0
        if has_log:
            self._put_away.add(database)
        return has_log

    def unlocked(self, database: str) -> None:
        """It is not locked any more."""
        self._put_away.discard(database)

    def are_put_away(self, path: str) -> bool:
        """Whether that goes on for the database or the log at this path."""
        return bool(self._put_away) and _database(path) in self._put_away


def _database(path: str) -> str:
    return path.removesuffix("-wal")


def _path(name: str | apsw.URIFilename | None) -> str:
    """The path that SQLite names; empty for a temporary file, which has none."""
    return name.filename() if isinstance(name, apsw.URIFilename) else name or ""
