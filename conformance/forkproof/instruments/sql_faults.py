"""Faults beneath a store's database: the n-th operation of SQLite, or the n-th opening of a connection, fails, is
short, finds the disk full, is cancelled, or is the last.

`SqlFaults` wraps the function `connect` that a store is given (contract section 2.5), so it serves any store on apsw.
The operations are those of `sql_operations`, of every connection that came through, of the databases it attached and of
their logs and journals. They are made in the store's own threads, and struck there.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar

import apsw

from forkproof.harness import Connect, Mode
from forkproof.instruments import sql_operations
from forkproof.instruments.arming import Faults
from forkproof.instruments.fault_kinds import Fault, Hit, Operation
from forkproof.instruments.sqlite_shim import Shim
from forkproof.instruments.stepping import settle
from forkstore.contract.files import FileErrorCode

T = TypeVar("T")
Loop = asyncio.AbstractEventLoop

PATIENCE_SECONDS: Final = 20.0
"""How long a thread waits for the event loop to hand a cancellation on: a net for a loop that stands still."""
_CODES: Final[dict[FileErrorCode, int]] = {
    "no_space": apsw.SQLITE_FULL,
    "permission_denied": apsw.SQLITE_PERM,
}
_IO_ERRORS: Final = {
    "connect": apsw.SQLITE_CANTOPEN,
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "lock": apsw.SQLITE_IOERR_LOCK,
    "close": apsw.SQLITE_IOERR_CLOSE,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "access": apsw.SQLITE_IOERR_ACCESS,
}


class SqlFaults(Faults):
    """The faults of one case, over every connection that came through what it wrapped.

    >>> faults = SqlFaults()
    >>> repo = SqliteSessionRepo(directory=directory, connect=faults.wrap(open_connection))
    >>> session = await repo.create()
    >>> faults.arm(Short(), names={"write"}, paths=WAL)
    >>> with refused(StoreIOError) as refusal:
    ...     await session.set_name("the pond")
    >>> faults.hit.is_told_by(refusal.error.__cause__)
    True
    >>> faults.release()

    Connections make no checkpoints by themselves behind a commit: SQLite takes no notice when those fail, apsw would
    tell the commit.
    """

    world = "database"
    operations = sql_operations.OPERATIONS
    changes = sql_operations.CHANGES
    are_many = True

    def __init__(self) -> None:
        super().__init__()
        self._shim: Shim | None = None
        self._begun: tuple[tuple[int, int], Hit] | None = None
        """The call of the store's that was struck last, and where it was struck first."""

    def wrap(self, connect: Connect) -> Connect:
        """The function, with faults. All that were wrapped share one count and one plan."""

        def connect_with_faults(path: str, mode: Mode) -> apsw.Connection:
            opened: list[apsw.Connection] = []

            def open_it() -> apsw.Connection:
                with self._registered().as_default():
                    opened.append(connect(path, mode))
                opened[0].wal_autocheckpoint(0)
                return opened[0]

            try:
                return self.at("connect", path, open_it)
            except BaseException:
                # Opened, and then reported as failed: nobody has it who could close it.
                for connection in opened:
                    with contextlib.suppress(apsw.Error):
                        connection.close()
                raise

        return connect_with_faults

    def release(self) -> None:
        """Disarms, and takes the layer beneath SQLite away. What is still open goes on; nothing more can be opened."""
        self.disarm()
        if self._shim is not None:
            self._shim.unregister()
            self._shim = None

    def failure(self, code: FileErrorCode, hit: Hit) -> Exception:
        number = _CODES.get(code, _IO_ERRORS[hit.name])
        return apsw.exception_for(number)

    def at(self, name: str, path: str, act: Callable[[], T], part: Callable[[float], object] | None = None) -> T:
        """Makes an operation, or lets the fault stand in for it, in the thread of the operation."""
        found = self.due(name, path)
        if found is None:
            return act()
        fault, hit = found

        async def do() -> T:
            return act()

        async def do_part(share: float) -> object:
            return None if part is None else part(share)

        loop = self._loop if hit.caller is None else hit.caller.get_loop()
        operation = Operation(
            name,
            path,
            do,
            None if part is None else do_part,
            cancel=partial(_cancel, loop),
            meanwhile=partial(_waited_for, loop),
        )
        try:
            return _at_once(fault.strike(operation, hit))
        except apsw.Error as error:
            self._note(hit, error)
            raise

    def _note(self, hit: Hit, error: apsw.Error) -> None:
        """Remembers what was reported first in a call of the store's on a connection, and what in its wake."""
        call = _call_of_the_store()
        if self._begun is not None and self._begun[0] == call and self._begun[1] in self.hits:
            self._begun[1].followed_by.append(error)
        else:
            self._begun = call, hit

    def _registered(self) -> Shim:
        with self._lock:
            if self._shim is None:
                self._shim = Shim(self.at)
            return self._shim


class Busy(Fault):
    """Another connection is in the way, before anything is done. Where SQLite asks for a lock it asks again."""

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        hit.error = apsw.exception_for(apsw.SQLITE_BUSY)
        raise hit.error


def _at_once(strike: Coroutine[Any, Any, T]) -> T:
    """Runs a strike to its end in this thread. It may let others run, but it can wait for nothing."""
    while True:
        try:
            awaited = strike.send(None)
        except StopIteration as ended:
            value: T = ended.value
            return value
        if awaited is not None:
            strike.close()
            raise RuntimeError("a fault in a database waits by itself: that is for `Operation.meanwhile` to do")


async def _cancel(loop: Loop | None, caller: asyncio.Task[Any] | None) -> None:
    """Cancels the caller from a thread of the store's, and gives it the time to act upon it."""
    if caller is None:
        raise RuntimeError("whom a fault in a database cancels must be said: it runs in a thread of its own")
    if _is_here(loop):
        caller.cancel()
    else:
        await _waited_for(loop, _cancelled(caller))


async def _cancelled(caller: asyncio.Task[Any]) -> None:
    caller.cancel()
    await settle()


async def _waited_for(loop: Loop | None, work: Coroutine[Any, Any, object]) -> object:
    """What the work comes to in the event loop, while this thread stands still."""
    if loop is None or _is_here(loop):
        work.close()
        raise RuntimeError("a fault in a database waits for an event loop: there must be one, in another thread")
    return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE_SECONDS)


def _call_of_the_store() -> tuple[int, int]:
    """Where this thread has left the store's code for SQLite: the frame, and how far it was."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"] in (__name__, Shim.__module__):
        frame = frame.f_back
    return id(frame), -1 if frame is None else frame.f_lasti


def _is_here(loop: Loop | None) -> bool:
    """Whether this is the thread of the event loop."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
