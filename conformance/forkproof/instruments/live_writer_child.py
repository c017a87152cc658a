"""The process of a `LiveWriter`: makes the harness anew, then does one order a line until it is told to stop.

Orders come on standard input and answers leave through a pipe of their own, so that a store may print what it likes.
The repository is opened with the first order, so that processes can be let go at the same moment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

from forkproof.harness import Seams, fact
from forkproof.instruments.kill_child import ORPHANED, Report
from forkproof.instruments.write_forms import write_of
from forkproof.targets import find_target
from forkstore.contract.addresses import list_address
from forkstore.contract.store import SessionMetadata, SessionRepo

LIST: Final = list_address("garden.live", "beds")
"""What `commit_often` appends to."""


class _Store:
    """The store as this process has it: opened with the first order, and at most one session."""

    def __init__(self, harness: Any) -> None:
        self.harness = harness
        self.repo: SessionRepo | None = None
        self.session: Any = None

    async def opened(self) -> SessionRepo:
        """The repository."""
        if self.repo is None:
            self.repo = await self.harness.open_repo(Seams())
        return self.repo

    async def create(self, id: str) -> dict[str, Any]:
        """A new session."""
        cwd = fact(self.harness, "cwd")
        repo = await self.opened()
        self.session = await repo.create(id=id, **({} if cwd is None else {"cwd": cwd}))
        return asdict(self.session.metadata)

    async def open(self, metadata: dict[str, Any]) -> None:
        """A session that is there."""
        self.session = await (await self.opened()).open(SessionMetadata(**metadata))

    async def commit(self, forms: list[list[Any]]) -> dict[str, Any]:
        """One commit, and its result."""
        writes = [write_of(form) for form in forms]
        result: Any = await self.session.mutate(lambda scope: scope.commit(writes))
        return {**asdict(result), "seqs": list(result.seqs)}

    async def commit_often(self, count: int) -> None:
        """So many commits."""
        for number in range(count):
            await self.session.append_list(LIST, number)

    async def stop(self, _: object) -> None:
        """Closes what is open."""
        if self.session is not None:
            await self.session.close()
        if self.repo is not None:
            await self.repo.close()


async def _serve(harness: Any, report: Report) -> None:
    store = _Store(harness)
    known: dict[str, Callable[[Any], Awaitable[object]]] = {
        "create": store.create,
        "open": store.open,
        "commit": store.commit,
        "commit_often": store.commit_often,
        "stop": store.stop,
    }
    word = ""
    while word != "stop":
        # In a thread: a store may have work of its own on the loop between two orders.
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            os._exit(ORPHANED)
        word, value = json.loads(line)
        try:
            report.say("done", await known[word](value))
        except Exception as error:  # noqa: BLE001 - whatever the store raises is told to the case
            report.say("refused", f"{type(error).__name__}: {error}")


def main() -> NoReturn:
    """Does the orders, and leaves without Python's farewells: nothing is tidied up behind a store."""
    orders = json.loads(sys.stdin.readline())
    report = Report(orders["report"])
    os.set_inheritable(orders["report"], False)
    try:
        harness: Any = find_target(orders["harness"]).make(Path(orders["directory"]))
    except Exception as error:  # noqa: BLE001 - whatever a harness raises is told to the case
        report.say("harness", f"{type(error).__name__}: {error}")
        os._exit(0)
    report.say("done", None)
    asyncio.run(_serve(harness, report))
    os._exit(0)
