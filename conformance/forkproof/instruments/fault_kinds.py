"""What can go wrong with one operation of a store: it fails before or after its work, or halfway, the disk is full, the
caller is cancelled, or the process dies.

A kind is a value. `FileFaults` and `SqlFaults` decide which operation it strikes; a kind only says what happens there.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from forkproof.instruments import sql_operations
from forkproof.instruments.stepping import settle
from forkstore.contract.files import FileError, FileErrorCode

T = TypeVar("T")
When = Literal["before", "middle", "after"]

CHANGES = frozenset({"append_file", "write_file", "truncate_file"})
"""The file operations that can be done in part: `Short`, and death in the middle, leave a part of them behind."""
TAKES_ROOM = frozenset({"append_file", "write_file", "make_dir", "rename_file", "publish_file"})
"""The file operations that a full disk refuses. Cutting and removing give room back, and go on."""
OPERATIONS = (
    CHANGES
    | TAKES_ROOM
    | {"exists", "file_info", "list_dir", "remove_dir", "read_bytes", "read_all", "open_line_reader"}
    | {"read_line", "close", "remove_file", "sync_file", "sync_dir"}
)
"""Every file operation that is counted: the coroutines of the capability, and those of its line readers."""
KILLED = 86
"""Exit code of a process that `Kill` has ended."""


def _file_error(code: FileErrorCode, hit: Hit) -> Exception:
    return FileError(code, hit.path)


@dataclass(eq=False)
class Hit:
    """The operation that a fault struck: its number since the arming, its name and its paths."""

    number: int
    name: str
    path: str
    target: str | None = None
    """The second path of a rename or a publish."""
    world: str = "file"
    """Whether it is a `file` or a `database` operation."""
    error: Exception | None = None
    """The error that was reported: the `__cause__` that a store's own error has to carry (S-ERR-02)."""
    code: FileErrorCode | None = None
    """What it says."""
    followed_by: list[BaseException] = field(default_factory=list, repr=False)
    """What was reported in its wake inside one and the same call of a database: of these only the last comes out."""
    thread: int = 0
    """The thread in which it was made."""
    first: bool = True
    """Whether nothing was struck before it: a full disk strikes again and again."""
    caller: asyncio.Task[Any] | None = field(default=None, repr=False)
    """The task that `Cancel` cancels; None for the one that makes the operation."""
    errors: Callable[[FileErrorCode, Hit], Exception] = field(default=_file_error, repr=False)
    """Makes the error of a code."""

    def __str__(self) -> str:
        target = f" → {self.target}" if self.target else ""
        return f"{self.world} operation {self.number}, {self.name} {self.path}{target}"

    def is_told_by(self, error: BaseException | None) -> bool:
        """Whether an error is the one that was reported here; SQLite may put another of the same class in its place."""
        if error is None or self.error is None:
            return False
        is_like_it = self.world == "database" and type(error) is type(self.error)
        return is_like_it or any(error is one for one in (self.error, *self.followed_by))

    def failure(self, code: FileErrorCode) -> Exception:
        """The error to report from here."""
        self.code, self.error = code, self.errors(code, self)
        return self.error


async def cancel_in_place(caller: asyncio.Task[Any] | None) -> None:
    """Raises in here when this is the caller's own task. Otherwise the caller gets the time to act upon it: a store may
    do its file work in a task that outlives the one that asked for it.
    """
    task = caller if caller is not None else asyncio.current_task()
    if task is None:
        raise RuntimeError("a file call outside of any task cannot be cancelled")
    task.cancel()
    await settle()


async def in_place(work: Coroutine[Any, Any, object]) -> object:
    """Waits for it here."""
    return await work


@dataclass(frozen=True)
class Operation(Generic[T]):
    """One operation: `do` makes it, `part` makes a share (0 to 1) of it where that is possible."""

    name: str
    path: str
    do: Callable[[], Awaitable[T]]
    part: Callable[[float], Awaitable[object]] | None = None
    target: str | None = None
    cancel: Callable[[asyncio.Task[Any] | None], Awaitable[None]] = cancel_in_place
    """Cancels the caller from where the operation is made."""
    meanwhile: Callable[[Coroutine[Any, Any, object]], Awaitable[object]] = in_place
    """Waits for work of the case from where the operation is made."""


class Fault(ABC):
    """What happens to an operation that is struck.

    >>> faults.arm(Short(share=0.25, code="unknown"), at=3, names={"append_file"})
    """

    names: ClassVar[frozenset[str] | None] = None
    """The operations that it can strike unless the arming says otherwise; None for all."""
    lasting: ClassVar[bool] = False
    """Whether it strikes every later operation too."""

    @abstractmethod
    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        """Stands in for the operation: gives its value, or raises what whoever asked for it is to see."""


@dataclass(frozen=True)
class Fail(Fault):
    """Fails before anything is done."""

    code: FileErrorCode = "unknown"

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        raise hit.failure(self.code)


@dataclass(frozen=True)
class FailAfter(Fault):
    """Does everything, and reports a failure all the same: an error that came too late, or from a remote disk."""

    code: FileErrorCode = "unknown"

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        await operation.do()
        raise hit.failure(self.code)


@dataclass(frozen=True)
class Short(Fault):
    """Does a share of a change (0 for nothing, 1 for all of its bytes), then fails; fails at once elsewhere."""

    share: float = 0.5
    code: FileErrorCode = "unknown"

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        if operation.part is not None:
            await operation.part(self.share)
        raise hit.failure(self.code)


@dataclass(frozen=True)
class NoSpace(Fault):
    """The disk becomes full in the middle of an operation, and stays full until `Faults.room()`."""

    share: float = 0.5

    names: ClassVar[frozenset[str] | None] = TAKES_ROOM | sql_operations.TAKES_ROOM
    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        if operation.part is not None and hit.first:
            await operation.part(self.share)
        raise hit.failure("no_space")


@dataclass(frozen=True)
class Cancel(Fault):
    """Cancels the caller inside the operation, before or after the work was done.

    After: the thread that did the work could not be called back, which is how cancelled calls really end.
    """

    when: Literal["before", "after"] = "before"

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        if self.when == "before":
            await operation.cancel(hit.caller)
            return await operation.do()
        try:
            return await operation.do()
        finally:
            await operation.cancel(hit.caller)


@dataclass(frozen=True)
class Kill(Fault):
    """Ends the process there, without any clean-up, with the exit code `KILLED`.

    `last_words` is called with the hit just before; `forkproof.instruments.kill` makes such a fault in a child process.
    """

    last_words: Callable[[Hit], object]
    when: When = "before"
    share: float = 0.5

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        try:
            if self.when == "middle" and operation.part is not None:
                await operation.part(self.share)
            if self.when == "after":
                await operation.do()
        finally:  # death comes whatever the operation came to
            self.last_words(hit)
            os._exit(KILLED)
