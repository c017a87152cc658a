"""Takes away what a case leaves behind, and notices what it should not have left: tasks, errors, unawaited
coroutines.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import warnings
from collections.abc import Awaitable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from forkproof.difference import bounded
from forkproof.failure import Failure
from forkproof.instruments.proxies import handle_of, unwatched
from forkproof.instruments.trace import Trace
from forkproof.makers.maker import SessionMaker
from forkproof.verdict import Outcome
from forkstore.contract.errors import RepoClosed, SessionNotFound

KIT = str(Path(__file__).parent)
SETTLE_ROUNDS = 50


class Watch:
    """Collects, around one case, the errors that asyncio and Python only mention: nothing of that kind passes
    unseen.
    """

    def __init__(self) -> None:
        self._unretrieved: list[str] = []
        self._warnings: list[warnings.WarningMessage] = []
        self._catching = warnings.catch_warnings(record=True)

    def __enter__(self) -> Self:
        recorded = self._catching.__enter__()
        self._warnings = recorded if recorded is not None else []
        warnings.simplefilter("always", RuntimeWarning)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Coroutines and tasks of the case that sit in reference cycles speak up only when they are collected.
        gc.collect(1)
        self._catching.__exit__(kind, error, traceback)
        for one in self._warnings:
            if not _is_unawaited(one):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno, source=one.source)

    def on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The event loop's exception handler."""
        error = context.get("exception")
        what = f": {type(error).__name__}: {bounded(str(error), quoted=False)}" if error is not None else ""
        self._unretrieved.append(f"{context.get('message', 'an error in the event loop')}{what}")

    def failure(self) -> Failure | None:
        """What was seen, as the failure of the case; None when nothing was."""
        unawaited = [str(one.message) for one in self._warnings if _is_unawaited(one)]
        if unawaited:
            return Failure(Outcome.KIT_ERROR, f"a coroutine was never awaited: {'; '.join(unawaited)}")
        if self._unretrieved:
            return Failure(Outcome.FAILED, f"an error that reached nobody: {'; '.join(self._unretrieved[:5])}")
        return None


def _is_unawaited(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, RuntimeWarning) and "was never awaited" in str(warning.message)


def stray_tasks(*, of_the_kit: bool) -> list[str]:
    """Unfinished tasks besides the running one: those whose coroutine is the kit's (its cases included), or the
    backend's.
    """
    mine = asyncio.current_task()
    return [
        _name_of(task)
        for task in asyncio.all_tasks()
        if task is not mine and not task.done() and _is_of_the_kit(task) is of_the_kit
    ]


def _is_of_the_kit(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and str(code.co_filename).startswith(KIT)


def _name_of(task: asyncio.Task[Any]) -> str:
    return str(getattr(task.get_coro(), "__qualname__", task.get_name()))


async def clean_up(store: SessionMaker, trace: Trace, ceiling: float) -> str | None:
    """Leaves the harness's place as the case found it. Gives the first problem in one line, None when there is none."""
    await _cancel_strays()
    problems: list[str] = []
    for scope in list(trace.open_scopes.values()):
        await _attempt(scope.end(), "ending a mutation scope", ceiling, problems)
    for session in list(trace.open_sessions.values()):
        await _attempt(session.close(), "closing a session", ceiling, problems)
    _take_away_files(store, problems)
    await _delete_sessions(store, trace, ceiling, problems)
    for repo in store.repos:
        if handle_of(repo) in trace.failed_closings:  # it would give the failure that the case has seen (S-REPO-23)
            continue
        await _attempt(unwatched(repo).close(), "closing the repository", ceiling, problems)
    clean = getattr(store.harness, "clean_up", None)
    if clean is not None:
        await _attempt(clean(), "the harness's clean_up", ceiling, problems)
    await _settled()
    strays = stray_tasks(of_the_kit=False)
    if strays:
        problems.append(f"after closing the repository these tasks still run: {', '.join(strays)}")
    return problems[0] if problems else None


def _take_away_files(store: SessionMaker, problems: list[str]) -> None:
    """Removes the files that the case planted or changed: a store need not delete what it cannot read."""
    try:
        store.take_away_files()
    except OSError as error:
        problems.append(f"removing the case's own files raised {type(error).__name__}: {error}")


async def _cancel_strays() -> None:
    mine = asyncio.current_task()
    strays = [task for task in asyncio.all_tasks() if task is not mine and not task.done() and _is_of_the_kit(task)]
    for task in strays:
        task.cancel()
    if strays:
        await asyncio.wait(strays, timeout=1)


async def _delete_sessions(store: SessionMaker, trace: Trace, ceiling: float, problems: list[str]) -> None:
    """Deletes what the case made. A durable store whose repository the case has closed is opened once more for that."""
    if not store.repos or not trace.made:
        return
    made = list(trace.made.values())
    repo = unwatched(store.repos[-1])
    if await _is_closed(repo) and store.durable:
        repo = unwatched(await store.open_second_repo())
    for metadata in made:
        await _attempt(_delete(repo, metadata), f"deleting the session {metadata.id!r}", ceiling, problems)


async def _is_closed(repo: Any) -> bool:
    try:
        await repo.list()
    except RepoClosed:
        return True
    except Exception:  # noqa: BLE001 - another problem of the store: the deletes will meet it and name it
        return False
    return False


async def _delete(repo: Any, metadata: Any) -> None:
    # A store that is not durable is gone with its closed repository, and its sessions with it.
    with contextlib.suppress(SessionNotFound, RepoClosed):
        await repo.delete(metadata)


async def _attempt(step: Awaitable[object], what: str, ceiling: float, problems: list[str]) -> None:
    # A task of its own: whatever the backend does to the task that calls it, a cancellation included, stays in there.
    task = asyncio.ensure_future(step)
    done, _ = await asyncio.wait([task], timeout=ceiling)
    if not done:
        task.cancel()
        problems.append(f"{what} did not finish within {ceiling:g} s")
    elif task.cancelled():
        problems.append(f"{what} ended in a cancellation that nobody asked for")
    elif error := task.exception():
        problems.append(f"{what} raised {type(error).__name__}: {bounded(str(error), quoted=False)}")


async def _settled() -> None:
    for _ in range(SETTLE_ROUNDS):
        if not stray_tasks(of_the_kit=False):
            return
        await asyncio.sleep(0)
