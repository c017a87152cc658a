"""Repositories that are closed while a call is in the middle of its work on files or databases (S-REPO-24)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal
from forkproof.instruments.byteguard import tree
from forkproof.instruments.fault_kinds import Hit
from forkproof.instruments.fault_scenes import Meanwhile
from forkproof.instruments.racing import raced
from forkproof.instruments.stepping import Stepped, settle, stepped
from forkproof.makers import SessionMaker
from forkproof.suites.sessions.attempts import BRANCH, TREE, Attempt, Creates, Forks, Opens
from forkproof.suites.sessions.file_attempts import MAKING
from forkstore.contract.errors import RepoClosed

STRIDE = 7
"""Of a database's operations one in so many is tried: between two of them the call stands where it stood."""


@case("S-REPO-24", needs=("fault-injection",))
@rows(
    "make",
    create=Creates,
    open=Opens,
    branch_fork=lambda: Forks(BRANCH, closed=True),
    tree_fork=lambda: Forks(TREE, closed=True),
)
async def a_call_in_its_file_work_ends_with_the_repository(store: SessionMaker, make: Callable[[], Attempt]) -> None:
    """A create, open or fork that is in any operation on a file or database when `repo.close()` is called raises
    `RepoClosed` and leaves nothing behind, and `repo.close()` waits for it.

    If this fails, look at: a closed repository that is noticed before the file work only; a session that is handed out
    after all; a reader that stays open; a closing that waits for open sessions only.
    """
    attempt = await make().arrange(store)
    before = await store.list()

    async def lists_as_before(of: str) -> None:
        expect_equal(await store.list(), before, of=f"the list {of}")

    await _end_with_the_repository(store, attempt, lists_as_before)


@case("S-REPO-24", needs=("fault-injection", "raw-files"), kinds=("jsonl",))
@rows("make", {name: MAKING[name] for name in ("create-elsewhere", "open-torn", "fork-of-torn", "fork-from-elsewhere")})
async def a_call_that_ends_with_the_repository_leaves_no_file(store: SessionMaker, make: Callable[[], Attempt]) -> None:
    """The same, and the file tree is as it was, but for a repair that was completed.

    If this fails, look at: a temporary file or a directory that stays; a destination that was published before the
    repository was found closed.
    """
    attempt = await make().arrange(store)
    before = tree(store.root)

    async def tree_is_as_before(of: str) -> None:
        await attempt.forgive()
        before.check(f"the file tree {of}")

    await _end_with_the_repository(store, attempt, tree_is_as_before)


async def _end_with_the_repository(
    store: SessionMaker, attempt: Attempt, check: Callable[[str], Awaitable[None]]
) -> None:
    for n in range(1, 1_000, STRIDE if store.faults.are_many else 1):
        store.repo = await store.open_second_repo()
        await attempt.ready()
        run = _ClosedMeanwhile(store, attempt)
        outcome, hit = await run.at(n)
        if hit is None:
            expect(n > 1, "expected: a call that works on files or a database\nseen:     no operation")
            await attempt.accept("what the call gave whose repository stayed open")
            return
        seen = f"{outcome.kind} {outcome.error!r}"
        told = f"the repository closed during {hit}\nexpected: RepoClosed\nseen:     {seen}"
        expect(isinstance(outcome.error, RepoClosed), told)
        expect(
            run.waited, f"the repository closed during {hit}\nexpected: it waits for the call\nseen:     it does not"
        )
        store.repo = await store.open_second_repo()
        await check(f"after the repository was closed during {hit}")


class _ClosedMeanwhile:
    """A call during whose n-th operation its repository is closed."""

    def __init__(self, store: SessionMaker, attempt: Attempt) -> None:
        self._store, self._attempt = store, attempt
        self._closing: asyncio.Task[Any] | None = None
        self.waited = False
        """Whether the closing had not ended when the call had."""

    async def at(self, n: int) -> tuple[Stepped, Hit | None]:
        """How the call ended, and the operation; None when it does not make so many."""
        self._store.faults.arm(Meanwhile(self._close), at=n, sparse=self._store.faults.are_many)
        outcome = await stepped(self._call)
        self._store.faults.disarm()
        if self._closing is not None:
            expect_equal((await raced(self._closing))[0].word, "returned", of="how the closing of the repository ended")
        return outcome, self._store.faults.hit

    async def _close(self, _: Hit) -> None:
        self._closing = asyncio.create_task(self._store.repo.close())
        await settle()

    async def _call(self) -> Any:
        try:
            return await self._attempt.call()
        finally:
            self.waited = self._closing is None or not self._closing.done()
