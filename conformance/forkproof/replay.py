"""Plays recorded operations against a harness and prints what they come to now.

The text of this module stands in every reproducer, so it imports the store's contract and the standard library only.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from forkstore.contract.addresses import Address, list_address, value_address
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.records import ABSENT
from forkstore.contract.writes import EntryInsert, ListAppend, ListDelete, UsageInsert, ValueDelete, ValueSet

WRITES = (EntryInsert, UsageInsert, ValueSet, ValueDelete, ListAppend, ListDelete)
ARGUMENT_OBJECTS = (ABSENT, TreeFork, list_address, value_address)
"""What recorded arguments may name, besides the classes that `Replay.carried` knows."""
PATIENCE = 10.0
"""Seconds to wait for an operation that had ended at this point of the recording."""
NO_INSTRUMENTS: dict[str, Any] = {
    "probe": None,
    "files": None,
    "connect": None,
    "staging_dir": None,
    "stage_batch_rows": 250,
    "stage_batch_bytes": 1_048_576,
}
"""What a harness is asked for besides the clock: nothing, and the default bounds."""

Arguments = Callable[["Replay"], tuple[tuple[Any, ...], dict[str, Any]]]
Step = Callable[["Replay"], Awaitable[None]]


def args(*positional: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The recorded arguments of one call."""
    return positional, named


def text_of(length: int, head: str) -> str:
    """Stands for a long text that was not recorded in full."""
    return head + "." * (length - len(head))


def left_out(what: str) -> Any:
    """Stands for a value that was not recorded."""
    raise LookupError(f"the recording left out {what}")


def start(
    number: int, handle: str, method: str, arguments: Arguments, *, clock: int | None = None, shortened: bool = False
) -> Step:
    """The moment at which a call was started."""
    return lambda replay: replay.start(number, handle, method, arguments, clock, shortened)


def enter(number: int, scope: str) -> Step:
    """The moment at which the callback of a `mutate` was given its scope."""
    return lambda replay: replay.enter(number, scope)


def end(number: int, kind: str, outcome: str, **found: str) -> Step:
    """The moment at which a call ended, and what it gave: the name of its object, a generated id, a session's id."""
    return lambda replay: replay.end(number, kind, outcome, found)


