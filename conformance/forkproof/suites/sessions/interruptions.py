"""What passes through unchanged: cancellation, and the errors of a caller's own callbacks (section 2.6)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, refused
from forkproof.instruments.gates import POINTS
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle
from forkproof.makers import SessionMaker
from forkproof.makers.records import user_message
from forkstore.contract.addresses import list_address, value_address
from forkstore.contract.errors import InvalidValue
from forkstore.contract.forks import BranchFork, ForkOptions, TreeFork
from forkstore.contract.store import CallbackScope, Session
from forkstore.contract.writes import ValueSet

APP = value_address("garden.plan")
LOG = list_address("garden.log")
SCOPES: dict[str, ForkOptions] = {"branch": BranchFork("main", id="fork"), "tree": TreeFork(id="fork")}
AT_POINTS = {point.replace("_", "-"): point for point in POINTS}


class GardenError(Exception):
    """An error of the caller, which no store knows."""


def _errors() -> dict[str, BaseException]:
    return {
        "own-class": GardenError("no water", 7),
        "key-error": KeyError("bed"),
        "timeout": TimeoutError("too slow"),
        "os-error": OSError(28, "no space"),
        "contract-class": InvalidValue("here", "is the caller's"),
        "group": ExceptionGroup("two", [GardenError("a"), ValueError("b")]),
    }


async def _append_message(session: Session) -> object:
    branch = await session.branch("main")
    return None if branch is None else await branch.append_message(user_message("and the peas?"))


async def _nothing(scope: CallbackScope) -> None:
    """A callback that does nothing."""


WAITING: dict[str, Callable[[Session], Coroutine[Any, Any, object]]] = {
    "begin-mutation": lambda session: session.begin_mutation(),
    "mutate": lambda session: session.mutate(_nothing),
    "set-value": lambda session: session.set_value(APP, 1),
    "delete-list": lambda session: session.delete_list(LOG),
    "set-name": lambda session: session.set_name("beans"),
    "create-branch": lambda session: session.create_branch("left", "e1"),
    "append-message": _append_message,
}


async def _expect_cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        outcome = f"raised {task.exception()!r}" if task.exception() else f"returned {task.result()!r}"
        expect(False, f"expected: the cancelled call raises CancelledError\nseen:     it {outcome}")


@case("S-ERR-03")
@rows("waiting", WAITING)
async def a_cancelled_wait_for_the_session_is_cancelled(
    store: SessionMaker, waiting: Callable[[Session], Coroutine[Any, Any, object]]
) -> None:
    """A call that is cancelled while it waits for a held scope raises `CancelledError`, not a class of the store.

    If this fails, look at: `except BaseException` around the wait; a cancellation turned into `SessionClosed`; a wait
    that returns as if it had its turn.
    """
    subject = await store.linear_session()
    held = await subject.session.begin_mutation()
    task = asyncio.create_task(waiting(subject.session))
    await settle()
    await _expect_cancelled(task)
    await held.end()
    await subject.check_everywhere()


@case("S-ERR-03")
async def a_callback_that_is_cancelled_is_cancelled(store: SessionMaker) -> None:
    """A task that is cancelled inside its mutation callback raises `CancelledError`.

    If this fails, look at: a callback run in a task of its own whose cancellation is wrapped; `except BaseException`
    around the callback.
    """
    subject = await store.linear_session()
    inside = asyncio.Event()

    async def wait_for_ever(_scope: CallbackScope) -> None:
        inside.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(subject.session.mutate(wait_for_ever))
    await inside.wait()
    await _expect_cancelled(task)
    await subject.check_everywhere()


@case("S-ERR-03")
async def a_callback_may_raise_cancelled_error_itself(store: SessionMaker) -> None:
    """A `CancelledError` that the callback raises of its own reaches the caller of `mutate`.

    If this fails, look at: a store that takes it for the end of its own task.
    """
    subject = await store.linear_session()

    async def give_up(_scope: CallbackScope) -> None:
        raise asyncio.CancelledError

    with refused(asyncio.CancelledError):
        await subject.session.mutate(give_up)
    await subject.check()


@case("S-ERR-03")
async def a_cancelled_wait_for_close_is_cancelled(store: SessionMaker) -> None:
    """A task that waits for `close` behind a held scope, and is cancelled, raises `CancelledError`.

    If this fails, look at: a shield that hides the cancellation from its caller; a close that returns early instead.
    """
    subject = await store.linear_session()
    held = await subject.session.begin_mutation()
    task = asyncio.create_task(subject.session.close())
    await settle()
    await _expect_cancelled(task)
    await held.end()
    await subject.session.close()


@case("S-ERR-03", needs=("probe",))
@rows("point", AT_POINTS)
@rows("options", SCOPES)
async def a_cancelled_fork_is_cancelled(store: SessionMaker, point: str, options: ForkOptions) -> None:
    """A fork that is cancelled while its probe is awaited raises `CancelledError`.

    If this fails, look at: cleanup that raises over the cancellation; a fork that finishes and returns all the same.
    """
    source = await store.bushy_session()
    gate = store.probe.park(point)
    task = asyncio.create_task(store.repo.fork(source.metadata, options))
    await gate.reached_by(task)
    await _expect_cancelled(task)
    await store.assert_only_known_sessions(source)


STEPPED: dict[str, Callable[[SessionMaker, Session], Coroutine[Any, Any, object]]] = {
    "commit": lambda store, session: session.mutate(lambda scope: scope.commit([ValueSet(APP, 1)])),
    "append-list": lambda store, session: session.append_list(LOG, 1),
    "append-message": lambda store, session: _append_message(session),
    "get-entries": lambda store, session: session.get_entries(["root", "tip"]),
    "scan-entries": lambda store, session: session.scan_entries(),
    "scan-branch": lambda store, session: session.scan_branch("tip"),
    "read-list": lambda store, session: session.read_list(LOG),
    "list": lambda store, session: store.repo.list(),
    "create": lambda store, session: store.repo.create(id="new", **store.create_options),
    "fork-branch": lambda store, session: store.repo.fork(session.metadata, SCOPES["branch"]),
    "fork-tree": lambda store, session: store.repo.fork(session.metadata, SCOPES["tree"]),
}


@case("S-ERR-03")
@rows("call", STEPPED)
async def a_call_cancelled_at_any_suspension_is_cancelled(
    store: SessionMaker, call: Callable[[SessionMaker, Session], Coroutine[Any, Any, object]]
) -> None:
    """A call that is cancelled where it suspends, wherever that is, raises `CancelledError`.

    If this fails, look at: a driver's own error for an interrupted call; a result returned after the cancellation; a
    retry that swallows it.
    """
    subject = await store.bushy_session()

    async def is_cancelled(k: int, outcome: Stepped) -> None:
        seen = f"{outcome.kind} {outcome.error!r}"
        expect(outcome.kind == "cancelled", f"expected: CancelledError at suspension {k}\nseen:     {seen}")

    await cancelled_at_every_suspension(lambda: call(store, subject.session), is_cancelled)


@case("S-ERR-04", needs=())
@rows("error", _errors())
@rows("commits", before_a_commit=False, after_a_commit=True)
async def an_error_of_the_callback_is_the_callers_own(store: SessionMaker, error: Exception, commits: bool) -> None:
    """The error that a mutation callback raises is the very object that the caller of `mutate` gets.

    If this fails, look at: errors wrapped in a class of the store; an error copied between tasks or threads; a cause
    added on the way.
    """
    subject = await store.linear_session()
    expected = (type(error), error.args, error.__cause__)

    async def fail(scope: CallbackScope) -> None:
        if commits:
            subject.follow(await scope.commit([ValueSet(APP, 1)]), ValueSet(APP, 1))
        raise error

    with refused(BaseException) as told:
        await subject.session.mutate(fail)
    expect(told.error is error, f"expected: the callback's own {error!r}\nseen:     {told.error!r}")
    seen = (type(error), error.args, error.__cause__)
    expect(seen == expected, f"expected: the error unchanged, {expected!r}\nseen:     {seen!r}")
    await subject.check_everywhere()


@case("S-ERR-04", needs=())
async def an_error_of_a_plain_function_is_the_callers_own(store: SessionMaker) -> None:
    """A callback that is a plain function and raises before it gives an awaitable rejects with its own error, too, and
    the session goes on.

    If this fails, look at: a callback called outside the part that ends the scope.
    """
    subject = await store.linear_session()
    error = GardenError("at once")

    def fail(_scope: CallbackScope) -> Awaitable[None]:
        raise error

    with refused(GardenError) as told:
        await subject.session.mutate(fail)
    expect(told.error is error, f"expected: the callback's own {error!r}\nseen:     {told.error!r}")
    await subject.append("main", "afterwards")
    await subject.check()


@case("S-ERR-04")
@rows("point", AT_POINTS)
@rows("options", SCOPES)
@rows("error", _errors())
async def an_error_of_the_probe_is_the_callers_own(
    store: SessionMaker, point: str, options: ForkOptions, error: Exception
) -> None:
    """The error that a fork probe raises is the very object that the caller of `fork` gets, at every point.

    If this fails, look at: probe errors logged and ignored; an error wrapped by the cleanup; `StoreIOError` for every
    `OSError` in sight.
    """
    source = await store.bushy_session()
    store.probe.fail(point, error)
    with refused(BaseException) as told:
        await store.repo.fork(source.metadata, options)
    expect(told.error is error, f"expected: the probe's own {error!r}\nseen:     {told.error!r}")
    expect(error.__cause__ is None, f"expected: no cause\nseen:     {error.__cause__!r}")
    await store.assert_only_known_sessions(source)
