"""The mutation line: who is granted a scope and when, and what failure and cancellation do to it (section 10:
S-MUT-01, 02, 08 to 10).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from forkproof.case import case, rows
from forkproof.expect import expect, expect_equal, refused
from forkproof.instruments.stepping import settle
from forkproof.makers import SessionMaker, Subject
from forkproof.makers import records as made
from forkproof.suites.sessions.appending import branch_of
from forkstore.contract.addresses import branch_tip, list_address, value_address
from forkstore.contract.errors import DuplicateId, InvalidValue, UnknownBranch
from forkstore.contract.store import CallbackScope, Session
from forkstore.contract.writes import CommitResult, EntryInsert, ListAppend, ValueSet, Write

VALUE = value_address("garden.plan", "beds")
LIST = list_address("garden.log", "beds")


async def _logged(subject: Subject) -> list[Any]:
    return [element.value for element in await subject.session.read_list(LIST)]


def _appending(session: Session, value: Any) -> Coroutine[Any, Any, CommitResult]:
    """A mutation that suspends now and then and appends `value` to LIST."""

    async def callback(scope: CallbackScope) -> CommitResult:
        await asyncio.sleep(0)
        result = await scope.commit([ListAppend(LIST, value)])
        await asyncio.sleep(0)
        return result

    return session.mutate(callback)


@case("S-MUT-01")
async def callbacks_run_one_at_a_time_in_order(store: SessionMaker) -> None:
    """Mutations run one at a time, in the order of the first steps of their calls, however long each takes and in
    whatever order their coroutines were made.

    If this fails, look at: a line that the shortest wins; callbacks that share the session; the order of the calls
    taken for that of the first steps.
    """
    subject = await store.create()
    inside: list[int] = []
    crowds: list[list[int]] = []

    def mutation(number: int) -> Coroutine[Any, Any, None]:
        async def callback(scope: CallbackScope) -> None:
            inside.append(number)
            for _ in range((7 - number) % 5):
                await asyncio.sleep(0)
                crowds.append(list(inside))
            subject.follow(await scope.commit([ListAppend(LIST, number)]), ListAppend(LIST, number))
            await asyncio.sleep(0)
            inside.remove(number)

        return subject.session.mutate(callback)

    coroutines = [mutation(number) for number in reversed(range(12))]
    await asyncio.gather(*[asyncio.create_task(one) for one in reversed(coroutines)])
    expect_equal(await _logged(subject), list(range(12)), of="the order in which the mutations ran")
    expect_equal([crowd for crowd in crowds if len(crowd) != 1], [], of="the mutations that ran together")
    await subject.check_everywhere()


@case("S-MUT-01")
async def scopes_and_writers_share_one_line(store: SessionMaker) -> None:
    """Scopes and every public writer stand in one line: what was asked for while a scope was held is done in the order
    of the first steps.

    If this fails, look at: a lock of their own for writers or appends; writers that wait at the storage instead.
    """
    subject = await store.bushy_session()
    session, branch = subject.session, await branch_of(subject)

    async def sequence_of_append() -> int:
        entry = await session.get_entry(await branch.append_message(made.user_message("in line")))
        return 0 if entry is None else int(entry["seq"])

    async def sequence_of_branch() -> int:
        await session.create_branch("new", "tip")
        row = await session.get_value(branch_tip("new"))
        return 0 if row is None else row.seq

    async def sequence_of_scope() -> int:
        scope = await session.begin_mutation()
        result = await scope.commit([ListAppend(LIST, "scope")])
        await settle()
        await scope.end()
        return result.first_seq

    async def sequence(write: Awaitable[CommitResult]) -> int:
        return (await write).first_seq

    held = await session.begin_mutation()
    calls: list[Coroutine[Any, Any, int]] = [
        sequence(_appending(session, "mutate")),
        sequence_of_append(),
        sequence(session.set_value(VALUE, 1)),
        sequence_of_scope(),
        sequence_of_branch(),
        sequence(session.append_list(LIST, "append_list")),
        sequence(session.set_label("tip", "here")),
        sequence(_appending(session, "mutate again")),
        sequence(session.delete_value(VALUE)),
        sequence(session.delete_list(LIST)),
        sequence(session.set_name("in line")),
    ]
    tasks = [asyncio.create_task(call) for call in calls]
    await settle()
    await held.end()
    seqs = await asyncio.gather(*tasks)
    expect_equal(seqs, sorted(seqs), of="the sequences of the calls, in the order of their first steps")


@case("S-MUT-01")
async def nobody_overtakes_at_the_end_of_a_scope(store: SessionMaker) -> None:
    """Who asks right after a scope has ended comes behind those who waited for it.

    If this fails, look at: a line that is free for a moment between two scopes.
    """
    subject = await store.create()
    first = await subject.session.begin_mutation()
    second = asyncio.create_task(_appending(subject.session, "second"))
    await settle()
    await first.end()
    await subject.session.append_list(LIST, "third")
    await second
    expect_equal(await _logged(subject), ["second", "third"], of="the order in which the writers ran")


@case("S-MUT-01")
async def a_scope_is_granted_when_the_one_before_ends(store: SessionMaker) -> None:
    """Of scopes that wait, exactly the next is granted by each end, whatever the commits before.

    If this fails, look at: a commit taken for the end; all waiting scopes woken at once.
    """
    subject = await store.create()
    tasks = [asyncio.create_task(subject.session.begin_mutation()) for _ in range(4)]
    for number, task in enumerate(tasks):
        await asyncio.wait(tasks[number:], return_when=asyncio.FIRST_COMPLETED)
        await settle()
        granted = [at for at, other in enumerate(tasks) if other.done()]
        expect_equal(granted, list(range(number + 1)), of=f"the scopes granted after {number} ends")
        scope = await task
        await scope.commit([ListAppend(LIST, number)])
        await settle()
        granted = [at for at, other in enumerate(tasks) if other.done()]
        expect_equal(granted, list(range(number + 1)), of=f"the scopes granted before scope {number} ended")
        await scope.end()
    expect_equal(await _logged(subject), [0, 1, 2, 3], of="the order of the scopes' commits")


ERRORS: dict[str, Exception] = {
    "of_its_own": LookupError("the beds are flooded"),
    "of_the_contract": UnknownBranch(name="no-such-branch"),
    "assertion": AssertionError("not what the caller wants"),
}


@case("S-MUT-02", "S-MUT-07")
@rows("error", ERRORS)
@rows("moment", before_commit="before", after_commit="after")
async def a_failing_callback_fails_its_own_caller_only(store: SessionMaker, error: Exception, moment: str) -> None:
    """An error of a callback reaches its own caller as the object it was; the mutations before and behind it succeed,
    and what it committed before stays.

    If this fails, look at: errors wrapped on their way; a line that stays taken; a commit taken back with its scope.
    """
    subject = await store.create()

    async def failing(scope: CallbackScope) -> None:
        if moment == "after":
            await scope.commit([ListAppend(LIST, "failed")])
        raise error

    calls = [
        _appending(subject.session, 0),
        subject.session.mutate(failing),
        _appending(subject.session, 2),
        subject.session.append_list(LIST, 3),
    ]
    outcomes = await asyncio.gather(*[asyncio.create_task(call) for call in calls], return_exceptions=True)
    expect(outcomes[1] is error, f"expected: the callback's own error object\nseen:     {outcomes[1]!r}")
    failed = ["failed"] if moment == "after" else []
    expect_equal(await _logged(subject), [0, *failed, 2, 3], of="what the mutations left")


@case("S-MUT-02")
async def a_refused_commit_fails_its_own_scope_only(store: SessionMaker) -> None:
    """A mutation whose commit is refused, and a writer that is refused, leave those behind them alone.

    If this fails, look at: a line that stops at an error.
    """
    subject = await store.bushy_session()
    duplicate: list[Write] = [ListAppend(LIST, "refused"), EntryInsert(made.message_entry("root", None))]
    calls = [
        _appending(subject.session, 0),
        subject.commit(*duplicate),
        subject.session.append_list(LIST, float("nan")),
        _appending(subject.session, 3),
        subject.commit(*duplicate),
        subject.session.append_list(LIST, 5),
    ]
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.wait(tasks)
    for number in (1, 4):
        with refused(DuplicateId, id="root"):
            await tasks[number]
    with refused(InvalidValue):
        await tasks[2]
    expect_equal(await _logged(subject), [0, 3, 5], of="what the mutations left")


async def _append(session: Session) -> None:
    branch = await session.branch("main")
    if branch is not None:
        await branch.append_message(made.user_message("from inside"))


INSIDE: dict[str, Callable[[Session], Awaitable[Any]]] = {
    "set_value": lambda session: session.set_value(VALUE, 2),
    "delete_value": lambda session: session.delete_value(VALUE),
    "append_list": lambda session: session.append_list(LIST, 2),
    "delete_list": lambda session: session.delete_list(LIST),
    "set_name": lambda session: session.set_name("from inside"),
    "set_label": lambda session: session.set_label("tip", "from inside"),
    "create_branch": lambda session: session.create_branch("new", "tip"),
    "begin_mutation": lambda session: session.begin_mutation(),
    "mutate": lambda session: _appending(session, 2),
    "append_message": _append,
}


@case("S-MUT-08")
@rows("writer", INSIDE)
async def a_writer_called_inside_a_callback_waits_for_its_end(
    store: SessionMaker, writer: Callable[[Session], Awaitable[Any]]
) -> None:
    """A public writer that a callback starts has done nothing while the callback runs; it runs after the scope has
    ended.

    If this fails, look at: a line that its holder may enter again; writers that go past the line.
    """
    subject = await store.bushy_session()
    await subject.commit(ValueSet(VALUE, 1), ListAppend(LIST, 1))
    tasks: list[asyncio.Task[Any]] = []

    async def calling() -> Any:
        return await writer(subject.session)

    async def callback(scope: CallbackScope) -> None:
        tasks.append(asyncio.create_task(calling()))
        await settle()
        expect(not tasks[0].done(), "expected: the writer waits while the callback runs\nseen:     it returned")
        await subject.check("the session before the callback's commit")
        write = ValueSet(value_address("garden.mark"), "of the callback")
        subject.follow(await scope.commit([write]), write)
        await settle()
        expect(not tasks[0].done(), "expected: the writer waits for the end of the scope\nseen:     it returned")
        await subject.check("the session before the end of the callback")

    try:
        await subject.session.mutate(callback)
    finally:
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    if isinstance(ended[0], BaseException):
        raise ended[0]