@dataclass
class Replay:
    """The objects of one replay by their recorded names, and the calls that are running."""

    open_repo: Callable[[Any], Awaitable[Any]]
    clock: SimpleNamespace | None
    objects: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    running: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    leave: dict[int, asyncio.Future[None]] = field(default_factory=dict)
    entered: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    last_error: BaseException | None = None
    differences: int = 0
    skipped: int = 0

    async def start(
        self, number: int, handle: str, method: str, arguments: Arguments, clock: int | None, shortened: bool
    ) -> None:
        """Starts a call and lets it take its first step."""
        if self.clock is not None and clock is not None:
            self.clock.at = clock
        print(f"{number:5}  {handle}.{method}{'  (recorded in part)' if shortened else ''}")
        target = await self.object(handle)
        if target is None:
            self.skip(f"there is no {handle} in this replay")
            return
        if method == "mutate":
            call = target.mutate(self.parking(number))
        else:
            try:
                positional, named = arguments(self)
            except LookupError as error:
                self.skip(str(error))
                return
            call = getattr(target, method)(*self.carried(positional), **self.carried(named))
        self.running[number] = asyncio.ensure_future(call)
        await asyncio.sleep(0)

    def skip(self, why: str) -> None:
        """Leaves a step out, and says so."""
        self.skipped += 1
        print(f"       not replayed: {why}")

    def parking(self, number: int) -> Callable[[Any], Awaitable[None]]:
        """The callback of a replayed `mutate`: it stays inside until the recording says that it left."""
        loop = asyncio.get_running_loop()
        self.entered[number], self.leave[number] = loop.create_future(), loop.create_future()

        async def callback(scope: Any) -> None:
            self.entered[number].set_result(scope)
            await self.leave[number]

        return callback

    async def enter(self, number: int, scope: str) -> None:
        """Waits for the scope of a `mutate` and names it."""
        if number in self.entered:
            done, _ = await asyncio.wait([self.entered[number]], timeout=PATIENCE)
            if done:
                self.objects[scope] = self.entered[number].result()

    async def end(self, number: int, kind: str, outcome: str, found: dict[str, str]) -> None:
        """Waits for a call that had ended at this point, and compares."""
        task = self.running.pop(number, None)
        if task is None:
            return
        self.let_go(number, kind, outcome)
        if kind == "cancelled":
            task.cancel()
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        recorded = f"{kind} {outcome}".strip()
        now = self.outcome(task) if done else f"still running after {PATIENCE:g} s"
        differs = recorded.partition(":")[0] != now.partition(":")[0] if kind != "returned" else now[:8] != "returned"
        self.differences += differs
        print(f"{number:5}    recorded: {recorded}\n         now:      {now}{'      <-- differs' if differs else ''}")
        if done and not task.cancelled() and task.exception() is None:
            self.learn(task.result(), found)

    def let_go(self, number: int, kind: str, outcome: str) -> None:
        """Lets the callback of a `mutate` leave, the way it left."""
        leave = self.leave.get(number)
        if leave is None or leave.done() or not self.entered[number].done():
            return
        if kind == "raised":
            leave.set_exception(self.last_error or RuntimeError(f"recorded: {outcome}"))
        else:
            leave.set_result(None)

    def outcome(self, task: asyncio.Future[Any]) -> str:
        """What a call came to, in the words of the recording."""
        if task.cancelled():
            return "cancelled CancelledError"
        error = task.exception()
        if error is not None:
            self.last_error = error
            return f"raised {type(error).__name__}: {error}"
        return f"returned {str(task.result())[:200]}"

    def learn(self, value: Any, found: dict[str, str]) -> None:
        """Names what a call gave, and carries over the ids that it generated."""
        if "gives" in found and value is not None:
            self.objects[found["gives"]] = value
        if "learned" in found and isinstance(value, str):
            self.ids[found["learned"]] = value
        if "session" in found:
            self.metadata[found["session"]] = value.metadata
            self.ids[found["session"]] = value.metadata.id

    async def object(self, handle: str) -> Any:
        """The object of this replay that has the recorded name; repositories are opened when first named."""
        owner, _, part = handle.partition(".")
        if owner not in self.objects and owner.startswith("repo"):
            self.objects[owner] = await self.open_repo(SimpleNamespace(**NO_INSTRUMENTS, clock=self.now))
        found = self.objects.get(owner)
        return getattr(found, part) if part and found is not None else found

    @property
    def now(self) -> Callable[[], int] | None:
        """The clock to hand to repositories; None where the case had none."""
        clock = self.clock
        return None if clock is None else lambda: int(clock.at)

    def metadata_of(self, session_id: str) -> Any:
        """The metadata of a session, by its recorded id."""
        return self.metadata[session_id]

    def carried(self, value: Any) -> Any:
        """The value, with the ids that this replay generated in place of the recorded ones."""
        if isinstance(value, str):
            return self.ids.get(value, value)
        if isinstance(value, dict):
            return {self.carried(name): self.carried(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.carried(member) for member in value)
        if isinstance(value, (*WRITES, Address, BranchFork)):
            return type(value)(*(self.carried(getattr(value, name)) for name in type(value).__match_args__))
        return value


async def play(steps: Iterable[Step], harness: Any, clock: int | None) -> tuple[int, int]:
    """Plays the steps in order; gives how many operations came to something else, and how many were left out."""
    replay = Replay(harness.open_repo, None if clock is None else SimpleNamespace(at=clock))
    for step in steps:
        await step(replay)
    for task in replay.running.values():
        task.cancel()
    return replay.differences, replay.skipped


def main(steps: Iterable[Step], harness: str, folder: str, clock: int | None) -> int:
    """Plays the steps against a harness named `package.module:Class`.

    Exit code 1 when something differs, 2 when steps had to be left out: then the replay proves nothing.
    """
    parser = argparse.ArgumentParser(description="Replays a failing forkproof case.")
    parser.add_argument("harness", nargs="?", default=harness, help="package.module:Class; default %(default)s")
    sys.path[:0] = [str(Path.cwd()), *([folder] if folder else [])]
    module, _, name = parser.parse_args().harness.partition(":")
    top: Any = import_module(module)
    kind = reduce(getattr, name.split("."), top)
    with tempfile.TemporaryDirectory() as directory:
        differences, skipped = asyncio.run(play(steps, kind(Path(directory)), clock))
    print(f"{differences} operations differ from the recording" if differences else "all operations came to the same")
    if skipped:
        print(
            f"{skipped} steps were not replayed, so this script does not reproduce the failure by itself: the case has "
            "changed files, or its arguments were too large. Run the case: forkproof check TARGET --only CASE"
        )
        return 2
    return min(differences, 1)
