"""Closing in trouble: sessions and repositories whose last work on files or databases fails, takes long or is cancelled
(sections 9 and 11).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.fault_kinds import Fail, Fault, Short
from forkproof.instruments.fault_scenes import Gone, Passes, Slow
from forkproof.instruments.racing import Ended, ended, raced
from forkproof.instruments.stepping import Stepped, cancelled_at_every_suspension, settle
from forkproof.makers import SessionMaker, Subject
from forkproof.suites.sessions.attempts import LOG
from forkproof.suites.sessions.racing import PATIENCE, Yardstick, yardstick
from forkstore.contract.errors import SessionClosed, SessionInUse, StoreIOError
from forkstore.contract.forks import TreeFork
from forkstore.contract.writes import ListAppend

Trouble = Callable[[SessionMaker, tuple[Subject, ...]], Awaitable[None]]


async def _lines_that_cannot_be_cut(store: SessionMaker, subjects: tuple[Subject, ...]) -> None:
    """The last commit of each has failed in the middle of its line, and as long as the trouble lasts nothing can be
    changed in their files: what is left to do, closing has to do.
    """
    _arm(store, Gone(Short()), store.faults.changes, subjects)
    for subject in subjects:
        with refused(StoreIOError):
            await subject.session.append_list(LOG, "lost")


async def _files_that_do_not_close(store: SessionMaker, subjects: tuple[Subject, ...]) -> None:
    """No file or database of theirs can be closed without an error."""
    _arm(store, Gone(Fail()), {"close"}, subjects)


def _arm(store: SessionMaker, fault: Fault, names: Iterable[str], subjects: tuple[Subject, ...]) -> None:
    """In a database that holds the other sessions too, they get into trouble with these."""
    paths = {subject.metadata.path for subject in subjects}
    store.faults.arm(fault, names=names, paths=f"{paths.pop()}*" if len(paths) == 1 else "*bad*")


TROUBLES: dict[str, Trouble] = {"torn-line": _lines_that_cannot_be_cut, "closing": _files_that_do_not_close}


async def _bad_sessions(store: SessionMaker, count: int) -> tuple[Subject, ...]:
    """Sessions that can get into trouble; others do not."""
    subjects = [await store.linear_session(1, id=f"bad-{number}") for number in range(count)]
    for subject in subjects:
        subject.model.look_at([(LOG.namespace, LOG.key)])
    return tuple(subjects)


def _told(ending: Ended) -> str:
    """How a call ended, in a form that can be compared."""
    return ending.word if ending.error is None else f"{ending.word}: {ending.error}"


@case("S-SESS-16", needs=("fault-injection",))
@rows("trouble", TROUBLES)
async def every_further_close_tells_the_failure_of_the_first(store: SessionMaker, trouble: Trouble) -> None:
    """When a `close` fails, every further one, started beside it or after it, fails in the same way, also when the
    trouble is over.

    If this fails, look at: a second close that returns because the session is closed already; one that tries again; one
    that raises `SessionClosed`.
    """
    subjects = await _bad_sessions(store, 1)
    await trouble(store, subjects)
    session = subjects[0].session
    endings = await raced(session.close(), session.close())
    endings.append(await ended(session.close()))
    store.faults.disarm()
    endings.append(await ended(session.close()))
    seen = [_told(ending) for ending in endings]
    expect_equal(seen, seen[:1] * 4, of="how four closings of one session ended")


async def _open(subject: Subject) -> None:
    await subject.open()
    await subject.check("the session, opened after a closing that failed")


async def _delete(subject: Subject) -> None:
    await subject.store.repo.delete(subject.metadata)
    await subject.store.create(subject.id)


async def _fork(subject: Subject) -> None:
    fork = await subject.fork(TreeFork())
    await fork.check("a fork, made after a closing that failed")


@case("S-SESS-17", needs=("fault-injection",))
@rows("trouble", TROUBLES)
@rows("use", open=_open, delete=_delete, fork=_fork)
async def a_closing_that_fails_lets_go(
    store: SessionMaker, trouble: Trouble, use: Callable[[Subject], Awaitable[None]]
) -> None:
    """The repository lets go of a session also when its closing fails: it takes no calls any more, and can be opened,
    deleted and forked, with all that was acknowledged.

    If this fails, look at: a release behind the last work, not in a `finally`; a failed line that comes back.
    """
    subjects = await _bad_sessions(store, 1)
    await trouble(store, subjects)
    await ended(subjects[0].session.close())
    with refused(SessionClosed, session_id=subjects[0].id):
        await subjects[0].session.get_stats()
    store.faults.disarm()
    used = await ended(use(subjects[0]))
    expect(used.word != "SessionInUse", "expected: the session is let go of\nseen:     SessionInUse")
    if used.error is not None:
        raise used.error


@case("S-SESS-18", needs=("fault-injection",))
@rows("trouble", none=Passes(), failing=Fail())
@rows("again_after", once=None, twice=1)
async def a_close_cancelled_on_slow_files_goes_on(store: SessionMaker, trouble: Fault, again_after: int | None) -> None:
    """A task that waits for a `close` whose every file call takes its time is cancelled at any suspension: the closing
    goes on by itself to its end, also where a file call fails, and the session can be opened.

    If this fails, look at: a closing that runs in its caller's task; a release that the cancellation skips.
    """
    subject, lay = await store.linear_session(1), await yardstick(store)

    async def close() -> None:
        store.faults.arm(Slow(trouble, 1))
        await subject.session.close()

    async def goes_on(k: int, outcome: Stepped) -> None:
        of = f"a close that was cancelled at suspension {k}"
        expect_equal(outcome.kind, "cancelled", of=f"how it ended: {of}")
        closed, opened = subject.session, await _opened_in_time(subject, lay)
        store.faults.disarm()
        expect_equal(opened.word, "returned", of=f"opening the session a while after {of}")
        await ended(closed.close())
        subject.session = opened.value
        await subject.check(f"the session after {of}")

    try:
        await cancelled_at_every_suspension(close, goes_on, again_after=again_after)
    except StoreIOError:
        expect(isinstance(trouble, Fail), "expected: a close that nothing troubles returns\nseen:     StoreIOError")


async def _opened_in_time(subject: Subject, lay: Yardstick) -> Ended:
    """What becomes of opening a session that is being closed, with nobody who waits for that."""
    opened = await ended(subject.store.repo.open(subject.metadata))
    for _ in range(PATIENCE):
        if not isinstance(opened.error, SessionInUse):
            break
        await lay()
        opened = await ended(subject.store.repo.open(subject.metadata))
    return opened


@case("S-REPO-22", "S-REPO-23", needs=("fault-injection",))
@rows("trouble", TROUBLES)
@rows("count", one=1, two=2, three=3)
async def a_repository_tells_what_failed_in_closing(store: SessionMaker, trouble: Trouble, count: int) -> None:
    """`repo.close()` closes every session also when some of them fail, waits for all, and then raises a single failure
    as it is and several as one `ExceptionGroup`, each of them once; so does every further call.

    If this fails, look at: a closing that stops at the first failure; a failure that is raised while another session is
    still open; a group around a single failure; failures that are lost.
    """
    bad = await _bad_sessions(store, count)
    busy, idle = await store.linear_session(1, id="busy"), await store.linear_session(1, id="idle")
    busy.model.look_at([(LOG.namespace, LOG.key)])
    scope = await busy.session.begin_mutation()
    await trouble(store, bad)
    closing = asyncio.create_task(store.repo.close())
    await settle()
    early = closing.done()
    last = await ended(scope.commit([ListAppend(LOG, "last words")]))
    if last.error is None:  # in a database that holds all sessions it fails too
        busy.follow(last.value, ListAppend(LOG, "last words"))
    await scope.end()
    endings = [(await raced(closing))[0], await ended(store.repo.close())]
    expect(not early, "expected: it waits for the scope that is held\nseen:     it has ended, at the first failure")
    store.faults.disarm()
    failures = [ending for one in (*bad, busy, idle) if (ending := await ended(one.session.close())).error is not None]
    for ending in endings:
        expect_equal(_all_told(ending), sorted(map(_told, failures)), of="what the closing of the repository raised")
        grouped = isinstance(ending.error, ExceptionGroup)
        expect_equal(grouped, len(failures) > 1, of=f"whether it was a group, of {len(failures)} failures")
    store.repo = await store.open_second_repo()
    for subject in (*bad, busy, idle):
        await subject.open()
        await subject.check(f"the session {subject.id!r}, opened by another repository")


def _all_told(ending: Ended) -> list[str]:
    if isinstance(ending.error, ExceptionGroup):
        return sorted(f"{type(error).__name__}: {error}" for error in ending.error.exceptions)
    return [] if ending.error is None else [_told(ending)]
