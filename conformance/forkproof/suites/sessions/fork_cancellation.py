"""Cancelling create, open and fork at every suspension, once and twice (section 20)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect_equal, refused
from forkproof.instruments.gates import POINTS
from forkproof.instruments.racing import ended
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, stepped
from forkproof.makers import SessionMaker, Subject
from forkproof.makers.rejections import REJECTIONS, Rejection
from forkproof.oracle.model import SessionModel
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork

FORKS: dict[str, ForkOptions] = {"branch": BranchFork("main", id="new"), "tree": TreeFork(id="new")}
CANCELLED = {"once": None, "again_at_once": 1, "again_soon": 2, "again_later": 5}
"""How many suspensions after the first cancellation a second one comes; None for no second one."""

Call = Callable[[], Coroutine[Any, Any, Any]]


class _NothingIsLeft:
    """After each cancelled call: the cancellation has arrived, the list is as before, the id `new` is free at once for
    `create` and for `fork`, and the source is as usable as before.
    """

    def __init__(self, store: SessionMaker, source: Subject, closed: bool, before: list[Any]) -> None:
        self.store, self.source, self.closed, self.before = store, source, closed, before

    async def __call__(self, k: int, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how the call ended that was cancelled at suspension {k}")
        expect_equal(await self.store.list(), self.before, of=f"the list after a cancellation at suspension {k}")
        await self._expect_the_id_is_free(k)
        if self.closed:
            opened = await ended(self.source.open())
            expect_equal(opened.word, "returned", of=f"opening the source after a cancellation at suspension {k}")
        await self.source.check(f"the source after a cancellation at suspension {k}")
        if self.closed:
            await self.source.close()

    async def _expect_the_id_is_free(self, k: int) -> None:
        options = TreeFork(id="new")
        if k % 2:
            call, model = self.store.repo.create(id="new", **self.store.create_options), SessionModel()
        else:
            call = self.store.repo.fork(self.source.metadata, options)
            model = self.source.model.fork(options, self.source.id)
        made = await ended(call)
        expect_equal(made.word, "returned", of=f"the id, asked for right after a cancellation at suspension {k}")
        subject = self.store.subject(made.value, model)
        await subject.check(f"what was made with the id after a cancellation at suspension {k}")
        await subject.close()
        await self.store.repo.delete(subject.metadata)


async def _cancel_everywhere(
    store: SessionMaker, make: Callable[[Subject], Call], closed: bool, again_after: int | None
) -> None:
    """Cancels a call that makes the session `new`, given its source; then lets it pass, and looks at both sessions."""
    source = await store.bushy_session()
    if closed:
        await source.close()
    check = _NothingIsLeft(store, source, closed, await store.list())
    await cancelled_at_every_suspension(make(source), check, again_after=again_after)
    expect_equal(await store.listed_ids(), sorted(["new", source.id]), of="the sessions after the call that passed")
    if closed:
        await source.open()
    await source.append("main", "used as before")
    await source.check_everywhere()


def _creating(store: SessionMaker) -> Callable[[Subject], Call]:
    return lambda _: lambda: store.repo.create(id="new", **store.create_options)


def _forking(store: SessionMaker, options: ForkOptions) -> Callable[[Subject], Call]:
    return lambda source: lambda: store.repo.fork(source.metadata, options)


def _forking_with_pauses(store: SessionMaker, options: ForkOptions) -> Callable[[Subject], Call]:
    """A fork whose probe suspends three times in the next callback at each point."""

    async def pause() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    def forking(source: Subject) -> Call:
        async def fork() -> Any:
            for point in POINTS:
                store.probe.run(point, pause)
            return await store.repo.fork(source.metadata, options)

        return fork

    return forking


async def _cancel_opening(store: SessionMaker, again_after: int | None) -> None:
    subject = await store.rich_session()
    await subject.close()
    before = await store.list()

    async def check(k: int, outcome: Stepped) -> None:
        expect_equal(outcome.kind, "cancelled", of=f"how the open ended that was cancelled at suspension {k}")
        expect_equal(await store.list(), before, of=f"the list after a cancellation at suspension {k}")
        opened = await ended(subject.open())
        expect_equal(opened.word, "returned", of=f"an open right after a cancellation at suspension {k}")
        await subject.check(f"the session after a cancellation at suspension {k}")
        await subject.close()

    await cancelled_at_every_suspension(lambda: store.repo.open(subject.metadata), check, again_after=again_after)


@case("S-FORK-FAIL-05", needs=())
async def a_cancelled_create_leaves_nothing(store: SessionMaker) -> None:
    """Cancelling `create` at any of its suspensions leaves nothing behind, whether or not the session was published.

    If this fails, look at: a session that stays when the cancellation comes after publication; a reservation kept; a
    cancellation that is swallowed.
    """
    await _cancel_everywhere(store, _creating(store), False, None)


@case("S-FORK-FAIL-05", needs=())
async def a_cancelled_open_leaves_nothing(store: SessionMaker) -> None:
    """Cancelling `open` at any of its suspensions leaves the session closed, whole and free to be opened.

    If this fails, look at: a reservation kept; a repair that was cut off; a handle that nobody has and that stays open.
    """
    await _cancel_opening(store, None)


@case("S-FORK-FAIL-05", needs=())
@rows("options", FORKS)
@rows("closed", source_open=False, source_closed=True)
async def a_cancelled_fork_leaves_nothing(store: SessionMaker, options: ForkOptions, closed: bool) -> None:
    """Cancelling `fork` at any of its suspensions leaves nothing behind, whether or not the destination was published,
    and the source as it was.

    If this fails, look at: a destination that stays when the cancellation comes after publication; a boundary job that
    stays in the source's queue; a snapshot that is not closed.
    """
    await _cancel_everywhere(store, _forking(store, options), closed, None)


@case("S-FORK-FAIL-05", needs=("probe",))
@rows("options", FORKS)
@rows("closed", source_open=False, source_closed=True)
async def a_fork_cancelled_in_a_callback_leaves_nothing(
    store: SessionMaker, options: ForkOptions, closed: bool
) -> None:
    """Cancelling `fork` at any of its suspensions, also inside the callbacks of a probe, leaves nothing behind.

    If this fails, look at: cleanup for errors and not for cancellation; a destination registered before the last
    callback.
    """
    await _cancel_everywhere(store, _forking_with_pauses(store, options), closed, None)


@case("S-FORK-FAIL-06", needs=())
@rows("again_after", CANCELLED)
async def cleanup_of_a_create_is_shielded(store: SessionMaker, again_after: int | None) -> None:
    """A second cancellation does not stop the cleanup of a cancelled `create`, and the cancellation reaches the caller
    only after it: the id is free at that very moment.

    If this fails, look at: cleanup that is awaited without a shield; cleanup left to a task that nobody awaits.
    """
    await _cancel_everywhere(store, _creating(store), False, again_after)


@case("S-FORK-FAIL-06", needs=())
@rows("again_after", CANCELLED)
async def cleanup_of_an_open_is_shielded(store: SessionMaker, again_after: int | None) -> None:
    """A second cancellation does not stop the cleanup of a cancelled `open`: the session can be opened at that very
    moment.

    If this fails, look at: cleanup that is awaited without a shield; cleanup left to a task that nobody awaits.
    """
    await _cancel_opening(store, again_after)


@case("S-FORK-FAIL-06", needs=())
@rows("options", FORKS)
@rows("again_after", CANCELLED)
async def cleanup_of_a_fork_is_shielded(store: SessionMaker, options: ForkOptions, again_after: int | None) -> None:
    """A second cancellation does not stop the cleanup of a cancelled `fork`, and the cancellation reaches the caller
    only after it: the id is free at that very moment.

    If this fails, look at: cleanup that is awaited without a shield; cleanup left to a task that nobody awaits.
    """
    await _cancel_everywhere(store, _forking(store, options), False, again_after)


@case("S-FORK-FAIL-06", needs=("probe",))
@rows("options", FORKS)
@rows("again_after", CANCELLED)
async def cleanup_of_a_fork_with_a_probe_is_shielded(
    store: SessionMaker, options: ForkOptions, again_after: int | None
) -> None:
    """The same for a fork whose probe suspends in every callback.

    If this fails, look at: cleanup that is awaited without a shield; cleanup left to a task that nobody awaits.
    """
    await _cancel_everywhere(store, _forking_with_pauses(store, options), True, again_after)


@case("S-FORK-FAIL-06", needs=())
@rows("rejection", {name: REJECTIONS[name] for name in ("unknown-branch", "entry-elsewhere", "undeclared-list-tree")})
@rows("again_after", CANCELLED)
async def cleanup_of_a_rejected_fork_is_shielded(
    store: SessionMaker, rejection: Rejection, again_after: int | None
) -> None:
    """A cancellation, or two, that meet a fork that is being rejected do not stop its cleanup: what reaches the caller
    is the refusal or the cancellation, and the id is free at that very moment.

    If this fails, look at: cleanup of refusals that is awaited without a shield.
    """
    other, source = await store.linear_session(id="other"), await rejection.source(store)
    before = await store.list()
    k, outcome = 0, None
    while outcome is None or not outcome.untouched:
        k += 1
        points = (k,) if again_after is None else (k, k + again_after)
        outcome = await stepped(lambda: store.repo.fork(source.metadata, rejection.options), *points)
        if outcome.kind != "cancelled":
            expect_equal(
                type(outcome.error).__name__, rejection.error.__name__, of=f"the refusal, cancelled at suspension {k}"
            )
        expect_equal(await store.list(), before, of=f"the list after a cancellation at suspension {k}")
        fork = await ended(store.repo.fork(other.metadata, TreeFork(id="fork")))
        expect_equal(fork.word, "returned", of=f"the id, asked for right after a cancellation at suspension {k}")
        await fork.value.close()
        await store.repo.delete(fork.value.metadata)
    with refused(rejection.error, **rejection.told):
        await store.repo.fork(source.metadata, rejection.options)
    await source.check()
