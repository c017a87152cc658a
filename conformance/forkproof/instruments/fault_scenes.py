"""Faults in which more happens than one failure: slow files, a case that looks on or acts meanwhile, a disk that is
gone for good. Files that are only slow, or only looked at, do what they always do. Databases are never slow: their
thread is waited for anyway, so every call on them suspends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from forkproof.instruments.fault_kinds import Fault, Hit, Operation
from forkstore.contract.files import FileErrorCode

T = TypeVar("T")
Look = Callable[[Hit, Literal["before", "after"]], object]


@dataclass(frozen=True)
class Passes(Fault):
    """Nothing happens to the operation."""

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        return await operation.do()


@dataclass(frozen=True)
class Slow(Fault):
    """Every operation suspends before its work and after it, so that each can be cancelled without its work and behind
    it; the one with the number `at`, if it has that name (None: whatever it is), meets `trouble` in place of its work.

    >>> async def slowly() -> Session:
    ...     store.faults.arm(Slow())
    ...     return await store.repo.create(id="new", **store.create_options)
    >>> await cancelled_at_every_suspension(slowly, nothing_is_left)
    """

    trouble: Fault = Passes()
    at: int = 0
    name: str | None = None

    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        await asyncio.sleep(0)
        is_due = hit.number == self.at and self.name in (None, operation.name)
        result = await (self.trouble.strike(operation, hit) if is_due else operation.do())
        await asyncio.sleep(0)
        return result


@dataclass(frozen=True)
class Meanwhile(Fault):
    """The case acts while the operation is asked for and not begun; what happens to it then is up to `then`.

    >>> async def somebody_was_faster(hit: Hit) -> None:
    ...     Path(hit.target).write_bytes(b"mine")
    >>> faults.arm(Meanwhile(somebody_was_faster), names={"publish_file"})
    """

    act: Callable[[Hit], Coroutine[Any, Any, object]]
    then: Fault = Passes()

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        await operation.meanwhile(self.act(hit))
        return await self.then.strike(operation, hit)


@dataclass(frozen=True)
class Watched(Fault):
    """The case looks on, before and after every operation: `look` raises when it does not like what it sees."""

    look: Look

    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        self.look(hit, "before")
        result = await operation.do()
        self.look(hit, "after")
        return result


@dataclass(frozen=True)
class Gone(Fault):
    """The first operation that is struck meets `first`, and from then on every other fails: whatever a store does about
    the first failure fails too.
    """

    first: Fault
    code: FileErrorCode = "unknown"

    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        if hit.first:
            return await self.first.strike(operation, hit)
        raise hit.failure(self.code)
