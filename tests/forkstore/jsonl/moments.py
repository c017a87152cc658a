"""File work in which something happens: others change files between two calls, and calls take their time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, ParamSpec, TypeVar

from forkproof.instruments.fault_kinds import OPERATIONS, Fail, Fault, Hit, Operation
from forkproof.instruments.file_faults import FileFaults
from forkstore.contract.files import FileError, Files
from forkstore.jsonl.files import LocalFiles

P = ParamSpec("P")
T = TypeVar("T")
LOOKS = OPERATIONS - {"rename_file", "publish_file"}
"""All operations but those by which a file appears: nobody can look at a file in the same moment as he replaces it."""


@dataclass(frozen=True)
class Meanwhile(Fault):
    """Somebody does something just before the operation."""

    act: Callable[[], object]

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        self.act()
        return await operation.do()


@dataclass(frozen=True)
class Slow(Fault):
    """Every operation suspends before and after its work, as those of a remote disk do."""

    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        await asyncio.sleep(0)
        result = await operation.do()
        await asyncio.sleep(0)
        return result


@dataclass(frozen=True)
class Twice(Fault):
    """An append that fails in its own way, and every cut after it that fails."""

    append: Fault

    lasting: ClassVar[bool] = True

    async def strike(self, operation: Operation[T], hit: Hit) -> T:
        fault = Fail("unknown") if operation.name == "truncate_file" else self.append
        return await fault.strike(operation, hit)


class _NoThreads(ThreadPoolExecutor):
    """Does everything at once, so that a call suspends as often on every run."""

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except FileError as error:
            future.set_exception(error)
        return future


def slow_files() -> Files:
    """The files of this machine, slow in every call, and without threads on the loop that runs."""
    asyncio.get_running_loop().set_default_executor(_NoThreads(1))
    slowness = FileFaults()
    slowness.arm(Slow())
    return slowness.wrap(LocalFiles())
